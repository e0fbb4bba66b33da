"""Changes a repository for a person: stages, reverts, commits. Runs nothing that it configures. Blocks.

An agent may write hooks, filters and settings into the repository it works in. Who presses Commit means the
files, not those programs, so hooks and filters do not run here (see `git.py`) and nothing is signed; the
answer names what was left out. A file that a filter should convert is refused.
"""

import os

from bascule.daemon.files.changes import STATUS, Changed, parse_status
from bascule.daemon.files.confined import ConfinedFolder
from bascule.daemon.files.folder_listing import read_bytes
from bascule.daemon.files.git import Git, GitFailed
from bascule.link.git import Committed, Reverted
from bascule.model.errors import CallerError, InvalidInput

MAX_KEPT = 64 * 1024 * 1024  # bytes of a file whose content is kept when it is reverted
SECONDS = 30.0
HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
UNSIGNED = ("-c", "commit.gpgSign=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false")
NO_NAME = (
    "git does not know who you are. Tell it in a terminal: "
    'git config --global user.name "Your Name" and git config --global user.email you@example.com'
)


class GitRefused(CallerError):
    code = "GIT_REFUSED"


class Repository:
    """One session's folder, for one command of a person."""

    def __init__(self, folder: str, confined: ConfinedFolder, path: str, home: str) -> None:
        self._confined = confined
        self._folder = folder
        self._git = Git(folder, path, home, SECONDS)
        self._git.tell(GIT_LITERAL_PATHSPECS="1")
        try:
            self._git.disarm()
            self._prefix = self._run("rev-parse", "--show-prefix").decode(errors="replace").rstrip("\n")
        except GitRefused as refused:
            if "not a git repository" in refused.message:
                raise GitRefused("This folder is not a git repository.") from refused
            raise

    def stage(self, paths: tuple[str, ...], staged: bool) -> None:
        self._check(paths)
        if staged:
            self._run("add", "--", *paths)
        elif self._head() is None:
            self._run("rm", "--cached", "-q", "--", *paths)
        else:
            self._run("reset", "-q", "--", *paths)

    def revert(self, path: str, kept: str | None) -> Reverted:
        """To the last commit, or, with `kept`, back to what a revert replaced."""
        changed = self._check((path,))[path]
        before = self._keep(path)
        if kept is not None:
            self._restore(path, kept)
        elif changed.status in ("untracked", "added"):
            if changed.status == "added":
                self._run("rm", "--cached", "-q", "--", path)
            self._run("clean", "-f", "-q", "-x", "--", path)
        else:
            self._run("checkout", "-q", "HEAD", "--", path)
        return Reverted(path, before)

    def commit(self, message: str, paths: tuple[str, ...]) -> Committed:
        if not message.strip() or "\x00" in message:
            raise InvalidInput("A commit needs a message: say in a line what changed.")
        if paths:
            self._check(paths)
            self._run("add", "--", *paths)
        files = self._staged(paths)
        if not files:
            raise GitRefused("Nothing is staged. Choose the files to commit.")
        only = ("--only", "--", *paths) if paths else ()
        words = ("commit", "-q", "--no-verify", "--no-gpg-sign", "--cleanup=whitespace", "-F", "-", *only)
        self._run(*UNSIGNED, *words, given=message.encode())
        commit = self._run("rev-parse", "HEAD").decode().strip()
        status = parse_status(self._run(*STATUS), self._prefix)
        return Committed(commit, status.branch, len(files), self._left_out())

    def _staged(self, paths: tuple[str, ...]) -> list[str]:
        against = ("HEAD",) if self._head() is not None else ()
        words = ("diff-index", "--cached", "--name-only", "-z", "--ignore-submodules=all")
        if not against:
            listed = self._run("ls-files", "-z", "--cached", "--", *paths)
        else:
            listed = self._run(*words, *against, "--", *paths)
        return [one for one in listed.decode(errors="replace").split("\x00") if one]

    def _head(self) -> str | None:
        try:
            return self._run("rev-parse", "-q", "--verify", "HEAD").decode().strip()
        except GitRefused:
            return None

    def _check(self, paths: tuple[str, ...]) -> dict[str, Changed]:
        """The files by path, as git sees them; raises for one that is none, or goes through a filter."""
        status = parse_status(self._run(*STATUS), self._prefix)
        known = {file.path: file for file in status.files}
        for path in paths:
            if path not in known:
                known[path] = Changed(path, "modified", None)
            if known[path].status != "deleted" and os.path.lexists(os.path.join(self._folder, path)):
                with self._confined.file(path):
                    pass  # it is a plain file below the folder, or this raises in words
        given = b"".join(os.fsencode(path) + b"\x00" for path in paths)
        fields = self._run("check-attr", "-z", "--stdin", "filter", given=given).split(b"\x00")
        for path, value in zip(fields[0::3], fields[2::3], strict=False):
            if value not in (b"unspecified", b"unset", b""):
                name = value.decode(errors="replace")[:40]
                raise GitRefused(
                    f"{os.fsdecode(path)} goes through the git filter {name}, which Bascule does not run. "
                    "Use git in a terminal for it."
                )
        return known

    def _keep(self, path: str) -> str:
        """The file's content now, as an object of the repository, so that a revert can be taken back."""
        if not os.path.lexists(os.path.join(self._folder, path)):
            return ""
        with self._confined.file(path) as (descriptor, info):
            if info.st_size > MAX_KEPT:
                raise GitRefused(f"{path} is too large to be kept for undoing. Revert it in a terminal.")
            content = read_bytes(descriptor, MAX_KEPT)
        return self._run("hash-object", "-w", "--stdin", given=content).decode().strip()

    def _restore(self, path: str, kept: str) -> None:
        """Through the index, so that git writes the file, in its own careful way."""
        entry = self._run("ls-files", "-s", "-z", "--", path)
        mode = entry[:6].decode() if entry else "100644"
        where = self._prefix + path
        self._run("update-index", "--add", "--cacheinfo", f"{mode},{kept},{where}")
        self._run("checkout-index", "-f", "-q", "--", path)
        if entry:
            self._run("reset", "-q", "--", path)
        else:
            self._run("rm", "--cached", "-q", "--", path)

    def _left_out(self) -> tuple[str, ...]:
        """The hooks and the signature that a commit in a terminal would have had."""
        folder = os.fsdecode(self._run("rev-parse", "--git-path", "hooks")).rstrip("\n")
        own = os.fsdecode(self._run("rev-parse", "--git-common-dir")).rstrip("\n")
        folders = {folder, os.path.join(own, "hooks")} - {"/dev/null"}
        found = {
            name
            for one in folders
            for name in HOOKS
            if os.access(os.path.join(self._folder, one, name), os.X_OK)
        }
        return tuple(sorted(found))

    def _run(self, *arguments: str, given: bytes = b"") -> bytes:
        try:
            return self._git.run(*arguments, given=given)
        except GitFailed as failed:
            words = str(failed)
            if "identity unknown" in words or "empty ident" in words or "user.email" in words:
                raise GitRefused(NO_NAME) from failed
            raise GitRefused(words.removeprefix("fatal: ").removeprefix("error: ")) from failed
