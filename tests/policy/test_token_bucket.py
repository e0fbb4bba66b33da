"""A bucket lets a burst through, then a steady rate."""

import pytest

from bascule.policy.token_bucket import TokenBucket


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.row("R15")
def test_a_burst_passes_and_the_next_one_waits():
    clock = Clock()
    bucket = TokenBucket(60, 3, clock)
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    assert 0.9 < bucket.seconds_until_next() <= 1.0
    clock.now = 1.0
    assert bucket.take()
    assert not bucket.take()


def test_a_bucket_left_alone_is_full_again_and_never_fuller():
    clock = Clock()
    bucket = TokenBucket(60, 2, clock)
    bucket.take()
    assert not bucket.full
    clock.now = 3600
    assert bucket.full
    assert [bucket.take() for _ in range(3)] == [True, True, False]


def test_a_clock_that_steps_back_gives_nothing_away():
    clock = Clock()
    clock.now = 100
    bucket = TokenBucket(60, 1, clock)
    assert bucket.take()
    clock.now = 0
    assert not bucket.take()


@pytest.mark.row("R15")
def test_nothing_per_minute_is_no_limit():
    bucket = TokenBucket(0, 0, Clock())
    assert all(bucket.take() for _ in range(1000))
    assert bucket.seconds_until_next() == 0
