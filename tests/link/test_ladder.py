"""Delays before a daemon connects again."""

import random

import pytest

from bascule.link.ladder import SLOW, Ladder

ALMOST = 0.9999999


def delays(ladder: Ladder, count: int, drawn: float = ALMOST, now: float = 1000.0) -> list[float]:
    return [round(ladder.delay(now, drawn), 3) for _ in range(count)]


@pytest.mark.row("R2")
def test_the_first_attempt_is_at_once_and_the_others_wait_longer_each_time():
    assert delays(Ladder(), 8) == [0, 1, 2, 4, 8, 16, 30, 30]


@pytest.mark.row("REL-12", "R2")
def test_each_wait_is_random_from_nothing_to_the_whole():
    assert delays(Ladder(), 5, drawn=0.0) == [0] * 5
    assert delays(Ladder(), 5, drawn=0.5) == [0, 0.5, 1, 2, 4]


def test_a_connection_that_held_begins_from_the_lowest_step():
    ladder = Ladder()
    delays(ladder, 5)
    ladder.lost(1000.0, held=31)
    assert delays(ladder, 2) == [0, 1]


@pytest.mark.row("X11")
def test_a_connection_that_did_not_hold_is_made_again_at_once_and_then_from_where_the_ladder_was():
    ladder = Ladder()
    delays(ladder, 5)
    ladder.lost(1000.0, held=0.2)
    assert delays(ladder, 2) == [0, 30]


def test_a_hub_that_welcomes_and_ends_every_connection_is_tried_at_once_only_every_half_minute():
    ladder = Ladder()
    delays(ladder, 3)
    seen: list[float] = []
    for now in (1000.0, 1001.0, 1029.0, 1031.0, 1032.0):
        ladder.lost(now, held=0.2)
        seen += delays(ladder, 1, now=now)
    assert seen == [0, 8, 16, 0, 30]


def test_a_wake_or_another_network_tries_at_once_and_once():
    ladder = Ladder()
    delays(ladder, 4)
    ladder.woken()
    assert delays(ladder, 2) == [0, 16]


def test_the_time_that_a_refusal_names_is_respected_even_when_the_machine_wakes():
    ladder = Ladder()
    ladder.refused(1000.0, retry=60)
    assert ladder.delay(1000.0, 0.0) == 60
    ladder.woken()
    assert 50 <= ladder.delay(1010.0, ALMOST) <= 80
    assert ladder.delay(1060.0, 0.0) == 0


def test_who_is_not_known_tries_slowly_but_at_once_on_another_network():
    ladder = Ladder()
    ladder.turned_away(1000.0)
    assert ladder.delay(1000.0, 0.0) == SLOW
    assert ladder.delay(1000.0, ALMOST) > SLOW
    ladder.woken()  # perhaps it was a captive portal that answered
    assert ladder.delay(1000.0, ALMOST) == 0


def test_many_refused_attempts_stay_in_bounds():
    assert max(delays(Ladder(), 2000)) == 30


@pytest.mark.row("REL-12")
@pytest.mark.parametrize("seed", range(5))
def test_fifty_daemons_of_a_hub_that_was_restarted_come_back_within_a_minute_and_not_all_at_a_time(seed: int):
    dice = random.Random(seed)
    down = 3.0  # seconds that nothing listens
    back: list[float] = []
    for _ in range(50):
        ladder, now = Ladder(), 0.0
        ladder.lost(0.0, held=3600.0)
        while (now := now + ladder.delay(now, dice.random())) < down:
            pass
        back.append(now)
    assert max(back) < 60
    most = max(sum(begin <= one < begin + 0.1 for one in back) for begin in back)
    assert most <= 10, sorted(back)
