"""The Codex driver: bytes of `codex app-server` in, events out; commands in, bytes out."""

from typing import Self

import msgspec

from bascule.drivers.base import DriverLaunch
from bascule.drivers.codex.conversation_list import Threads
from bascule.drivers.codex.decode import Decoder
from bascule.drivers.codex.encode import permission_answer
from bascule.drivers.codex.handshake import CodexHandshake
from bascule.drivers.codex.items import Items
from bascule.drivers.codex.questions import question_answer
from bascule.drivers.codex.requests import CodexRequests
from bascule.drivers.codex.state import DriverState
from bascule.drivers.conversation_list import Listing
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.jsonrpc.driver import JsonRpcDriver
from bascule.drivers.models import unlisted
from bascule.drivers.writes import Replies
from bascule.model.events import (
    ModelChanged,
    PermissionAnswered,
    PermissionRequested,
    QuestionAnswered,
    QuestionAsked,
)
from bascule.model.records import Write

_state = msgspec.json.Decoder(DriverState)


class CodexDriver(JsonRpcDriver[DriverState, CodexHandshake, CodexRequests]):
    """One thread of one `codex app-server` process."""

    def __init__(self, launch: DriverLaunch | None = None, *, state: DriverState | None = None) -> None:
        state = state or DriverState(launch or DriverLaunch())
        out, replies = EventBuffer(), Replies()
        requests = CodexRequests(state, out, replies)
        handshake = CodexHandshake(state, out, replies)
        self._threads = Threads(state, replies)
        decoder = Decoder(state, out, handshake, requests, Items(state, out), self._threads)
        super().__init__(state, out, replies, decoder, handshake, requests)

    @property
    def spoken(self) -> bool:
        return self._state.stage != "new" and "initialize" not in self._state.pending.values()

    @property
    def owes(self) -> bool:
        return super().owes or self._threads.has_listing

    @property
    def _is_turning(self) -> bool:
        return self._state.turning

    def _stop_turn(self) -> bytes:
        self._state.stopped = True
        return self._handshake.interrupt_line()

    def answer_permission(self, asked: PermissionRequested, answered: PermissionAnswered) -> Write:
        answer = permission_answer(asked, answered)
        request = self._requests.open_request(asked.request_id)
        self._state.stopped = self._state.stopped or answered.decision == "deny"
        item = self._state.items.get(request.item_id)
        if item is not None and answered.decision == "deny":
            item.denied = True
        return self._requests.answer(asked.request_id, answer)

    def answer_question(self, asked: QuestionAsked, answered: QuestionAnswered) -> Write:
        return self._requests.answer(asked.request_id, question_answer(asked, answered))

    @property
    def offered_modes(self) -> tuple[str, ...]:
        return ()

    def set_mode(self, write_id: str, mode: str) -> Write:
        self._handshake.set_mode(mode)
        return Write(write_id, b"")

    def set_model(self, write_id: str, model: str) -> Write:
        """Use this model from the next turn on."""
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

    @classmethod
    def restore(cls, state: bytes) -> Self:
        return cls(state=_state.decode(state))
