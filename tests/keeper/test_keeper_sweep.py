"""Sweeps: a grace is real time and looks, so that a machine too busy for either shortens nobody's."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.waiting import PATIENCE

from bascule.keeper import procs
from bascule.keeper.log import Log
from bascule.keeper.sweep import Sweep, sweep_leftovers

# A name of this worker's own: a sweep ends whatever bears it.
KEEPER = f"keeper {os.getpid()}"
STUBBORN = (
    "import os, signal, time\n"
    "signal.signal(signal.SIGTERM, lambda *a: os.write(1, b'TERM\\n'))\n"
    "os.write(1, b'up\\n')\n"
    "while True: time.sleep(600)"
)


@pytest.fixture
def stubborn() -> Iterator[subprocess.Popen[str]]:
    """A group of its own that outlives TERM, with the marks of a keeper that is gone."""
    marks = {procs.SESSION_MARK: "a", procs.KEEPER_MARK: KEEPER}
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", STUBBORN],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=marks,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    yield process
    process.kill()
    process.wait(PATIENCE)
    process.stdout.close()


def leader_of(process: subprocess.Popen[str]) -> procs.Proc:
    leader = procs.read(process.pid)
    assert leader is not None
    return leader


def test_a_kill_waits_for_its_looks_however_late_it_is(stubborn: subprocess.Popen[str]) -> None:
    leader = leader_of(stubborn)
    sweep = Sweep("a", KEEPER, leader, hang_up=False, kill_at=0.0, looks=2)
    assert not sweep.step([leader], alone=False, now=1000.0)
    assert stubborn.stdout is not None
    assert stubborn.stdout.readline() == "TERM\n"
    assert not sweep.step([leader], alone=False, now=2000.0)
    assert stubborn.poll() is None
    sweep.step([leader], alone=False, now=2000.1)
    assert stubborn.wait(PATIENCE) == -signal.SIGKILL


def test_whoever_hurries_waits_for_no_looks(stubborn: subprocess.Popen[str]) -> None:
    leader = leader_of(stubborn)
    sweep = Sweep("a", KEEPER, leader, hang_up=False, kill_at=9000.0, looks=50)
    sweep.hurry(10.0)
    sweep.step([leader], alone=False, now=10.0)
    assert stubborn.wait(PATIENCE) == -signal.SIGKILL


def test_leftovers_are_killed_though_the_clock_leaps(
    stubborn: subprocess.Popen[str],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = Log(str(tmp_path_factory.mktemp("sweep") / "log"), stderr_too=False)
    leaps = iter(range(0, 10**9, 3600))
    monkeypatch.setattr("bascule.keeper.sweep.time.monotonic", lambda: float(next(leaps)))
    sweep_leftovers(KEEPER, log)
    assert stubborn.wait(PATIENCE) == -signal.SIGKILL
