"""Silence, pings and the far side's clock."""

import pytest

from bascule.link.liveness import DOUBT_SECONDS, ClockOffset, Liveness, Look


def looks(liveness: Liveness, now: float, until: float) -> list[tuple[float, Look]]:
    """What an owner sees who looks whenever it was told to, while nothing is heard."""
    found: list[tuple[float, Look]] = []
    while now < until:
        look = liveness.look(now)
        found.append((now, look))
        now = look.again
    return found


@pytest.mark.parametrize("start", [0.0, 1000.1, 1e9 + 0.7])
def test_silence_is_pinged_at_10_stale_at_15_and_dead_at_30_seconds(start: float):
    found = looks(Liveness(start), start, start + 31)
    seen = [(round(now - start), look.state, look.ping) for now, look in found]
    assert seen == [
        (0, "alive", None),
        (10, "alive", 1),
        (15, "stale", None),
        (20, "stale", 2),
        (30, "dead", None),
    ]


def test_any_byte_is_a_sign_of_life():
    liveness = Liveness(0)
    liveness.look(10)
    liveness.heard(10.2)
    assert liveness.look(15) == Look("alive", None, 20.2)
    assert liveness.look(20.2).ping == 2
    assert liveness.silence(25.2) == 15


def test_a_line_that_is_never_silent_is_never_pinged():
    liveness = Liveness(0)
    for now in range(0, 100, 5):
        liveness.heard(now)
        assert liveness.look(now).ping is None


@pytest.mark.row("REL-26")
def test_a_look_that_comes_late_grants_one_more_round():
    liveness = Liveness(0)
    assert liveness.look(0).again == 10
    look = liveness.look(3600)  # the machine slept
    assert look == Look("alive", 1, 3605)
    assert liveness.silence(3600) == 3600  # a person is told the truth
    states = [(now, one.state) for now, one in looks(liveness, look.again, 3625)]
    assert states == [(3605, "stale"), (3610, "stale"), (3620, "dead")]


def test_a_late_look_is_forgiven_once_in_a_silence():
    liveness = Liveness(0)
    liveness.look(0)
    assert liveness.look(3600).state == "alive"
    assert liveness.look(7200).state == "dead"
    liveness.heard(7200)
    liveness.look(7200)
    assert liveness.look(9999).state == "alive"


def test_a_look_that_is_a_little_late_is_not_forgiven():
    liveness = Liveness(0)
    for now in (0, 10, 15, 20):
        liveness.look(now)
    assert liveness.look(39).state == "dead"


@pytest.mark.parametrize("early", [15, 20, 30])
def test_a_look_that_comes_a_moment_early_does_not_make_the_next_one_late(early: float):
    liveness = Liveness(0)
    for now in (0, 10, 15, 20, 30):
        if now == early:
            assert liveness.look(now - 0.0004).again == now
            now += 0.001
        look = liveness.look(now)
    assert look.state == "dead"


def test_after_a_change_of_the_network_silence_is_judged_soon():
    liveness = Liveness(0)
    liveness.look(0)
    assert liveness.doubt(3) == 1
    assert looks(liveness, 3, 9)[-1] == (3 + DOUBT_SECONDS, Look("dead", None, 18))
    liveness.heard(3.1)  # an answer, and all is as before
    assert liveness.look(3.1) == Look("alive", None, 13.1)
    assert liveness.look(13.1).ping == 2


def test_changes_that_go_on_do_not_put_the_end_of_a_silence_off():
    liveness = Liveness(0)
    liveness.look(0)
    assert [liveness.doubt(now) for now in (1, 2, 3, 4, 5)] == [1, 2, 3, 4, 5]
    assert liveness.look(1 + DOUBT_SECONDS).state == "dead"


def test_who_woke_up_asks_and_has_the_time_for_an_answer_only_once():
    liveness = Liveness(0)
    liveness.look(0)
    liveness.doubt(3600)
    assert liveness.look(3600 + DOUBT_SECONDS - 0.1) == Look("stale", None, 3600 + DOUBT_SECONDS)
    assert liveness.look(3600 + 4 * DOUBT_SECONDS).state == "dead"


def test_the_offset_of_a_clock_is_halfway_between_ping_and_pong():
    clock = ClockOffset()
    assert clock.seconds is None
    clock.add(pinged=100.0, their_clock=340.5, now=101.0)
    assert clock.seconds == 240.0
    assert clock.delay == 1.0


def test_the_sample_with_the_shortest_way_counts():
    clock = ClockOffset()
    clock.add(0.0, 9.0, 10.0)
    clock.add(20.0, 25.05, 20.1)
    clock.add(30.0, 38.0, 32.0)
    assert clock.seconds == pytest.approx(5.0)


def test_a_sample_during_which_our_clock_was_set_back_is_left_out():
    clock = ClockOffset()
    clock.add(100.0, 100.0, 40.0)
    assert clock.seconds is None


def test_old_samples_are_forgotten():
    clock = ClockOffset()
    clock.add(0.0, 0.05, 0.1)
    for n in range(8):
        clock.add(100.0 + n, 160.5 + n, 101.0 + n)
    assert clock.seconds == pytest.approx(60.0)
