"""What a person is told, and when: one notice per real request, replaced when it is answered."""

import pytest
from msgspec.structs import replace
from tests.notify.requests import COMMAND, Clock, answered, asked, commit, guard_answered, record

from bascule.model.events import GuardAsked
from bascule.model.lifecycle import Phase
from bascule.notify.due_notices import GRACE, TAKE_OVER, Decider
from bascule.notify.notice import Notice
from bascule.notify.notice_words import MANY_TAG, guard_notice, request_notice
from bascule.store.base import Committed

GUARD = GuardAsked("g1", "session_cents", "$2.05 of $2.00 are spent for this session.", 205, 200)
LOOP = GuardAsked("g2", "loop", "Bash was called 5 times with the same input.", 5, 5)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def decider(clock: Clock) -> Decider:
    return Decider(clock, clock, 600)


def due(decider: Decider, *, looking: bool = False, quiet: bool = False) -> list[Notice]:
    """As the notifier asks, where no other node could have told it."""
    news = decider.news(looking=looking, quiet=quiet)
    ready = decider.ready(looking=looking, quiet=quiet)
    return news + [notice for key in ready for notice in decider.claimed(key)]


def told(decider: Decider, clock: Clock, seconds: float = GRACE) -> list[Notice]:
    clock.at += seconds
    return due(decider)


@pytest.mark.row("X2")
def test_a_request_is_told_once_and_replaced_by_what_became_of_it(decider: Decider, clock: Clock) -> None:
    request = asked()
    assert decider.committed(commit(request)) == []
    assert due(decider) == []
    (notice,) = told(decider, clock)
    assert (notice.kind, notice.title, notice.path) == (
        "approval",
        "Fix the shop: needs approval",
        "/sessions/s1",
    )
    assert notice.may_deny
    assert notice.project == "/srv/ana/shop"
    # Neither more of the session's log nor time tells it again
    decider.committed(commit(request))
    assert told(decider, clock, 1000) == []
    assert decider.next_due() is None
    (settled,) = decider.committed(commit(answered(request)))
    assert (settled.tag, settled.settled, settled.title) == (notice.tag, True, "Allowed by Ana")
    assert not settled.may_deny
    assert decider.committed(commit(replace(answered(request), state="delivered"))) == []


def test_a_request_that_a_rule_answers_at_once_is_no_request_to_a_person(
    decider: Decider, clock: Clock
) -> None:
    request = asked()
    decider.committed(commit(request))
    assert decider.committed(commit(answered(request, by="rule"))) == []
    assert told(decider, clock, 60) == []


def test_nothing_is_told_while_somebody_is_at_the_page_and_it_is_once_they_leave(
    decider: Decider, clock: Clock
) -> None:
    decider.committed(commit(asked()))
    clock.at += GRACE
    for _ in range(5):
        assert due(decider, looking=True, quiet=False) == []
        again = decider.next_due()
        assert again is not None
        clock.at = again
    assert [one.request_id for one in due(decider)] == ["r1"]


def test_quiet_hours_hold_requests_back_and_drop_other_news(decider: Decider, clock: Clock) -> None:
    decider.committed(commit(asked()))
    decider.committed(commit(of=record("s2")))
    decider.committed(commit(of=record("s2", Phase.FAILED, end_message="It is not installed.")))
    clock.at += GRACE
    assert due(decider, looking=False, quiet=True) == []
    assert [one.kind for one in told(decider, clock, 3600)] == ["approval"]


def test_the_third_request_in_ten_seconds_stands_for_all_that_follow(decider: Decider, clock: Clock) -> None:
    requests = [asked(f"r{n}") for n in range(5)]
    decider.committed(commit(*requests))
    notices = told(decider, clock)
    assert [one.request_id for one in notices] == ["r0", "r1", "", "", ""]
    assert len({one.tag for one in notices}) == 3
    assert notices[-1].title == "3 requests wait for you"
    # The one that stands for several counts down, and is over with the last of them
    titles = [decider.committed(commit(answered(one)))[0] for one in requests[2:]]
    assert [(one.title, one.settled) for one in titles] == [
        ("2 requests wait for you", False),
        ("1 request waits for you", False),
        ("Nothing waits any more", True),
    ]


def test_what_was_told_before_a_restart_is_not_told_again_and_is_replaced(
    decider: Decider, clock: Clock
) -> None:
    notice = request_notice(record(), asked(), "")
    decider.restored(("s1", "r1"), notice, notice.tag)
    decider.committed(commit(asked()))
    assert told(decider, clock) == []
    assert decider.shown() == [notice]
    (settled,) = decider.committed(commit(answered(asked())))
    assert (settled.tag, settled.title) == (notice.tag, "Allowed by Ana")


