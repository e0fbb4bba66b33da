"""The session fold says at any time what reading the whole log would say, and forgets what it is told to."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw, json
from msgspec.structs import replace

from bascule.model.codec import Logged, decode_logged, timestamp
from bascule.model.event_values import Question
from bascule.model.events import (
    AnswerDelivered,
    AnyEvent,
    Bell,
    CommandsChanged,
    CopiedFrom,
    Diff,
    EntryClosed,
    EntryOpened,
    ModelsChanged,
    Note,
    PermissionAnswered,
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
    RuleAdded,
    SessionEnded,
    SessionReady,
    SessionStarted,
    StderrWritten,
    TextAppended,
    TextSaid,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    Unrecognised,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import Pending, RequestRecord, SessionRecord
from bascule.model.session_fold import NO_RECORD_CHANGE, SessionFold

FIXTURES = sorted((Path(__file__).parents[1] / "fixtures" / "fold").glob("*.json"))
UNCHANGING: list[AnyEvent] = [
    EntryOpened("e", "assistant"),
    TextAppended("e", "assistant", "Hello"),
    EntryClosed("e"),
    TextSaid("f", "assistant", "Hello"),
    ToolStarted("t", "Bash", "ls"),
    PlanChanged(()),
    CommandsChanged(()),
    ModelsChanged(()),
    StderrWritten("warning"),
    Unrecognised("{", "not JSON"),
    Bell(),
]


def asked(request_id: str = "r", tool_id: str | None = "t") -> PermissionRequested:
    return PermissionRequested(request_id, "Bash", "ls", "execute", Raw(b"{}"), "ab", (), tool_id=tool_id)


def answered(request_id: str = "r") -> PermissionAnswered:
    return PermissionAnswered(request_id, "allow", "ana")


def played(log: list[Logged], fold: SessionFold) -> SessionFold:
    for logged in log:
        fold.apply(logged)
    return fold


class Session:
    """A session fold, fed by a log that numbers its events itself."""

    def __init__(self, *events: AnyEvent) -> None:
        self.fold = SessionFold(SessionRecord("s"), Pending())
        for event in events:
            self.log(event)

    def log(self, event: AnyEvent) -> list[str]:
        """The ids of the requests that this event changed."""
        seq = self.fold.record.seq + 1
        return [one.request_id for one in self.fold.apply(Logged(seq, timestamp(seq), event))]

    @property
    def states(self) -> dict[str, str]:
        return {one.request_id: one.state for one in self.fold.requests.values()}

    @property
    def queue(self) -> list[tuple[str, str]]:
        assert self.fold.record.queued == len(self.fold.pending.queue)
        return [(one.prompt_id, one.text) for one in self.fold.pending.queue]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_the_fixtures_the_page_is_held_to_fold_to_what_they_say(path: Path) -> None:
    scene: dict[str, Any] = json.decode(path.read_bytes())
    log = [decode_logged(json.encode(one)) for one in scene["events"]]
    fold = played(log, SessionFold(SessionRecord("s1"), Pending()))
    record = fold.record
    assert (record.phase, record.title) == (scene["phase"], scene["title"])
    end = [record.end_reason, record.attempt, record.attempts, record.ends_at, record.ends_for]
    assert end == scene["end"]
    assert json.decode(json.encode(fold.pending.queue)) == scene["queue"]
    assert (record.seq, record.updated_at) == (scene["events"][-1]["seq"], scene["events"][-1]["at"])
    assert record.open_requests == sum(one.state == "open" for one in fold.requests.values())


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_fold_taken_up_anywhere_ends_like_one_that_saw_everything(path: Path) -> None:
    log = [decode_logged(json.encode(one)) for one in json.decode(path.read_bytes())["events"]]
    whole = played(log, SessionFold(SessionRecord("s1"), Pending()))
    for cut in range(len(log)):
        before = played(log[:cut], SessionFold(SessionRecord("s1"), Pending()))
        resumed = played(log[cut:], SessionFold(before.record, before.pending, before.requests.values()))
        assert (resumed.record, resumed.pending) == (whole.record, whole.pending)
        assert resumed.requests == whole.requests


@pytest.mark.parametrize("event", UNCHANGING, ids=lambda event: type(event).__name__)
def test_an_event_that_is_skipped_changes_nothing_but_number_and_time(event: AnyEvent) -> None:
    session = Session(asked(tool_id="t"), PromptQueued("p", "1", "ana"))
    before = deepcopy(session.fold)
    assert session.log(event) == []
    assert session.fold.record == replace(before.record, seq=3, updated_at=timestamp(3))
    assert (session.fold.pending, session.fold.requests) == (before.pending, before.requests)


def test_every_event_that_may_be_skipped_is_tried_above() -> None:
    assert {type(event) for event in UNCHANGING} == NO_RECORD_CHANGE


@pytest.mark.row("C6")
def test_a_fork_can_only_go_back_to_what_the_agent_still_knows() -> None:
    source = CopiedFrom("earlier", 7)
    session = Session(SessionStarted("a", "stream_json", "/", "ana", copied_from=source))
    record = session.fold.record
    assert (record.forks_after, record.copied_from) == (0, source)
    session.log(SessionReady("one"))
    session.log(TurnEnded("end_turn", fork_at="t1"))
    session.log(Note("retry", "Trying again"))
    session.log(SessionReady("one", model="opus"))
    assert record.forks_after == 2, "the same conversation was named again"
    session.log(Note("compacted", "The conversation was summarised."))
    assert record.forks_after == 6
    session.log(SessionReady("two"))
    assert record.forks_after == 7
    session.log(SessionStarted("a", "stream_json", "/", "ana", resumed_from="two"))
    session.log(SessionReady("two"))
    assert (record.forks_after, record.copied_from) == (7, source), "it was resumed"


def test_a_request_is_opened_answered_delivered_and_confirmed() -> None:
    session = Session()
    for event, state in [
        (asked(), "open"),
        (answered(), "answered"),
        (AnswerDelivered("r"), "delivered"),
        (ToolChanged("t", "running"), "confirmed"),
    ]:
        assert session.log(event) == ["r"]
        assert session.states == {"r": state}
    request = session.fold.requests["r"]
    assert (request.seq, request.opened_at) == (1, timestamp(1))
    assert (request.answer, request.answered_at, request.answered_by) == (answered(), timestamp(2), "ana")


def test_a_question_goes_the_same_way() -> None:
    session = Session(QuestionAsked("q", (Question("Which?"),), Raw(b"{}"), "ab"))
    assert (session.fold.requests["q"].kind, session.fold.record.open_requests) == ("question", 1)
    assert session.log(QuestionAnswered("q", "ana", {"Which?": "This"})) == ["q"]
    assert session.log(QuestionWithdrawn("q", "agent")) == ["q"]
    assert session.states == {"q": "withdrawn"}


def test_the_first_answer_stands() -> None:
    session = Session(asked(), answered())
    assert session.log(PermissionAnswered("r", "deny", "ben")) == []
    assert session.fold.requests["r"].answered_by == "ana"


def test_a_request_can_be_withdrawn_until_its_answer_is_delivered() -> None:
    session = Session(asked("a"), asked("b"), answered("b"), asked("c"), answered("c"), AnswerDelivered("c"))
    assert [session.log(PermissionWithdrawn(name, "agent")) for name in "abc"] == [["a"], ["b"], []]
    assert session.states == {"a": "withdrawn", "b": "withdrawn", "c": "delivered"}
    assert session.fold.requests["a"].reason == "agent"
    assert session.log(answered("a")) == []


def test_an_open_request_outlives_the_end_of_its_agent_until_it_is_withdrawn() -> None:
    session = Session(asked(), SessionEnded("lost"))
    assert (session.states, session.fold.record.phase) == ({"r": "open"}, Phase.ENDED)
    assert session.log(PermissionWithdrawn("r", "lost")) == ["r"]
    assert session.fold.record.open_requests == 0


def test_answers_to_unknown_requests_and_other_tools_change_none() -> None:
    session = Session(asked(), answered())
    assert session.log(answered("other")) == session.log(AnswerDelivered("other")) == []
    assert session.log(ToolChanged("other", "done")) == []
    assert session.states == {"r": "answered"}


def test_a_tool_confirms_every_answer_about_it_and_no_open_request() -> None:
    session = Session(asked("a"), asked("b"), asked("c"), answered("a"), answered("b"))
    assert session.log(ToolChanged("t", "done", diffs=(Diff("a.py", "@@", 2, 1),))) == ["a", "b"]
    assert session.states == {"a": "confirmed", "b": "confirmed", "c": "open"}
    assert (session.fold.record.added, session.fold.record.removed) == (2, 1)


def test_the_queue_is_edited_reordered_withdrawn_and_sent() -> None:
    session = Session(*(PromptQueued(name, name, "ana") for name in "abcd"))
    session.log(PromptEdited("b", "two", "ana"))
    session.log(PromptsReordered(("d", "b"), "ana"))
    assert session.queue == [("d", "d"), ("b", "two"), ("a", "a"), ("c", "c")]
    session.log(PromptWithdrawn("a", "ana"))
    session.log(PromptSent("d", "d", "ana"))
    assert session.queue == [("b", "two"), ("c", "c")]
    assert (session.fold.record.title, session.fold.record.turns) == ("d", 1)


def test_rules_made_by_remember_are_kept_beside_the_queue() -> None:
    session = Session(RuleAdded(Raw(b"{}"), "Allow ls", "ana"))
    assert [one.words for one in session.fold.pending.rules] == ["Allow ls"]
    assert session.queue == []


def test_forgetting_keeps_the_newest_of_the_named_states_and_all_others() -> None:
    session = Session(asked("open"))
    for number in range(5):
        name = str(number)
        session.log(asked(name))
        session.log(PermissionWithdrawn(name, "agent"))
    session.fold.forget(("withdrawn",), keep=7)
    assert len(session.states) == 6
    session.fold.forget(("withdrawn",), keep=2)
    assert list(session.states) == ["open", "3", "4"]
    session.fold.forget(("delivered", "withdrawn"))
    assert session.states == {"open": "open"}


def test_a_fold_goes_on_with_the_requests_it_is_given() -> None:
    kept = RequestRecord("s", "r", "permission", "answered", "ab", Raw(b"{}"), timestamp(1), 1, "t")
    fold = SessionFold(SessionRecord("s", seq=2), Pending(), [kept])
    assert fold.apply(Logged(3, timestamp(3), AnswerDelivered("r"))) == (kept,)
    assert kept.state == "delivered"
