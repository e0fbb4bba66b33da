"""One prompt for several agents in real work trees of a real repository."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.repositories import git, make_repository
from tests.daemon.running_daemon import RunningDaemon, running_daemon
from tests.parts import Part

from bascule.link.comparisons import (
    Entrant,
    KeepContestant,
    ListComparisons,
    ReadComparison,
    ReadContestant,
    RemoveTrees,
    StartComparison,
)
from bascule.model.commands import EndSession, SendPrompt
from bascule.model.errors import Refused
from bascule.model.events import SessionEnded, TurnEnded

pytestmark = pytest.mark.anyio

THREE = ("s1", "s2", "s3")


def command(
    daemon: RunningDaemon, *sessions: str, prompt: str = "write new.txt hello", **more: Any
) -> StartComparison:
    entrants = tuple(Entrant(one, "mini", f"model-{one}") for one in sessions or THREE)
    fields: dict[str, Any] = {"folder": str(daemon.work), "title": "Fix the sync", **more}
    return StartComparison(comparison_id="c1", prompt=prompt, entrants=entrants, **fields)


async def begun(daemon: RunningDaemon, *sessions: str, **more: Any) -> dict[str, Any]:
    made = await daemon.ask(command(daemon, *sessions, **more))
    for one in sessions or THREE:
        await daemon.until(TurnEnded, one)
    return made


def trees_of(made: dict[str, Any]) -> dict[str, Path]:
    return {one["sessionId"]: Path(one["tree"]) for one in made["contestants"]}


async def changes(daemon: RunningDaemon, session: str) -> dict[str, Any]:
    return await daemon.ask(ReadContestant(comparison_id="c1", session_id=session))


@pytest.mark.row("X10")
async def test_three_agents_get_a_work_tree_each_beside_the_repository_and_their_changes_are_compared(
    short_dir: Path,
):
    make_repository(short_dir / "repo", a__txt="one\n", sub___b__txt="b\n")
    async with running_daemon(short_dir) as daemon:
        made = await begun(daemon)
        trees = trees_of(made)
        assert {one.parent for one in trees.values()} == {short_dir / "repo-worktrees"}
        assert len(set(trees.values())) == 3
        branches = [one["branch"] for one in made["contestants"]]
        assert all(one.startswith("bascule/fix-the-sync-") for one in branches)
        assert [one.rsplit("-", 1)[1] for one in branches] == ["1", "2", "3"]
        assert (made["baseBranch"], made.get("dirty", 0)) == ("main", 0)
        assert not (daemon.work / "new.txt").exists()
        for one in THREE:
            assert (trees[one] / "new.txt").read_text() == "hello\n"
            record = await daemon.store.session(one)
            assert record is not None
            assert (record.cwd, record.title) == (str(trees[one]), "Fix the sync")
        # Edits, deletions, commits of the agent's own and new folders all count against the common beginning.
        (trees["s2"] / "a.txt").write_text("one\nmore\n")
        (trees["s2"] / "sub" / "b.txt").unlink()
        git(trees["s2"], "add", "--all")
        git(trees["s2"], "commit", "--quiet", "-m", "agent's own")
        (trees["s2"] / "deep").mkdir()
        (trees["s2"] / "deep" / "c.bin").write_bytes(b"\x00\x01")
        found = await changes(daemon, "s2")
        seen = {one["path"]: (one["status"], one["added"], one["removed"]) for one in found["files"]}
        assert seen == {
            "a.txt": ("modified", 1, 0),
            "deep/c.bin": ("added", 0, 0),
            "new.txt": ("added", 1, 0),
            "sub/b.txt": ("deleted", 0, 1),
        }
        assert next(one["patch"] for one in found["files"] if one["path"] == "a.txt").endswith("+more")
        assert [one["path"] for one in (await changes(daemon, "s1"))["files"]] == ["new.txt"]


@pytest.mark.row("X10")
async def test_one_is_kept_and_the_others_go_but_their_work_stays_on_their_branches(
    short_dir: Path, part: Part
):
    make_repository(short_dir / "repo")
    async with running_daemon(short_dir) as daemon:
        made = await begun(daemon)
        trees = trees_of(made)
        (trees["s1"] / "a.txt").write_text("one\nTWO\nthree\n")
        (trees["s2"] / "other.txt").write_text("kept on the branch\n")
        kept = await daemon.ask(KeepContestant(comparison_id="c1", session_id="s1"))
        with part("the kept work is in the repository, not committed"):
            assert kept["files"] == 2
            assert "2 files changed in repo, not committed" in kept["words"]
            assert (daemon.work / "a.txt").read_text() == "one\nTWO\nthree\n"
            assert (daemon.work / "new.txt").read_text() == "hello\n"
            assert git(daemon.work, "log", "--oneline", "main").count("\n") == 1
        removed = await daemon.ask(RemoveTrees(comparison_id="c1", session_ids=("s2", "s3"), confirm=True))
        with part("the other trees are removed and say where their work is"):
            assert [one["removed"] for one in removed["trees"]] == [True, True]
            assert all("stays on the branch" in one["words"] for one in removed["trees"])
        await daemon.until(SessionEnded, "s2")
        assert [trees[one].exists() for one in THREE] == [True, False, False]
        with part("their work is on their branches"):
            branch = removed["trees"][0]["branch"]
            assert git(daemon.work, "show", f"{branch}:other.txt") == "kept on the branch\n"
            assert git(daemon.work, "show", f"{branch}:new.txt") == "hello\n"
        await daemon.restart()
        with part("a restart knows what was kept and removed"):
            again = await daemon.ask(ReadComparison(comparison_id="c1"))
            assert again["kept"] == "s1"
            assert [one["state"] for one in again["contestants"]] == ["there", "removed", "removed"]
            assert "was removed" in (await changes(daemon, "s2"))["problem"]
            assert len((await daemon.ask(ListComparisons()))["comparisons"]) == 1
        with part("the audit log has both"):
            details = [line.decode() for line in await daemon.store.audit_lines()]
            assert any("taken over into" in one for one in details)
            assert any("2 work trees" in one for one in details)


@pytest.mark.row("X10")
async def test_a_tree_in_which_nothing_was_changed_leaves_no_branch_behind(short_dir: Path):
    make_repository(short_dir / "repo")
    async with running_daemon(short_dir) as daemon:
        made = await begun(daemon, prompt="hello")
        with pytest.raises(Refused, match="nothing to take over"):
            await daemon.ask(KeepContestant(comparison_id="c1", session_id="s1"))
        removed = await daemon.ask(RemoveTrees(comparison_id="c1", session_ids=THREE, confirm=True))
        assert {one["words"] for one in removed["trees"]} == {"It had changed nothing."}
        assert "bascule/" not in git(daemon.work, "branch", "--list")
        assert not any(one.exists() for one in trees_of(made).values())
        assert git(daemon.work, "worktree", "list").count("\n") == 1


@pytest.mark.row("X10")
async def test_a_result_that_conflicts_changes_nothing_and_says_what_to_do(short_dir: Path):
    make_repository(short_dir / "repo")
    async with running_daemon(short_dir) as daemon:
        made = await begun(daemon, "s1", "s2")
        (trees_of(made)["s1"] / "a.txt").write_text("one\nagent\nthree\n")
        (daemon.work / "a.txt").write_text("one\nme\nthree\n")
        with pytest.raises(Refused) as refused:
            await daemon.ask(KeepContestant(comparison_id="c1", session_id="s1"))
        refusal = refused.value.refusal()
        assert refusal.code == "KEEP_CONFLICT"
        branch = made["contestants"][0]["branch"]
        assert "a.txt is different there, near line 1" in refusal.message
        assert f"git merge {branch}" in refusal.message
        assert (daemon.work / "a.txt").read_text() == "one\nme\nthree\n"
        assert not (daemon.work / "new.txt").exists()
        # What it says to do works.
        git(daemon.work, "commit", "--quiet", "-am", "mine", "--allow-empty")
        git(daemon.work, "merge", "--quiet", "-X", "theirs", branch)
        assert (daemon.work / "a.txt").read_text() == "one\nagent\nthree\n"
        assert (daemon.work / "new.txt").exists()


@pytest.mark.row("X10")
async def test_uncommitted_work_is_reported_and_left_alone(short_dir: Path):
    make_repository(short_dir / "repo", a__txt="one\n", b__txt="b\n")
    async with running_daemon(short_dir) as daemon:
        (daemon.work / "b.txt").write_text("mine\n")
        (daemon.work / "untracked.txt").write_text("mine too\n")
        made = await begun(daemon, "s1", "s2")
        assert made["dirty"] == 2
        trees = trees_of(made)
        assert (trees["s1"] / "b.txt").read_text() == "b\n"
        assert not (trees["s1"] / "untracked.txt").exists()
        await daemon.ask(KeepContestant(comparison_id="c1", session_id="s1"))
        assert (daemon.work / "b.txt").read_text() == "mine\n"
        assert (daemon.work / "untracked.txt").read_text() == "mine too\n"
        assert (daemon.work / "new.txt").read_text() == "hello\n"


@pytest.mark.row("X10")
async def test_files_git_ignores_are_counted_because_they_go_with_the_tree(short_dir: Path):
    make_repository(short_dir / "repo", __gitignore="build\n*.log\n")
    async with running_daemon(short_dir) as daemon:
        made = await begun(daemon, "s1", "s2")
        tree = trees_of(made)["s1"]
        (tree / "build").mkdir()
        (tree / "build" / "x").touch()
        (tree / "a.log").touch()
        found = await changes(daemon, "s1")
        assert found["ignored"] == 2
        assert [one["path"] for one in found["files"]] == ["new.txt"]


@pytest.mark.row("X10")
async def test_a_tree_with_a_repository_inside_stays_because_no_branch_would_keep_it(short_dir: Path):
    make_repository(short_dir / "repo")
    async with running_daemon(short_dir) as daemon:
        made = await begun(daemon, "s1", "s2")
        inner = make_repository(trees_of(made)["s1"] / "vendored", x__txt="only here\n")
        assert "vendored" in (await changes(daemon, "s1"))["problem"]
        removed = await daemon.ask(RemoveTrees(comparison_id="c1", session_ids=("s1", "s2"), confirm=True))
        assert [one["removed"] for one in removed["trees"]] == [False, True]
        assert (inner / "x.txt").read_text() == "only here\n"


@pytest.mark.row("X10")
async def test_all_is_checked_before_anything_begins(short_dir: Path):
    make_repository(short_dir / "repo")
    async with running_daemon(short_dir, sessions=3) as daemon:
        await daemon.start("other", "hold")
        with pytest.raises(Refused) as refused:
            await daemon.ask(command(daemon))
        refusal = refused.value.refusal()
        assert refusal.code == "LIMIT_REACHED"
        assert refusal.message.startswith("3 agents at once are too many: here has room for 2 more.")
        assert not (short_dir / "repo-worktrees").exists()
        assert await daemon.store.session("s1") is None
        assert (await daemon.ask(ListComparisons()))["comparisons"] == []
        assert "bascule/" not in git(daemon.work, "branch", "--list")
        await begun(daemon, "s1", "s2")
        for few in (("s8",), ("s4", "s5", "s6", "s7", "s8")):
            with pytest.raises(Refused, match="2 to 4 agents"):
                await daemon.ask(command(daemon, *few))


@pytest.mark.row("X10")
async def test_a_folder_without_a_repository_or_without_a_commit_says_what_is_missing(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        with pytest.raises(Refused, match="not in a git repository") as refused:
            await daemon.ask(command(daemon))
        assert refused.value.refusal().code == "INVALID_REPOSITORY"
        git(daemon.work, "init", "--quiet")
        with pytest.raises(Refused, match="no commit yet"):
            await daemon.ask(command(daemon))
        assert await daemon.store.sessions() == []


@pytest.mark.row("X10")
async def test_a_key_sent_twice_starts_once(short_dir: Path):
    make_repository(short_dir / "repo")
    async with running_daemon(short_dir) as daemon:
        first, second = await asyncio.gather(
            daemon.ask(command(daemon, "s1", "s2"), key="k"), daemon.ask(command(daemon, "s1", "s2"), key="k")
        )
        assert first["id"] == second["id"] == "c1"
        assert len(await daemon.store.sessions()) == 2


@pytest.mark.row("X9")
async def test_a_single_session_may_have_a_work_tree_of_its_own_also_from_a_folder_below(short_dir: Path):
    make_repository(short_dir / "repo", sub___b__txt="b\n")
    async with running_daemon(short_dir) as daemon:
        await daemon.start(
            "s1", "write new.txt hello", cwd=str(daemon.work / "sub"), worktree=True, key="once"
        )
        await daemon.start(
            "s9", "write new.txt hello", cwd=str(daemon.work / "sub"), worktree=True, key="once"
        )
        await daemon.until(TurnEnded)
        [one] = (await daemon.ask(ListComparisons()))["comparisons"]
        [contestant] = one["contestants"]
        assert contestant["cwd"] == contestant["tree"] + "/sub"
        assert Path(contestant["cwd"], "new.txt").read_text() == "hello\n"
        assert not (daemon.work / "sub" / "new.txt").exists()
        found = await daemon.ask(ReadContestant(comparison_id=one["id"], session_id="s1"))
        assert [file["path"] for file in found["files"]] == ["sub/new.txt"]
        await daemon.ask(KeepContestant(comparison_id=one["id"], session_id="s1"))
        assert (daemon.work / "sub" / "new.txt").read_text() == "hello\n"
        await daemon.restart()
        await daemon.ask(SendPrompt(session_id="s1", text="write two.txt x"))
        await daemon.until(TurnEnded, times=2)
        assert Path(contestant["cwd"], "two.txt").exists()
        await daemon.ask(EndSession(session_id="s1"))
        await daemon.over()


@pytest.mark.row("X10")
async def test_no_result_is_kept_while_its_agent_still_works(short_dir: Path):
    make_repository(short_dir / "repo")
    async with running_daemon(short_dir) as daemon:
        await daemon.ask(command(daemon, "s1", "s2", prompt="hold"))
        with pytest.raises(Refused, match="still working"):
            await daemon.ask(KeepContestant(comparison_id="c1", session_id="s1"))


@pytest.mark.row("S33")
async def test_nothing_of_a_hostile_repository_runs(short_dir: Path):
    repo = make_repository(short_dir / "repo", a__txt="one\n", __gitattributes="* filter=evil diff=evil\n")
    canary = short_dir / "canary"
    evil = short_dir / "evil.sh"
    evil.write_text(f'#!/bin/sh\necho "$0 $@" >> {canary}\ncat\n')
    evil.chmod(0o755)
    for name in (
        "post-checkout",
        "pre-commit",
        "reference-transaction",
        "post-index-change",
        "fsmonitor-watchman",
    ):
        (repo / ".git" / "hooks" / name).unlink(missing_ok=True)
        (repo / ".git" / "hooks").mkdir(exist_ok=True)
        (repo / ".git" / "hooks" / name).symlink_to(evil)
    settings = {
        "core.fsmonitor": evil,
        "core.hooksPath": repo / ".git" / "hooks",
        "core.pager": evil,
        "core.sshCommand": evil,
        "filter.evil.clean": evil,
        "filter.evil.smudge": evil,
        "filter.evil.process": evil,
        "diff.evil.command": evil,
        "diff.evil.textconv": evil,
        "diff.external": evil,
        "gpg.program": evil,
        "commit.gpgSign": "true",
    }
    for name, value in settings.items():
        git(repo, "config", name, str(value))
    git(repo, "status")
    canary.unlink()  # it works for whoever is careless
    async with running_daemon(short_dir) as daemon:
        await begun(daemon, "s1", "s2")
        assert [one["path"] for one in (await changes(daemon, "s1"))["files"]] == ["new.txt"]
        await daemon.ask(KeepContestant(comparison_id="c1", session_id="s1"))
        removed = await daemon.ask(RemoveTrees(comparison_id="c1", session_ids=("s1", "s2"), confirm=True))
        assert all(one["removed"] for one in removed["trees"]), removed
        assert (repo / "new.txt").read_text() == "hello\n"
        assert not canary.exists(), canary.read_text()


@pytest.mark.row("S33")
async def test_a_repository_that_claims_another_folder_gets_no_work_tree(short_dir: Path):
    repo = make_repository(short_dir / "repo")
    elsewhere = short_dir / "elsewhere"
    elsewhere.mkdir()
    git(repo, "config", "core.worktree", str(short_dir))
    async with running_daemon(short_dir) as daemon:
        with pytest.raises(Refused, match="point to"):
            await daemon.ask(command(daemon))


@pytest.mark.row("S33")
async def test_an_agent_that_repoints_its_tree_moves_nothing_but_itself(short_dir: Path):
    make_repository(short_dir / "repo")
    async with running_daemon(short_dir) as daemon:
        made = await begun(daemon, "s1", "s2")
        tree = trees_of(made)["s1"]
        fake = make_repository(short_dir / "fake", z__txt="z\n")
        (tree / ".git").unlink()
        (tree / ".git").write_text(f"gitdir: {fake}/.git\n")
        found = await changes(daemon, "s1")
        assert [one["path"] for one in found["files"]] == ["new.txt"]
        await daemon.ask(KeepContestant(comparison_id="c1", session_id="s1"))
        assert (daemon.work / "new.txt").exists()
        removed = await daemon.ask(RemoveTrees(comparison_id="c1", session_ids=("s1",), confirm=True))
        # Git does not take such a folder for its own any more: then it stays, and the branch has the work.
        assert removed["trees"][0]["removed"] is False
        assert tree.exists()
        branch = made["contestants"][0]["branch"]
        assert git(daemon.work, "show", f"{branch}:new.txt") == "hello\n"


@pytest.mark.row("S21")
async def test_trees_are_not_made_through_a_link_nor_outside_the_roots(short_dir: Path):
    make_repository(short_dir / "repo")
    async with running_daemon(short_dir) as daemon:
        (short_dir / "outside").mkdir()
        (short_dir / "repo-worktrees").symlink_to(short_dir / "outside")
        with pytest.raises(Refused, match="is a link"):
            await daemon.ask(command(daemon))
        assert os.listdir(short_dir / "outside") == []
        assert (await daemon.ask(ListComparisons()))["comparisons"] == []
        daemon.launcher.roots = (str(daemon.work),)
        with pytest.raises(Refused, match="outside the folders sessions may run in"):
            await daemon.ask(command(daemon))


@pytest.mark.row("X10")
async def test_trees_of_a_repository_inside_another_are_beside_the_outer_one(short_dir: Path):
    outer = make_repository(short_dir / "outer")
    make_repository(outer / "inner")
    async with running_daemon(short_dir) as daemon:
        made = await begun(daemon, "s1", "s2", folder=str(outer / "inner"))
        assert {one.parent for one in trees_of(made).values()} == {short_dir / "inner-worktrees"}