def test_what_was_told_as_one_of_many_before_a_restart_counts_among_them(
    decider: Decider, clock: Clock
) -> None:
    for name in ("r1", "r2"):
        decider.restored(("s1", name), request_notice(record(), asked(name), ""), MANY_TAG)
    assert [one.title for one in decider.shown()] == ["2 requests wait for you"]
    decider.committed(commit(asked("r3")))
    assert [one.title for one in told(decider, clock)] == ["3 requests wait for you"]
    (left,) = decider.committed(commit(answered(asked("r1"))))
    assert (left.title, left.settled) == ("2 requests wait for you", False)


def test_a_withdrawn_request_says_so(decider: Decider, clock: Clock) -> None:
    request = asked()
    decider.committed(commit(request))
    told(decider, clock)
    (settled,) = decider.committed(commit(replace(request, state="withdrawn", reason="ended")))
    assert settled.title == "No longer asked"


@pytest.mark.row("S61")
def test_the_command_stands_in_the_detail_alone_and_without_its_key(decider: Decider, clock: Clock) -> None:
    decider.committed(commit(asked(), asked("q1", kind="question")))
    approval, question = told(decider, clock)
    assert approval.detail == f"Bash: {COMMAND.partition('sk-')[0]}[hidden] make"
    assert question.detail == "Which colour?"
    for words in ("rm -r", "sk-ant", "colour"):
        assert words not in approval.title + approval.body + question.title + question.body


def test_a_session_that_fails_or_ends_by_itself_is_told_and_one_that_a_person_ended_is_not(
    decider: Decider, clock: Clock
) -> None:
    for name, end in (("s1", "exited"), ("s2", "closed"), ("s3", "disconnected"), ("s4", "time_limit")):
        decider.committed(commit(of=record(name)))
        decider.committed(commit(of=record(name, Phase.ENDED, end_reason=end)))
    decider.committed(commit(of=record("s5")))
    decider.committed(commit(of=record("s5", Phase.FAILED)))
    assert [one.session_id for one in told(decider, clock)] == ["s1", "s4", "s5"]


def test_a_long_turn_is_told_when_it_is_over_and_a_limit_before_it_ends_a_session(
    decider: Decider, clock: Clock
) -> None:
    decider.committed(commit(of=record("s1")))
    decider.committed(commit(of=record("s2")))
    clock.at += 300
    decider.committed(commit(of=record("s1", Phase.WAITING)))
    clock.at += 300
    decider.committed(commit(of=record("s2", Phase.WAITING)))
    decider.committed(commit(of=record("s2", Phase.WAITING, ends_at="2026-01-01T00:00:00Z")))
    notices = due(decider)
    assert [(one.kind, one.session_id) for one in notices] == [("finished", "s2"), ("limit", "s2")]
    assert notices[0].body == "Finished after 10 minutes in shop"


def test_sessions_found_in_an_agents_files_are_nobodys_news(decider: Decider, clock: Clock) -> None:
    decider.committed(commit(asked(), of=record(found=True)))
    assert told(decider, clock) == []


def test_a_request_that_another_node_took_in_is_told_here_when_that_node_has_not(
    decider: Decider, clock: Clock
) -> None:
    request = asked()
    assert decider.committed_elsewhere(commit(request)) == []
    assert told(decider, clock) == []
    (notice,) = told(decider, clock, TAKE_OVER)
    assert notice.request_id == "r1"
    assert decider.committed_elsewhere(commit(request)) == []
    assert told(decider, clock, 1000) == []
    (settled,) = decider.committed_elsewhere(commit(answered(request)))
    assert (settled.tag, settled.title) == (notice.tag, "Allowed by Ana")


def test_a_request_that_another_node_has_told_is_never_told_here(decider: Decider, clock: Clock) -> None:
    request = asked()
    decider.committed_elsewhere(commit(request))
    clock.at += GRACE + TAKE_OVER
    (key,) = decider.ready(looking=False, quiet=False)
    decider.sent_elsewhere(key)
    decider.committed_elsewhere(commit(request))
    decider.committed(commit(request))  # its machine has come to this node
    assert told(decider, clock, 1000) == []
    assert decider.committed_elsewhere(commit(answered(request))) == []


def test_a_request_whose_machine_comes_to_this_node_waits_no_longer_than_its_own(
    decider: Decider, clock: Clock
) -> None:
    decider.committed_elsewhere(commit(asked()))
    decider.committed(commit(asked()))
    assert [one.request_id for one in told(decider, clock)] == ["r1"]


