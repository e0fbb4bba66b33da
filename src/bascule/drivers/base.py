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
    ToolKind,
)
from bascule.model.records import Write

STOPPED_BY_ITSELF = "The agent stopped this turn by itself; nobody here asked it to."


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
    probe: "Probe | None" = None  # of a plain-text agent: how to know for sure that it waits
    failure: "Failure | None" = None  # how a plain-text agent tells that the model failed
    left_out: str = ""  # what of the project's settings does not count here, for people


class Cue(Struct, frozen=True, omit_defaults=True):
    """How a plain-text agent shows that it waits for somebody: a pattern for the end of what it printed."""

    pattern: str
    kind: str = "ready"  # ready: for the next prompt; permission: yes or no; question: anything
    allow: str = "y"
    always: str = ""
    deny: str = "n"
    about: str = ""  # what its subject is, printed before the question: "command", "path" or "url"
    tool: ToolKind = "other"


class Probe(Struct, frozen=True, omit_defaults=True):
    """A line that a plain-text agent takes for nothing, wherever it reads it, and answers in its own words.

    A cue may be part of an answer, or come before its time. The probe's answer can't: `{nonce}` is not known
    to whoever writes the answers.
    """

    send: str
    ready: str  # the line it prints when it read the probe as a prompt
    asked: str  # how what it prints begins when it read the probe as an answer; it then asks again
    prompt: str  # a pattern for the prompt it shows


class Failure(Struct, frozen=True, omit_defaults=True):
    """Patterns for the beginning of lines: the model failed; it went on after that."""

    pattern: str
    unless: str = ""


class Driver(Protocol):
    @property
    def consumed(self) -> int:
        """How many bytes of output have become events, counted from where this driver began to read."""
        ...

    @property
    def spoken(self) -> bool:
        """Whether the agent has said anything in its protocol; True where that is seen to elsewhere."""
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

    @property
    def offered_modes(self) -> tuple[str, ...]:
        """The modes the agent itself says it has; empty when it does not say."""
        ...

    def set_mode(self, write_id: str, mode: str) -> Write: ...

    def set_model(self, write_id: str, model: str) -> Write: ...

    def state(self) -> bytes:
        """Everything needed to read on at `consumed`; small, whatever has been read."""
        ...

    @classmethod
    def restore(cls, state: bytes) -> Self: ...
