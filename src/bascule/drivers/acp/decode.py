"""Decodes one line of an ACP agent's output into events. Lines it does not understand are kept."""

from typing import assert_never

import msgspec
from msgspec import UNSET, Raw

from bascule.drivers.acp.agent_info import AgentInfoReader
from bascule.drivers.acp.conversation_list import Sessions
from bascule.drivers.acp.handshake import AcpHandshake, error_words
from bascule.drivers.acp.requests import AcpRequests
from bascule.drivers.acp.state import (
    ID_RANGE,
    MAX_EARLY,
    MAX_EARLY_BYTES,
    MAX_EARLY_SESSIONS,
    DriverState,
    PendingRequest,
)
from bascule.drivers.acp.text import TextBuilder
from bascule.drivers.acp.tools import Tools, read_call
from bascule.drivers.acp.turns import end_turn
from bascule.drivers.bounded import forget_oldest
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.jsonrpc import message as rpc
from bascule.drivers.lenient import MAX_ID, JsonObject, loosely, mapping, text
from bascule.model.events import Note

# Extensions that are ignored. Qwen Code names its own without the underscore.
_SILENT = frozenset(
    {
        "_auth/status_update",
        "_qwencode/end_turn",
        "qwen/notify/channel/active-work",
        "qwen/notify/session/artifact-event",
        "qwen/notify/session/mcp-budget-event",
        "qwen/notify/session/pr-binding",
        "qwen/notify/session/prompt-suggestion",
        "qwen/notify/session/sources-changed",
        "qwen/notify/session/terminal-sequence",
    }
)
# Updates that are part of the conversation; the others describe the session.
_SPOKEN = frozenset(
    {
        "agent_message_chunk",
        "agent_thought_chunk",
        "user_message_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "plan_update",
        "plan_removed",
    }
)


