"""What every wire protocol offers: bytes in, events out, and the bytes that carry a wish to the agent.

A driver awaits nothing and owns nothing. It may be put down at any line end (`state`) and taken up again
by another process (`restore`), which then reads on from `consumed`.
"""

from typing import Protocol, Self

from msgspec import Struct

from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
)
from bascule.model.records import Write


class DriverLaunch(Struct, frozen=True, omit_defaults=True):
    """What a driver has to know of a start that the agent's command line does not say."""

    cwd: str = ""
    run: str = (
        ""  # names this run of the agent: ids it makes up begin with it, so that two runs never share one
    )
    model: str | None = None
    mode: str | None = None  # as the agent calls it
    resume: str | None = None  # the agent's own id of an earlier conversation
    fork: bool = False  # the earlier conversation stays as it is, this one begins where it stands
    history: bool = False  # what is replayed of that conversation belongs in this log
    quirks: tuple[str, ...] = ()  # behaviours of this agent, by name
    cues: tuple["Cue", ...] = ()  # of an agent that speaks plain text
    services: tuple[str, ...] = ()  # what is done for the agent when it asks: "read", "write", "terminal"
    multiline: tuple[str, str] | None = None  # the lines it wants around a message of several


class Cue(Struct, frozen=True, omit_defaults=True):
    """How a plain-text agent shows that it waits for somebody: a pattern for the end of what it printed."""

    pattern: str
    kind: str = "ready"  # ready: for the next prompt; permission: yes or no; question: anything
    allow: str = "y"
    always: str = ""
    deny: str = "n"


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

    @property
    def owes(self) -> bool:
        """Whether `data_to_send` has anything to give."""
        ...

    def data_to_send(self) -> list[Write]:
        """Replies the driver itself owes the agent after `receive`, once."""
        ...

    # A wish the agent can't take yet gives a write without data, which is never delivered: the driver keeps
    # the wish in its state, and it comes out of `data_to_send` when its time has come.

    def prompt(self, sent: PromptSent) -> Write: ...

    def interrupt(self, write_id: str) -> Write: ...

    def settled(self) -> list[AnyEvent]:
        """What the last wish has settled or changed by itself, to be logged beside it, once."""
        ...

    def answer_permission(self, asked: PermissionRequested, answered: PermissionAnswered) -> Write: ...

    def answer_question(self, asked: QuestionAsked, answered: QuestionAnswered) -> Write: ...

    def set_mode(self, write_id: str, mode: str) -> Write: ...

    def set_model(self, write_id: str, model: str) -> Write: ...

    def state(self) -> bytes:
        """Everything needed to read on at `consumed`; small, whatever has been read."""
        ...

    @classmethod
    def restore(cls, state: bytes) -> Self: ...
