"""The stream-json driver: Claude Code's bytes in, events out; commands in, bytes out."""

from typing import Self

import msgspec

from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.line_driver import LineDriver
from bascule.drivers.models import unlisted
from bascule.drivers.stream_json import encode
from bascule.drivers.stream_json.decode import Decoder
from bascule.drivers.stream_json.state import DriverState
from bascule.drivers.writes import Replies
from bascule.model.events import (
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
)
from bascule.model.records import Write

_state = msgspec.json.Decoder(DriverState)


class StreamJsonDriver(LineDriver[DriverState]):
    def __init__(self, state: DriverState | None = None) -> None:
        state = state or DriverState()
        out, replies = EventBuffer(), Replies()
        super().__init__(state, out, replies, Decoder(state, out, replies))

    @property
    def spoken(self) -> bool:
        return self._state.spoken

    def start(self) -> list[Write]:
        return [encode.initialize("start:1")]

    def prompt(self, sent: PromptSent) -> Write:
        return encode.prompt(sent)

    def interrupt(self, write_id: str) -> Write:
        return encode.interrupt(write_id)

    def answer_permission(self, asked: PermissionRequested, answered: PermissionAnswered) -> Write:
        return encode.answer_permission(asked, answered, to=self._state.foreign_id(asked.request_id))

    def answer_question(self, asked: QuestionAsked, answered: QuestionAnswered) -> Write:
        return encode.answer_question(asked, answered, to=self._state.foreign_id(asked.request_id))

    @property
    def offered_modes(self) -> tuple[str, ...]:
        return ()

    def set_mode(self, write_id: str, mode: str) -> Write:
        return encode.set_mode(write_id, mode)

    def set_model(self, write_id: str, model: str) -> Write:
        info = self._state.info
        known = {*info.offered, info.model, "", "default"}
        info.trying = model if info.offered and model not in known else ""
        if info.trying:
            self._out.put(unlisted(model))
        return encode.set_model(write_id, model)

    @classmethod
    def restore(cls, state: bytes) -> Self:
        return cls(_state.decode(state))
