"""What several tests of the daemon share: a home folder for agents, and gates for starts."""

from pathlib import Path

import pytest
from tests.daemon.gates import Gate, MakeGate


@pytest.fixture
def home(short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, where agents keep their sessions."""
    made = short_dir / "home"
    made.mkdir()
    monkeypatch.setenv("HOME", str(made))
    return made


@pytest.fixture
def gates(tmp_path: Path) -> MakeGate:
    return lambda **settings: Gate(tmp_path, **settings)
