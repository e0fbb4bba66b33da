"""Only the newest entries that count are kept."""

from bascule.drivers.bounded import forget_oldest


def test_the_oldest_go_first() -> None:
    known = {"a": 1, "b": 2, "c": 3}
    forget_oldest(known, 2)
    assert known == {"b": 2, "c": 3}
    forget_oldest(known, 5)
    assert known == {"b": 2, "c": 3}


def test_entries_that_do_not_count_stay_and_take_no_room() -> None:
    known = {number: number for number in range(6)}
    forget_oldest(known, 1, lambda value: value % 2 == 0)
    assert list(known) == [1, 3, 4, 5]
