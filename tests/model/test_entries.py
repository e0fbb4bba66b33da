"""The transcript's fold: which entries events begin, change and close, exactly as they are kept."""

from typing import Any, get_args

import pytest
from msgspec import Raw

from bascule.model import entries
from bascule.model.codec import Logged
from bascule.model.entries import (
    AnyEntry,
    EventEntry,
    Fold,
    NoEntry,
    PlanEntry,
    PromptEntry,
    RequestEntry,
    TextEntry,
    ToolEntry,
    TurnEntry,
)
from bascule.model.event_values import Question
from bascule.model.events import (
    AgentSpawned,
    AnswerDelivered,
    AnyEvent,
    ArchivedChanged,
    Bell,
    CommandsChanged,
    Diff,
    EndCancelled,
    EndScheduled,
    EntryClosed,
    EntryOpened,
    GuardAnswered,
    GuardAsked,
    Image,
    Interrupted,
    Location,
    ModeChanged,
    ModelChanged,
    ModelsChanged,
    Note,
    PermissionAnswered,
    PermissionModeChanged,
    PermissionRequested,
    PermissionWithdrawn,
    PlanChanged,
    PlanItem,
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

STARTED = SessionStarted("demo", "stream_json", "/code", "ana")
PICTURE = Image("image/png", "AAAA")
ASKED = PermissionRequested("r", "Bash", "ls", "execute", Raw(b"{}"), "ab", ())
QUESTION = QuestionAsked("q", (Question("Which?"),), Raw(b"{}"), "ab")
CUT = SessionEnded("disconnected", None, 9, "It stopped.")


def at(seq: int) -> str:
    return f"second {seq}"


def folded(*events: AnyEvent) -> tuple[Fold, list[AnyEntry]]:
    """Every entry as it was last told, in order. The events are numbered from 1."""
    fold, kept = Fold(), dict[int, AnyEntry]()
    for seq, event in enumerate(events, 1):
        fold.apply(Logged(seq, at(seq), event))
        kept.update({entry.first_seq: entry for entry in fold.take_dirty()})
    return fold, [kept[seq] for seq in sorted(kept)]


def span(first: int, last: int | None = None, **more: Any) -> dict[str, Any]:
    return {"first_seq": first, "last_seq": last or first, "at": at(first), **more}


@pytest.mark.parametrize(
    ("event", "entry"),
    [
        (
            PromptSent("p", "Hello", "ana", "c", (PICTURE,)),
            PromptEntry(
                **span(1), prompt_id="p", text="Hello", by="ana", client_message_id="c", images=(PICTURE,)
            ),
        ),
        (
            EntryOpened("m", "thinking", "t"),
            TextEntry(**span(1), open=True, entry_id="m", voice="thinking", parent="t"),
        ),
        (
            TextSaid("m", "thinking", "Hm.", "t"),
            TextEntry(**span(1), entry_id="m", voice="thinking", text="Hm.", parent="t"),
        ),
        (
            ToolStarted("t", "Bash", "ls", "execute", Raw(b'{"a":1}'), "t0"),
            ToolEntry(
                **span(1),
                open=True,
                tool_id="t",
                name="Bash",
                title="ls",
                tool_kind="execute",
                input=Raw(b'{"a":1}'),
                parent="t0",
            ),
        ),
        (PlanChanged((PlanItem("Look"),)), PlanEntry(**span(1), open=True, items=(PlanItem("Look"),))),
        (ASKED, RequestEntry(**span(1), open=True, request_id="r", state="open", asked=ASKED)),
        (QUESTION, RequestEntry(**span(1), open=True, request_id="q", state="open", asked=QUESTION)),
        (TurnEnded("end_turn"), TurnEntry(**span(1), ended=TurnEnded("end_turn"))),
        (CUT, EventEntry(**span(1), open=True, event=CUT)),
        *(
            (event, EventEntry(**span(1), event=event))
            for event in (
                Note("a", "b"),
                StderrWritten("oops"),
                STARTED,
                SessionEnded("closed", 0),
                SessionFailed("not_installed", "No."),
                Interrupted("ana"),
                Unrecognised("?", "no JSON"),
            )
        ),
    ],
)
def test_an_event_begins_this_entry(event: AnyEvent, entry: AnyEntry):
    fold, told = folded(event)
    assert told == [entry]
    assert list(fold.open.values()) == ([entry] if entry.open else [])


NO_ENTRY: list[AnyEvent] = [
    AgentSpawned(1, "a"),
    SessionEnding("closed", "ana"),
    PromptQueued("p", "a", "ana"),
    PromptEdited("p", "b", "ana"),
    PromptsReordered(("p",), "ana"),
    PromptWithdrawn("p", "ana"),
    QueueHeld("ana"),
    QueueReleased("ana"),
    AnswerDelivered("r"),
    RuleAdded(Raw(b"{}"), "Allow", "ana"),
    TitleChanged("a"),
    ArchivedChanged(True, "ana"),
    ModeChanged("plan"),
    PermissionModeChanged("auto", "ana"),
    ModelChanged("m"),
    CommandsChanged(()),
    ModelsChanged(()),
    UsageChanged(1),
    TerminalResized(80, 24),
    Bell(),
    EndScheduled("2026-11-12T14:05:00.000Z", "idle_limit"),
    EndCancelled("ana"),
    GuardAsked("g", "day_cents", "the limit is reached", 120, 100),
    GuardAnswered("g", "go_on", "ana", 200),
]
CHANGES_NOTHING: list[AnyEvent] = [
    TextAppended("m", "assistant", "nobody opened it"),
    EntryClosed("m"),
    ToolChanged("t", "done"),
    PermissionAnswered("r", "allow", "ana"),
    PermissionWithdrawn("r", "agent"),
    QuestionAnswered("q", "ana", {"Which?": "a"}),
    QuestionWithdrawn("q", "agent"),
    ReconnectScheduled(1, 5),
    SessionReady("abc"),
]


@pytest.mark.parametrize("event", [*NO_ENTRY, *CHANGES_NOTHING], ids=lambda event: type(event).__name__)
def test_an_event_without_a_line_of_its_own_begins_no_entry(event: AnyEvent):
    fold, told = folded(event)
    assert (told, fold.open) == ([], {})


def test_every_event_that_has_no_entry_is_tried_above():
    assert {type(event) for event in NO_ENTRY} == set(get_args(NoEntry))
    assert {type(event) for event in CHANGES_NOTHING} == set(get_args(entries.ChangesEntry))


def text(last: int, said: str, **more: Any) -> TextEntry:
    return TextEntry(**span(1, last), entry_id="m", voice="assistant", text=said, **more)


def tool(last: int, **more: Any) -> ToolEntry:
    return ToolEntry(**span(1, last), tool_id="t", name="Edit", title="a.py", **more)


def request(asked: PermissionRequested | QuestionAsked, **more: Any) -> RequestEntry:
    more = more if more["state"] == "open" else {"settled_at": at(2), **more}
    return RequestEntry(**span(1, 2), request_id=asked.request_id, asked=asked, **more)


OPENED = EntryOpened("m", "assistant")
EDITS = ToolStarted("t", "Edit", "a.py")
DIFFS, PLACES = (Diff("a.py", "@@", 1, 2),), (Location("a.py", 3),)


@pytest.mark.parametrize(
    ("events", "entry"),
    [
        # Text grows until it is closed, and not after.
        ([OPENED, TextAppended("m", "assistant", "a")], text(2, "a", open=True)),
        (
            [
                OPENED,
                TextAppended("m", "assistant", "a"),
                TextAppended("m", "assistant", "b"),
                EntryClosed("m"),
            ],
            text(4, "ab"),
        ),
        ([OPENED, EntryClosed("m"), TextAppended("m", "assistant", "late")], text(2, "")),
        ([TextSaid("m", "assistant", "whole"), TextAppended("m", "assistant", "late")], text(1, "whole")),
        ([OPENED, TextAppended("other", "assistant", "a"), EntryClosed("other")], text(1, "", open=True)),
        # A tool keeps the newest of what it said, and says when it finished.
        ([EDITS, ToolChanged("t", "running", "half")], tool(2, open=True, output="half")),
        (
            [EDITS, ToolChanged("t", "running", "half", DIFFS, PLACES, (PICTURE,)), ToolChanged("t", "done")],
            tool(
                3,
                status="done",
                output="half",
                diffs=DIFFS,
                locations=PLACES,
                images=(PICTURE,),
                finished_at=at(3),
            ),
        ),
        (
            [EDITS, ToolChanged("t", "failed", "no"), ToolChanged("t", "done", "late")],
            tool(2, status="failed", output="no", finished_at=at(2)),
        ),
        ([EDITS, ToolChanged("t", "denied")], tool(2, status="denied", finished_at=at(2))),
        (
            [EDITS, ToolChanged("t", "running", "x" * (entries.MAX_OUTPUT + 1))],
            tool(2, open=True, output="x" * entries.MAX_OUTPUT),
        ),
        # A plan that changes is one entry.
        (
            [PlanChanged((PlanItem("Look"),)), PlanChanged((PlanItem("Mend"),))],
            PlanEntry(**span(1, 2), open=True, items=(PlanItem("Mend"),)),
        ),
        # A request is answered or withdrawn once.
        (
            [ASKED, PermissionAnswered("r", "allow", "ana"), PermissionWithdrawn("r", "agent")],
            request(ASKED, state="answered", answer=PermissionAnswered("r", "allow", "ana")),
        ),
        (
            [ASKED, PermissionWithdrawn("r", "interrupted"), PermissionAnswered("r", "allow", "ana")],
            request(ASKED, state="withdrawn", reason="interrupted"),
        ),
        (
            [QUESTION, QuestionAnswered("q", "ana", {"Which?": "a"})],
            request(QUESTION, state="answered", answer=QuestionAnswered("q", "ana", {"Which?": "a"})),
        ),
        ([QUESTION, QuestionWithdrawn("q", "ended")], request(QUESTION, state="withdrawn", reason="ended")),
        (
            [ASKED, PermissionAnswered("other", "allow", "ana")],
            RequestEntry(**span(1), open=True, request_id="r", asked=ASKED, state="open"),
        ),
    ],
)
def test_later_events_change_an_open_entry_so(events: list[AnyEvent], entry: AnyEntry):
    fold, told = folded(*events)
    assert told == [entry]
    assert list(fold.open.values()) == ([entry] if entry.open else [])


@pytest.mark.parametrize("over", [TurnEnded("error"), SessionEnded("exited", 1), SessionFailed("a", "b")])
def test_the_end_of_a_turn_or_session_closes_what_is_open(over: AnyEvent):
    fold, told = folded(OPENED, EDITS, ASKED, PlanChanged(()), over)
    assert fold.open == {}
    assert [(entry.first_seq, entry.last_seq, entry.open) for entry in told] == [
        (1, 5, False),
        (2, 5, False),
        (3, 5, False),
        (4, 5, False),
        (5, 5, False),
    ]
    kept = told[2]
    assert isinstance(kept, RequestEntry)
    assert kept.state == "open", "nobody answered it and nobody took it back"


def test_a_plan_of_the_next_turn_is_a_new_entry():
    _, told = folded(
        PlanChanged((PlanItem("Look"),)), TurnEnded("end_turn"), PlanChanged((PlanItem("Mend"),))
    )
    assert [type(entry) for entry in told] == [PlanEntry, TurnEntry, PlanEntry]


def test_a_name_that_is_opened_twice_closes_the_older_entry():
    fold, told = folded(OPENED, TextAppended("m", "assistant", "a"), OPENED)
    second = TextEntry(**span(3), open=True, entry_id="m", voice="assistant")
    assert told == [text(3, "a"), second]
    assert list(fold.open.values()) == [second]


def test_a_whole_text_closes_an_open_one_of_its_name():
    fold, told = folded(OPENED, TextAppended("m", "assistant", "a"), TextSaid("m", "assistant", "b"))
    assert told == [text(3, "a"), TextEntry(**span(3), entry_id="m", voice="assistant", text="b")]
    assert fold.open == {}


def reconnect(first: int, last: int, event: SessionEnded | SessionFailed, **more: Any) -> EventEntry:
    return EventEntry(**span(first, last), event=event, **more)


AGAIN = SessionEnded("disconnected", 1, None, "It did not start.")
GIVEN_UP = SessionFailed("could_not_connect", "It did not come back.")
CLOSED = SessionEnded("closed")


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([CUT, ReconnectScheduled(1, 5)], [reconnect(1, 2, CUT, open=True, attempt=1, attempts=5)]),
        (
            [CUT, ReconnectScheduled(1, 5), STARTED, AGAIN, ReconnectScheduled(2, 5)],
            [reconnect(1, 5, AGAIN, open=True, attempt=2, attempts=5)],
        ),
        (
            [CUT, ReconnectScheduled(1, 5), STARTED, SessionReady("abc"), STARTED],
            [reconnect(1, 4, CUT, attempt=1, attempts=5, back=True), EventEntry(**span(5), event=STARTED)],
        ),
        (
            [CUT, ReconnectScheduled(5, 5), GIVEN_UP],
            [reconnect(1, 3, GIVEN_UP, attempt=5, attempts=5)],
        ),
        ([CUT, CLOSED], [reconnect(1, 2, CUT), EventEntry(**span(2), event=CLOSED)]),
        (
            # The end of a turn leaves it open: the agent is still being waited for.
            [CUT, TurnEnded("other")],
            [reconnect(1, 1, CUT, open=True), TurnEntry(**span(2), ended=TurnEnded("other"))],
        ),
    ],
)
def test_a_lost_agent_is_one_entry_until_it_is_back_or_given_up(events: list[AnyEvent], told: list[AnyEntry]):
    fold, kept = folded(*events)
    assert kept == told
    assert list(fold.open.values()) == [entry for entry in told if entry.open]


def test_a_fold_goes_on_with_the_open_entries_it_is_given():
    whole, _ = folded(OPENED, EDITS, ASKED, PlanChanged(()))
    assert Fold(list(whole.open.values())).open == whole.open
    lost = reconnect(5, 5, CUT, open=True)
    fold = Fold([*whole.open.values(), lost])
    fold.apply(Logged(8, at(8), TextAppended("m", "assistant", "b")))
    fold.apply(Logged(9, at(9), SessionReady("abc")))
    assert fold.take_dirty() == [text(8, "b", open=True), reconnect(5, 9, CUT, back=True)]
    assert list(fold.open) == ["text m", "tool t", "request r", "plan"]


def test_what_changed_is_told_once():
    fold = Fold()
    fold.apply(Logged(1, at(1), OPENED))
    fold.apply(Logged(2, at(2), TextAppended("m", "assistant", "a")))
    assert fold.take_dirty() == [text(2, "a", open=True)]
    assert fold.take_dirty() == []
