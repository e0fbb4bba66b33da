"""Events: the facts of a session's log, in the past tense and frozen.

Each event is one JSON object whose `type` is the class name in snake_case. `msgspec.Raw` fields keep the
agent's own JSON byte for byte, because an answer must be built from exactly what was asked. Those of turns
and requests are in files of their own; `AnyEvent` has them all.
"""

from typing import Literal

from msgspec import Raw

from bascule.model.event import Event, snake
from bascule.model.event_values import (
    EMPTY_OBJECT,
    CopiedFrom,
    Diff,
    EndReason,
    Image,
    Location,
    ModelChoice,
    PermissionMode,
    PlanItem,
    SlashCommand,
    StartOptions,
    TextKind,
    ToolKind,
    ToolStatus,
)
from bascule.model.request_events import (
    AnswerDelivered,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    RuleAdded,
)
from bascule.model.turn_events import (
    GuardAnswered,
    GuardAsked,
    Interrupted,
    PromptEdited,
    PromptQueued,
    PromptSent,
    PromptsReordered,
    PromptWithdrawn,
    QueueHeld,
    QueueReleased,
    TurnEnded,
)

# Life -----------------------------------------------------------------------------------------------


class SessionStarted(StartOptions, Event, frozen=True, tag_field="type", tag=snake):
    """A session exists: somebody asked for it and its record is durable. The agent may not run yet."""

    agent: str
    driver: str
    cwd: str
    by: str
    device: str = ""  # the machine it runs on, by its lasting id
    resumed_from: str | None = None  # the agent's own id of an earlier conversation
    forked: bool = False
    forked_at: str | None = None  # the copy ends here (a `TurnEnded.fork_at`); None: at its end
    copied_from: CopiedFrom | None = None  # where a person can read what was copied
    demo: bool = False
    process: str = ""  # the keeper's name of the process it shares with others; empty: one of its own
    worktree_of: str | None = None  # the folder whose work tree `cwd` is
    found: bool = False  # it runs or ran outside Bascule; this is read from the agent's own files


class AgentSpawned(Event, frozen=True):
    """The agent's process runs."""

    pid: int
    argv0: str  # the binary that was found; its arguments may hold a person's words, so they stay out


class SessionReady(Event, frozen=True):
    """The agent has identified itself. Logged again when one of these facts changes."""

    agent_session_id: str | None = None
    model: str | None = None
    version: str | None = None
    mode: str | None = None


class SessionEnding(Event, frozen=True):
    reason: EndReason
    by: str


class SessionEnded(Event, frozen=True):
    reason: EndReason
    code: int | None = None
    signal: int | None = None
    message: str | None = None


class EndScheduled(Event, frozen=True):
    """A limit ends the session at this time, unless somebody keeps it or, when it is idle, writes to it."""

    at: str
    reason: Literal["idle_limit", "time_limit"]


class EndCancelled(Event, frozen=True):
    """The session does not end as was said: somebody keeps it (`by`), or it is used again."""

    by: str = ""


class ReconnectScheduled(Event, frozen=True):
    """The agent's process went away: after a pause it is started again. Said before each try."""

    attempt: int  # which try this is, from 1
    attempts: int  # how many there are before a person has to ask
    seconds: float = 0.0  # the pause before it
    message: str = ""  # what happened, or why the last try did not work


class SessionFailed(Event, frozen=True):
    """It never came up, or did not come back: not installed, bad folder, died before its first word."""

    reason: str
    message: str
    stderr_tail: str = ""
    code: int | None = None
    signal: int | None = None


# Saying ---------------------------------------------------------------------------------------------


class EntryOpened(Event, frozen=True):
    entry_id: str
    kind: TextKind
    parent: str | None = None  # the tool call of the sub-agent that speaks


class TextAppended(Event, frozen=True):
    entry_id: str
    kind: TextKind
    text: str


class EntryClosed(Event, frozen=True):
    entry_id: str


