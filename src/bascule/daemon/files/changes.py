"""Diffs a folder against its last commit: git lists the files, this module compares their contents."""

import difflib
import os
from time import monotonic
from typing import NamedTuple

from bascule.daemon.files.confined import ConfinedFolder
from bascule.daemon.files.folder_listing import is_binary, read_bytes
from bascule.daemon.files.git import Git, GitFailed
from bascule.link.files import ChangeStatus, FileChange, GitChanges
from bascule.model.errors import CallerError

MAX_FILES = 300
MAX_COMPARED = 256 * 1024  # bytes of one file on either side
MAX_LINES = 6000
MAX_PATCH = 128 * 1024
SECONDS = 3.0  # for comparing; the rest is named without patches
MAX_PATCHES = 2 * 1024 * 1024  # of all files together
CONTEXT = 3
STATUS = (
    "status",
    "--porcelain=v2",
    "-z",
    "--branch",
    "--untracked-files=all",
    "--no-renames",
    "--ignore-submodules=all",
    "--",
    ".",
)


class Changed(NamedTuple):
    path: str  # relative to the folder
    status: ChangeStatus
    head: bytes | None  # the object id in the last commit
    staged: bool = False


class GitStatus(NamedTuple):
    branch: str | None
    files: list[Changed]


def read_changes(folder: str, confined: ConfinedFolder, path: str, home: str) -> GitChanges:
    try:
        git = Git(folder, path, home)
        git.disarm()
        prefix = git.run("rev-parse", "--is-inside-work-tree", "--show-prefix")
        inside, _, below = prefix.decode(errors="replace").partition("\n")
        if inside != "true":
            return GitChanges(None, [], problem="This folder is not a git work tree.")
        found = parse_status(git.run(*STATUS), below.rstrip("\n"))
        some = found.files[:MAX_FILES]
        before = _contents(git, [one.head for one in some if one.head is not None])
    except GitFailed as failed:
        words = str(failed)
        if not os.path.isdir(folder):
            return GitChanges(None, [], problem=f"The folder {folder} is gone.")
        problem = "This folder is not a git repository." if "not a git repository" in words else words
        return GitChanges(None, [], problem=problem)
    files = _compare_all(some, before, confined)
    return GitChanges(found.branch, files, cut=len(found.files) > len(some))


def parse_status(output: bytes, prefix: str) -> GitStatus:
    branch: str | None = None
    files: list[Changed] = []
    for line in output.decode(errors="replace").split("\x00"):
        if line.startswith("# branch.head "):
            name = line.removeprefix("# branch.head ")
            branch = None if name == "(detached)" else name
        elif line.startswith("1 "):
            # 1 XY sub mH mI mW hH hI path
            fields = line.split(" ", 8)
            head = None if fields[3] == "000000" else fields[6].encode()
            status = "added" if head is None else "deleted" if fields[5] == "000000" else "modified"
            if _is_file(fields[3]) and _is_file(fields[5]):
                staged = not fields[1].startswith(".")
                files.append(Changed(fields[8].removeprefix(prefix), status, head, staged))
        elif line.startswith("u "):
            files.append(Changed(line.split(" ", 10)[10].removeprefix(prefix), "conflict", None))
        elif line.startswith("? "):
            files.append(Changed(line[2:].removeprefix(prefix), "untracked", None))
    return GitStatus(branch, [file for file in files if not file.path.endswith("/")])


def _is_file(mode: str) -> bool:
    return mode in ("000000", "100644", "100755")


def _contents(git: Git, ids: list[bytes]) -> dict[bytes, bytes]:
    """The contents of these objects, as stored; the large ones are left out."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    sizes = git.run("cat-file", "--batch-check", given=b"".join(one + b"\n" for one in wanted))
    small: list[bytes] = []
    total = 0
    for line in sizes.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1] == b"blob" and int(fields[2]) <= MAX_COMPARED:
            total += int(fields[2])
            if total > 3 * MAX_PATCHES:
                break
            small.append(fields[0])
    if not small:
        return {}
    return _batch(git.run("cat-file", "--batch", given=b"".join(one + b"\n" for one in small)))


def _batch(output: bytes) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    at = 0
    while at < len(output):
        end = output.index(b"\n", at)
        fields = output[at:end].split()
        at = end + 1
        if len(fields) == 3:
            size = int(fields[2])
            found[fields[0]] = output[at : at + size]
            at += size + 1
    return found


def _compare_all(
    files: list[Changed], before: dict[bytes, bytes], confined: ConfinedFolder
) -> list[FileChange]:
    changes: list[FileChange] = []
    room = MAX_PATCHES
    deadline = monotonic() + SECONDS
    for file in files:
        if monotonic() > deadline:
            room = 0
        change = _compare(file, before, confined, min(room, MAX_PATCH))
        if change is not None:
            room -= len(change.patch)
            changes.append(change)
    return changes


def _compare(
    one: Changed, before: dict[bytes, bytes], confined: ConfinedFolder, room: int
) -> FileChange | None:
    """None when it may not be shown, or is the same after all."""
    old = b"" if one.head is None else before.get(one.head)
    try:
        new = b"" if one.status == "deleted" else _now(confined, one.path)
    except CallerError:
        return None  # a link, one of our own files, or gone since
    if old is None or new is None or room <= 0:
        return FileChange(one.path, one.status, 0, 0, "", cut=True, staged=one.staged)
    if old == new and one.status == "modified":
        return None
    if is_binary(old) or is_binary(new):
        return FileChange(one.path, one.status, 0, 0, "", binary=True, staged=one.staged)
    return _with_patch(one, _lines(old), _lines(new), room)


def _now(confined: ConfinedFolder, path: str) -> bytes | None:
    with confined.file(path) as (descriptor, info):
        if info.st_size > MAX_COMPARED:
            return None
        data = read_bytes(descriptor, MAX_COMPARED + 1)
    return data if len(data) <= MAX_COMPARED else None


def _lines(data: bytes) -> list[str]:
    """By newlines only: a diff's lines are not what `splitlines` takes for a line."""
    lines = data.decode(errors="replace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _with_patch(one: Changed, old: list[str], new: list[str], room: int) -> FileChange:
    if len(old) > MAX_LINES or len(new) > MAX_LINES:
        return FileChange(one.path, one.status, 0, 0, "", cut=True, staged=one.staged)
    lines = list(difflib.unified_diff(old, new, n=CONTEXT, lineterm=""))[2:]
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    patch: list[str] = []
    size, cut = 0, False
    for line in lines:
        size += len(line) + 1
        if size > room:
            cut = True
            break
        patch.append(line)
    return FileChange(one.path, one.status, added, removed, "\n".join(patch), cut, staged=one.staged)
