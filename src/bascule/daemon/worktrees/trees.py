"""Git work trees beside a repository: creates, diffs and removes them, applies one to the repository. Blocks.

Nothing the repository configures is run: see `git.py`.

An agent may change every file of its tree, also the `.git` that says where the repository is. So after a tree
is made, we name both places to git, and it looks at neither.
"""

import os
import re
import secrets
import stat
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bascule.daemon.files.changes import MAX_FILES, MAX_PATCH, MAX_PATCHES, STATUS, parse_status
from bascule.daemon.files.git import Git, GitFailed
from bascule.link.files import ChangeStatus, FileChange
from bascule.model.comparisons import Contestant
from bascule.model.errors import CallerError

SECONDS = 60.0
MAX_UP = 20  # repositories within repositories
NAME_LENGTH = 30
WHO = "Bascule"
DIFF = (
    "--cached",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--no-color",
    "--ignore-submodules=none",
)
_STATUS: dict[str, ChangeStatus] = {"A": "added", "D": "deleted"}


class NoRepository(CallerError):
    code = "INVALID_REPOSITORY"


class DoesNotApply(CallerError):
    code = "KEEP_CONFLICT"


class Surroundings(NamedTuple):
    """The machine's paths and environment for git."""

    path: str
    home: str
    scratch: str  # a folder of our own, for an index that is nobody's


class Repository(NamedTuple):
    top: str  # the working copy
    prefix: str  # the folder in it, "" for the top
    base: str
    branch: str | None
    dirty: int


class Difference(NamedTuple):
    files: list[FileChange]
    cut: bool
    nested: list[str]  # repositories of their own inside the tree: only named, not held


def look_at(folder: str, around: Surroundings) -> Repository:
    """The repository a folder is in. Raises `NoRepository` in words."""
    top = _top_of(folder)
    if top is None:
        raise NoRepository(f"{folder} is not in a git repository. Work trees need one: `git init` makes it.")
    git = _git(top, around)
    try:
        git.disarm()
        real = os.fsdecode(git.run("rev-parse", "--show-toplevel")).rstrip("\n")
        if os.path.realpath(real) != top:
            raise NoRepository(f"The git settings in {top} point to {real}, so no work tree is made from it.")
        found = parse_status(git.run(*STATUS), "")
    except GitFailed as failed:
        raise NoRepository(f"git can't use {top}: {failed}") from failed
    try:
        base = git.run("rev-parse", "--verify", "HEAD^{commit}").decode().strip()
    except GitFailed as failed:
        text = f"The repository {top} has no commit yet; make one, so that work can begin from it."
        raise NoRepository(text) from failed
    prefix = "" if folder == top else os.path.relpath(folder, top)
    return Repository(top, prefix, base, found.branch, len(found.files))


def beside(top: str) -> str:
    """The folder for work trees: beside the repository, and in no other one's working copy."""
    outer = top
    for _ in range(MAX_UP):
        above = _top_of(os.path.dirname(outer))
        if above is None:
            break
        outer = above
    return os.path.join(os.path.dirname(outer), f"{os.path.basename(top)}-worktrees")