def test_a_request_that_was_open_at_the_start_is_told_when_no_node_has_told_it(
    decider: Decider, clock: Clock
) -> None:
    decider.seed([asked(), asked("r2")])
    decider.unsent(commit(asked("r2")), ("s1", "r2"))
    assert [one.request_id for one in told(decider, clock, GRACE + TAKE_OVER)] == ["r2"]


def test_a_request_that_is_answered_while_it_is_claimed_is_not_told(decider: Decider, clock: Clock) -> None:
    decider.committed(commit(asked()))
    clock.at += GRACE
    (key,) = decider.ready(looking=False, quiet=False)
    decider.committed(commit(answered(asked())))
    assert decider.claimed(key) == []


@pytest.mark.row("X2")
def test_a_limit_that_stops_an_agent_is_told_once_and_replaced_by_what_the_owner_decides(
    decider: Decider, clock: Clock
) -> None:
    assert decider.committed(commit(of=record(guard=GUARD))) == []
    assert due(decider) == []
    (notice,) = told(decider, clock)
    assert (notice.kind, notice.title, notice.path) == (
        "limit",
        "Fix the shop: limit reached",
        "/sessions/s1",
    )
    assert notice.asks
    assert not notice.may_deny
    assert (notice.detail, "$" in notice.title + notice.body) == (GUARD.text, False)
    decider.committed(commit(of=record(guard=GUARD)))
    assert told(decider, clock, 1000) == []
    assert decider.next_due() is None
    (settled,) = decider.committed(Committed(record(), [guard_answered("g1", "go_on")]))
    assert (settled.tag, settled.settled, settled.title) == (notice.tag, True, "Continued by Ana")
    # The next one is another
    decider.committed(commit(of=record(guard=LOOP)))
    assert [one.title for one in told(decider, clock)] == ["Fix the shop: going in circles"]
    (settled,) = decider.committed(commit(of=record(phase=Phase.ENDED, end_reason="closed")))
    assert (settled.request_id, settled.title) == ("g2", "The session has ended")


def test_a_limit_that_is_raised_at_once_is_not_told_and_one_that_is_held_back_is_told_later(
    decider: Decider, clock: Clock
) -> None:
    decider.committed(commit(of=record(guard=GUARD)))
    decider.committed(commit(of=record()))
    assert told(decider, clock, 60) == []
    decider.committed(commit(of=record(guard=LOOP)))
    clock.at += GRACE
    assert due(decider, looking=True) == []
    clock.at += 3600
    assert due(decider, quiet=True) == []
    assert [one.request_id for one in told(decider, clock, 3600)] == ["g2"]


def test_a_limit_that_another_node_took_in_is_told_by_one_node(decider: Decider, clock: Clock) -> None:
    decider.committed_elsewhere(commit(of=record(guard=GUARD)))
    assert told(decider, clock) == []
    (notice,) = told(decider, clock, TAKE_OVER)
    (settled,) = decider.committed_elsewhere(commit(of=record()))
    assert (settled.tag, settled.title) == (notice.tag, "Continued")
    decider.committed_elsewhere(commit(of=record(guard=LOOP)))
    clock.at += GRACE + TAKE_OVER
    (key,) = decider.ready(looking=False, quiet=False)
    decider.sent_elsewhere(key)
    decider.committed(commit(of=record(guard=LOOP)))
    assert told(decider, clock, 1000) == []
    assert decider.committed(commit(of=record())) == []


def test_a_limit_that_was_reached_before_the_start_is_told_when_no_node_has_told_it(
    decider: Decider, clock: Clock
) -> None:
    decider.seed([], [("s1", "g1"), ("s2", "g2")])
    decider.committed(commit(of=record(guard=GUARD)))
    assert told(decider, clock, 1000) == []
    decider.unsent(commit(of=record("s2", guard=LOOP)), ("s2", "g2"))
    assert [one.request_id for one in told(decider, clock, GRACE + TAKE_OVER)] == ["g2"]


def test_a_limit_that_a_node_which_is_gone_has_told_is_replaced_though_another_one_was_reached_since(
    decider: Decider, clock: Clock
) -> None:
    decider.seed([], [("s1", LOOP.guard_id)])
    notice = guard_notice(record(guard=GUARD), GUARD, "")
    decider.restored(("s1", GUARD.guard_id), notice, notice.tag)
    (settled,) = decider.committed(commit(of=record(guard=LOOP)))
    assert (settled.tag, settled.settled) == (notice.tag, True)
    assert told(decider, clock, 1000) == []
