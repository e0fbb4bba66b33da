"""Writes a file atomically below a session's folder: a temporary file, then a rename, by descriptor."""

import os
import secrets
import stat
from contextlib import suppress

from bascule.daemon.files.confined import ConfinedFolder, FileForbidden, FileNotFound, parts_of

FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
MODE = 0o644  # of a file that was not there; the umask takes its part


def write_file(confined: ConfinedFolder, path: str, data: bytes) -> None:
    """Writes the whole file or nothing: a concurrent reader sees the old or the new one.

    Folders that are missing are made. A link is neither followed nor replaced.
    """
    parts = parts_of(path)
    if not parts:
        raise FileForbidden("That is a folder.")
    folder = confined.open_or_make(parts[:-1])
    try:
        mode = _mode_of(confined, folder, parts[-1])
        _replace(folder, parts[-1], data, mode)
    finally:
        os.close(folder)


def _mode_of(confined: ConfinedFolder, folder: int, name: str) -> int | None:
    """The mode of the file that is there, None where there is none. Raises for whatever is no plain file."""
    try:
        info = confined.stat_file(folder, name)
    except FileNotFound:
        return None
    if info.st_nlink > 1:
        raise FileForbidden(f"{name!r} has several names; it is not written to.")
    return stat.S_IMODE(info.st_mode) & 0o777


def _replace(folder: int, name: str, data: bytes, mode: int | None) -> None:
    beside = f".{name[:100]}.{secrets.token_hex(6)}"
    try:
        descriptor = os.open(beside, FRESH, MODE if mode is None else 0o600, dir_fd=folder)
        try:
            _write_all(descriptor, data)
            if mode is not None:
                os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)
        os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        with suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise FileForbidden(f"{name!r} could not be written: {error.strerror}.") from error


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
