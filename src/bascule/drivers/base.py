"""The Driver interface: the agent's bytes in, events out; commands in, bytes for the agent out.

A driver awaits nothing and owns nothing. Its state may be saved at any line end (`state`) and restored by
another process (`restore`), which then reads on from `consumed`.
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
    """What a driver must know of a session's start beyond the agent's command line."""

    cwd: str = ""
    run: str = (
        ""  # names this run of the agent: ids it makes up begin with it, so that two runs never share one
    )
    model: str | None = None
    mode: str | None = None  # as the agent calls it
    resume: str | None = None  # the agent's own id of an earlier conversation
    fork: bool = False  # continue a copy of it, and leave the earlier one as it is
    fork_at: str | None = None  # the copy ends here, at the end of an earlier turn
    history: bool = False  # log what the agent replays of it
    quirks: tuple[str, ...] = ()  # see `agents/spec.py`
    cues: tuple["Cue", ...] = ()  # of a plain-text agent
    services: tuple[str, ...] = ()  # offered to the agent: "read", "write", "terminal"
    multiline: tuple[str, str] | None = None  # the lines to put around a message of several lines
    probe: "Probe | None" = None  # of a plain-text agent: how to verify that it waits
    failure: "Failure | None" = None  # how a plain-text agent reports that the model failed
    left_out: str = ""  # which project settings do not apply, for people


class Cue(Struct, frozen=True, omit_defaults=True):
    """A pattern for the end of a plain-text agent's output that shows it waits for input."""

    pattern: str
    kind: str = "ready"  # ready: for the next prompt; permission: yes or no; question: anything
    allow: str = "y"
    always: str = ""
    deny: str = "n"
    about: str = ""  # what was printed before the question is a "command", "path" or "url"
    tool: ToolKind = "other"


class Probe(Struct, frozen=True, omit_defaults=True):
    """A harmless line to send to a plain-text agent, whose reply shows what it waits for.

    A cue may be part of an answer, or come too early. The reply to a probe can't be faked: the model does not
    know the `{nonce}`.
    """

    send: str
    ready: str  # the line it prints when it read the probe as a prompt
    asked: str  # beginning of its reply when it read the probe as an answer; it then asks again
    prompt: str  # a pattern for the prompt it shows


class Failure(Struct, frozen=True, omit_defaults=True):
    """Patterns for lines that report that the model failed (`pattern`), or that it went on (`unless`)."""

    pattern: str
    unless: str = ""


class Driver(Protocol):
    @property
    def consumed(self) -> int:
        """How many bytes of output are decoded, counted from where this driver began to read."""
        ...

    @property
    def repeatable(self) -> bool:
        """Whether the same output, cut anywhere, leads from one state to the same other state.

        Then a state need not be stored with every step: the output since the last one is received again.
        """
        ...

    @property
    def spoken(self) -> bool:
        """Whether the agent has sent a valid message; always True where others check that."""
        ...

    def start(self) -> list[Write]:
        """The first writes to a new agent. Not called after `restore`."""
        ...

    def receive(self, chunk: bytes) -> list[AnyEvent]:
        """Decode output, which may be cut anywhere. Never raises, whatever the bytes."""
        ...

    def finish(self) -> list[AnyEvent]:
        """The output ended: close what is open, keep an unfinished line as unrecognised."""
        ...

    @property
    def owes(self) -> bool:
        """Whether `data_to_send` has anything to give."""
        ...

    def data_to_send(self) -> list[Write]:
        """Take the replies that the driver owes the agent after `receive`."""
        ...

    # A command the agent can't take yet gives a write without data, which is never delivered: the driver
    # keeps the command in its state, and `data_to_send` gives it out when the agent can take it.

    def prompt(self, sent: PromptSent) -> Write: ...

    def interrupt(self, write_id: str) -> Write: ...

    def settled(self) -> list[AnyEvent]:
        """Take the events that the last command caused by itself, to be logged with it."""
        ...

    def answer_permission(self, asked: PermissionRequested, answered: PermissionAnswered) -> Write: ...

    def answer_question(self, asked: QuestionAsked, answered: QuestionAnswered) -> Write: ...

    @property
    def offered_modes(self) -> tuple[str, ...]:
        """The modes the agent offers; empty if it does not list them."""
        ...

    def set_mode(self, write_id: str, mode: str) -> Write: ...

    def set_model(self, write_id: str, model: str) -> Write: ...

    def state(self) -> bytes:
        """Encode everything needed to read on at `consumed`; small, whatever was read."""
        ...

    @classmethod
    def restore(cls, state: bytes) -> Self: ...
