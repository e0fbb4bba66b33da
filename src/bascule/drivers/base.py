"""What every wire protocol offers: bytes in, events out, and the bytes that carry a wish to the agent.

A driver awaits nothing and owns nothing. It may be put down at any line end (`state`) and taken up again
by another process (`restore`), which then reads on from `consumed`.
"""

from typing import Protocol, Self

from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
)
from bascule.model.records import Write


class Driver(Protocol):
    @property
    def consumed(self) -> int:
        """How many bytes of output have become events, counted from where this driver began to read."""
        ...

    def start(self) -> list[Write]:
        """What a fresh agent is told first. Not called when an agent is taken up again."""
        ...

    def receive(self, chunk: bytes) -> list[AnyEvent]:
        """Output of the agent, cut anywhere. Never raises, whatever the bytes."""
        ...

    def finish(self) -> list[AnyEvent]:
        """The output ended: whatever is left unfinished is closed or kept as unrecognised."""
        ...

    def data_to_send(self) -> list[Write]:
        """Replies the driver itself owes the agent after `receive`, once."""
        ...

    def prompt(self, sent: PromptSent) -> Write: ...

    def interrupt(self, write_id: str) -> Write: ...

    def answer_permission(self, asked: PermissionRequested, answered: PermissionAnswered) -> Write: ...

    def answer_question(self, asked: QuestionAsked, answered: QuestionAnswered) -> Write: ...

    def set_mode(self, write_id: str, mode: str) -> Write: ...

    def set_model(self, write_id: str, model: str) -> Write: ...

    def state(self) -> bytes:
        """Everything needed to read on at `consumed`; small, whatever has been read."""
        ...

    @classmethod
    def restore(cls, state: bytes) -> Self: ...
