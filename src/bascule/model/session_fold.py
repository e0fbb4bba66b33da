"""The session fold: advances a session's record, pending prompts and requests by one logged event at a time.

A session's ledger and the store's writer fold the same log with it, so they can't come to differ.
"""

import re
from collections.abc import Container, Iterable, Sequence
from typing import assert_never, cast, get_args

from msgspec import structs

from bascule.model.codec import Logged
from bascule.model.events import (
    AgentSpawned,
    AnswerDelivered,
    AnyEvent,
    ArchivedChanged,
    Bell,
    CommandsChanged,
    EndCancelled,
    EndScheduled,
    EntryClosed,
    EntryOpened,
    GuardAnswered,
    GuardAsked,
    Interrupted,
    ModeChanged,
    ModelChanged,
    ModelsChanged,
    Note,
    PermissionAnswered,
    PermissionModeChanged,
    PermissionRequested,
    PermissionWithdrawn,
    PlanChanged,
    PromptEdited,
    PromptQueued,
    PromptSent,
    PromptsReordered,
    PromptWithdrawn,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    QueueHeld,
    QueueReleased,
    ReconnectScheduled,
    RuleAdded,
    SessionEnded,
    SessionEnding,
    SessionFailed,
    SessionReady,
    SessionStarted,
    StderrWritten,
    TerminalResized,
    TextAppended,
    TextSaid,
    TitleChanged,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    Unrecognised,
    UsageChanged,
)
from bascule.model.lifecycle import step
from bascule.model.records import Pending, RequestRecord, RequestState, SessionRecord
from bascule.model.request_fold import opened_request, settle
from bascule.model.spending_fold import count_turn, count_usage
from bascule.model.titles import title_from
from bascule.model.working_time import count_working_time

# Most of a log is these, and they change nothing of a session but `seq` and `updated_at`.
NoRecordChange = (
    EntryOpened
    | TextAppended
    | EntryClosed
    | TextSaid
    | ToolStarted
    | PlanChanged
    | CommandsChanged
    | ModelsChanged
    | StderrWritten
    | Unrecognised
    | Bell
)
NO_RECORD_CHANGE: frozenset[type[AnyEvent]] = frozenset(get_args(NoRecordChange))
# These change the phase, the queue, the rules, the requests or what is counted, and no other field.
FoldedElsewhere = (
    PromptQueued
    | PromptEdited
    | PromptsReordered
    | PromptWithdrawn
    | QueueHeld
    | QueueReleased
    | Interrupted
    | ToolChanged
    | UsageChanged
    | AnswerDelivered
    | RuleAdded
)
ChangesPending = (
    PromptQueued
    | PromptSent
    | PromptWithdrawn
    | PromptEdited
    | PromptsReordered
    | QueueHeld
    | QueueReleased
    | RuleAdded
)
CHANGES_PENDING: frozenset[type[AnyEvent]] = frozenset(get_args(ChangesPending))
CHANGES_REQUESTS: frozenset[type[AnyEvent]] = frozenset(
    {
        PermissionRequested,
        PermissionAnswered,
        PermissionWithdrawn,
        QuestionAsked,
        QuestionAnswered,
        QuestionWithdrawn,
        AnswerDelivered,
    }
)

# What tools that open a pull request print last, and nothing looser: its number stands in lists.
_PULL_REQUEST = re.compile(
    r"https://[a-z0-9.-]+/(?:[\w.-]+/)+(?:pull|pulls|merge_requests)/[1-9][0-9]{0,8}", re.ASCII
)
_MAX_URL = 300


class SessionFold:
    """A session's record, its pending prompts and rules, and those of its requests that are still remembered.

    The fold changes the record and `pending` it was given. It forgets no request by itself: how many
    settled ones are worth keeping is for its owner to say, with `forget`.
    """

    def __init__(
        self, record: SessionRecord, pending: Pending, requests: Iterable[RequestRecord] = ()
    ) -> None:
        self.record = record
        self.pending = pending
        self.requests = {request.request_id: request for request in requests}  # in the order they were asked

    def apply(self, logged: Logged) -> Sequence[RequestRecord]:
        """Fold one event. Returns the requests it changed."""
        record, event = self.record, logged.event
        record.seq, record.updated_at = logged.seq, logged.at
        kind = type(event)
        if kind in NO_RECORD_CHANGE:
            return ()
        if isinstance(event, ToolChanged):
            if event.status == "done":
                _count_work(record, event)
            return self._confirm(event.tool_id, logged)
        if isinstance(event, UsageChanged):
            count_usage(record, logged.at, event)
            return ()
        record.phase = step(record.phase, event)
        _advance_record(record, logged.at, event)
        count_working_time(record, logged.at)
        if kind in CHANGES_PENDING:
            _advance_pending(self.pending, cast(ChangesPending, event))
            record.queued = len(self.pending.queue)
            record.held = sum(one.held for one in self.pending.queue)
        return self._advance_requests(event, logged) if kind in CHANGES_REQUESTS else ()

    def only_moves(self, event: AnyEvent) -> bool:
        """Whether a tool's change changes nothing here but the number, as nearly all of them do."""
        if type(event) is not ToolChanged or self.requests or event.diffs:
            return False
        return event.status != "done" or "https://" not in event.output[-_MAX_URL:]

    def forget(self, states: Container[RequestState], keep: int = 0) -> None:
        """Forget the requests in these states, all but the newest `keep`."""
        found = [request.request_id for request in self.requests.values() if request.state in states]
        for request_id in found[: max(0, len(found) - keep)]:
            del self.requests[request_id]

    def _confirm(self, tool_id: str, logged: Logged) -> Sequence[RequestRecord]:
        """A tool that moves shows that the agent has read the answer about it."""
        if not self.requests:
            return ()
        requests = self.requests.values()
        return [request for request in requests if request.tool_id == tool_id and settle(request, logged)]

    def _advance_requests(self, event: AnyEvent, logged: Logged) -> Sequence[RequestRecord]:
        opened = opened_request(self.record.session_id, logged)
        if opened is not None:
            self.requests[opened.request_id] = opened
            return (opened,)
        match event:
            case (
                PermissionAnswered()
                | QuestionAnswered()
                | PermissionWithdrawn()
                | QuestionWithdrawn()
                | AnswerDelivered()
            ):
                request = self.requests.get(event.request_id)
                return (request,) if request is not None and settle(request, logged) else ()
            case _:
                return ()


