"""The transcript fold: turns events into the entries a person reads. Pure; the page has the same in JS."""

from collections.abc import Callable
from typing import Any, ClassVar

from bascule.model.codec import Logged
from bascule.model.entry_types import (
    AnyEntry,
    EventEntry,
    PlanEntry,
    PromptEntry,
    RequestEntry,
    TextEntry,
    ToolEntry,
    TurnEntry,
)
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

RECONNECT = (
    "reconnect"  # the name of the one entry that tells of a lost agent and of all tries to have it back
)
# Events that are no line of a transcript, and change none.
NoEntry = (
    AgentSpawned
    | EndScheduled
    | EndCancelled
    | GuardAsked
    | GuardAnswered
    | SessionEnding
    | PromptQueued
    | PromptEdited
    | PromptsReordered
    | PromptWithdrawn
    | QueueHeld
    | QueueReleased
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
    | TerminalResized
    | Bell
)
# Events that change an entry another event began.
ChangesEntry = (
    TextAppended
    | EntryClosed
    | ToolChanged
    | PermissionAnswered
    | PermissionWithdrawn
    | QuestionAnswered
    | QuestionWithdrawn
    | ReconnectScheduled
    | SessionReady
)
# Events that begin most entries, each folded by a method of its own.
BeginsOften = EntryOpened | TextSaid | ToolStarted
MAX_OUTPUT = 256 * 1024  # characters of a tool's output kept in its entry; the log keeps the rest


class Fold:
    """Turns a session's events into entries, a few at a time.

    `open` holds only what later events may still change, so a fold can be put down and taken up again
    with its open entries alone. `take_dirty` gives what changed since it was last asked.
    """

    def __init__(self, open_entries: list[AnyEntry] | None = None) -> None:
        self.open: dict[str, AnyEntry] = {}
        self._dirty: dict[int, AnyEntry] = {}
        for entry in open_entries or []:
            self.open[_name(entry)] = entry

    def take_dirty(self) -> list[AnyEntry]:
        changed = list(self._dirty.values())
        self._dirty = {}
        return changed

    def apply(self, logged: Logged) -> None:
        event = logged.event
        fold = self._BY_TYPE.get(type(event))
        if fold is not None:
            fold(self, event, logged)

    def _begin(self, event: AnyEvent, logged: Logged) -> None:
        entry = _entry_begun_by(event, logged)
        if entry is None:
            return
        if entry.open:
            self._begin_open(_name(entry), entry, logged)
        else:
            self._dirty[entry.first_seq] = entry

    def _begin_open(self, name: str, entry: AnyEntry, logged: Logged) -> None:
        self._dirty[entry.first_seq] = entry
        if name in self.open:
            self._close(name, logged)  # a name said twice: the older one is over
        self.open[name] = entry

    def _end(self, event: TurnEnded | SessionEnded | SessionFailed, logged: Logged) -> None:
        if RECONNECT in self.open and not isinstance(event, TurnEnded):
            self._follow_reconnect(event, logged)
        else:
            self._begin(event, logged)
        for name in [one for one in self.open if one != RECONNECT]:
            self._close(name, logged)

    def _open_text(self, event: EntryOpened, logged: Logged) -> None:
        seq = logged.seq
        entry = TextEntry(
            first_seq=seq,
            last_seq=seq,
            at=logged.at,
            open=True,
            entry_id=event.entry_id,
            voice=event.kind,
            parent=event.parent,
        )
        self._begin_open(f"text {event.entry_id}", entry, logged)

    def _append(self, event: TextAppended, logged: Logged) -> None:
        entry = self._touch(f"text {event.entry_id}", logged)
        if isinstance(entry, TextEntry):
            entry.text += event.text

    def _close_text(self, event: EntryClosed, logged: Logged) -> None:
        self._close(f"text {event.entry_id}", logged)

    def _say(self, event: TextSaid, logged: Logged) -> None:
        name, seq = f"text {event.entry_id}", logged.seq
        if name in self.open:
            self._close(name, logged)
        self._dirty[seq] = TextEntry(
            first_seq=seq,
            last_seq=seq,
            at=logged.at,
            entry_id=event.entry_id,
            voice=event.kind,
            text=event.text,
            parent=event.parent,
        )

    def _touch(self, name: str, logged: Logged) -> AnyEntry | None:
        entry = self.open.get(name)
        if entry is not None:
            entry.last_seq = logged.seq
            self._dirty[entry.first_seq] = entry
        return entry

    def _close(self, name: str, logged: Logged) -> AnyEntry | None:
        entry = self._touch(name, logged)
        if entry is not None:
            entry.open = False
            del self.open[name]
        return entry

    def _follow_reconnect(
        self,
        event: ReconnectScheduled | SessionStarted | SessionReady | SessionEnded | SessionFailed,
        logged: Logged,
    ) -> None:
        if RECONNECT not in self.open:
            self._begin(event, logged)
            return
        entry = self._touch(RECONNECT, logged)
        assert isinstance(entry, EventEntry), "only an event has this name"
        match event:
            case ReconnectScheduled():
                entry.attempt, entry.attempts = event.attempt, event.attempts
            case SessionStarted():
                pass  # a try; `ReconnectScheduled` has announced it
            case SessionReady():
                entry.back = True
                self._close(RECONNECT, logged)
            case SessionFailed():
                entry.event = event
                self._close(RECONNECT, logged)
            case SessionEnded(reason="disconnected"):
                entry.event = event
            case SessionEnded():
                self._close(RECONNECT, logged)
                self._begin(event, logged)

    def _start_tool(self, event: ToolStarted, logged: Logged) -> None:
        seq = logged.seq
        entry = ToolEntry(
            first_seq=seq,
            last_seq=seq,
            at=logged.at,
            open=True,
            tool_id=event.tool_id,
            name=event.name,
            title=event.title,
            tool_kind=event.kind,
            input=event.input,
            parent=event.parent,
        )
        self._begin_open(f"tool {event.tool_id}", entry, logged)

    def _change_tool(self, event: ToolChanged, logged: Logged) -> None:
        name = f"tool {event.tool_id}"
        entry = self._touch(name, logged)
        if not isinstance(entry, ToolEntry):
            return
        entry.status = event.status
        entry.output = (event.output or entry.output)[:MAX_OUTPUT]
        entry.diffs = event.diffs or entry.diffs
        entry.locations = event.locations or entry.locations
        entry.images = event.images or entry.images
        if event.status != "running":
            entry.finished_at = logged.at
            entry.open = False
            del self.open[name]

    def _change_plan(self, event: PlanChanged, logged: Logged) -> None:
        entry = self._touch("plan", logged)
        if isinstance(entry, PlanEntry):
            entry.items = event.items
        else:
            self._begin(event, logged)

    def _settle(
        self,
        event: PermissionAnswered | QuestionAnswered | PermissionWithdrawn | QuestionWithdrawn,
        logged: Logged,
    ) -> None:
        entry = self._close(f"request {event.request_id}", logged)
        if not isinstance(entry, RequestEntry):
            return
        entry.settled_at = logged.at
        match event:
            case PermissionAnswered() | QuestionAnswered():
                entry.state, entry.answer = "answered", event
            case PermissionWithdrawn() | QuestionWithdrawn():
                entry.state, entry.reason = "withdrawn", event.reason

    # A method for each type: a chain of tests for every event costs more than what it finds.
    _BY_TYPE: ClassVar[dict[type[AnyEvent], Callable[["Fold", Any, Logged], None]]] = {
        EntryOpened: _open_text,
        TextAppended: _append,
        EntryClosed: _close_text,
        TextSaid: _say,
        ToolStarted: _start_tool,
        ToolChanged: _change_tool,
        PlanChanged: _change_plan,
        PermissionAnswered: _settle,
        PermissionWithdrawn: _settle,
        QuestionAnswered: _settle,
        QuestionWithdrawn: _settle,
        SessionStarted: _follow_reconnect,
        SessionReady: _follow_reconnect,
        ReconnectScheduled: _follow_reconnect,
        TurnEnded: _end,
        SessionEnded: _end,
        SessionFailed: _end,
        PromptSent: _begin,
        PermissionRequested: _begin,
        QuestionAsked: _begin,
        Interrupted: _begin,
        Note: _begin,
        StderrWritten: _begin,
        Unrecognised: _begin,
    }


