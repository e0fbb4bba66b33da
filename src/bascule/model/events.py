"""Events: the facts of a session's log, in the past tense and frozen.

Each event is one JSON object whose `type` is the class name in snake_case. `msgspec.Raw` fields keep the
agent's own JSON byte for byte, because an answer must be built from exactly what was asked.
"""

import re
from typing import Literal

from msgspec import Raw, Struct

from bascule.model.event_values import (
    EMPTY_OBJECT,
    CopiedFrom,
    Decision,
    Diff,
    EndReason,
    GuardDecision,
    Image,
    Location,
    ModelChoice,
    PermissionMode,
    PermissionOption,
    PlanItem,
    Question,
    SlashCommand,
    StartOptions,
    StopReason,
    TextKind,
    ToolKind,
    ToolStatus,
    Usage,
)
from bascule.model.event_values import (
    OptionKind as OptionKind,
)
from bascule.model.event_values import (
    QuestionOption as QuestionOption,
)
from bascule.model.guards import GuardKind


def snake(name: str) -> str:
    """`TextAppended` -> `text_appended`: the wire name of a class."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Event(Struct, frozen=True, tag_field="type", tag=snake, omit_defaults=True, gc=False):
    """The base of every fact. None refers to another in a circle, so the garbage collector skips them."""


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


# Turn -----------------------------------------------------------------------------------------------


class PromptQueued(Event, frozen=True):
    prompt_id: str
    text: str
    by: str
    client_message_id: str | None = None
    images: tuple[Image, ...] = ()
    held: bool = False  # never logged: set in the queue by `queue_held`, until a person lets it go


class PromptEdited(Event, frozen=True):
    prompt_id: str
    text: str
    by: str


class PromptsReordered(Event, frozen=True):
    order: tuple[str, ...]
    by: str


class PromptWithdrawn(Event, frozen=True):
    prompt_id: str
    by: str


class QueueHeld(Event, frozen=True):
    """A turn was stopped while prompts waited: all that wait now stay until a person decides."""

    by: str


class QueueReleased(Event, frozen=True):
    """A person let held prompts go: these, or all of them."""

    by: str
    prompt_ids: tuple[str, ...] = ()


class PromptSent(Event, frozen=True):
    prompt_id: str
    text: str
    by: str
    client_message_id: str | None = None
    images: tuple[Image, ...] = ()


class TurnEnded(Event, frozen=True):
    stop_reason: StopReason
    usage: Usage | None = None
    cost_usd: float | None = None  # of the whole session so far, as the agent counts it
    duration_ms: int | None = None
    message: str | None = None  # what went wrong, in the agent's words
    fork_at: str | None = None  # the agent's own id of this point, if a copy of the conversation can end here


class Interrupted(Event, frozen=True):
    by: str


class GuardAsked(Event, frozen=True):
    """A guard rail holds the agent: a cap on spending is reached, or the same call was repeated too often.

    Nothing is sent to the agent until a person decides. `spent` and `allowed` are in the cap's own unit.
    `cut_short`: a turn was interrupted for it.
    """

    guard_id: str
    kind: GuardKind
    text: str
    spent: int = 0
    allowed: int = 0
    cut_short: bool = False


class GuardAnswered(Event, frozen=True):
    """A person decided. `allowed` is the session's cap from now on; `end` is followed by the end."""

    guard_id: str
    decision: GuardDecision
    by: str
    allowed: int = 0


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
        """The same, as a text that is streamed would be told."""
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


# Asking ---------------------------------------------------------------------------------------------


class PermissionRequested(Event, frozen=True):
    request_id: str
    tool: str
    title: str
    kind: ToolKind
    input: Raw
    input_sha256: str
    options: tuple[PermissionOption, ...]
    tool_id: str | None = None
    note: str = ""  # the agent's own words about it: never Bascule's
    blocked_path: str | None = None
    suggestions: tuple[Raw, ...] = ()  # as the agent sent them; options refer to them by position
    reason_follows: bool = False  # a no carries no words to this agent: a reason is sent as the next message


class PermissionAnswered(Event, frozen=True):
    request_id: str
    decision: Decision
    by: str
    option: str | None = None
    rule: str | None = None  # the rule, in words, when policy answered or one was made
    message: str | None = None
    rule_ids: tuple[str, ...] = ()  # of the lasting rules that answered


class PermissionWithdrawn(Event, frozen=True):
    request_id: str
    reason: str  # "agent", "interrupted", "ended", "lost", "restored" (answered after an older copy was made)


class QuestionAsked(Event, frozen=True):
    request_id: str
    questions: tuple[Question, ...]
    input: Raw
    input_sha256: str
    tool_id: str | None = None


class QuestionAnswered(Event, frozen=True):
    """`answers` maps the full question text to the answer. Empty with a message: declined."""

    request_id: str
    by: str
    answers: dict[str, str] = {}
    notes: dict[str, str] = {}
    message: str | None = None


class QuestionWithdrawn(Event, frozen=True):
    request_id: str
    reason: str


class AnswerDelivered(Event, frozen=True):
    """The answer's bytes are in the agent's stdin."""

    request_id: str


class RuleAdded(Event, frozen=True):
    """A session-scoped rule a person made by "remember". `rule` is policy's own encoding."""

    rule: Raw
    words: str
    by: str


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
