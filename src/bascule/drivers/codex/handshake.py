"""The Codex handshake: initialize, start or resume the thread, then start and interrupt turns."""

import re
from typing import assert_never

from bascule import __version__
from bascule.drivers.codex import encode
from bascule.drivers.codex.encode import WRITER
from bascule.drivers.codex.replay import tell
from bascule.drivers.codex.state import DriverState, Step
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lenient import MAX_ID, JsonObject, clip, mapping, objects, text, words
from bascule.drivers.writes import Replies
from bascule.model.events import (
    ModeChanged,
    ModelChoice,
    ModelsChanged,
    Note,
    PromptSent,
    SessionReady,
    TurnEnded,
)
from bascule.model.records import Write

INITIALIZE_ID = 0
MAX_MODELS = 200


class CodexHandshake:
    def __init__(self, state: DriverState, out: EventBuffer, replies: Replies) -> None:
        self._state = state
        self._out = out
        self._replies = replies

    def begin(self) -> list[Write]:
        self._state.stage = "opening"
        self._state.pending[INITIALIZE_ID] = "initialize"
        client = {"name": "bascule", "title": "Bascule", "version": __version__}
        params = {"clientInfo": client, "capabilities": {"experimentalApi": True}}
        return [Write("start:1", WRITER.request(INITIALIZE_ID, "initialize", params))]

    # Answers ---------------------------------------------------------------------------------------------

    def answered(self, asked: Step, answer: JsonObject) -> None:
        match asked:
            case "initialize":
                self._initialized(answer)
            case "open":
                self._opened(answer)
            case "turn":
                self.turn_named(text(mapping(answer, "turn"), "id"))
            case "models":
                self._tell_models(answer)
            case "interrupt":
                pass
            case _:
                assert_never(asked)

    def refused(self, asked: Step, reason: str) -> None:
        match asked:
            case "initialize" | "open":
                self._state.stage = "failed"
                self._out.put(Note("session_refused", f"The agent opened no thread: {reason}", "error"))
                if self._state.held:
                    self._state.held = []
                    self._out.put(TurnEnded("error", message=clip(reason, 4096)))
            case "turn":
                self._out.put(TurnEnded("error", message=clip(reason, 4096)))
                self.turn_over()
            case "interrupt" | "models":
                self._out.put(Note(f"{asked}_refused", reason, "warning"))
            case _:
                assert_never(asked)

    def _initialized(self, answer: JsonObject) -> None:
        found = re.search(r"/(\d+\.\d+[\w.-]*)", text(answer, "userAgent") or "")
        self._state.version = found.group(1)[:80] if found else None
        self._send("start", WRITER.notification("initialized") + self._open())

    def _open(self) -> bytes:
        state = self._state
        state.mode = state.launch.mode if state.launch.mode in encode.MODES else encode.DEFAULT_MODE
        settings = encode.thread_settings(state.mode, state.launch.model)
        state.mode_changed = True  # the first turn sends the whole mode
        number = state.new_id("open")
        if state.launch.resume is None:
            return WRITER.request(number, "thread/start", {"cwd": state.launch.cwd, **settings})
        params: dict[str, object] = {"threadId": state.launch.resume, **settings}
        if state.launch.fork_at is not None:
            params["lastTurnId"] = state.launch.fork_at
        elif not state.launch.history:
            params["excludeTurns"] = True
        return WRITER.request(number, "thread/fork" if state.launch.fork else "thread/resume", params)

    def _opened(self, answer: JsonObject) -> None:
        state, thread = self._state, mapping(answer, "thread")
        thread_id = text(thread, "id")
        if thread_id is None or len(thread_id) > MAX_ID:
            self.refused("open", "It opened a thread without naming it.")
            return
        turns = objects(thread, "turns")
        # A version that does not know `lastTurnId` ignores it, and copies what a person wants left out.
        if state.launch.fork_at not in (None, text(turns[-1], "id") if turns else ""):
            self.refused("open", "It copied the whole conversation, not the part before this message.")
            return
        state.thread_id = thread_id
        state.model = (text(answer, "model") or text(thread, "model") or "")[:MAX_ID] or None
        state.version = (text(thread, "cliVersion") or state.version or "")[:80] or None
        if state.launch.resume is not None and state.launch.history and state.held:
            message = "The earlier conversation is not shown here; the agent remembers it."
            self._out.put(Note("history_skipped", message))
        elif state.launch.resume is not None and state.launch.history:
            tell(self._out, state.launch.run, turns)
        self._out.put(SessionReady(thread_id, state.model, state.version, state.mode))
        state.stage = "ready"
        self._send("models", WRITER.request(state.new_id("models"), "model/list", {}))
        self.send_held()

    def _tell_models(self, answer: JsonObject) -> None:
        models = tuple(
            ModelChoice(value[:200], words(model, "displayName", 200), words(model, "description", 500))
            for model in objects(answer, "data")[:MAX_MODELS]
            if (value := text(model, "model") or text(model, "id")) is not None
            and model.get("hidden") is not True
        )
        if models:
            self._state.offered = [model.value for model in models]
            self._out.put(ModelsChanged(models))

    # Turns -----------------------------------------------------------------------------------------------

    def prompt(self, sent: PromptSent) -> Write:
        state, write_id = self._state, f"prompt:{sent.prompt_id}"
        if state.stage == "ready" and not state.turning and not state.held:
            return Write(write_id, self._turn_line(sent))
        state.held.append(sent)
        if state.stage == "failed" and len(state.held) == 1:
            state.stage = "opening"
            return Write(write_id, self._open())
        return Write(write_id, b"")

    def send_held(self) -> None:
        state = self._state
        if state.held and state.stage == "ready" and not state.turning:
            sent = state.held.pop(0)
            self._replies.add(Write(f"prompt:{sent.prompt_id}", self._turn_line(sent)))

    def turn_named(self, turn_id: str | None) -> None:
        state = self._state
        if turn_id is None or len(turn_id) > MAX_ID or not state.turning:
            return
        state.turn_id = turn_id
        if state.stopping:
            state.stopping = False
            self._send("interrupt", self.interrupt_line())

    def turn_over(self) -> None:
        state = self._state
        state.turning = state.stopping = False
        state.turn_id = None
        self.send_held()

    def interrupt_line(self) -> bytes:
        state = self._state
        if state.turn_id is None:
            state.stopping = True
            return b""
        params = {"threadId": state.thread_id, "turnId": state.turn_id}
        return WRITER.request(state.new_id("interrupt"), "turn/interrupt", params)

    def set_mode(self, mode: str) -> None:
        """Use this mode from the next turn on: Codex takes a mode only with a turn."""
        if mode not in encode.MODES:
            known = ", ".join(encode.MODES)
            self._out.put(Note("mode_refused", f"There is no mode {mode[:80]!r}; modes: {known}.", "warning"))
        elif mode != self._state.mode:
            self._state.mode, self._state.mode_changed = mode, True
            self._out.put(ModeChanged(mode))

    def _turn_line(self, sent: PromptSent) -> bytes:
        state = self._state
        state.turning, state.turn_id, state.stopping, state.stopped = True, None, False, False
        changed = encode.turn_settings(
            state.mode if state.mode_changed else None,
            (state.trying or state.model) if state.model_changed else None,
        )
        state.mode_changed = state.model_changed = False
        state.tried = state.trying
        planning = state.mode == encode.PLAN_MODE
        model = state.trying or state.model
        if model is not None and (planning or state.planning):
            changed |= encode.collaboration(planning=planning, model=model)
            state.planning = planning
        params = {"threadId": state.thread_id, "input": encode.prompt_input(sent), **changed}
        return WRITER.request(state.new_id("turn"), "turn/start", params)

    def _send(self, what: str, line: bytes) -> None:
        self._replies.add(Write(self._state.new_write(what), line))
