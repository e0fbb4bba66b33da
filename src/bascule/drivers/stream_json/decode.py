"""Decodes one line of Claude Code's output into events. Lines it does not understand are kept."""

import msgspec
from msgspec import Struct

from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import (
    MAX_ID,
    JsonObject,
    items,
    mapping,
    objects,
    text,
    words,
)
from bascule.drivers.request_ids import own_id
from bascule.drivers.stream_json import turns
from bascule.drivers.stream_json.assistant_messages import Messages
from bascule.drivers.stream_json.encode import our_subtype
from bascule.drivers.stream_json.output_messages import (
    Assistant,
    ControlRequest,
    StreamEvent,
    User,
    damaged_assistant,
    damaged_user,
    decode_message,
)
from bascule.drivers.stream_json.requests import StreamJsonRequests
from bascule.drivers.stream_json.state import DriverState
from bascule.drivers.writes import Replies
from bascule.model.events import (
    CommandsChanged,
    ModeChanged,
    ModelChanged,
    ModelChoice,
    ModelsChanged,
    Note,
    SessionReady,
    SlashCommand,
    ToolChanged,
)

MAX_LISTED = 500  # commands or models

# Meant for other clients, or reported better by other messages.
_SILENT = frozenset({"command_lifecycle", "keep_alive", "tool_progress"})
_SILENT_SYSTEM = frozenset(
    {
        "thinking_tokens",
        "session_state_changed",
        "task_started",
        "task_progress",
        "task_updated",
        "hook_started",
        "hook_progress",
    }
)


class Probe(Struct):
    type: str = ""


_probe = msgspec.json.Decoder(Probe)
_object = msgspec.json.Decoder(dict[str, object])


