"""What git says about a folder, and that a hostile repository runs nothing while it is asked."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bascule.daemon.files.changes import read_changes
from bascule.daemon.files.confined import ConfinedFolder
from bascule.link.files import GitChanges


def git(folder: Path, *arguments: str) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "ana",
        "GIT_AUTHOR_EMAIL": "ana@example.com",
        "GIT_COMMITTER_NAME": "ana",
        "GIT_COMMITTER_EMAIL": "ana@example.com",
    }
    subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "repo"
    (folder / "sub").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "trunk")
    (folder / "kept.txt").write_text("one\ntwo\nthree\n")
    (folder / "gone.txt").write_text("bye\n")
    (folder / "sub" / "inner.txt").write_text("in\n")
    (folder / "raw.bin").write_bytes(b"\x00\x01")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def changes(folder: Path, own: Path | None = None) -> GitChanges:
    confined = ConfinedFolder(str(folder), (str(own),) if own else ())
    return read_changes(str(folder), confined, os.environ["PATH"], str(folder.parent))


@pytest.mark.row("X9")
def test_changes_against_the_last_commit_with_their_patches(repository: Path) -> None:
    (repository / "kept.txt").write_text("one\n2\nthree\n")
    (repository / "gone.txt").unlink()
    (repository / "new file.txt").write_text("fresh\n")
    (repository / "raw.bin").write_bytes(b"\x00\x02")
    (repository / "staged.txt").write_text("s\n")
    git(repository, "add", "staged.txt")
    found = changes(repository)
    assert (found.branch, found.problem, found.cut) == ("trunk", None, False)
    by_path = {file.path: file for file in found.files}
    assert {path: file.status for path, file in by_path.items()} == {
        "kept.txt": "modified",
        "gone.txt": "deleted",
        "raw.bin": "modified",
        "staged.txt": "added",
        "new file.txt": "untracked",
    }
    kept = by_path["kept.txt"]
    assert (kept.added, kept.removed) == (1, 1)
    assert kept.patch == "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"
    assert by_path["gone.txt"].patch == "@@ -1 +0,0 @@\n-bye"
    assert by_path["new file.txt"].added == 1
    assert by_path["raw.bin"].binary


@pytest.mark.row("X9")
def test_a_session_in_a_subfolder_sees_only_that(repository: Path) -> None:
    (repository / "kept.txt").write_text("changed\n")
    (repository / "sub" / "inner.txt").write_text("out\n")
    found = changes(repository / "sub")
    assert [file.path for file in found.files] == ["inner.txt"]
    assert found.files[0].patch == "@@ -1 +1 @@\n-in\n+out"


@pytest.mark.row("X9")
def test_no_repository_no_commit_and_too_large_are_said(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "plain"
    folder.mkdir()
    assert (changes(folder)).problem == "This folder is not a git repository."
    git(folder, "init", "-q", "-b", "trunk")
    (folder / "a.txt").write_text("a\n")
    (folder / "large.txt").write_text("line\n" * 100_000)
    found = changes(folder)
    assert [(file.path, file.status, file.cut) for file in found.files] == [
        ("a.txt", "untracked", False),
        ("large.txt", "untracked", True),
    ]


def arm(repository: Path, canary: Path) -> None:
    """Everything in a repository that we know can run a command, each leaving a file behind."""
    run = repository.parent / "run.sh"
    run.write_text(f'#!/bin/sh\necho "$0 $@" >> {canary}\ncat\n')
    run.chmod(0o755)
    hooks = repository / "evil-hooks"
    hooks.mkdir()
    for name in ("post-index-change", "post-checkout", "fsmonitor-watchman", "pre-commit"):
        (hooks / name).write_text(run.read_text())
        (hooks / name).chmod(0o755)
        (repository / ".git" / "hooks" / name).write_text(run.read_text())
        (repository / ".git" / "hooks" / name).chmod(0o755)
    more = repository / ".git" / "more"
    more.write_text(f'[filter "included"]\n\tclean = {run}\n\tprocess = {run}\n\trequired = true\n')
    config = repository / ".git" / "config"
    config.write_text(
        config.read_text()
        + f"""
