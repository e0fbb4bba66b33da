"""A repository's clone is found among known folders, by the addresses it fetches from."""

from pathlib import Path

import pytest
from tests.launch.desk import Desk, digest

from bascule.launch.errors import LaunchError
from bascule.launch.repos import find_clones
from bascule.launch.request import request_of

CONFIG = '[core]\n\turl = https://host/decoy/one\n[remote "origin"]\n\tfetch = +refs\n\turl = {url}\n'


def clone(folder: Path, url: str) -> str:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(CONFIG.format(url=url))
    return str(folder)


@pytest.mark.row("L1")
@pytest.mark.parametrize(
    "url",
    [
        "https://host.example/Owner/name.git",
        "https://user@host.example/owner/name/",
        "git@host.example:owner/name.git",
        "ssh://git@host.example:22/group/owner/name",
        '"https://host.example/owner/name"',
    ],
)
def test_a_clone_is_known_by_any_form_of_its_address(tmp_path: Path, url: str) -> None:
    place = clone(tmp_path / "a", url)
    inside = tmp_path / "a" / "src" / "deep"
    inside.mkdir(parents=True)
    assert find_clones("owner/name", ["relative", str(tmp_path / "gone"), str(inside)]) == [place]


@pytest.mark.row("L1")
def test_clones_come_in_the_order_of_their_folders_and_others_are_not_taken_for_them(tmp_path: Path) -> None:
    other = clone(tmp_path / "other", "https://host/another-owner/name.git")
    longer = clone(tmp_path / "longer", "https://host/owner/name-2")
    first, second = (clone(tmp_path / name, "https://host/owner/name") for name in ("b", "a"))
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {first}/.git/worktrees/tree\n")
    assert find_clones("owner/name", [other, longer, str(tree), first, second, first]) == [first, second]
    assert find_clones("decoy/one", [other, first]) == []
    assert find_clones("owner/name", [other]) == []


@pytest.mark.row("L1", "L2")
@pytest.mark.parametrize(
    "repo", ["name", "a/b/c", "../b", "a/..", "-a/b", "a/ b", "a/b\n", "", 7, "a/" + "b" * 101]
)
def test_what_is_no_repository_is_refused(repo: object) -> None:
    with pytest.raises(LaunchError) as refused:
        request_of({"prompt": "a b", "repo": repo})
    assert refused.value.error == "invalid_request"
    with pytest.raises(LaunchError, match="not both"):
        request_of({"prompt": "a b", "repo": "a/b", "workingDirectory": "/a"})


@pytest.mark.row("L1", "L2")
@pytest.mark.anyio
async def test_a_launch_runs_in_the_clone_and_no_refusal_names_a_folder(desk: Desk) -> None:
    place = clone(desk.home / "code" / "name", "https://host/owner/name.git")
    away = clone(desk.folder.parent / f"{desk.folder.name}-away", "https://host/owner/away.git")

    async def folders() -> list[str]:
        return [away, place]

    launches = desk.launches(folders=folders)
    try:
        await launches.launch(request_of({"prompt": "hello there", "repo": "owner/name"}))
        assert (await desk.note("sha256"))["sha256"] == digest("hello there")
        assert (await desk.note("cwd"))["cwd"] == place
        for repo in ("owner/other", "owner/away"):
            with pytest.raises(LaunchError, match=f"No clone of {repo} was found") as refused:
                await launches.launch(request_of({"prompt": "hello there", "repo": repo}))
            assert (refused.value.error, str(desk.folder) in refused.value.message) == (
                "repo_not_found",
                False,
            )
    finally:
        await launches.close()
    alone = desk.launches()
    with pytest.raises(LaunchError, match="known to Bascule's server only"):
        await alone.launch(request_of({"prompt": "hello there", "repo": "owner/name"}))
