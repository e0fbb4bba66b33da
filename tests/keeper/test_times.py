"""Times of a terminal's output: noted now and then, in a file that stays small."""

from pathlib import Path

import pytest

from bascule.keeper.layout import SPOOL, TIMES
from bascule.keeper.times import PAIR, OutputTimes
from bascule.transport.times import read_times, times_file


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_output_close_together_has_one_time_and_later_output_another(tmp_path: Path):
    clock = Clock()
    times = OutputTimes(str(tmp_path), clock)
    for offset, wait in ((0, 0.0), (10, 0.01), (20, 0.02), (30, 0.03), (40, 5.0)):
        clock.now += wait
        times.note(offset)
    assert read_times(tmp_path / TIMES) == [(0, 1_000_000), (30, 1_000_060), (40, 1_005_060)]


def test_a_clock_that_is_set_back_stops_nothing(tmp_path: Path):
    clock = Clock()
    times = OutputTimes(str(tmp_path), clock)
    times.note(0)
    clock.now -= 500
    times.note(10)
    assert [offset for offset, _ in read_times(tmp_path / TIMES)] == [0, 10]


def test_a_full_file_keeps_every_second_pair_and_goes_on_more_slowly(tmp_path: Path):
    clock = Clock()
    times = OutputTimes(str(tmp_path), clock, most=8)
    for offset in range(200):
        clock.now += 0.05
        times.note(offset)
    pairs = read_times(tmp_path / TIMES)
    assert (tmp_path / TIMES).stat().st_size <= 8 * PAIR.size
    assert pairs == sorted(pairs)
    assert pairs[0][0] == 0
    assert pairs[-1][0] > 150
    assert all(abs(at - (1_000_050 + 50 * offset)) <= 1 for offset, at in pairs)


def test_a_pair_that_is_cut_off_is_left_out_and_no_file_is_no_times(tmp_path: Path):
    assert read_times(times_file(tmp_path, "s")) == []
    (tmp_path / SPOOL / "s").mkdir(parents=True)
    times_file(tmp_path, "s").write_bytes(PAIR.pack(1, 2) + b"half")
    assert read_times(times_file(tmp_path, "s")) == [(1, 2)]


def test_a_disk_that_refuses_costs_the_time_alone(tmp_path: Path):
    times = OutputTimes(str(tmp_path / "gone"))
    times.note(0)
    with pytest.raises(FileNotFoundError):
        (tmp_path / "gone").stat()