[core]
\tfsmonitor = {run}
\thooksPath = {hooks}
\tpager = {run}
\tsshCommand = {run}
\teditor = {run}
\tuntrackedCache = true
[diff]
\texternal = {run}
[diff "evil"]
\tcommand = {run}
\ttextconv = {run}
[filter "evil"]
\tclean = {run}
\tsmudge = {run}
\trequired = true
[filter "a=b.c"]
\tclean = {run}
\tprocess = {run}
[include]
\tpath = more
[alias]
\tstatus = !{run}
\tcat-file = !{run}
[pager]
\tstatus = {run}
[remote "origin"]
\turl = {repository.parent}
\tpromisor = true
\tpartialclonefilter = blob:none
\tuploadpack = {run}
[extensions]
\tpartialClone = origin
"""
    )
    (repository / ".gitattributes").write_text(
        "kept.txt filter=evil diff=evil\ngone.txt filter=included diff=evil\n*.bin filter=a=b.c\n"
    )


@pytest.mark.row("S33")
def test_a_hostile_repository_runs_nothing(repository: Path) -> None:
    canary = repository.parent / "canary"
    arm(repository, canary)
    (repository / "kept.txt").write_text("one\n2\nthree\n")
    (repository / "gone.txt").write_text("still\n")
    (repository / "raw.bin").write_bytes(b"\x00\x02")
    found = changes(repository)
    assert not canary.exists(), canary.read_text()
    kept = next(file for file in found.files if file.path == "kept.txt")
    assert kept.patch == "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"
    # The trap is real: git by itself falls into it.
    git(repository, "-c", "extensions.partialClone=", "status", "--porcelain")
    assert canary.exists()


@pytest.mark.row("S33")
def test_missing_objects_are_not_fetched_by_a_command_of_the_repository(repository: Path) -> None:
    canary = repository.parent / "canary"
    arm(repository, canary)
    config = repository / ".git" / "config"
    text = config.read_text().replace("repositoryformatversion = 0", "repositoryformatversion = 1")
    config.write_text(text)
    for pack in (repository / ".git" / "objects").glob("??/*"):
        content = subprocess.run(
            ["git", "cat-file", "-t", pack.parent.name + pack.name],
            cwd=repository,
            capture_output=True,
            check=False,
            env={"PATH": os.environ["PATH"], "GIT_ALLOW_PROTOCOL": "none"},
        )
        if content.stdout == b"blob\n":
            pack.unlink()
    canary.unlink(missing_ok=True)
    (repository / "kept.txt").write_text("changed\n")
    found = changes(repository)
    assert not canary.exists(), canary.read_text()
    kept = next(file for file in found.files if file.path == "kept.txt")
    assert (kept.cut, kept.patch) == (True, "")
    # The trap is real: git by itself falls into it.
    (repository.parent / "run.sh").write_text(f"#!/bin/sh\necho run >> {canary}\nexit 1\n")
    plain = {"PATH": os.environ["PATH"], "HOME": str(repository)}
    subprocess.run(
        ["git", "-c", "core.fsmonitor=", "cat-file", "-p", "HEAD:kept.txt"],
        cwd=repository,
        env=plain,
        capture_output=True,
        check=False,
    )
    assert canary.exists()


@pytest.mark.row("S33")
def test_a_repository_that_says_its_files_are_elsewhere_shows_nothing_of_them(
    repository: Path,
) -> None:
    elsewhere = repository.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept.txt").write_text("secret words\n")
    git(repository, "config", "core.worktree", str(elsewhere))
    found = changes(repository)
    assert "secret" not in str(found)


@pytest.mark.row("S31")
def test_our_own_folder_and_links_are_not_shown_as_changes(repository: Path) -> None:
    (repository / "state").mkdir()
    (repository / "state" / "key").write_text("secret\n")
    (repository.parent / "outside").write_text("secret\n")
    (repository / "link").symlink_to(repository.parent / "outside")
    (repository / "kept.txt").unlink()
    (repository / "kept.txt").symlink_to(repository.parent / "outside")
    found = changes(repository, repository / "state")
    assert "secret" not in str(found)


@pytest.mark.row("B10")
def test_a_folder_that_was_deleted_is_said_to_be_gone(repository: Path) -> None:
    shutil.rmtree(repository)
    assert changes(repository).problem == f"The folder {repository} is gone."
