"""The stream-json protocol as a driver: bytes in, events out; wishes in, bytes out."""

from typing import Self

import msgspec

from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.lines import LineSplitter, Oversize
from bascule.drivers.models import unlisted
from bascule.drivers.stream_json import encode
from bascule.drivers.stream_json.decode import Decoder
from bascule.drivers.stream_json.state import DriverState
from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
)
from bascule.model.records import Write

_state = msgspec.json.Decoder(DriverState)


class StreamJsonDriver:
    def __init__(self, state: DriverState | None = None) -> None:
        self._state = state or DriverState()
        self._lines = LineSplitter(skipping=self._state.skipping)
        self._out = EventBuffer()
        self._replies: list[Write] = []
        self._decoder = Decoder(self._state, self._out, self._replies)

    @property
    def consumed(self) -> int:
        return self._lines.consumed

    @property
    def spoken(self) -> bool:
        return self._state.spoken

    def start(self) -> list[Write]:
        return [encode.initialize("start:1")]

    def receive(self, chunk: bytes) -> list[AnyEvent]:
        self._read(self._lines.feed(chunk))
        return self._out.take()

    def finish(self) -> list[AnyEvent]:
        self._read(self._lines.finish())
        self._decoder.finish()
        return self._out.take()

    @property
    def owes(self) -> bool:
        return bool(self._replies)

    def data_to_send(self) -> list[Write]:
        owed = list(self._replies)
        self._replies.clear()
        return owed

    def prompt(self, sent: PromptSent) -> Write:
        return encode.prompt(sent)

    def interrupt(self, write_id: str) -> Write:
        return encode.interrupt(write_id)

    def settled(self) -> list[AnyEvent]:
        return self._out.take()  # what an interrupt has ended the agent itself says

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

    def state(self) -> bytes:
        self._state.skipping = self._lines.skipping
        return msgspec.json.encode(self._state)

    @classmethod
    def restore(cls, state: bytes) -> Self:
        return cls(_state.decode(state))

    def _read(self, lines: list[bytes | Oversize]) -> None:
        for line in lines:
            if isinstance(line, Oversize):
                self._decoder.oversize(line)
                continue
            try:
                self._decoder.line(line)
            except Exception as error:  # noqa: BLE001 - the promise is that no bytes ever raise
                self._decoder.keep_broken(line, error)
