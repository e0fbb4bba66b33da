"""Noise limit: some unrecognised lines are kept, the rest is counted."""

from bascule.model.events import AnyEvent, Note, TextAppended, Unrecognised
from bascule.session.noise_limit import AT_ONCE, PER_MINUTE, NoiseLimit

WORD = TextAppended("m", "assistant", "a")
FLOOD = Note(
    "unrecognised_flood",
    "The agent prints much that is not its protocol. From here on it is only counted.",
    "warning",
)


def lines(count: int) -> list[AnyEvent]:
    return [Unrecognised(str(number), "no JSON") for number in range(count)]


def left_out(count: int) -> Note:
    text = f"{count} lines that are not the agent's protocol were left out here."
    return Note("unrecognised_left_out", text, "warning")


def test_as_many_as_allowed_at_once_are_kept_whole():
    noise = NoiseLimit(lambda: 0.0)
    assert noise.bounded(lines(AT_ONCE)) == lines(AT_ONCE)
    assert noise.count_left_out() == []


def test_one_more_is_counted_and_said_so_once():
    noise = NoiseLimit(lambda: 0.0)
    assert noise.bounded(lines(AT_ONCE + 2)) == [*lines(AT_ONCE), FLOOD]
    assert noise.bounded(lines(3)) == []
    assert noise.count_left_out() == [left_out(5)]
    assert noise.count_left_out() == []


def test_other_events_are_never_left_out():
    noise = NoiseLimit(lambda: 0.0)
    assert noise.bounded([*lines(AT_ONCE), WORD]) == [*lines(AT_ONCE), WORD]
    assert noise.bounded([WORD, *lines(1), WORD]) == [WORD, FLOOD, WORD]
    assert noise.bounded([WORD] * 100) == [WORD] * 100


def test_the_count_is_text_before_the_next_line_that_is_kept():
    now = 0.0
    noise = NoiseLimit(lambda: now)
    noise.bounded(lines(AT_ONCE + 4))
    now += 60 / PER_MINUTE  # room for one
    assert noise.bounded(lines(2)) == [left_out(4), *lines(1), FLOOD]
    assert noise.count_left_out() == [left_out(1)]
