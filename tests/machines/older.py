"""An older version of this program, from the history of this repository, with the same dependencies."""

import io
import subprocess
import tarfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
BACK = 100  # commits
NEEDED = "src/bascule/hub/daemon_socket.py"


def reason_to_skip() -> str | None:
    return None if commit() else f"there is no commit {BACK} back that has {NEEDED}"


def commit() -> str | None:
    found = _git("rev-list", "-n", "1", f"--skip={BACK}", "HEAD")
    if not found or _git("cat-file", "-e", f"{found}:{NEEDED}") is None:
        return None
    return found


def before(path: str) -> str | None:
    """The commit before the one that added this file."""
    added = _git("log", "--diff-filter=A", "--format=%H", "-1", "--", path)
    return _git("rev-parse", f"{added}^") if added else None


def _git(*words: str) -> str | None:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def unpacked(into: Path, name: str | None = None) -> dict[str, str]:
    """Put the sources of that commit there. The environment in which `python -m bascule` is that version."""
    name = name or commit()
    assert name is not None
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", name, "src"], capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        if hasattr(tarfile, "data_filter"):  # not before Python 3.11.4
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(into)
    return {"PYTHONPATH": str(into / "src")}