class Decoder:
    def __init__(
        self,
        state: DriverState,
        out: EventBuffer,
        handshake: AcpHandshake,
        requests: AcpRequests,
        agent_info: AgentInfoReader,
        tools: Tools,
        sessions: Sessions,
    ) -> None:
        self._state = state
        self._out = out
        self._handshake = handshake
        self._requests = requests
        self._agent_info = agent_info
        self._tools = tools
        self._text = TextBuilder(state, out, tools)
        self._sessions = sessions

    def line(self, line: bytes) -> str | None:
        """Decode one message. Returns what about it was not understood."""
        message = rpc.read(line)
        if message.method is UNSET:
            return self._answer(message, len(line))
        session_id = rpc.session_in(message.params)
        if session_id is not None and session_id != self._state.info.session_id:
            self._keep_early(session_id, line)
            return None
        if session_id is None and self._state.shared:
            return self._to_nobody(message, line)
        self._state.heard += len(line) + 1
        if message.id is UNSET:
            return self._notification(message.method, message.params)
        return self._request(message.id, message.method, message.params)

    def _to_nobody(self, message: rpc.Message, line: bytes) -> str | None:
        """Handle a message that names no session: every session of the process gets it.

        A request is still answered once, because all sessions give their reply the same write id, and each
        id is written once.
        """
        assert message.method is not UNSET
        if message.id is UNSET:
            if message.method == "$/cancel_request":
                self._requests.withdraw(bytes(rpc.request_id_in(message.params)))
                return None
            if message.method == "session/update":
                return "an update of no session"
            return self._notification(message.method, message.params)
        if self._is_about_ours(message.params):
            return self._request(message.id, message.method, message.params)
        return self._requests.refuse_for_all(message.id, message.method, line)

    def _request(self, rpc_id: Raw, method: str, params: Raw) -> str | None:
        self._something_else()
        self._state.silent = False
        return self._requests.request(rpc_id, method, params)

    def _is_about_ours(self, params: Raw) -> bool:
        """Whether the parameters name a request of ours; some agents send that instead of the session."""
        try:
            return rpc.our_id(rpc.request_id_in(params)) in self._state.pending
        except msgspec.MsgspecError:
            return False

    def finish(self) -> None:
        self._text.end_earlier_prompt()
        self._text.close()
        self._tools.end_all("The agent went before this tool reported back.")

    def _keep_early(self, session_id: str, line: bytes) -> None:
        """Keep a message that may be ours: some agents send updates before they tell the session's id."""
        state = self._state
        if state.stage != "opening" or state.launch.resume is not None or len(session_id) > MAX_ID:
            return
        kept = state.early.pop(session_id, [])
        if sum(map(len, kept)) + len(line) <= MAX_EARLY_BYTES:
            kept = [*kept, line.decode()][-MAX_EARLY:]
        state.early[session_id] = kept
        forget_oldest(state.early, MAX_EARLY_SESSIONS)

    # Answers to our own requests ---------------------------------------------------------------------------

    def _answer(self, message: rpc.Message, size: int) -> str | None:
        number = rpc.our_id(message.id) if message.id is not UNSET else None
        if number is None:
            return "an answer without an id" if message.id is UNSET else "an answer to nothing that was asked"
        pending = self._state.pending.pop(number, None)
        if pending is None:
            ours = 0 < number - self._state.id_base < ID_RANGE
            return "an answer to nothing that was asked" if ours else None
        self._state.heard += size + 1
        if message.error is not UNSET:
            self._refused(number, pending, loosely(message.error))
        else:
            self._answered(number, pending, loosely(message.result) if message.result is not UNSET else {})
        return None

    def _answered(self, number: int, pending: PendingRequest, answer: JsonObject) -> None:
        match pending.asked:
            case "initialize":
                self._handshake.initialized(answer)
            case "open":
                self._opened(answer)
            case "prompt":
                self._end_turn(number, answer, None)
            case "mode" | "start_mode":
                self._agent_info.settings(answer)
                self._agent_info.mode(pending.value)
                if pending.asked == "start_mode":
                    self._handshake.start_mode_set()
            case "model":
                self._agent_info.settings(answer)
                self._agent_info.model(pending.value)
            case "list":
                self._sessions.answered(answer)
            case "close" | "probe":
                pass  # only its arrival counts
            case _:
                assert_never(pending.asked)

    def _refused(self, number: int, pending: PendingRequest, error: JsonObject) -> None:
        match pending.asked:
            case "initialize":
                self._handshake.not_greeted(error)
            case "open":
                self._state.replaying = False
                self._handshake.open_refused(error)
            case "prompt":
                self._end_turn(number, {}, error)
            case "start_mode":
                self._handshake.start_mode_refused(error)
            case "mode" | "model":
                message = f"The agent did not switch to {pending.value[:80]!r}: {error_words(error)}"
                self._out.put(Note(f"{pending.asked}_refused", message, "warning"))
            case "list":
                self._sessions.refused(error_words(error))
            case "close" | "probe":
                pass
            case _:
                assert_never(pending.asked)

    def _opened(self, answer: JsonObject) -> None:
        self._something_else()
        self._text.end_earlier_prompt()
        self._text.end_earlier_turn()
        self._handshake.opened(answer)
        early, self._state.early = self._state.early, {}
        for line in early.get(self._state.info.session_id or "", []):
            self.line(line.encode())

    def _end_turn(self, number: int, answer: JsonObject, error: JsonObject | None) -> None:
        self._text.close()
        self._requests.forget_open()
        self._tools.end_all("The turn ended before this tool reported back.")
        end_turn(self._state, self._out, answer, error)
        if self._state.turn == number:
            self._state.turn = None
        self._state.cancelling = False
        self._handshake.send_held()

    # News --------------------------------------------------------------------------------------------------

    def _notification(self, method: str, raw: Raw) -> str | None:
        match method:
            case "session/update":
                return self._update(raw, mapping(loosely(raw), "update"))
            case "$/cancel_request":
                return self._requests.withdraw(bytes(rpc.request_id_in(raw)))
            case "qwen/notify/session/mode-update":
                self._agent_info.mode(text(loosely(raw), "currentModeId"))
                return None
            case "qwen/notify/session/model-update" if model := text(loosely(raw), "currentModelId"):
                self._agent_info.model(model[:MAX_ID])
                return None
            case "qwen/notify/session/title-update":
                self._agent_info.title(text(loosely(raw), "title"))
                return None
            case _ if method in _SILENT:
                return None
            case _:
                kind = "extension" if method.startswith("_") else "unknown"
                return f"{kind} notification {method[:80]!r}"

    def _update(self, raw: Raw, update: JsonObject) -> str | None:
        kind = text(update, "sessionUpdate") or ""
        if kind in _SPOKEN:
            return self._spoken(kind, raw, update)
        self._tools.begin_drafts()
        match kind:
            case "available_commands_update":
                self._agent_info.commands(update)
            case "current_mode_update":
                self._agent_info.mode(text(update, "currentModeId"))
            case "config_option_update":
                self._agent_info.settings(update)
            case "session_info_update":
                self._agent_info.title(text(update, "title"))
            case "usage_update":
                self._agent_info.usage(update)
            case _:
                return f"unknown update {kind[:80]!r}"
        return None

    def _spoken(self, kind: str, raw: Raw, update: JsonObject) -> str | None:
        state = self._state
        if state.replaying and not state.launch.history:
            return None  # this log has it already
        if state.replaying and state.held:
            self._text.skip_rest()
            return None
        if kind == "user_message_chunk":
            if state.replaying:
                self._tools.begin_drafts()
                self._text.hear_earlier_prompt(update)
            return None  # otherwise an echo of the prompt that was just sent
        self._text.end_earlier_prompt()
        if kind in ("tool_call", "tool_call_update"):
            call = read_call(rpc.update_in(raw))
            self._text.close()
            state.own_words, state.silent = "", False
            self._tools.begin_drafts(besides=call.tool_call_id)
            self._tools.hear(call)
            return None
        self._tools.begin_drafts()
        if kind in ("plan", "plan_update", "plan_removed"):
            self._text.close()
            state.silent = False
            self._agent_info.plan(mapping(update, "plan") if kind == "plan_update" else update)
        else:
            self._text.say("assistant" if kind == "agent_message_chunk" else "thinking", update)
        return None

    def _something_else(self) -> None:
        self._tools.begin_drafts()
        self._text.close()
