"""Thousands of short schedules of cuts, crashes and doubled connections: the copy is always a sound one."""

import os
from collections import Counter

import pytest
from tests.link import simulator
from tests.link.simulator import Broken, run

SCHEDULES = int(os.environ.get("SCHEDULES", "3000"))  # all 10,000 with `make chaos`


@pytest.mark.row("REL-40")
def test_no_schedule_breaks_an_invariant():
    seen: Counter[str] = Counter()
    for seed in range(SCHEDULES):
        try:
            world = run(seed)
        except BaseException as error:
            error.add_note(f"in `simulator.run(seed={seed})`")
            raise
        seen.update(came[0] for came in world.sink.outcomes.values())
        seen["rows"] += sum(map(len, world.sink.logs.values()))
        seen["sent twice"] += world.sink.skipped
        seen["cuts"] += world.cuts
    # The schedules do reach what they are there for.
    for what in ("answered", "failed", "rows", "sent twice", "cuts"):
        assert seen[what] > SCHEDULES / 10, what


def finds(seeds: range) -> bool:
    for seed in seeds:
        try:
            run(seed)
        except Broken:
            return True
    return False


@pytest.mark.row("REL-40")
def test_the_simulator_finds_live_rows_that_overtake_older_ones(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("bascule.link.sending.SendQueue._behind", lambda self, priority, keys: priority)
    assert finds(range(300))


@pytest.mark.row("REL-40")
def test_the_simulator_finds_a_sink_that_takes_rows_of_an_older_connection(monkeypatch: pytest.MonkeyPatch):
    def receive_all(self: simulator.Sink, pipe: simulator.Pipe, frame: object) -> None:
        known = self.current
        receive(self, pipe, frame)
        if pipe is not known and pipe is not self.current:
            self._take(frame)

    receive = simulator.Sink.receive
    monkeypatch.setattr(simulator.Sink, "receive", receive_all)
    assert finds(range(1000))


@pytest.mark.row("REL-40")
def test_the_simulator_finds_a_source_that_sends_what_is_not_on_its_disk(monkeypatch: pytest.MonkeyPatch):
    write = simulator.Source.write

    def write_and_offer(self: simulator.Source) -> None:
        write(self)
        lengths = {name: len(log) for name, log in self.logs.items()}
        self.durable = {name: min(lengths[name], self.durable[name] + 1) for name in lengths}

    def crash(self: simulator.Source) -> None:
        for name, log in self.logs.items():
            del log[max(0, self.durable[name] - 2) :]
            self.durable[name] = len(log)
        self.forget()

    monkeypatch.setattr(simulator.Source, "write", write_and_offer)
    monkeypatch.setattr(simulator.Source, "crash", crash)
    assert finds(range(300))


def test_a_schedule_is_the_same_each_time():
    first, second = run(7), run(7)
    assert first.sink.logs == second.sink.logs
    assert first.sink.outcomes == second.sink.outcomes
