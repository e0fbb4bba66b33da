"""What a session is right now: small records folded from its log, kept beside it so nobody reads it whole."""

import re
from typing import Literal

from msgspec import Raw, Struct

from bascule.model.codec import Logged, encode
from bascule.model.events import (
    AgentSpawned,
    AnswerDelivered,
    AnyEvent,
    ArchivedChanged,
    EntryClosed,
    EntryOpened,
    Event,
    ModeChanged,
    ModelChanged,
    PermissionAnswered,
    PermissionModeChanged,
    PermissionRequested,
    PermissionWithdrawn,
    PromptEdited,
    PromptQueued,
    PromptSent,
    PromptsReordered,
    PromptWithdrawn,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    ReconnectScheduled,
    RuleAdded,
    SessionEnded,
    SessionEnding,
    SessionFailed,
    SessionReady,
    SessionStarted,
    TerminalResized,
    TextAppended,
    TitleChanged,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    UsageChanged,
)
from bascule.model.lifecycle import Phase, step

TITLE_LENGTH = 80

# Most of a log is these, and nothing about the session as a whole follows from them.
PASSING: frozenset[type[Event]] = frozenset(
    {EntryOpened, TextAppended, EntryClosed, ToolStarted, ToolChanged}
)

# What tools that open a pull request print last, and nothing looser: its number stands in lists.
_PULL_REQUEST = re.compile(
    r"https://[a-z0-9.-]+/(?:[\w.-]+/)+(?:pull|pulls|merge_requests)/[1-9][0-9]{0,8}", re.ASCII
)
_MAX_URL = 300


class Write(Struct, frozen=True):
    """Bytes for an agent's stdin. The id makes a repeated delivery harmless."""

    write_id: str
    data: bytes


class SessionRecord(Struct, omit_defaults=True):
    """One row of the session list."""

    session_id: str
    agent: str = ""
    driver: str = ""
    cwd: str = ""
    device: str = ""
    title: str = ""
    titled: bool = False  # a person chose the title, so the agent's ideas of one no longer count
    phase: Phase = Phase.STARTING
    model: str | None = None
    mode: str | None = None
    permission_mode: str = "relay"
    agent_session_id: str | None = None
    agent_version: str | None = None
    created_at: str = ""
    updated_at: str = ""
    created_by: str = ""
    seq: int = 0
    started_at: str = ""  # when this run of the agent began
    started_seq: int = 0  # of the newest session_started: names this run of the agent
    spawned: bool = False  # this run's process has been started
    open_requests: int = 0
    queued: int = 0
    turns: int = 0
    cost_usd: float | None = None
    context_used: int | None = None
    context_size: int | None = None
    end_reason: str | None = None
    end_message: str | None = None
    code: int | None = None
    signal: int | None = None
    attempt: int = 0  # of starting a lost agent again, until it is back; zero: it is not being reconnected
    attempts: int = 0  # how many tries there are
    archived: bool = False
    demo: bool = False
    cols: int | None = None  # of a terminal
    rows: int | None = None
    skip_permissions: bool = False
    process: str = ""  # the keeper's name of a process that is shared with other sessions
    worktree_of: str | None = None  # the folder this session's work is meant for, when it has a work tree
    added: int = 0  # lines its own edits added and removed, all in all
    removed: int = 0
    pull_request: str | None = None  # the newest one a command of its own ended by naming
    # Begun outside Bascule and read from the agent's own files, until it is continued here.
    found: bool = False


class Parked(Struct):
    """What waits in a session: prompts not yet sent, rules a person made."""

    queue: list[PromptQueued] = []
    rules: list[RuleAdded] = []


RequestState = Literal["open", "answered", "delivered", "confirmed", "withdrawn"]


class RequestRecord(Struct, omit_defaults=True):
    """A permission request or a question, from asked to done. The only place an answer is built from."""

    session_id: str
    request_id: str
    kind: Literal["permission", "question"]
    state: RequestState
    input_sha256: str
    asked: Raw  # the event as logged
    opened_at: str
    seq: int
    tool_id: str | None = None
    answer: PermissionAnswered | QuestionAnswered | None = None
    answered_at: str | None = None
    answered_by: str | None = None
    reason: str | None = None  # of a withdrawal


def title_from(text: str) -> str:
    """A session's title, from the first thing it was asked."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"


def advance(record: SessionRecord, parked: Parked, logged: Logged) -> bool:
    """Fold one event into a session's record. True when `parked` changed."""
    event = logged.event
    record.seq = logged.seq
    record.updated_at = logged.at
    if type(event) in PASSING:
        if isinstance(event, ToolChanged) and event.status == "done":
            _count_work(record, event)
        return False
    record.phase = step(record.phase, event)
    _advance_record(record, logged.at, event)
    changed = _advance_parked(parked, event)
    if changed:
        record.queued = len(parked.queue)
    return changed