def _advance_record(record: SessionRecord, at: str, event: AnyEvent) -> None:
    match event:
        case SessionStarted():
            _start_record(record, at, event)
        case AgentSpawned():
            record.spawned = True
        case SessionReady():
            _note_ready(record, event)
        case ReconnectScheduled():
            record.attempt, record.attempts = event.attempt, event.attempts
        case PromptSent():
            record.title = record.title or title_from(event.text)
            record.turns += 1
            record.turn_tokens = 0
        case Note():
            if event.code == "compacted":  # its agent has only the summary of what was before
                record.forks_after = record.seq
        case TurnEnded():
            count_turn(record, at, event)
        case GuardAsked():
            record.guard = event
        case GuardAnswered():
            if record.guard is not None and event.allowed:
                record.raised = {**record.raised, record.guard.kind: event.allowed}
            record.guard = None
        case PermissionRequested() | QuestionAsked():
            record.open_requests += 1
        case PermissionAnswered() | QuestionAnswered() | PermissionWithdrawn() | QuestionWithdrawn():
            record.open_requests = max(0, record.open_requests - 1)
        case TitleChanged():
            if event.by or not record.titled:
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
        case EndScheduled():
            record.ends_at, record.ends_for = event.at, event.reason
        case EndCancelled():
            record.ends_at = record.ends_for = None
            record.kept_at = at if event.by else record.kept_at
        case SessionEnding():
            record.end_reason, record.guard = event.reason, None
            record.ends_at = record.ends_for = None
        case SessionEnded() | SessionFailed():
            _note_end(record, event)
        case _:
            _: NoRecordChange | FoldedElsewhere = event  # a new type of event has to be named there, or above


def _start_record(record: SessionRecord, at: str, event: SessionStarted) -> None:
    """A session starts, or an ended one starts again on the same log."""
    record.agent, record.driver, record.cwd = event.agent, event.driver, event.cwd
    record.device = event.device
    record.model = event.model or record.model
    record.permission_mode, record.demo = event.permission_mode, event.demo
    record.cols, record.rows = event.cols, event.rows
    record.skip_permissions, record.found = event.skip_permissions, event.found
    record.capability = event.capability or "full"  # of a log from before there were levels
    record.process = event.process
    record.worktree_of = event.worktree_of
    record.copied_from = event.copied_from or record.copied_from
    record.created_at = record.created_at or at
    record.created_by = record.created_by or event.by
    record.end_reason = record.end_message = record.code = record.signal = None
    record.ends_at = record.ends_for = None
    record.kept_at = ""
    record.started_at, record.started_seq, record.spawned = at, record.seq, False
    if not event.forked:
        # Until the agent names its conversation (a terminal never does), this is all that is known.
        record.agent_session_id = event.resumed_from or record.agent_session_id


def _note_ready(record: SessionRecord, event: SessionReady) -> None:
    """The agent has said its first words; another conversation can't be gone back to."""
    if event.agent_session_id and event.agent_session_id != record.agent_session_id:
        record.forks_after = record.seq
    record.agent_session_id = event.agent_session_id or record.agent_session_id
    record.model = event.model or record.model
    record.agent_version = event.version or record.agent_version
    record.mode = event.mode or record.mode
    record.attempt = record.attempts = 0


def _note_end(record: SessionRecord, event: SessionEnded | SessionFailed) -> None:
    record.guard = None
    record.ends_at = record.ends_for = None
    record.end_reason, record.end_message = event.reason, event.message
    record.code, record.signal = event.code, event.signal
    if event.reason != "disconnected":
        record.attempt = record.attempts = 0


def _count_work(record: SessionRecord, done: ToolChanged) -> None:
    for diff in done.diffs:
        record.added += diff.added
        record.removed += diff.removed
    tail = done.output[-_MAX_URL:]
    if "https://" in tail:
        last = tail.rstrip().rpartition("\n")[2].strip()
        if _PULL_REQUEST.fullmatch(last):
            record.pull_request = last


def _advance_pending(pending: Pending, event: ChangesPending) -> None:
    queue = pending.queue
    match event:
        case PromptQueued():
            queue.append(event)
        case PromptSent() | PromptWithdrawn():
            pending.queue = [one for one in queue if one.prompt_id != event.prompt_id]
        case PromptEdited(prompt_id=prompt_id, text=text):
            pending.queue = [
                structs.replace(one, text=text) if one.prompt_id == prompt_id else one for one in queue
            ]
        case PromptsReordered(order=order):
            place = {prompt_id: n for n, prompt_id in enumerate(order)}
            pending.queue = sorted(queue, key=lambda one: place.get(one.prompt_id, len(place)))
        case QueueHeld():
            pending.queue = [structs.replace(one, held=True) for one in queue]
        case QueueReleased(prompt_ids=named):
            pending.queue = [
                structs.replace(one, held=False) if not named or one.prompt_id in named else one
                for one in queue
            ]
        case RuleAdded():
            pending.rules.append(event)
        case _:
            assert_never(event)
