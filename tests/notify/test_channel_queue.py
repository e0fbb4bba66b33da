"""One channel's queue: retried by a ladder, replaced by what holds now, and its health in words."""

import pytest
from msgspec.structs import replace

from bascule.notify.channel_queue import LADDER, MAX_WAITING, Failure, Outbox
from bascule.notify.notice import Notice

NOTICE = Notice(tag="a", kind="approval", title="t", body="b", at="", request_id="r")
SETTLED = replace(NOTICE, settled=True)


def sent(outbox: Outbox, now: float = 0.0) -> Notice | None:
    notice = outbox.begin(now)
    if notice is not None:
        outbox.succeeded(now)
    return notice


@pytest.mark.row("X2")
def test_a_notice_is_tried_again_by_the_ladder_and_then_given_up_and_said_so() -> None:
    outbox, now = Outbox(replaces=True), 100.0
    outbox.put(NOTICE)
    for step in LADDER:
        assert outbox.begin(now) is NOTICE
        outbox.failed(now, Failure("push.example: nothing listens there"), random=0.0)
        assert outbox.health.problem == "push.example: nothing listens there"
        assert outbox.health.next_try_at == outbox.next_at() == now + step
        assert outbox.begin(now + step - 0.1) is None
        now += step
    assert outbox.begin(now) is NOTICE
    outbox.failed(now, Failure("nothing listens there"), random=0.0)
    assert len(outbox) == 0
    assert (outbox.health.given_up, outbox.health.next_try_at) == (1, None)
    # The next one begins from the lowest step, and a success clears the problem
    outbox.put(NOTICE)
    assert sent(outbox, now) is NOTICE
    assert (outbox.health.problem, outbox.health.delivered_at) == ("", now)


def test_the_far_side_may_ask_for_more_time_and_a_final_no_is_not_tried_again() -> None:
    outbox = Outbox(replaces=True)
    outbox.put(NOTICE)
    outbox.begin(0)
    outbox.failed(0, Failure("429", retry_after=90), random=0.5)
    assert outbox.next_at() == 90
    outbox.begin(90)
    outbox.failed(90, Failure("403", final=True), random=0.5)
    assert len(outbox) == 0


@pytest.mark.parametrize("replaces", [True, False])
def test_what_was_answered_before_it_was_sent_is_not_sent(replaces: bool) -> None:
    outbox = Outbox(replaces=replaces)
    outbox.put(NOTICE)
    assert outbox.put(SETTLED) is False
    assert len(outbox) == 0


def test_only_a_far_side_that_can_take_a_message_back_is_told_of_the_answer() -> None:
    for replaces, then in ((True, SETTLED), (False, None)):
        outbox = Outbox(replaces=replaces)
        outbox.put(NOTICE)
        assert sent(outbox) is NOTICE
        assert outbox.put(SETTLED) is replaces
        assert sent(outbox) is then
        assert outbox.put(SETTLED) is False


def test_an_answer_that_comes_while_the_request_is_being_sent_follows_it() -> None:
    outbox = Outbox(replaces=True)
    outbox.put(NOTICE)
    assert outbox.begin(0) is NOTICE
    assert outbox.put(SETTLED)
    outbox.succeeded(0)
    assert sent(outbox) is SETTLED


def test_a_far_side_that_is_gone_costs_a_bounded_queue() -> None:
    outbox = Outbox(replaces=True)
    for n in range(MAX_WAITING + 7):
        outbox.put(replace(NOTICE, tag=str(n)))
    assert len(outbox) == MAX_WAITING
    assert outbox.health.given_up == 7
