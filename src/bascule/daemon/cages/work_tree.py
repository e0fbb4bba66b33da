"""The paths of a repository that git needs in a work tree that Bascule made of it, and no more.

The agent can write in its tree and in what git keeps of that tree, so nothing that stands there is believed:
the repository is the one the session was started for, and it has to say itself that this is its tree.
"""

import os
from pathlib import Path

from msgspec import Struct

MAX_UP = 20
MAX_LINE = 4096
# Of the repository: settings, hooks and all that was committed; not its other work trees, nor its logs.
READ = ("config", "HEAD", "packed-refs", "shallow", "info", "hooks", "refs", "objects")
# A commit adds objects, and moves a branch of the trees that Bascule makes. Other branches stay as they are.
WRITTEN = ("objects", "refs/heads/bascule", "logs/refs/heads/bascule")


class GitFolders(Struct, frozen=True):
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


NONE = GitFolders()


def git_folders(cwd: str, made_from: str | None) -> GitFolders:
    """`made_from`: the folder whose work tree `cwd` is, by the session's log; None for any other session."""
    tree, origin = _top_of(cwd), _top_of(made_from) if made_from else None
    if tree is None or origin is None or not (origin / ".git").is_dir():
        return NONE
    repository = (origin / ".git").resolve()
    kept = _kept_of(tree, repository)
    if kept is None:
        return NONE
    own = str(kept)
    return GitFolders(
        reads=(str(tree / ".git"), *(str(repository / name) for name in READ)),
        writes=(own, *(str(repository / name) for name in WRITTEN)),
    )


def _top_of(folder: str) -> Path | None:
    at = Path(folder)
    for one in (at, *at.parents)[:MAX_UP]:
        if os.path.lexists(one / ".git"):
            return one
    return None


def _kept_of(tree: Path, repository: Path) -> Path | None:
    """The folder in which the repository keeps this tree's index and HEAD; None when it names another one."""
    mark = tree / ".git"
    said = _line_of(mark)
    if not said.startswith("gitdir: "):
        return None
    kept = Path(said.removeprefix("gitdir: "))
    if kept.parent != repository / "worktrees" or kept.is_symlink() or kept.name in ("", ".", ".."):
        return None
    return kept if _line_of(kept / "gitdir") == str(mark) else None


def _line_of(path: Path) -> str:
    """The first line of a plain file; empty for whatever is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    with open(descriptor, "rb") as file:
        return os.fsdecode(file.read(MAX_LINE)).split("\n", 1)[0]
