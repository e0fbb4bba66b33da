"""Reads what the agent reports of itself: capabilities, mode, model, commands, title, context usage."""

import zlib

import msgspec

from bascule.drivers.acp.state import DriverState
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import MAX_ID, JsonObject, clip, mapping, number, objects, text, whole, words
from bascule.model.events import (
    CommandsChanged,
    ModeChanged,
    ModelChanged,
    ModelChoice,
    ModelsChanged,
    PlanChanged,
    PlanItem,
    SessionReady,
    SlashCommand,
    TitleChanged,
    UsageChanged,
)

MAX_LISTED = 500
MAX_PLAN = 200


class AgentInfoReader:
    def __init__(self, state: DriverState, out: EventBuffer) -> None:
        self._info = state.info
        self._out = out

    def initialized(self, answer: JsonObject) -> None:
        info, can = self._info, mapping(answer, "agentCapabilities")
        info.greeted = True
        info.version = _short(text(mapping(answer, "agentInfo"), "version"))
        info.images = mapping(can, "promptCapabilities").get("image") is True
        info.loads = can.get("loadSession") is True
        info.resumes = isinstance(mapping(can, "sessionCapabilities").get("resume"), dict)
        info.closes = isinstance(mapping(can, "sessionCapabilities").get("close"), dict)
        info.lists = isinstance(mapping(can, "sessionCapabilities").get("list"), dict)
        ways = [
            text(method, "description") or text(method, "name") or ""
            for method in objects(answer, "authMethods")
        ]
        info.logins = clip("; ".join(filter(None, ways)), 1000)

    def opened(self, session_id: str, answer: JsonObject) -> None:
        """Read the answer that opened the session."""
        info = self._info
        info.session_id = session_id
        models = self._read_settings(answer)
        self._out.put(SessionReady(session_id, info.model, info.version, info.mode))
        self._tell_models(models)

    def settings(self, answer: JsonObject) -> None:
        """Read the current modes, models and options, and emit what changed."""
        info = self._info
        mode, model = info.mode, info.model
        models = self._read_settings(answer)
        if info.mode is not None and info.mode != mode:
            self._out.put(ModeChanged(info.mode))
        if info.model is not None and info.model != model:
            self._out.put(ModelChanged(info.model))
        self._tell_models(models)

    def mode(self, mode: str | None) -> None:
        mode = _short(mode)
        if mode is not None and mode != self._info.mode:
            self._info.mode = mode
            self._out.put(ModeChanged(mode))

    def model(self, model: str) -> None:
        if model != self._info.model:
            self._info.model = model
            self._out.put(ModelChanged(model))

    def commands(self, update: JsonObject) -> None:
        commands = tuple(
            SlashCommand(
                name[:200], words(command, "description", 500), words(mapping(command, "input"), "hint", 200)
            )
            for command in objects(update, "availableCommands")[:MAX_LISTED]
            if (name := text(command, "name")) is not None
        )
        shown = zlib.crc32(msgspec.json.encode(commands))
        if shown != self._info.commands:
            self._info.commands = shown
            self._out.put(CommandsChanged(commands))

    def title(self, title: str | None) -> None:
        title = clip(" ".join((title or "").split()), 200)
        if title and title != self._info.title:
            self._info.title = title
            self._out.put(TitleChanged(title))

    def usage(self, update: JsonObject) -> None:
        info = self._info
        before = (info.used, info.size, info.cost_usd)
        info.used = whole(update, "used") if "used" in update else info.used
        info.size = whole(update, "size") or info.size
        cost = mapping(update, "cost")
        if text(cost, "currency") == "USD":
            info.cost_usd = number(cost, "amount")
        if (info.used, info.size, info.cost_usd) != before:
            self._out.put(UsageChanged(info.used, info.size, info.cost_usd))

    def plan(self, update: JsonObject) -> None:
        """Read a plan, which is a list of entries or one text; neither means there is no plan any more."""
        whole_text = words(update, "content", 20_000)
        items = tuple(_plan_item(entry) for entry in objects(update, "entries")[:MAX_PLAN])
        self._out.put(PlanChanged(items or ((PlanItem(whole_text),) if whole_text else ())))

    def _read_settings(self, answer: JsonObject) -> tuple[ModelChoice, ...]:
        info = self._info
        models: tuple[ModelChoice, ...] = ()
        offered: list[str] = []  # by option and by `models`, which may name the same models differently
        for option in objects(answer, "configOptions"):
            now, option_id = _short(text(option, "currentValue")), _short(text(option, "id"))
            match text(option, "category"):
                case "mode" if option_id is not None:
                    info.mode_option, info.mode = option_id, now or info.mode
                    info.modes = tuple(choice.value for choice in _choices(option, "options", "value"))
                case "model" if option_id is not None:
                    info.model_option = option_id
                    offered += [choice.value for choice in _choices(option, "options", "value")]
                    if not info.has_models:
                        info.model = now or info.model
                        models = _choices(option, "options", "value")
                case _:
                    pass
        if mode := _short(text(mapping(answer, "modes"), "currentModeId")):
            info.has_modes, info.mode = True, mode
            modes = objects(mapping(answer, "modes"), "availableModes")[:MAX_LISTED]
            mode_ids = (_short(text(offered_mode, "id")) for offered_mode in modes)
            info.modes = tuple(mode_id for mode_id in mode_ids if mode_id is not None)
        if "models" in answer and (listed := mapping(answer, "models")):
            info.has_models = True
            info.model = _short(text(listed, "currentModelId")) or info.model
            models = _choices(listed, "availableModels", "modelId")
            offered += [model.value for model in models]
        info.offered = list(dict.fromkeys([*offered, *info.offered]))[:MAX_LISTED]
        return models

    def _tell_models(self, models: tuple[ModelChoice, ...]) -> None:
        shown = zlib.crc32(msgspec.json.encode(models))
        if models and shown != self._info.models:
            self._info.models = shown
            self._out.put(ModelsChanged(models))


def _short(value: str | None) -> str | None:
    return value if value is not None and len(value) <= MAX_ID else None


def _choices(source: JsonObject, key: str, value_key: str) -> tuple[ModelChoice, ...]:
    """Flatten choices, which may come in groups with a list each."""
    found: list[ModelChoice] = []
    for choice in objects(source, key)[:MAX_LISTED]:
        value = text(choice, value_key)
        if value is not None:
            found.append(
                ModelChoice(value[:200], words(choice, "name", 200), words(choice, "description", 500))
            )
        else:
            found += _choices(choice, key, value_key) if key in choice else ()
    return tuple(found[:MAX_LISTED])


def _plan_item(entry: JsonObject) -> PlanItem:
    status = text(entry, "status")
    return PlanItem(
        words(entry, "content", 1200), status if status in ("in_progress", "completed") else "pending"
    )
