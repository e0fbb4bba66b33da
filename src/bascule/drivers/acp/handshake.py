"""The ACP handshake: initialize, open or load the session, set mode and model, then send prompts."""

from collections.abc import Mapping

from bascule import __version__
from bascule.drivers.acp.agent_info import AgentInfoReader
from bascule.drivers.acp.encode import WRITER, prompt_blocks
from bascule.drivers.acp.service_calls import offered
from bascule.drivers.acp.state import DriverState, PendingRequest
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import MAX_ID, JsonObject, clip, mapping, text, words
from bascule.drivers.writes import FOR_ALL, Replies
from bascule.model.events import Note, PromptSent, TurnEnded
from bascule.model.records import Write

PROTOCOL_VERSION = 1
AUTH_REQUIRED = -32000
INITIALIZE_ID = 0


class AcpHandshake:
    def __init__(
        self, state: DriverState, out: EventBuffer, replies: Replies, agent_info: AgentInfoReader
    ) -> None:
        self._state = state
        self._out = out
        self._replies = replies
        self._agent_info = agent_info

    def begin(self) -> list[Write]:
        """Send `initialize`, or open the session if another one of the process has sent it already."""
        if not self._state.info.greeted:
            # All sessions that begin on this process send this under the same write id: it is written once.
            return [
                Write(f"{FOR_ALL}initialize" if self._state.shared else "start:1", self._initialize_line())
            ]
        self._state.stage = "opening"
        line = self._open()
        return [] if line is None else [Write("start:1", line)]

    def _initialize_line(self) -> bytes:
        self._state.stage = "opening"
        self._state.pending[INITIALIZE_ID] = PendingRequest("initialize")
        params = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": offered(self._state.launch.services),
            "clientInfo": {"name": "bascule", "title": "Bascule", "version": __version__},
        }
        return WRITER.request(INITIALIZE_ID, "initialize", params)

    # Answers to what we asked ----------------------------------------------------------------------------

    def initialized(self, answer: JsonObject) -> None:
        self._state.refused = ""
        version = answer.get("protocolVersion")
        if version != PROTOCOL_VERSION:
            message = (
                f"The agent speaks version {version!r:.40} of its protocol; {PROTOCOL_VERSION} was expected."
            )
            self._out.put(Note("protocol_version", message, "warning"))
        self._agent_info.initialized(answer)
        line = self._open()
        if line is not None:
            self._send("open", line)

    def opened(self, answer: JsonObject) -> None:
        state = self._state
        session_id = text(answer, "sessionId") or state.launch.resume
        if session_id is None or len(session_id) > MAX_ID:
            self.failed("The agent opened a session without naming it.")
            return
        self._agent_info.opened(session_id, answer)
        if state.launch.left_out:
            self._out.put(Note("project_settings", state.launch.left_out))
        if state.leaving:
            self.close()
            return
        model = state.launch.model
        if model is not None and model != state.info.model:
            self._send("model", self.set_model(model))
        mode = state.start_mode()
        if mode is None or mode == state.info.mode:
            self._ready()
        else:
            state.stage = "moded"
            self._send("mode", self.set_mode(mode, at_start=True))

    def not_greeted(self, error: JsonObject) -> None:
        """The agent refused `initialize`: no session is possible."""
        self._state.refused = error_words(error)
        if self._state.shared:  # the process will be given up, and each of its sessions notes it
            self._state.stage = "failed"
            self._out.put(Note("not_greeted", f"The agent refused: {self._state.refused}", "error"))
        else:
            self.failed(self._state.refused)

    def close(self) -> None:
        """Close the session, if the agent supports that."""
        info = self._state.info
        if info.closes and info.session_id is not None:
            number = self._state.new_id(PendingRequest("close"))
            self._send("close", WRITER.request(number, "session/close", {"sessionId": info.session_id}))

    def list_conversations(self) -> bytes:
        """Request the agent's list of conversations in this folder."""
        params = {"cwd": self._state.launch.cwd}
        return WRITER.request(self._state.new_id(PendingRequest("list")), "session/list", params)

    def probe(self) -> bytes:
        """A request with an unknown method, which every living agent answers, if only with an error."""
        return WRITER.request(self._state.new_id(PendingRequest("probe")), "_bascule/there", {})

    def open_refused(self, error: JsonObject) -> None:
        message = error_words(error)
        if error.get("code") == AUTH_REQUIRED or "auth" in message.lower():
            self.failed(with_login(message, self._state.info.logins), code="login_needed")
        else:
            self.failed(message)

    def failed(self, why: str, *, code: str = "session_refused") -> None:
        """Opening the session failed. Prompts that waited fail with it; the next one tries again."""
        self._state.stage = "failed"
        self._out.put(Note(code, f"The agent opened no session: {why}", "error"))
        self._give_up_held(why)

    def start_mode_set(self) -> None:
        mode = self._state.start_mode()
        if mode is None or mode == self._state.info.mode:
            self._ready()
        else:  # another mode was chosen meanwhile
            self._send("mode", self.set_mode(mode, at_start=True))

    def start_mode_refused(self, error: JsonObject) -> None:
        """The agent refused the mode in which it asks before it acts: it gets no prompt until it accepts."""
        mode = self._state.start_mode() or ""
        message = error_words(error)
        why = f"The agent did not switch to its mode {mode[:80]!r} ({message}), so nothing is sent to it."
        self._out.put(Note("mode_refused", why, "error"))
        self._give_up_held(why)

    def _give_up_held(self, why: str) -> None:
        if self._state.held:
            self._state.held = []
            self._out.put(TurnEnded("error", message=clip(why, 4096)))

    def _ready(self) -> None:
        self._state.stage = "ready"
        self.send_held()

    # Prompts ---------------------------------------------------------------------------------------------

    def prompt(self, sent: PromptSent) -> Write:
        """Send the prompt, or hold it until the session is open and the turn before it has ended."""
        state, write_id = self._state, f"prompt:{sent.prompt_id}"
        if state.stage == "ready" and state.turn is None and not state.held:
            return Write(write_id, self._prompt_line(sent))
        alone = not state.held
        state.held.append(sent)
        if state.stage == "failed" and alone:
            state.stage = "opening"
            return Write(write_id, (self._open() or b"") if state.info.greeted else self._initialize_line())
        if state.stage == "moded" and alone and not self._is_pending("start_mode"):
            return Write(write_id, self.set_mode(state.start_mode() or "", at_start=True))
        return Write(write_id, b"")

    def send_held(self) -> None:
        """Send the next held prompt, if the agent can take one."""
        state = self._state
        if state.held and state.stage == "ready" and state.turn is None:
            sent = state.held.pop(0)
            self._replies.add(Write(f"prompt:{sent.prompt_id}", self._prompt_line(sent)))

    def _prompt_line(self, sent: PromptSent) -> bytes:
        state = self._state
        state.replaying = False
        state.cancelling = state.denying = False
        state.last_said = state.own_words = ""
        state.silent = not sent.text.startswith("/")  # a command may have nothing to say
        state.turn = state.new_id(PendingRequest("prompt"))
        if sent.images and not state.info.images:
            self._out.put(
                Note("images_left_out", "This agent takes no pictures; they were left out.", "warning")
            )
        blocks = prompt_blocks(sent, images=state.info.images)
        params = {"sessionId": state.info.session_id, "prompt": blocks}
        return WRITER.request(state.turn, "session/prompt", params)

    # Mode and model --------------------------------------------------------------------------------------

    def set_mode(self, mode: str, *, at_start: bool = False) -> bytes:
        info = self._state.info
        number = self._state.new_id(PendingRequest("start_mode" if at_start else "mode", mode))
        if info.mode_option is not None and not info.has_modes:
            return self._set_option(number, info.mode_option, mode)
        return WRITER.request(number, "session/set_mode", {"sessionId": info.session_id, "modeId": mode})

    def set_model(self, model: str) -> bytes:
        info = self._state.info
        number = self._state.new_id(PendingRequest("model", model))
        if info.model_option is not None and not info.has_models:
            return self._set_option(number, info.model_option, model)
        return WRITER.request(number, "session/set_model", {"sessionId": info.session_id, "modelId": model})

    def _set_option(self, number: int, option: str, value: str) -> bytes:
        params = {"sessionId": self._state.info.session_id, "configId": option, "value": value}
        return WRITER.request(number, "session/set_config_option", params)

    # The session ------------------------------------------------------------------------------------------

    def _open(self) -> bytes | None:
        """Request a new session, or an earlier one by `session/resume` or `session/load`."""
        launch, info = self._state.launch, self._state.info
        params: dict[str, object] = {"cwd": launch.cwd, "mcpServers": []}
        if launch.resume is None:
            return self._open_with("session/new", params)
        params = {"sessionId": launch.resume, **params}
        info.session_id = launch.resume
        if info.resumes and not (launch.history and info.loads):
            return self._open_with("session/resume", params)
        if info.loads:
            self._state.replaying = True
            return self._open_with("session/load", params)
        self.failed("It can't take up an earlier conversation.")
        return None

    def _open_with(self, method: str, params: Mapping[str, object]) -> bytes:
        return WRITER.request(self._state.new_id(PendingRequest("open")), method, params)

    def _send(self, what: str, line: bytes) -> None:
        self._replies.add(Write(self._state.new_write(what), line))

    def _is_pending(self, asked: str) -> bool:
        return any(pending.asked == asked for pending in self._state.pending.values())


def with_login(message: str, logins: str) -> str:
    """A refusal for want of a login, and how to get one."""
    how = f" Ways to log in: {logins}." if logins else ""
    return f"{message}.{how} Log in with the agent's own command, then send the message again."


def error_words(error: JsonObject) -> str:
    """The error's message, with the details some agents put into `data`."""
    said = words(error, "message", 2000) or f"error {error.get('code')!r:.40}"
    data = mapping(error, "data")
    more = text(data, "details") or text(data, "message") or text(error, "data")
    if more and more not in said:
        said = f"{said}: {clip(more, 2000)}"
    return said
