"""install.sh: what it does and in which order, with an environment that only notes what it is asked."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = """#!/bin/sh
echo "python $*" >> "$HOME/notes"
case "$*" in *force-reinstall*) cp "$HOME/bascule" "$(dirname "$0")/bascule" ;; esac
"""
MAKES_VENV = """#!/bin/sh
echo "venv" >> "$HOME/notes"
mkdir -p "$1/bin" && cp "$HOME/python" "$1/bin/python"
"""
BASCULE = '#!/bin/sh\necho "bascule $*" >> "$HOME/notes"\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home, and beside it a checkout whose environments are scripts."""
    made, checkout = tmp_path / "home", tmp_path / "checkout"
    made.mkdir()
    (checkout / ".ci").mkdir(parents=True)
    (checkout / "src/bascule/web/bundle").mkdir(parents=True)
    (checkout / "src/bascule/web/bundle/manifest.json").write_text("{}")
    (checkout / ".ci/venv").write_text(MAKES_VENV)
    shutil.copy(ROOT / "install.sh", checkout)
    for name, text in (("python", PYTHON), ("bascule", BASCULE)):
        (made / name).write_text(text)
        (made / name).chmod(0o755)
    return made


def install(home: Path, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", **more}
    script = ["sh", str(home.parent / "checkout" / "install.sh"), *words]
    return subprocess.run(script, env=env, capture_output=True, text=True, cwd="/")


def notes(home: Path) -> list[str]:
    lines = (home / "notes").read_text().splitlines()
    (home / "notes").unlink()
    return lines


PIP = "python -m pip install -qq --no-deps"
STEPS = [
    f"{PIP} --require-hashes -r requirements/run.txt",
    f"{PIP} --no-build-isolation --force-reinstall .",
]


@pytest.mark.row("L11")
def test_it_installs_updates_and_removes(home: Path) -> None:
    done = install(home)
    assert done.returncode == 0, done.stderr
    assert "is not in your PATH" in done.stderr
    assert notes(home) == ["venv", *STEPS, "bascule service install --restart"]
    command, venv = home / ".local/bin/bascule", home / ".local/share/bascule/venv"
    assert os.readlink(command) == str(venv / "bin/bascule")
    assert install(home, PATH=f"/usr/bin:/bin:{home}/.local/bin").stderr.count("PATH") == 0
    assert notes(home) == [*STEPS, "bascule service install --restart"]
    assert install(home, "--no-service").returncode == 0
    assert notes(home) == STEPS
    assert install(home, "--uninstall").returncode == 0
    assert notes(home) == ["bascule service uninstall"]
    assert not command.is_symlink()
    assert not venv.parent.exists()
    assert install(home, "--uninstall").returncode == 0


@pytest.mark.row("L11")
def test_it_refuses_before_it_changes_anything(home: Path) -> None:
    assert "without sudo" in install(home, SUDO_USER="root").stderr
    assert install(home, "--nonsense").returncode == 2
    assert "--uninstall" in install(home, "--help").stdout
    (home / ".local/bin").mkdir(parents=True)
    (home / ".local/bin/bascule").write_text("somebody's own")
    done = install(home)
    assert (done.returncode, "is another program" in done.stderr) == (1, True)
    assert install(home, "--uninstall").returncode == 0
    assert (home / ".local/bin/bascule").read_text() == "somebody's own"
    (home / ".local/bin/bascule").unlink()
    (home.parent / "checkout/src/bascule/web/bundle/manifest.json").unlink()
    empty = home / "empty"
    empty.mkdir()
    for name in ("sh", "dirname", "sed", "readlink", "rm", "rmdir"):
        (empty / name).symlink_to(shutil.which(name) or "")
    done = install(home, PATH=str(empty))
    assert (done.returncode, "built with npm" in done.stderr) == (1, True)
    assert not (home / "notes").exists()
