"""Files by letters of their path: what git tracks or does not ignore, the likeliest first."""

import os
import subprocess
from pathlib import Path

import pytest

from bascule.daemon.files.finding import best, count_files, find_files

PATHS = [
    "src/lantern/app.py",
    "src/lantern/application.py",
    "src/lantern/snapper.py",
    "app/models.py",
    "docs/a-plain-page.md",
    "README.md",
]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (
            "app",
            ["src/lantern/app.py", "src/lantern/application.py", "src/lantern/snapper.py", "app/models.py"],
        ),
        ("APP.PY", ["src/lantern/app.py"]),
        ("app/mo", ["app/models.py"]),
        ("lapp", ["src/lantern/app.py", "src/lantern/snapper.py", "src/lantern/application.py"]),
        ("rdm", ["README.md"]),
        ("nothing", []),
    ],
)
def test_a_name_counts_more_than_its_folders_and_letters_together_more_than_apart(
    wanted: str, found: list[str]
) -> None:
    assert best(PATHS, wanted, len(found) or 10) == found


def test_only_as_many_as_wanted() -> None:
    assert best([f"a{n}.py" for n in range(1000)], "a", 3) == ["a0.py", "a1.py", "a2.py"]


@pytest.mark.row("X9")
def test_what_git_ignores_and_what_is_ours_is_not_found(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    for name in ("src/app.py", "build/app.js", "state/app.db", "new_app.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    (folder / ".gitignore").write_text("build/\n")
    path, own = os.environ["PATH"], (str(folder / "state"),)
    assert find_files(str(folder), "app", 10, own, path, str(folder)) == []  # there is no repository yet
    assert count_files(str(folder), path, str(folder)) is None
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "add", "src"], check=True)
    assert find_files(str(folder), "app", 10, own, path, str(folder)) == ["src/app.py", "new_app.py"]
    assert find_files(str(folder / "src"), "app", 10, own, path, str(folder)) == ["app.py"]
    assert count_files(str(folder), path, str(folder)) == 4  # the ignored one is not counted
