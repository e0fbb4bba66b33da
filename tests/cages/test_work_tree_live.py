"""A caged agent in a work tree that Bascule made: real git commits there, and changes nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cages.caged import Caged, caged
from tests.daemon.repositories import git, make_repository

from bascule.daemon.cages.work_tree import NONE, git_folders
from bascule.model.events import SessionStarted, TextSaid
from bascule.transport.cage_support import LEAST, landlock_version

HERE = landlock_version()
needs_landlock = pytest.mark.skipif(HERE < LEAST, reason=f"Landlock is {HERE} on this kernel, not {LEAST}")


async def runs(machine: Caged, session_id: str, folder: Path, *commands: list[str], **more: Any) -> list[str]:
    prompt = json.dumps({"run": commands})
    options: Any = {"agent": "tries", "cwd": str(folder), "capability": "project_scoped", **more}
    await machine.daemon.start(session_id, prompt, **options)
    said = await machine.daemon.until(TextSaid, session_id)
    return list(json.loads(said.text).values())


@pytest.mark.row("R18")
@pytest.mark.anyio
@needs_landlock
async def test_an_agent_at_project_scoped_commits_in_its_work_tree_and_moves_no_other_branch(
    short_dir: Path,
) -> None:
    async with caged(short_dir) as machine:
        repository = make_repository(short_dir / "shop", **{"a__txt": "one\n"})
        (short_dir / "home" / ".gitconfig").write_text("[user]\nname = Ana\nemail = ana@localhost\n")
        main = git(repository, "rev-parse", "main")
        kept = str(repository / ".git")
        done = await runs(
            machine,
            "s1",
            repository,
            ["sh", "-c", "echo two > b.txt"],
            ["git", "add", "b.txt"],
            ["git", "commit", "-m", "By the agent"],
            ["git", "log", "--oneline"],
            ["git", "update-ref", "refs/heads/main", "HEAD"],
            ["sh", "-c", f"echo '[core]' >> {kept}/config"],
            ["sh", "-c", f"echo x > {kept}/hooks/post-commit"],
            ["sh", "-c", f"cat {repository}/a.txt"],
            worktree=True,
        )
        assert done[:4] == ["done"] * 4, done
        assert "done" not in done[4:]
        started = (await machine.daemon.events(SessionStarted, "s1"))[0]
        assert started.worktree_of == str(repository)
        assert git(repository, "rev-parse", "main") == main
        branch = git(repository, "for-each-ref", "--format=%(refname:short)", "refs/heads/bascule").strip()
        assert git(repository, "log", "-1", "--format=%an: %s", branch) == "Ana: By the agent\n"
        assert git(repository, "fsck", "--strict") == ""


@pytest.mark.row("R18", "S39")
@pytest.mark.anyio
async def test_nobody_but_the_machine_says_whose_work_tree_a_folder_is(short_dir: Path) -> None:
    async with caged(short_dir) as machine:
        await machine.daemon.start("s1", "{}", agent="tries", worktree_of=str(short_dir / "outside"))
        started = (await machine.daemon.events(SessionStarted, "s1"))[0]
        assert started.worktree_of is None


def test_a_tree_gets_nothing_of_a_repository_that_does_not_name_it(tmp_path: Path) -> None:
    shop, other = make_repository(tmp_path / "shop"), make_repository(tmp_path / "other")
    tree = tmp_path / "tree"
    git(shop, "worktree", "add", "--quiet", "-b", "bascule/x-1", str(tree))
    kept = shop / ".git" / "worktrees" / "tree"
    found = git_folders(str(tree), str(shop))
    assert found.writes[0] == str(kept)
    assert git_folders(str(tree / "below"), str(shop)) == found  # a session in a folder of the tree
    assert str(shop / ".git" / "refs" / "heads" / "bascule") in found.writes
    assert str(shop / ".git" / "config") not in found.writes
    # Not without a session that was started for it, nor for another repository.
    assert git_folders(str(tree), None) == git_folders(str(tree), str(other)) == NONE
    # What the agent writes into its tree leads nowhere else.
    (tmp_path / "keys").mkdir()
    for said in (f"gitdir: {tmp_path}/keys", f"gitdir: {kept}/../../..", f"gitdir: {shop}/.git/worktrees/.."):
        (tree / ".git").write_text(said + "\n")
        assert git_folders(str(tree), str(shop)) == NONE, said
    (tree / ".git").unlink()
    (tree / ".git").symlink_to(shop / ".git")
    assert git_folders(str(tree), str(shop)) == NONE
    # Another tree of the same repository is named by it, but not as this one.
    (tree / ".git").unlink()
    git(shop, "worktree", "add", "--quiet", "-b", "bascule/x-2", str(tmp_path / "second"))
    (tree / ".git").write_text(f"gitdir: {shop}/.git/worktrees/second\n")
    assert git_folders(str(tree), str(shop)) == NONE
