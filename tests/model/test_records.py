"""Records say at any time what reading the whole log would say."""

import pytest
from msgspec import Raw

from bascule.model.codec import Logged, decode_logged, encode_logged, timestamp
from bascule.model.events import (
    AgentSpawned,
    AnswerDelivered,
    AnyEvent,
    Diff,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PromptEdited,
    PromptQueued,
    PromptSent,
    PromptsReordered,
    PromptWithdrawn,
    RuleAdded,
    SessionEnded,
    SessionStarted,
    TitleChanged,
    ToolChanged,
    TurnEnded,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import Pending, SessionRecord
from bascule.model.request_fold import opened_request, settle
from bascule.model.session_fold import SessionFold

ASKED = PermissionRequested("r", "Bash", "ls", "execute", Raw(b'{"command": "ls"}'), "ab", (), tool_id="t")


def fold(*events: AnyEvent) -> tuple[SessionRecord, Pending]:
    session = SessionFold(SessionRecord(session_id="s"), Pending())
    for number, event in enumerate(events, 1):
        session.apply(Logged(number, timestamp(number), event))
    return session.record, session.pending


def test_a_title_comes_from_the_first_prompt_and_stays():
    record, _ = fold(PromptSent("a", "first\n  line", "ana"), PromptSent("b", "second", "ana"))
    assert record.title == "first line"


def test_a_title_a_person_chose_is_not_changed_by_the_agent():
    record, _ = fold(
        TitleChanged("the agent's"), TitleChanged("Ana's", "ana"), TitleChanged("the agent's again")
    )
    assert record.title == "Ana's"
    assert fold(PromptSent("a", "first", "ana"), TitleChanged("the agent's"))[0].title == "the agent's"


def test_the_queue_follows_its_events():
    _, pending = fold(
        PromptQueued("a", "1", "ana"),
        PromptQueued("b", "2", "ana"),
        PromptQueued("c", "3", "ana"),
        PromptEdited("b", "two", "ana"),
        PromptsReordered(("c", "b"), "ana"),
        PromptWithdrawn("a", "ana"),
        PromptSent("c", "3", "ana"),
    )
    assert [(one.prompt_id, one.text) for one in pending.queue] == [("b", "two")]


def test_open_requests_are_counted_down_to_zero():
    asked, _ = fold(ASKED)
    assert asked.open_requests == 1
    answered, _ = fold(ASKED, PermissionAnswered("r", "allow", "ana"))
    assert answered.open_requests == 0
    withdrawn, _ = fold(ASKED, PermissionWithdrawn("r", "agent"))
    assert withdrawn.open_requests == 0


def test_a_run_is_named_by_the_event_that_began_it():
    started = SessionStarted("demo", "stream_json", "/x", "ana")
    record, _ = fold(started, AgentSpawned(1, "/bin/x"), SessionEnded("exited", 0))
    assert (record.started_seq, record.spawned, record.phase) == (1, True, Phase.ENDED)
    again, _ = fold(started, AgentSpawned(1, "/bin/x"), SessionEnded("exited", 0), started)
    assert (again.started_seq, again.spawned, again.phase) == (4, False, Phase.STARTING)
    assert again.end_reason is None


def test_rules_and_costs_are_kept():
    record, pending = fold(RuleAdded(Raw(b"{}"), "Allow x", "ana"), TurnEnded("end_turn", cost_usd=0.5))
    assert [rule.words for rule in pending.rules] == ["Allow x"]
    assert record.cost_usd == 0.5


def test_a_request_goes_from_open_to_confirmed():
    request = opened_request("s", Logged(1, timestamp(1), ASKED))
    assert request is not None
    states = [request.state]
    for number, event in enumerate(
        [PermissionAnswered("r", "allow", "ana"), AnswerDelivered("r"), ToolChanged("t", "done")], 2
    ):
        assert settle(request, Logged(number, timestamp(number), event))
        states.append(request.state)
    assert states == ["open", "answered", "delivered", "confirmed"]
    assert request.answered_by == "ana"


def test_a_withdrawn_request_takes_no_answer():
    request = opened_request("s", Logged(1, timestamp(1), ASKED))
    assert request is not None
    assert settle(request, Logged(2, timestamp(2), PermissionWithdrawn("r", "agent")))
    assert not settle(request, Logged(3, timestamp(3), PermissionAnswered("r", "allow", "ana")))
    assert request.state == "withdrawn"


def test_the_agents_own_bytes_survive_the_log():
    odd = PermissionRequested("r", "T", "t", "other", Raw(b'{"b" : 1,  "a":[1.50, 1e3]}'), "", ())
    event = decode_logged(encode_logged(1, timestamp(0), odd)).event
    assert isinstance(event, PermissionRequested)
    assert bytes(event.input) == b'{"b" : 1,  "a":[1.50, 1e3]}'


@pytest.mark.row("R13")
def test_finished_edits_are_counted_and_a_pull_request_is_known_by_the_last_line_of_a_command():
    url = "https://github.com/lantern/lantern/pull/218"
    diff = (Diff("a.py", "@@", 12, 3),)
    record, _ = fold(
        ToolChanged("t1", "running", diffs=diff),
        ToolChanged("t1", "done", diffs=diff),
        ToolChanged("t2", "failed", diffs=diff),
        ToolChanged("t3", "done", f"Creating pull request\n\n{url}\n"),
        ToolChanged("t4", "done", f"see {url} for more"),
        ToolChanged("t5", "done", "https://github.com/lantern/lantern/pull/1<script>"),
        ToolChanged("t6", "done", "javascript:alert(1)//github.com/a/b/pull/9"),
    )
    assert (record.added, record.removed, record.pull_request) == (12, 3, url)
