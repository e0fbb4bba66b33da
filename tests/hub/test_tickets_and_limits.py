"""Small parts by themselves: buckets per name and the throttle's report."""

import logging

import pytest

from bascule.hub.door.buckets import Buckets
from bascule.hub.door.throttle import BURST, Throttle


def test_names_have_buckets_of_their_own_and_the_oldest_are_forgotten() -> None:
    buckets = Buckets(60, 1, lambda: 0.0, keep=2)
    assert buckets.of("a").take()
    assert not buckets.of("a").take()
    assert buckets.of("b").take()
    assert buckets.of("c").take()
    assert buckets.of("a").take()


@pytest.mark.row("S58")
def test_throttling_one_address_does_not_throttle_another(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    throttle = Throttle(lambda: 0.0)
    assert [throttle.wrong("1.1.1.1") for _ in range(BURST + 1)] == [True] * BURST + [False]
    assert throttle.wrong("2.2.2.2")
    assert len(caplog.records) == 1