def _advance_record(record: SessionRecord, at: str, event: AnyEvent) -> None:
    match event:
        case SessionStarted():
            record.agent, record.driver, record.cwd = event.agent, event.driver, event.cwd
            record.device = event.device
            record.model = event.model or record.model
            record.permission_mode, record.demo = event.permission_mode, event.demo
            record.cols, record.rows = event.cols, event.rows
            record.skip_permissions, record.found = event.skip_permissions, event.found
            record.process = event.process
            record.worktree_of = event.worktree_of
            record.created_at = record.created_at or at
            record.created_by = record.created_by or event.by
            record.end_reason = record.end_message = record.code = record.signal = None
            record.started_at, record.started_seq, record.spawned = at, record.seq, False
            if not event.forked:
                # Until the agent names its conversation (a terminal never does), this is all that is known.
                record.agent_session_id = event.resumed_from or record.agent_session_id
        case AgentSpawned():
            record.spawned = True
        case SessionReady():
            record.agent_session_id = event.agent_session_id or record.agent_session_id
            record.model = event.model or record.model
            record.agent_version = event.version or record.agent_version
            record.mode = event.mode or record.mode
            record.attempt = record.attempts = 0
        case ReconnectScheduled():
            record.attempt, record.attempts = event.attempt, event.attempts
        case PromptSent():
            record.title = record.title or title_from(event.text)
            record.turns += 1
        case TurnEnded():
            record.cost_usd = event.cost_usd if event.cost_usd is not None else record.cost_usd
        case UsageChanged():
            record.context_used = event.used if event.used is not None else record.context_used
            record.context_size = event.size if event.size is not None else record.context_size
            record.cost_usd = event.cost_usd if event.cost_usd is not None else record.cost_usd
        case PermissionRequested() | QuestionAsked():
            record.open_requests += 1
        case PermissionAnswered() | QuestionAnswered() | PermissionWithdrawn() | QuestionWithdrawn():
            record.open_requests = max(0, record.open_requests - 1)
        case TitleChanged() if event.by or not record.titled:
            record.title, record.titled = event.title, bool(event.by)
        case TerminalResized():
            record.cols, record.rows = event.cols, event.rows
        case ArchivedChanged():
            record.archived = event.archived
        case ModeChanged():
            record.mode = event.mode
        case PermissionModeChanged():
            record.permission_mode = event.mode
        case ModelChanged():
            record.model = event.model
        case SessionEnding():
            record.end_reason = event.reason
        case SessionEnded() | SessionFailed():
            record.end_reason, record.end_message = event.reason, event.message
            record.code, record.signal = event.code, event.signal
            if event.reason != "disconnected":
                record.attempt = record.attempts = 0
        case _:
            pass


def _count_work(record: SessionRecord, done: ToolChanged) -> None:
    for diff in done.diffs:
        record.added += diff.added
        record.removed += diff.removed
    last = done.output[-_MAX_URL:].rstrip().rpartition("\n")[2].strip()
    if _PULL_REQUEST.fullmatch(last):
        record.pull_request = last


def _advance_parked(parked: Parked, event: AnyEvent) -> bool:
    queue = parked.queue
    match event:
        case PromptQueued():
            queue.append(event)
        case PromptSent() | PromptWithdrawn():
            parked.queue = [one for one in queue if one.prompt_id != event.prompt_id]
        case PromptEdited(prompt_id=prompt_id, text=text):
            parked.queue = [_edited(one, text) if one.prompt_id == prompt_id else one for one in queue]
        case PromptsReordered(order=order):
            place = {prompt_id: n for n, prompt_id in enumerate(order)}
            parked.queue = sorted(queue, key=lambda one: place.get(one.prompt_id, len(place)))
        case RuleAdded():
            parked.rules.append(event)
        case _:
            return False
    return True


def _edited(prompt: PromptQueued, text: str) -> PromptQueued:
    return PromptQueued(prompt.prompt_id, text, prompt.by, prompt.client_message_id, prompt.images)


def opened_request(session_id: str, logged: Logged) -> RequestRecord | None:
    """The record that an asking event begins, if it is one."""
    event = logged.event
    match event:
        case PermissionRequested() | QuestionAsked():
            return RequestRecord(
                session_id=session_id,
                request_id=event.request_id,
                kind="permission" if isinstance(event, PermissionRequested) else "question",
                state="open",
                input_sha256=event.input_sha256,
                asked=Raw(encode(event)),
                opened_at=logged.at,
                seq=logged.seq,
                tool_id=event.tool_id,
            )
        case _:
            return None


def settle(request: RequestRecord, logged: Logged) -> bool:
    """Fold a later event into a request. True when it changed."""
    event = logged.event
    match event:
        case PermissionAnswered() | QuestionAnswered() if request.state == "open":
            request.state, request.answer = "answered", event
            request.answered_at, request.answered_by = logged.at, event.by
        case PermissionWithdrawn() | QuestionWithdrawn() if request.state in ("open", "answered"):
            request.state, request.reason = "withdrawn", event.reason
        case AnswerDelivered() if request.state == "answered":
            request.state = "delivered"
        case ToolChanged() if request.state in ("answered", "delivered"):
            request.state = "confirmed"
        case _:
            return False
    return True