def _name(entry: AnyEntry) -> str:
    match entry:
        case TextEntry():
            return f"text {entry.entry_id}"
        case ToolEntry():
            return f"tool {entry.tool_id}"
        case RequestEntry():
            return f"request {entry.request_id}"
        case PlanEntry():
            return "plan"
        case EventEntry() if entry.open:
            return RECONNECT
        case PromptEntry() | TurnEntry() | EventEntry():
            return f"closed {entry.first_seq}"


def _entry_begun_by(event: AnyEvent, logged: Logged) -> AnyEntry | None:
    seq, at = logged.seq, logged.at
    match event:
        case PromptSent():
            return PromptEntry(
                first_seq=seq,
                last_seq=seq,
                at=at,
                prompt_id=event.prompt_id,
                text=event.text,
                by=event.by,
                client_message_id=event.client_message_id,
                images=event.images,
            )
        case PlanChanged():
            return PlanEntry(first_seq=seq, last_seq=seq, at=at, open=True, items=event.items)
        case PermissionRequested() | QuestionAsked():
            return RequestEntry(
                first_seq=seq,
                last_seq=seq,
                at=at,
                open=True,
                request_id=event.request_id,
                state="open",
                asked=event,
            )
        case TurnEnded():
            return TurnEntry(first_seq=seq, last_seq=seq, at=at, ended=event)
        case SessionEnded(reason="disconnected"):
            return EventEntry(first_seq=seq, last_seq=seq, at=at, open=True, event=event)
        case Note() | StderrWritten() | SessionStarted() | SessionEnded() | SessionFailed() | Interrupted():
            return EventEntry(first_seq=seq, last_seq=seq, at=at, event=event)
        case Unrecognised():
            return EventEntry(first_seq=seq, last_seq=seq, at=at, event=event)
        case _:
            # A new type of event has to be named there, or above.
            _: NoEntry | ChangesEntry | BeginsOften = event
            return None