def name_for(title: str) -> str:
    """A short name for branches: a few plain words of the title, and something nobody else has."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    slug = ""
    for word in words:
        if len(slug) + len(word) >= NAME_LENGTH:
            break
        slug = f"{slug}-{word}" if slug else word
    return f"{slug or 'task'}-{secrets.token_hex(2)}"


def add(repository: Repository, one: Contestant, around: Surroundings) -> str:
    """Make the work tree and its branch from the base; gives what git keeps of it."""
    folder = os.path.dirname(one.tree)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.path.realpath(folder) != folder or not stat.S_ISDIR(os.lstat(folder).st_mode):
            raise NoRepository(f"{folder} is a link; work trees are made in a real folder.")
        git = _git(repository.top, around)
        git.disarm()
        git.run("worktree", "add", "--quiet", "--no-track", "-b", one.branch, one.tree, repository.base)
        made = _git(one.tree, around).run("rev-parse", "--absolute-git-dir")
    except GitFailed as failed:
        raise NoRepository(f"The work tree {one.tree} could not be made: {failed}") from failed
    except OSError as error:
        raise NoRepository(f"The folder {folder} can't be made: {error.strerror}.") from error
    return os.fsdecode(made).rstrip("\n")


class Tree:
    """One work tree, compared with its base commit."""

    def __init__(self, top: str, base: str, one: Contestant, around: Surroundings) -> None:
        self._top = top
        self._base = base
        self._one = one
        self._around = around

    def difference(self) -> Difference:
        with _Staged(self._one, self._base, self._around) as git:
            counts = _entries(git.run("diff-index", *DIFF, "--numstat", "-z", self._base))
            states = git.run("diff-index", *DIFF, "--raw", "-z", self._base).split(b"\0")
            patches = _sections(self._patches(git, counts))
        shown: list[FileChange] = []
        room = MAX_PATCHES
        raw = {os.fsdecode(states[n + 1]): states[n].decode() for n in range(0, len(states) - 1, 2)}
        for n, (path, added, removed) in enumerate(counts[:MAX_FILES]):
            patch = patches[n] if n < len(patches) else ""
            cut = not patch and added + removed > 0
            if len(patch) > min(room, MAX_PATCH):
                patch, cut = "", True
            room -= len(patch)
            binary = added < 0
            status = _STATUS.get(raw.get(path, "").rpartition(" ")[2][:1], "modified")
            shown.append(FileChange(path, status, max(added, 0), max(removed, 0), patch, cut, binary))
        nested = [path for path, meta in raw.items() if meta.split(" ")[1] == "160000"]
        return Difference(shown, len(counts) > MAX_FILES, nested)

    def _patches(self, git: Git, counts: list[tuple[str, int, int]]) -> bytes:
        """One section for each file, in their order. What is too large to say is left out."""
        if sum(max(added, 0) + max(removed, 0) for _, added, removed in counts) > 200_000:
            return b""
        try:
            return git.run("diff-index", *DIFF, "-p", self._base)
        except GitFailed:
            return b""

    def patch(self) -> bytes:
        """All of it, in a form that can be applied elsewhere."""
        with _Staged(self._one, self._base, self._around) as git:
            return git.run("diff-index", *DIFF, "-p", "--binary", "--full-index", self._base)

    def ignored(self) -> int:
        """How many files or folders are ignored by git, and so are on no branch."""
        git = self._inside()
        git.disarm()
        found = git.run("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
        return found.count(b"\0")

    def store(self, words: str) -> bool:
        """Put the tree as it is now on its branch. False when the branch holds nothing beyond the base."""
        with _Staged(self._one, self._base, self._around) as git:
            content = git.run("write-tree").decode().strip()
            head = git.run("rev-parse", "--verify", "HEAD^{commit}").decode().strip()
            tip = git.run("rev-parse", "--verify", f"refs/heads/{self._one.branch}").decode().strip()
            known = git.run("rev-parse", f"{head}^{{tree}}").decode().strip()
            if content == known and head == tip:
                return tip != self._base
            parents = [word for commit in dict.fromkeys((head, tip)) for word in ("-p", commit)]
            made = git.run("commit-tree", content, *parents, given=words.encode()).decode().strip()
            git.run("update-ref", f"refs/heads/{self._one.branch}", made, tip)
            return True

    def take_over(self, patch: bytes) -> None:
        """Into the working copy, whole or not at all. Raises `DoesNotApply`."""
        git = _git(self._top, self._around)
        try:
            git.disarm()
            git.run("apply", "--check", "--whitespace=nowarn", "-", given=patch)
            git.run("apply", "--whitespace=nowarn", "-", given=patch)
        except GitFailed as failed:
            raise DoesNotApply(_plainly(str(failed))) from failed

    def remove(self, *, branch_too: bool) -> None:
        """Raises `GitFailed`; then it is still there."""
        git = _git(self._top, self._around)
        git.disarm()
        git.run("worktree", "remove", "--force", "--force", self._one.tree)
        if branch_too:
            git.run("update-ref", "-d", f"refs/heads/{self._one.branch}", self._base)

    def _inside(self) -> Git:
        git = _git(self._one.tree, self._around)
        git.tell(GIT_DIR=self._one.git_dir, GIT_WORK_TREE=self._one.tree)
        return git


class _Staged:
    """Git with a temporary index of all the tree's files: an agent may have changed the tree's own index."""

    def __init__(self, one: Contestant, base: str, around: Surroundings) -> None:
        self._scratch = TemporaryDirectory(prefix="tree-", dir=around.scratch)
        self._base = base
        self._git = _git(one.tree, around)
        self._git.tell(
            GIT_DIR=one.git_dir,
            GIT_WORK_TREE=one.tree,
            GIT_INDEX_FILE=os.path.join(self._scratch.name, "index"),
            GIT_AUTHOR_NAME=WHO,
            GIT_AUTHOR_EMAIL="bascule@localhost",
            GIT_COMMITTER_NAME=WHO,
            GIT_COMMITTER_EMAIL="bascule@localhost",
        )

    def __enter__(self) -> Git:
        try:
            self._git.disarm()
            self._git.run("read-tree", self._base)
            self._git.run("-c", "advice.addEmbeddedRepo=false", "add", "--all", "--", ".")
        except BaseException:
            self._scratch.cleanup()
            raise
        return self._git

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()


def _git(folder: str, around: Surroundings) -> Git:
    return Git(folder, around.path, around.home, SECONDS)


def _plainly(complaint: str) -> str:
    """Git's error for a patch that does not apply, in words for people."""
    text = complaint.removeprefix("error: ")
    place = re.fullmatch(r"patch failed: (.*):(\d+)", text)
    return f"{place[1]} is different there, near line {place[2]}" if place else text


def _top_of(folder: str) -> str | None:
    """The nearest folder with a `.git`, from here upward."""
    current = folder
    while not os.path.lexists(os.path.join(current, ".git")):
        above = os.path.dirname(current)
        if above == current:
            return None
        current = above
    return current


def _entries(numstat: bytes) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    for line in numstat.split(b"\0"):
        if line:
            added, removed, path = line.split(b"\t", 2)
            binary = added == b"-"
            found.append((os.fsdecode(path), -1 if binary else int(added), -1 if binary else int(removed)))
    return found


def _sections(patches: bytes) -> list[str]:
    """The hunks of each file; a file without any (binary, mode only) has an empty one."""
    sections: list[str] = []
    for section in re.split(rb"^diff --git .*$\n?", patches, flags=re.MULTILINE)[1:]:
        start = re.search(rb"^@@ ", section, flags=re.MULTILINE)
        text = section[start.start() :] if start else b""
        sections.append(text.decode(errors="replace").rstrip("\n"))
    return sections