class Decoder:
    def __init__(self, state: DriverState, out: EventBuffer, replies: Replies) -> None:
        self._state = state
        self._out = out
        self._messages = Messages(state, out)
        self._requests = StreamJsonRequests(state, out, replies)
        self._settled_by_tool = self._requests.settled_by_tool

    def line(self, line: bytes) -> str | None:
        """Turn one message into events. Returns what about it was not understood."""
        try:
            said = decode_message(line)
        except msgspec.ValidationError as error:
            why = self._other(line, error)
        else:
            why = self._messages.stream(said) if type(said) is StreamEvent else self._understand(said, line)
        if why is None:
            self._state.spoken = True
        return why

    def finish(self) -> None:
        self._messages.close_open(sub_agents=True)
        turns.tell_failure(self._state, self._out)
        for tool_id in self._state.tools:
            self._out.put(ToolChanged(tool_id, "failed", "The agent went before this tool reported back."))
        self._state.tools.clear()

    def _understand(self, said: Assistant | User | ControlRequest, line: bytes) -> str | None:
        if type(said) is User:
            self._state.passed(said.uuid, said.parent_tool_use_id)
            return turns.hear_user(self._state, self._out, said, self._settled_by_tool)
        if not line.isascii():
            line.decode()  # raises on broken UTF-8, which raw fields would pass on unchecked
        if type(said) is Assistant:
            self._state.passed(said.uuid, said.parent_tool_use_id)
            self._messages.complete(said, line)
            return None
        return self._requests.request(said)

    def _other(self, line: bytes, error: msgspec.ValidationError) -> str | None:
        """A message that comes rarely, or has a field of a type nobody expects."""
        kind = _probe.decode(line).type
        line.decode()
        match kind:
            case "assistant":
                return self._understand(damaged_assistant(line), line)
            case "user":
                heard = damaged_user(_object.decode(line))
                return "a user message without content" if heard is None else self._understand(heard, line)
            case "stream_event" | "control_request":
                raise error
            case _:
                return self._loosely(kind, _object.decode(line))

    def _loosely(self, kind: str, said: JsonObject) -> str | None:
        match kind:
            case "result":
                self._messages.close_open(sub_agents=False)
                turns.end_turn(self._state, self._out, said)
            case "system":
                return self._system(said)
            case "control_response":
                return self._reply(mapping(said, "response"))
            case "control_cancel_request":
                return self._requests.withdraw(text(said, "request_id") or "")
            case "rate_limit_event":
                turns.note_rate_limit(self._out, said)
            case _ if kind in _SILENT:
                pass
            case "":
                return "a message without a type"
            case _:
                return f"unknown message {kind[:80]!r}"
        return None

    # The agent about itself ----------------------------------------------------------------------------

    def _system(self, said: JsonObject) -> str | None:
        subtype = text(said, "subtype") or ""
        match subtype:
            case "init":
                self._init(said)
            case "status":
                self._status(said)
            case "api_retry":
                turns.note_retry(self._out, said)
            case "compact_boundary":
                turns.note_compaction(self._state, self._out, said)
            case "permission_denied":
                reason = words(said, "message", 2000) or "The agent refused a tool without asking."
                self._out.put(Note("permission_denied", reason, "warning"))
            case "hook_response":
                turns.note_hook(self._out, said)
            case "task_notification":
                # A sub-agent whose tool call is open reports through that call.
                if text(said, "tool_use_id") not in self._state.tools:
                    status, summary = words(said, "status", 80), words(said, "summary", 2000)
                    self._out.put(Note("task", f"A background task is {status or 'over'}: {summary}"))
            case _ if subtype in _SILENT_SYSTEM:
                pass
            case _:
                return f"unknown system message {subtype[:80]!r}"
        return None

    def _init(self, said: JsonObject) -> None:
        self._state.info.tried = self._state.info.trying
        if text(said, "session_id") != self._state.info.agent_session_id:
            self._state.last = ""
        self._ready(
            agent_session_id=text(said, "session_id"),
            model=self._known_model(text(said, "model")),
            version=text(said, "claude_code_version"),
            mode=text(said, "permissionMode"),
        )
        names = [name for name in items(said, "slash_commands")[:MAX_LISTED] if isinstance(name, str)]
        known = self._state.info.commands
        if known is None or not set(names) <= set(known):
            self._state.info.commands = names
            self._out.put(CommandsChanged(tuple(SlashCommand(name[:200]) for name in names)))

    def _ready(self, *, first: bool = False, **news: str | None) -> None:
        """Emit SessionReady with what the agent reports of itself, if it is new or changed."""
        info = self._state.info
        changed = first
        for name, value in news.items():
            if value is not None and len(value) <= MAX_ID and value != getattr(info, name):
                setattr(info, name, value)
                changed = True
        if changed:
            self._out.put(SessionReady(info.agent_session_id, info.model, info.version, info.mode))

    def _status(self, said: JsonObject) -> None:
        if text(said, "status") == "compacting":
            self._out.put(Note("compacting", "The agent is summarising the conversation to make room."))
        compacted = text(said, "compact_result")
        if compacted not in (None, "success"):
            self._out.put(Note("compact_failed", f"Summarising failed: {compacted[:200]}", "warning"))
        self._mode(text(said, "permissionMode"))

    def _mode(self, mode: str | None) -> None:
        if mode is not None and len(mode) <= MAX_ID and mode != self._state.info.mode:
            self._state.info.mode = mode
            self._out.put(ModeChanged(mode))

    # Answers to our own requests ------------------------------------------------------------------------

    def _reply(self, response: JsonObject) -> str | None:
        request_id = text(response, "request_id") or ""
        subtype = our_subtype(request_id)
        if subtype is None:
            # With replay on, the agent echoes our answers to its own requests.
            return (
                None if own_id(request_id) in self._state.requests else "an answer to nothing that was asked"
            )
        if text(response, "subtype") == "error":
            code = words(response, "error_code", 80) or "control_error"
            self._out.put(Note(code, words(response, "error") or f"{subtype} was refused.", "warning"))
            if subtype == "initialize":  # it works without
                self._ready(first=True)
            return None
        self._answered(subtype, mapping(response, "response"))
        return None

    def _answered(self, subtype: str, answer: JsonObject) -> None:
        match subtype:
            case "initialize":
                self._initialized(answer)
            case "set_permission_mode":
                self._mode(text(answer, "mode"))
            case "set_model":
                model = self._known_model(text(answer, "model"))
                if model is not None and len(model) <= MAX_ID and model != self._state.info.model:
                    self._state.info.model = model
                    self._out.put(ModelChanged(model))
            case _:
                pass

    def _initialized(self, answer: JsonObject) -> None:
        version, mode = text(answer, "claude_code_version"), text(answer, "current_permission_mode")
        self._ready(first=True, version=version, mode=mode)
        commands = tuple(
            SlashCommand(
                words(command, "name", 200),
                words(command, "description", 500),
                words(command, "argumentHint", 200),
            )
            for command in objects(answer, "commands")[:MAX_LISTED]
        )
        if commands:
            self._state.info.commands = [command.name for command in commands]
            self._out.put(CommandsChanged(commands))
        models = tuple(
            ModelChoice(
                words(model, "value", 200), words(model, "displayName", 200), words(model, "description", 500)
            )
            for model in objects(answer, "models")[:MAX_LISTED]
        )
        if models:
            self._state.info.offered = [model.value for model in models]
            self._out.put(ModelsChanged(models))

    def _known_model(self, model: str | None) -> str | None:
        """The model, or None for the one being tried: the agent repeats any name it was given."""
        return None if model is not None and model == self._state.info.trying else model
