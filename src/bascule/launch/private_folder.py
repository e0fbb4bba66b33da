"""The private folder of launches: prompts, plans and the socket on which launchers report."""

import contextlib
import os
import secrets
import socket
import stat
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from bascule.launch.errors import LaunchError

NAME = "claude-bridge"
LEFTOVER_SECONDS = 600.0
ASKING_SECONDS = 0.5
OURS = ("prompt-", "plan-", "window-", "report-")


class LaunchFolder:
    """Opened once and used by its descriptor, so that nobody can put another folder in its place."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._fd = descriptor

    @classmethod
    def open(cls, setting: str, environ: Mapping[str, str]) -> "LaunchFolder":
        """In the folder of the setting, the user's runtime folder or the system's, in this order."""
        runtime = environ.get("XDG_RUNTIME_DIR", "")
        base = setting or (runtime if runtime.startswith("/") else "")
        try:
            if base:
                return cls(*_private(Path(base) / NAME))
            return _in_shared_folder(Path(tempfile.gettempdir()))
        except OSError as error:
            raise failed(error) from error

    def close(self) -> None:
        os.close(self._fd)

    def write(self, name: str, data: bytes, mode: int = 0o600) -> None:
        """A new file with this content, or none at all."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(name, flags, mode, dir_fd=self._fd)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
            except OSError:
                self.remove(name)
                raise
        except OSError as error:
            raise failed(error) from error

    def remove(self, name: str) -> None:
        try:
            os.unlink(name, dir_fd=self._fd)
        except FileNotFoundError:
            return  # the launcher has read it

    def is_still_there(self) -> bool:
        """Whether the path leads to this very folder; a runtime folder goes when its user logs out."""
        try:
            there, held = os.stat(self.path, follow_symlinks=False), os.fstat(self._fd)
        except OSError:
            return False
        return (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)

    def sweep(self, now: float) -> None:
        """Remove what a bridge that was killed left behind."""
        for name in os.listdir(self._fd):
            if not name.startswith(OURS):
                continue
            try:
                info = os.stat(name, dir_fd=self._fd, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if now - info.st_mtime <= LEFTOVER_SECONDS or stat.S_ISDIR(info.st_mode):
                continue
            # A bridge that has run for as long as that listens on a socket as old; it may be our own.
            if not (stat.S_ISSOCK(info.st_mode) and _is_listening(str(self.path / name))):
                self.remove(name)


def _is_listening(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(ASKING_SECONDS)
        try:
            asking.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True  # it is busy
    return True


def new_stem() -> str:
    """`{milliseconds}-{random}`: nothing of it comes from a request."""
    return f"{time.time_ns() // 1_000_000}-{secrets.token_hex(8)}"


def failed(error: OSError) -> LaunchError:
    why = error.strerror or type(error).__name__
    advice = "Check the owner, the permissions and the space of the bridge's folder (CLAUDE_BRIDGE_TMPDIR)."
    return LaunchError("temp_file_failed", f"Failed to prepare prompt file: {why}. {advice}")


def _in_shared_folder(shared: Path) -> LaunchFolder:
    """Where everybody may write, another user may have taken the name: then one that nobody can guess."""
    try:
        return LaunchFolder(*_private(shared / f"{NAME}-{os.getuid()}"))
    except OSError:
        return LaunchFolder(*_private(Path(tempfile.mkdtemp(prefix=f"{NAME}-", dir=shared))))


def _private(path: Path) -> tuple[Path, int]:
    """Make the folder, or make sure that it is this user's own; never through a link."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        info = os.fstat(descriptor)
        if info.st_uid != os.geteuid():
            raise PermissionError(1, "The folder belongs to another user")
        if stat.S_IMODE(info.st_mode) != 0o700:
            os.fchmod(descriptor, 0o700)
    except OSError:
        os.close(descriptor)
        raise
    return path, descriptor
