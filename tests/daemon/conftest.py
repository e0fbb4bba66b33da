"""What several tests of the daemon share: a home folder for agents, a terminal, and gates for starts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.daemon.gates import Gate, MakeGate
from tests.daemon.sleeper import Sleeper


@pytest.fixture
def home(short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, where agents keep their sessions."""
    made = short_dir / "home"
    made.mkdir()
    monkeypatch.setenv("HOME", str(made))
    return made


@pytest.fixture
def terminal() -> Iterator[Sleeper]:
    """A process that stands for an agent in a plain terminal."""
    sleeper = Sleeper()
    yield sleeper
    sleeper.end()


@pytest.fixture
def gates(tmp_path: Path) -> MakeGate:
    return lambda **settings: Gate(tmp_path, **settings)
