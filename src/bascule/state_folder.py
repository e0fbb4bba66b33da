"""The state folder: private, with a note on how the local command line reaches the server."""

import os
import stat
from pathlib import Path

import msgspec

from bascule.model.errors import HostError

NOTE = "server.json"
HUB_NOTE = "hub.json"


class ServerNote(msgspec.Struct, frozen=True):
    """How the local command line reaches the server. The key is made anew at each start."""

    pid: int
    url: str
    key: str


class HubNote(msgspec.Struct, frozen=True):
    """The hub that this machine has joined, and the token that opens its line there."""

    url: str
    token: str


class UnsafeFolder(HostError):
    code = "UNSAFE_FOLDER"


def prepare(folder: Path) -> None:
    """Make the folder, or make sure that it is ours and private."""
    os.umask(0o077)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = folder.lstat()
    except OSError as error:
        raise _unwritable(folder, error) from error
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
        raise UnsafeFolder(f"{folder} is not a folder of this user. Choose another with --data.")
    try:
        if info.st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise _unwritable(folder, error) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _unwritable(folder)


def _unwritable(folder: Path, error: OSError | None = None) -> UnsafeFolder:
    why = f" ({error.strerror})" if error is not None and error.strerror else ""
    message = f"The state folder {folder} can't be written to{why}, so nothing could be recorded."
    return UnsafeFolder(f"{message} Check its owner, mode and disk, or choose another with --data.")


def write_note(folder: Path, note: ServerNote) -> None:
    _replace(folder / NOTE, note)


def remove_note(folder: Path) -> None:
    (folder / NOTE).unlink(missing_ok=True)


def read_note(folder: Path) -> ServerNote | None:
    """The note of the last server started here; it may have died without removing it."""
    try:
        return msgspec.json.decode((folder / NOTE).read_bytes(), type=ServerNote)
    except (OSError, msgspec.MsgspecError):
        return None


def write_hub_note(folder: Path, note: HubNote) -> None:
    _replace(folder / HUB_NOTE, note)


def remove_hub_note(folder: Path) -> bool:
    """False when this machine had joined no hub."""
    try:
        (folder / HUB_NOTE).unlink()
    except FileNotFoundError:
        return False
    return True


def read_hub_note(folder: Path) -> HubNote | None:
    """The hub that this machine has joined. A damaged note is an error: silence would look like leaving."""
    path = folder / HUB_NOTE
    try:
        return msgspec.json.decode(path.read_bytes(), type=HubNote)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise UnsafeFolder(f"{path} can't be read ({error}). Join again: bascule daemon join URL") from error


def _replace(path: Path, note: msgspec.Struct) -> None:
    """Replace a note in one step, so that nobody ever reads half of one."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode(note))
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


class HubNotes:
    """Keeps the hub that this machine has joined in the state folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, url: str, token: str) -> None:
        write_hub_note(self._folder, HubNote(url, token))

    def remove(self) -> None:
        remove_hub_note(self._folder)
