"""One line of the agent's output -> events. Nothing is dropped: what is not understood is kept."""

from msgspec import UNSET, Raw

from bascule.drivers import jsonrpc
from bascule.drivers.acp.asking import Asking
from bascule.drivers.acp.facts import About
from bascule.drivers.acp.opening import Opening, error_words
from bascule.drivers.acp.speech import Speech
from bascule.drivers.acp.state import ID_RANGE, MAX_EARLY, MAX_EARLY_BYTES, DriverState, Pending
from bascule.drivers.acp.tools import Tools, read_call
from bascule.drivers.acp.turns import end_turn
from bascule.drivers.lenient import JsonObject, loosely, mapping, text
from bascule.drivers.outlet import Outlet
from bascule.model.events import Note

# Extensions that tell nothing a session needs.
_SILENT = frozenset({"_auth/status_update"})
# Updates that belong to a conversation; the others are about the session.
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
        out: Outlet,
        opening: Opening,
        asking: Asking,
        about: About,
        tools: Tools,
    ) -> None:
        self._state = state
        self._out = out
        self._opening = opening
        self._asking = asking
        self._about = about
        self._tools = tools
        self._speech = Speech(state, out, tools)

    def line(self, line: bytes) -> str | None:
        """One message. Returns what about it was not understood."""
        message = jsonrpc.read(line)
        if message.method is UNSET:
            return self._answer(message)
        params = loosely(message.params)
        session_id = text(params, "sessionId")
        if session_id is not None and session_id != self._state.facts.session_id:
            self._keep_early(line)
            return None
        if message.id is UNSET:
            return self._notification(message.method, message.params, params)
        self._something_else()
        return self._asking.request(message.id, message.method, message.params)

    def finish(self) -> None:
        self._speech.end_earlier_prompt()
        self._speech.close()
        self._tools.end_all("The agent went before this tool reported back.")

    def _keep_early(self, line: bytes) -> None:
        """Some agents speak of a session before they have named it. Of other sessions we know nothing."""
        state = self._state
        size = sum(map(len, state.early)) + len(line)
        if state.stage == "opening" and state.launch.resume is None and size <= MAX_EARLY_BYTES:
            state.early = [*state.early, line.decode()][-MAX_EARLY:]

    # Answers to our own requests ---------------------------------------------------------------------------

    def _answer(self, message: jsonrpc.Message) -> str | None:
        number = jsonrpc.our_id(message.id) if message.id is not UNSET else None
        if number is None:
            return "an answer without an id" if message.id is UNSET else "an answer to nothing that was asked"
        pending = self._state.pending.pop(number, None)
        if pending is None:
            ours = 0 < number - self._state.id_base < ID_RANGE
            return "an answer to nothing that was asked" if ours else None
        if message.error is not UNSET:
            self._refused(number, pending, loosely(message.error))
        else:
            self._answered(number, pending, loosely(message.result) if message.result is not UNSET else {})
        return None

    def _answered(self, number: int, pending: Pending, answer: JsonObject) -> None:
        match pending.asked:
            case "initialize":
                self._opening.initialized(answer)
            case "open":
                self._opened(answer)
            case "prompt":
                self._end_turn(number, answer, None)
            case "mode" | "start_mode":
                self._about.settings(answer)
                self._about.mode(pending.value)
                if pending.asked == "start_mode":
                    self._opening.start_mode_set()
            case "model":
                self._about.settings(answer)
                self._about.model(pending.value)

    def _refused(self, number: int, pending: Pending, error: JsonObject) -> None:
        match pending.asked:
            case "initialize":
                self._opening.failed(error_words(error))
            case "open":
                self._state.replaying = False
                self._opening.open_refused(error)
            case "prompt":
                self._end_turn(number, {}, error)
            case "start_mode":
                self._opening.start_mode_refused(error)
            case "mode" | "model":
                told = f"The agent did not switch to {pending.value[:80]!r}: {error_words(error)}"
                self._out.put(Note(f"{pending.asked}_refused", told, "warning"))

    def _opened(self, answer: JsonObject) -> None:
        self._something_else()
        self._speech.end_earlier_prompt()
        self._speech.end_earlier_turn()
        self._opening.opened(answer)
        early, self._state.early = self._state.early, []
        for line in early:
            if text(loosely(jsonrpc.read(line.encode()).params), "sessionId") == self._state.facts.session_id:
                self.line(line.encode())

    def _end_turn(self, number: int, answer: JsonObject, error: JsonObject | None) -> None:
        self._speech.close()
        self._asking.forget_open()
        self._tools.end_all("The turn ended before this tool reported back.")
        end_turn(self._state, self._out, answer, error)
        if self._state.turn == number:
            self._state.turn = None
        self._state.cancelling = False
        self._opening.send_held()

    # News --------------------------------------------------------------------------------------------------

    def _notification(self, method: str, raw: Raw, params: JsonObject) -> str | None:
        match method:
            case "session/update":
                return self._update(raw, mapping(params, "update"))
            case "$/cancel_request":
                return self._asking.withdraw(bytes(jsonrpc.request_id_in(raw)))
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
                self._about.commands(update)
            case "current_mode_update":
                self._about.mode(text(update, "currentModeId"))
            case "config_option_update":
                self._about.settings(update)
            case "session_info_update":
                self._about.title(text(update, "title"))
            case "usage_update":
                self._about.usage(update)
            case _:
                return f"unknown update {kind[:80]!r}"
        return None

    def _spoken(self, kind: str, raw: Raw, update: JsonObject) -> str | None:
        state = self._state
        if state.replaying and not state.launch.history:
            return None  # it is in this log already
        if state.replaying and state.held:
            self._speech.skip_rest()
            return None
        if kind == "user_message_chunk":
            if state.replaying:
                self._tools.begin_drafts()
                self._speech.hear_earlier_prompt(update)
            return None  # otherwise an echo of what was just sent
        self._speech.end_earlier_prompt()
        if kind in ("tool_call", "tool_call_update"):
            call = read_call(jsonrpc.update_in(raw))
            self._speech.close()
            self._tools.begin_drafts(besides=call.tool_call_id)
            self._tools.hear(call)
            return None
        self._tools.begin_drafts()
        if kind in ("plan", "plan_update", "plan_removed"):
            self._speech.close()
            self._about.plan(mapping(update, "plan") if kind == "plan_update" else update)
        else:
            self._speech.say("assistant" if kind == "agent_message_chunk" else "thinking", update)
        return None

    def _something_else(self) -> None:
        self._tools.begin_drafts()
        self._speech.close()
