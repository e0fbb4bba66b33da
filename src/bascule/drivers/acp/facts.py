"""What the agent says about itself: who it is, its mode, model, commands, title and use of its memory."""

import zlib

import msgspec

from bascule.drivers.acp.state import DriverState
from bascule.drivers.lenient import MAX_ID, JsonObject, clip, mapping, number, objects, text, whole, words
from bascule.drivers.outlet import Outlet
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


class About:
    def __init__(self, state: DriverState, out: Outlet) -> None:
        self._facts = state.facts
        self._out = out

    def initialized(self, answer: JsonObject) -> None:
        facts, can = self._facts, mapping(answer, "agentCapabilities")
        facts.greeted = True
        facts.version = _short(text(mapping(answer, "agentInfo"), "version"))
        facts.images = mapping(can, "promptCapabilities").get("image") is True
        facts.loads = can.get("loadSession") is True
        facts.resumes = isinstance(mapping(can, "sessionCapabilities").get("resume"), dict)
        facts.closes = isinstance(mapping(can, "sessionCapabilities").get("close"), dict)
        facts.lists = isinstance(mapping(can, "sessionCapabilities").get("list"), dict)
        ways = [text(one, "description") or text(one, "name") or "" for one in objects(answer, "authMethods")]
        facts.logins = clip("; ".join(filter(None, ways)), 1000)

    def opened(self, session_id: str, answer: JsonObject) -> None:
        """The session exists."""
        facts = self._facts
        facts.session_id = session_id
        models = self._read_settings(answer)
        self._out.put(SessionReady(session_id, facts.model, facts.version, facts.mode))
        self._tell_models(models)

    def settings(self, answer: JsonObject) -> None:
        """Modes, models and options as they are now; whatever changed is told."""
        facts = self._facts
        mode, model = facts.mode, facts.model
        models = self._read_settings(answer)
        if facts.mode is not None and facts.mode != mode:
            self._out.put(ModeChanged(facts.mode))
        if facts.model is not None and facts.model != model:
            self._out.put(ModelChanged(facts.model))
        self._tell_models(models)

    def mode(self, mode: str | None) -> None:
        mode = _short(mode)
        if mode is not None and mode != self._facts.mode:
            self._facts.mode = mode
            self._out.put(ModeChanged(mode))

    def model(self, model: str) -> None:
        if model != self._facts.model:
            self._facts.model = model
            self._out.put(ModelChanged(model))

    def commands(self, update: JsonObject) -> None:
        commands = tuple(
            SlashCommand(
                name[:200], words(one, "description", 500), words(mapping(one, "input"), "hint", 200)
            )
            for one in objects(update, "availableCommands")[:MAX_LISTED]
            if (name := text(one, "name")) is not None
        )
        shown = zlib.crc32(msgspec.json.encode(commands))
        if shown != self._facts.commands:
            self._facts.commands = shown
            self._out.put(CommandsChanged(commands))

    def title(self, title: str | None) -> None:
        title = clip(" ".join((title or "").split()), 200)
        if title and title != self._facts.title:
            self._facts.title = title
            self._out.put(TitleChanged(title))

    def usage(self, update: JsonObject) -> None:
        facts = self._facts
        before = (facts.used, facts.size, facts.cost_usd)
        facts.used = whole(update, "used") if "used" in update else facts.used
        facts.size = whole(update, "size") or facts.size
        cost = mapping(update, "cost")
        if text(cost, "currency") == "USD":
            facts.cost_usd = number(cost, "amount")
        if (facts.used, facts.size, facts.cost_usd) != before:
            self._out.put(UsageChanged(facts.used, facts.size, facts.cost_usd))

    def plan(self, told: JsonObject) -> None:
        """A plan, as a list or as one text; told without either it is gone."""
        whole_text = words(told, "content", 20_000)
        items = tuple(_plan_item(one) for one in objects(told, "entries")[:MAX_PLAN])
        self._out.put(PlanChanged(items or ((PlanItem(whole_text),) if whole_text else ())))

    def _read_settings(self, answer: JsonObject) -> tuple[ModelChoice, ...]:
        facts = self._facts
        models: tuple[ModelChoice, ...] = ()
        offered: list[str] = []  # two lists may name the same models in two ways
        for option in objects(answer, "configOptions"):
            now, option_id = _short(text(option, "currentValue")), _short(text(option, "id"))
            match text(option, "category"):
                case "mode" if option_id is not None:
                    facts.mode_option, facts.mode = option_id, now or facts.mode
                    facts.modes = tuple(one.value for one in _choices(option, "options", "value"))
                case "model" if option_id is not None:
                    facts.model_option = option_id
                    offered += [one.value for one in _choices(option, "options", "value")]
                    if not facts.has_models:
                        facts.model = now or facts.model
                        models = _choices(option, "options", "value")
                case _:
                    pass
        if mode := _short(text(mapping(answer, "modes"), "currentModeId")):
            facts.has_modes, facts.mode = True, mode
            told = objects(mapping(answer, "modes"), "availableModes")[:MAX_LISTED]
            facts.modes = tuple(one for one in (_short(text(mode, "id")) for mode in told) if one is not None)
        if "models" in answer and (told := mapping(answer, "models")):
            facts.has_models = True
            facts.model = _short(text(told, "currentModelId")) or facts.model
            models = _choices(told, "availableModels", "modelId")
            offered += [one.value for one in models]
        facts.offered = list(dict.fromkeys([*offered, *facts.offered]))[:MAX_LISTED]
        return models

    def _tell_models(self, models: tuple[ModelChoice, ...]) -> None:
        shown = zlib.crc32(msgspec.json.encode(models))
        if models and shown != self._facts.models:
            self._facts.models = shown
            self._out.put(ModelsChanged(models))


def _short(value: str | None) -> str | None:
    return value if value is not None and len(value) <= MAX_ID else None


def _choices(source: JsonObject, key: str, value_key: str) -> tuple[ModelChoice, ...]:
    """Choices may come in groups, each with its own list."""
    found: list[ModelChoice] = []
    for one in objects(source, key)[:MAX_LISTED]:
        value = text(one, value_key)
        if value is not None:
            found.append(ModelChoice(value[:200], words(one, "name", 200), words(one, "description", 500)))
        else:
            found += _choices(one, key, value_key) if key in one else ()
    return tuple(found[:MAX_LISTED])


def _plan_item(entry: JsonObject) -> PlanItem:
    status = text(entry, "status")
    return PlanItem(
        words(entry, "content", 1200), status if status in ("in_progress", "completed") else "pending"
    )