class TextSaid(Event, frozen=True):
    """A text that came whole: opened, appended and closed in one."""

    entry_id: str
    kind: TextKind
    text: str
    parent: str | None = None

    def in_pieces(self) -> "tuple[EntryOpened, TextAppended, EntryClosed]":
        """The same, as the events of a text that is streamed."""
        return (
            EntryOpened(self.entry_id, self.kind, self.parent),
            TextAppended(self.entry_id, self.kind, self.text),
            EntryClosed(self.entry_id),
        )


class ToolStarted(Event, frozen=True):
    tool_id: str
    name: str
    title: str
    kind: ToolKind = "other"
    input: Raw = EMPTY_OBJECT
    parent: str | None = None


class ToolChanged(Event, frozen=True):
    tool_id: str
    status: ToolStatus
    output: str = ""
    diffs: tuple[Diff, ...] = ()
    locations: tuple[Location, ...] = ()
    images: tuple[Image, ...] = ()


class PlanChanged(Event, frozen=True):
    items: tuple[PlanItem, ...]


# Other ----------------------------------------------------------------------------------------------


class TitleChanged(Event, frozen=True):
    title: str
    by: str = ""  # empty: taken from the first prompt or the agent


class ArchivedChanged(Event, frozen=True):
    archived: bool
    by: str


class ModeChanged(Event, frozen=True):
    """The agent's own mode (default, plan, acceptEdits, …)."""

    mode: str
    by: str = ""


class PermissionModeChanged(Event, frozen=True):
    """How Bascule answers: ask, answer reads itself, answer all itself, refuse all."""

    mode: PermissionMode
    by: str


class ModelChanged(Event, frozen=True):
    model: str
    by: str = ""


class CommandsChanged(Event, frozen=True):
    commands: tuple[SlashCommand, ...]


class ModelsChanged(Event, frozen=True):
    models: tuple[ModelChoice, ...]


class UsageChanged(Event, frozen=True):
    used: int | None = None
    size: int | None = None
    cost_usd: float | None = None


class StderrWritten(Event, frozen=True):
    text: str
    dropped: int = 0  # bytes left out here because the agent wrote more than is kept


class Note(Event, frozen=True):
    """Something worth a line: a retry, a compaction, a limit. `code` is for programs, `text` for people."""

    code: str
    text: str
    level: Literal["info", "warning", "error"] = "info"


class Unrecognised(Event, frozen=True):
    """What the agent said that no driver understood, kept and bounded."""

    raw: str
    reason: str
    length: int = 0  # bytes of the whole thing, when `raw` is only its head
    sha256: str = ""


class TerminalResized(Event, frozen=True):
    cols: int
    rows: int
    by: str = ""


class Bell(Event, frozen=True):
    pass


AnyEvent = (
    SessionStarted
    | AgentSpawned
    | SessionReady
    | EndScheduled
    | EndCancelled
    | SessionEnding
    | SessionEnded
    | ReconnectScheduled
    | SessionFailed
    | PromptQueued
    | PromptEdited
    | PromptsReordered
    | PromptWithdrawn
    | QueueHeld
    | QueueReleased
    | PromptSent
    | TurnEnded
    | Interrupted
    | GuardAsked
    | GuardAnswered
    | EntryOpened
    | TextAppended
    | EntryClosed
    | TextSaid
    | ToolStarted
    | ToolChanged
    | PlanChanged
    | PermissionRequested
    | PermissionAnswered
    | PermissionWithdrawn
    | QuestionAsked
    | QuestionAnswered
    | QuestionWithdrawn
    | AnswerDelivered
    | RuleAdded
    | TitleChanged
    | ArchivedChanged
    | ModeChanged
    | PermissionModeChanged
    | ModelChanged
    | CommandsChanged
    | ModelsChanged
    | UsageChanged
    | StderrWritten
    | Note
    | Unrecognised
    | TerminalResized
    | Bell
)
