"""Repeated events are counted instead of written: a bound on kinds, and periods that grow in a flood."""

from bascule.policy.repeats import LONGEST, MAX_DIFFERENT, SHORTEST, Counted, Repeats


class Clock:
    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def made() -> tuple[Repeats[str], Clock]:
    clock = Clock()
    return Repeats(clock), clock


def test_the_first_is_written_and_the_same_again_is_counted() -> None:
    repeats, clock = made()
    assert repeats.ends is None
    assert [repeats.write(one) for one in ("a", "a", "b", "a")] == [True, False, True, False]
    assert repeats.ends == 1000.0 + SHORTEST
    clock.at += SHORTEST - 1
    assert not repeats.over
    clock.at += 1
    assert repeats.over
    assert repeats.take() == Counted((("a", 2),), 0, SHORTEST)
    assert repeats.ends is None
    assert not repeats.over


def test_what_was_counted_is_written_again_in_the_next_period() -> None:
    repeats, clock = made()
    assert repeats.write("a")
    clock.at += SHORTEST
    assert repeats.take() == Counted((), 0, SHORTEST)
    assert repeats.write("a")


def test_beyond_so_many_kinds_the_rest_is_one_number() -> None:
    repeats, _ = made()
    written = [repeats.write(str(number)) for number in range(1000)]
    assert written == [True] * MAX_DIFFERENT + [False] * (1000 - MAX_DIFFERENT)
    assert not repeats.write("0")  # known, so by its name
    assert repeats.take() == Counted((("0", 1),), 1000 - MAX_DIFFERENT, 0.0)


def test_a_period_doubles_while_there_is_something_to_count_and_is_short_again_after_a_quiet_one() -> None:
    repeats, clock = made()
    lengths: list[float] = []
    for _ in range(9):
        assert [repeats.write("a"), repeats.write("a")] == [True, False]
        assert repeats.ends is not None
        lengths.append(repeats.ends - clock.at)
        clock.at = repeats.ends
        repeats.take()
    assert lengths == [60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, LONGEST, LONGEST, LONGEST]
    assert repeats.write("a")
    clock.at += LONGEST
    assert repeats.take() == Counted((), 0, LONGEST)
    repeats.write("a")
    assert repeats.ends == clock.at + SHORTEST


def test_a_flood_of_a_day_costs_a_bounded_number_of_rows() -> None:
    """Ten a second, each different and each twice: what is written and said, and that nothing is missing."""
    repeats, clock = made()
    rows = seen = told = 0
    for _ in range(24 * 3600 * 5):
        if repeats.over:
            counted = repeats.take()
            rows += len(counted.again) + (counted.others > 0)
            told += sum(times for _, times in counted.again) + counted.others
        for _ in range(2):
            seen += 1
            if repeats.write(f"kind {seen // 2}"):
                rows, told = rows + 1, told + 1
        clock.at += 0.2
    counted = repeats.take()
    told += sum(times for _, times in counted.again) + counted.others
    assert told == seen == 864_000
    assert rows < 31 * (2 * MAX_DIFFERENT + 1)
