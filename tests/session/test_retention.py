"""How much of a tape is kept."""

from bascule.session.retention import COME_BACK_SECONDS, MAX_TIMES, Retention


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_last_bytes_are_always_kept_and_older_ones_for_half_a_minute():
    clock = Clock()
    retention = Retention(1000, 0, clock)
    assert retention.forgettable(5000) == 0, "a viewer who was cut off just now reads on"
    clock.now += COME_BACK_SECONDS / 2
    assert retention.forgettable(6000) == 0
    clock.now += COME_BACK_SECONDS
    assert retention.forgettable(6000) == 5000


def test_a_flood_is_bounded_however_fast_it_is():
    retention = Retention(1000, 0, Clock())
    assert retention.forgettable(100_000) == 100_000 - MAX_TIMES * 1000
