"""The lock of the database, when the process that held it was killed while it started a program."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bascule.model.errors import AlreadyRunning
from bascule.store import lock as lock_module
from bascule.store.lock import Lock

# Takes the lock, leaves it to a child that has not begun its own program yet, and dies. The child ends with
# its stdin.
KILLED = """
import os, sys
from pathlib import Path
from bascule.store.lock import Lock
lock = Lock(Path(sys.argv[1]))
if os.fork():
    os._exit(0)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    argv = [sys.executable, "-c", KILLED, str(tmp_path / "store.db")]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        process.wait()
        yield process


def test_a_server_that_starts_again_waits_until_that_program_has_begun(
    killed: subprocess.Popen[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert killed.stdin is not None
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        assert killed.stdin is not None
        if not killed.stdin.closed:
            killed.stdin.close()

    monkeypatch.setattr(lock_module.time, "sleep", sleep)
    Lock(tmp_path / "store.db").release()
    assert waited


def test_one_that_never_begins_is_not_waited_for_without_end(
    killed: subprocess.Popen[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_module, "RELEASE_SECONDS", 0.05)
    with pytest.raises(AlreadyRunning) as refused:
        Lock(tmp_path / "store.db")
    assert refused.value.fields["pid"] == killed.pid


def test_a_process_that_lives_is_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(_: float) -> None:
        pytest.fail("it waited")

    monkeypatch.setattr(lock_module.time, "sleep", sleep)
    held = Lock(tmp_path / "store.db")
    with pytest.raises(AlreadyRunning):
        Lock(tmp_path / "store.db")
    held.release()
