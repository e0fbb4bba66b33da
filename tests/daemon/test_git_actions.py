"""Stage, revert and commit for a person: what becomes of the files, and that a repository runs nothing."""

import os
import subprocess
from pathlib import Path

import pytest

from bascule.daemon.files.changes import read_changes
from bascule.daemon.files.confined import ConfinedFolder, FileForbidden
from bascule.daemon.files.git_actions import GitRefused, Repository
from bascule.model.errors import InvalidInput

PATH = os.environ["PATH"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Mira\n\temail = mira@example.com\n")
    return home


@pytest.fixture
def folder(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "lantern"
    folder.mkdir()
    git(folder, home, "init", "-q", "-b", "main")
    (folder / "wick.py").write_text("old\n")
    (folder / "oil.py").write_text("oil\n")
    git(folder, home, "add", ".")
    git(folder, home, "commit", "-q", "-m", "First")
    return folder


def git(folder: Path, home: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env={"PATH": PATH, "HOME": str(home)}, capture_output=True, check=True
    )
    return done.stdout.decode()


def repository(folder: Path, home: Path) -> Repository:
    return Repository(str(folder), ConfinedFolder(str(folder), ()), PATH, str(home))


def changes(folder: Path, home: Path) -> dict[str, tuple[str, bool]]:
    read = read_changes(str(folder), ConfinedFolder(str(folder), ()), PATH, str(home))
    return {one.path: (one.status, one.staged) for one in read.files}


@pytest.mark.row("X9")
def test_files_are_staged_and_taken_out_again(folder: Path, home: Path):
    (folder / "wick.py").write_text("new\n")
    (folder / "a *.py").write_text("a name that looks like a pattern\n")
    repository(folder, home).stage(("a *.py",), staged=True)
    staged = {"wick.py": ("modified", False), "a *.py": ("added", True)}
    assert changes(folder, home) == staged, changes(folder, home)
    repository(folder, home).stage(("a *.py",), staged=False)
    assert changes(folder, home) == {"wick.py": ("modified", False), "a *.py": ("untracked", False)}


@pytest.mark.row("X9")
@pytest.mark.parametrize("status", ["modified", "deleted", "untracked", "added"])
def test_a_reverted_file_is_as_committed_and_the_revert_can_be_taken_back(
    folder: Path, home: Path, status: str
):
    path = folder / ("new.py" if status in ("untracked", "added") else "wick.py")
    if status == "deleted":
        path.unlink()
    else:
        path.write_text("worth keeping\n")
    if status == "added":
        repository(folder, home).stage((path.name,), staged=True)
    done = repository(folder, home).revert(path.name, None)
    assert changes(folder, home) == {}
    assert path.exists() is (path.name == "wick.py")
    if status == "deleted":
        assert done.kept == ""
        return
    repository(folder, home).revert(path.name, done.kept)
    assert path.read_text() == "worth keeping\n"
    assert changes(folder, home) == {path.name: ("modified" if status == "modified" else "untracked", False)}


@pytest.mark.row("X9")
def test_chosen_files_are_committed_in_the_persons_name_and_the_others_stay(folder: Path, home: Path):
    (folder / "wick.py").write_text("new\n")
    (folder / "oil.py").write_text("more oil\n")
    (folder / "flame.py").write_text("flame\n")
    repository(folder, home).stage(("oil.py",), staged=True)
    done = repository(folder, home).commit("Trim the wick\n\nIt smoked.", ("wick.py", "flame.py"))
    assert (done.branch, done.files, done.skipped) == ("main", 2, ())
    assert (
        git(folder, home, "log", "-1", "--format=%an %ae %s").strip() == "Mira mira@example.com Trim the wick"
    )
    assert changes(folder, home) == {"oil.py": ("modified", True)}
    assert repository(folder, home).commit("Oil", ()).files == 1
    with pytest.raises(GitRefused, match="Nothing is staged"):
        repository(folder, home).commit("Nothing", ())
    with pytest.raises(InvalidInput, match="needs a message"):
        repository(folder, home).commit("  \n", ())


@pytest.mark.row("X9")
def test_the_first_commit_of_a_repository_is_made_too(tmp_path: Path, home: Path):
    folder = tmp_path / "fresh"
    folder.mkdir()
    git(folder, home, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("a\n")
    assert repository(folder, home).commit("Begin", ("a.txt",)).files == 1


@pytest.mark.row("X9")
def test_nothing_that_an_agent_put_into_the_repository_runs(folder: Path, home: Path, tmp_path: Path):
    """Hooks, filters, fsmonitor, a signing program, an editor, a pager: each would leave a file."""
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/PWNED\ncat\n")
    evil.chmod(0o755)
    for hook in ("pre-commit", "commit-msg", "post-commit", "post-checkout", "post-index-change"):
        (folder / ".git/hooks" / hook).unlink(missing_ok=True)
        (folder / ".git/hooks" / hook).symlink_to(evil)
    for name, value in {
        "core.fsmonitor": str(evil),
        "core.editor": str(evil),
        "core.pager": str(evil),
        "commit.gpgSign": "true",
        "gpg.program": str(evil),
        "filter.bad.clean": str(evil),
        "filter.bad.smudge": str(evil),
        "core.sshCommand": str(evil),
    }.items():
        git(folder, home, "config", name, value)
    (folder / "wick.py").write_text("new\n")
    repository(folder, home).stage(("wick.py",), staged=True)
    done = repository(folder, home).commit("New wick", ())
    assert done.skipped == ("commit-msg", "post-commit", "pre-commit")
    (folder / "wick.py").write_text("newer\n")
    repository(folder, home).revert("wick.py", None)
    assert not (tmp_path / "PWNED").exists()
    (folder / ".gitattributes").write_text("*.py filter=bad\n")
    (folder / "wick.py").write_text("filtered\n")
    with pytest.raises(GitRefused, match="goes through the git filter bad"):
        repository(folder, home).stage(("wick.py",), staged=True)
    assert not (tmp_path / "PWNED").exists()


@pytest.mark.row("X9")
def test_what_is_wrong_is_said_in_words(folder: Path, home: Path, tmp_path: Path):
    (tmp_path / "secret").write_text("secret")
    (folder / "link.py").symlink_to(tmp_path / "secret")
    with pytest.raises(FileForbidden):
        repository(folder, home).revert("link.py", None)
    with pytest.raises(FileForbidden):
        repository(folder, home).stage(("../secret",), staged=True)
    (tmp_path / "bare").mkdir()
    with pytest.raises(GitRefused, match="not a git repository"):
        repository(tmp_path / "bare", home)
    (home / ".gitconfig").unlink()
    (folder / "wick.py").write_text("new\n")
    with pytest.raises(GitRefused, match=r"git config --global user\.name"):
        repository(folder, home).commit("New", ("wick.py",))
