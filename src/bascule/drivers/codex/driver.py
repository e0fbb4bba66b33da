"""The app-server protocol as a driver: bytes in, events out; wishes in, bytes out."""

from typing import Self

import msgspec

from bascule.drivers.base import DriverLaunch
from bascule.drivers.codex.decode import Decoder
from bascule.drivers.codex.encode import WRITER, permission_answer
from bascule.drivers.codex.handshake import CodexHandshake
from bascule.drivers.codex.items import Items
from bascule.drivers.codex.listing import Threads
from bascule.drivers.codex.questions import question_answer
from bascule.drivers.codex.requests import CodexRequests
from bascule.drivers.codex.state import DriverState
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.line_reader import LineReader
from bascule.drivers.listing import Listing
from bascule.drivers.models import unlisted
from bascule.model.errors import RequestWithdrawn
from bascule.model.events import (
    AnyEvent,
    ModelChanged,
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
    TurnEnded,
)
from bascule.model.records import Write

_state = msgspec.json.Decoder(DriverState)


class CodexDriver:
    """One thread of one `codex app-server` process."""

    def __init__(self, launch: DriverLaunch | None = None, *, state: DriverState | None = None) -> None:
        self._state = state or DriverState(launch or DriverLaunch())
        self._out = EventBuffer()
        self._replies: list[Write] = []
        self._settled: list[AnyEvent] = []
        self._requests = CodexRequests(self._state, self._out, self._replies)
        self._handshake = CodexHandshake(self._state, self._out, self._replies)
        self._threads = Threads(self._state, self._replies)
        items = Items(self._state, self._out)
        self._decoder = Decoder(self._state, self._out, self._handshake, self._requests, items, self._threads)
        self._reader = LineReader(self._out, self._decoder.line, skipping=self._state.skipping)

    @property
    def consumed(self) -> int:
        return self._reader.consumed

    @property
    def spoken(self) -> bool:
        return self._state.stage != "new" and "initialize" not in self._state.pending.values()

    def start(self) -> list[Write]:
        return [self._handshake.initialize()]

    def receive(self, chunk: bytes) -> list[AnyEvent]:
        self._reader.feed(chunk)
        return self._out.take()

    def finish(self) -> list[AnyEvent]:
        self._reader.finish()
        self._decoder.finish()
        return self._out.take()

    @property
    def owes(self) -> bool:
        return bool(self._replies) or self._threads.told

    def data_to_send(self) -> list[Write]:
        owed = list(self._replies)
        self._replies.clear()
        return owed

    def prompt(self, sent: PromptSent) -> Write:
        return self._handshake.prompt(sent)

    def interrupt(self, write_id: str) -> Write:
        """Stop the turn, and refuse what it waits for. What was not sent yet never is."""
        state = self._state
        if state.held:
            state.held = []
            if not state.turning:
                self._settled.append(TurnEnded("interrupted"))
        if not state.turning:
            return Write(write_id, b"")
        state.stopped = True
        answers, gone = self._requests.cancel_all()
        self._settled += gone
        return Write(write_id, self._handshake.interrupt_line() + answers)

    def settled(self) -> list[AnyEvent]:
        ended, self._settled = [*self._settled, *self._out.take()], []
        return ended

    def answer_permission(self, asked: PermissionRequested, answered: PermissionAnswered) -> Write:
        answer = permission_answer(asked, answered)
        request = self._state.requests.pop(asked.request_id, None)
        if request is None:
            raise RequestWithdrawn(asked.request_id, reason="interrupted")
        self._state.stopped = self._state.stopped or answered.decision == "deny"
        item = self._state.items.get(request.item_id)
        if item is not None and answered.decision == "deny":
            item.denied = True
        return Write(f"answer:{asked.request_id}", WRITER.result(request.rpc_id, answer))

    def answer_question(self, asked: QuestionAsked, answered: QuestionAnswered) -> Write:
        answer = question_answer(asked, answered)
        request = self._state.requests.pop(asked.request_id, None)
        if request is None:
            raise RequestWithdrawn(asked.request_id, reason="interrupted")
        return Write(f"answer:{asked.request_id}", WRITER.result(request.rpc_id, answer))

    @property
    def offered_modes(self) -> tuple[str, ...]:
        return ()

    def set_mode(self, write_id: str, mode: str) -> Write:
        self._handshake.set_mode(mode)
        return Write(write_id, b"")

    def set_model(self, write_id: str, model: str) -> Write:
        """It holds from the next turn on."""
        state = self._state
        state.trying = model if state.offered and model not in {*state.offered, state.model} else ""
        state.model_changed = state.model_changed or bool(state.trying) or model != state.model
        if state.trying:
            self._out.put(unlisted(model))
        elif model != state.model:
            state.model = model
            self._out.put(ModelChanged(model))
        return Write(write_id, b"")

    @property
    def lists(self) -> bool:
        return self._state.stage == "ready"

    def list_conversations(self, write_id: str) -> Write:
        return Write(write_id, self._threads.ask())

    def take_listing(self) -> Listing | None:
        return self._threads.take()

    def state(self) -> bytes:
        self._state.skipping = self._reader.skipping
        return msgspec.json.encode(self._state)

    @classmethod
    def restore(cls, state: bytes) -> Self:
        return cls(state=_state.decode(state))
