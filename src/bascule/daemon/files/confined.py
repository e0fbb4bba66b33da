"""Opens files below one folder only: component by component, by descriptor, following no symlink.

A path is never resolved twice, so swapping a folder for a link between a check and its use wins nothing.
"""

import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from bascule.model.errors import CallerError

MAX_DEPTH = 256
MAX_PATH = 4096
MAX_OWN_FILES = 100_000
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

Identity = tuple[int, int]  # device and inode


class FileForbidden(CallerError):
    code = "FILE_FORBIDDEN"


class FileNotFound(CallerError):
    code = "FILE_NOT_FOUND"


class ConfinedFolder:
    """The files of one folder. `own` are Bascule's folders: they are not shown even when they lie inside."""

    def __init__(self, root: str, own: tuple[str, ...]) -> None:
        self._root = root
        self._own = own
        self._own_folders = {identity for path in own if (identity := _identity(path)) is not None}
        self._kernel = _kernel_devices()

    @contextmanager
    def folder(self, path: str) -> Generator[int, None, None]:
        """A descriptor of the folder at this relative path."""
        descriptor = self._walk(parts_of(path))
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def file(self, path: str) -> Generator[tuple[int, os.stat_result], None, None]:
        """A descriptor of the regular file at this relative path, and what it is."""
        parts = parts_of(path)
        if not parts:
            raise FileForbidden("That is a folder.")
        folder = self._walk(parts[:-1])
        try:
            descriptor = self._open_file(folder, parts[-1])
        finally:
            os.close(folder)
        try:
            info = os.fstat(descriptor)
            self._check_file(info)
            yield descriptor, info
        finally:
            os.close(descriptor)

    def open_or_make(self, parts: list[str]) -> int:
        """A descriptor of the folder at this path, made if it is missing. The caller closes it."""
        return self._descend(self._walk([]), parts, _open_or_make)

    def stat_file(self, folder: int, name: str) -> os.stat_result:
        """The status of a regular file. Raises, with the reason, for anything else."""
        with _in_our_words(name):
            info = os.stat(name, dir_fd=folder, follow_symlinks=False)
        self._check_file(info)
        return info

    def is_visible(self, info: os.stat_result) -> bool:
        """Whether a folder's listing may include this entry."""
        return (info.st_dev, info.st_ino) not in self._own_folders

    def _open_file(self, folder: int, name: str) -> int:
        with _in_our_words(name):
            # Looked at before it is opened: opening a device can already do something.
            self._check_file(os.stat(name, dir_fd=folder, follow_symlinks=False))
            return os.open(name, FILE, dir_fd=folder)

    def _walk(self, parts: list[str]) -> int:
        """From the top of the file system, because a folder above the root may have been swapped as well."""
        whole = [*Path(self._root).parts[1:], *parts]
        return self._descend(os.open("/", FOLDER), whole, _open_folder)

    def _descend(self, current: int, parts: list[str], open_below: Callable[[str, int], int]) -> int:
        """The descriptor at the end of these steps. Each folder is checked; those passed, and `current`, are
        closed, on an error too."""
        try:
            self._check_folder(current)
            for part in parts:
                with _in_our_words(part):
                    below = open_below(part, current)
                os.close(current)
                current = below
                self._check_folder(current)
        except BaseException:
            os.close(current)
            raise
        return current

    def _check_folder(self, descriptor: int) -> None:
        info = os.fstat(descriptor)
        if (info.st_dev, info.st_ino) in self._own_folders or info.st_dev in self._kernel:
            raise FileForbidden("This folder is not shown.")

    def _check_file(self, info: os.stat_result) -> None:
        if stat.S_ISLNK(info.st_mode):
            raise FileForbidden("Links are not followed.")
        if stat.S_ISDIR(info.st_mode):
            raise FileForbidden("That is a folder.")
        if not stat.S_ISREG(info.st_mode) or info.st_dev in self._kernel:
            raise FileForbidden("Only regular files are shown.")
        # A second name for one of our own files lies outside our folders and holds the same secrets.
        if info.st_nlink > 1 and (info.st_dev, info.st_ino) in self._own_files():
            raise FileForbidden("This file is not shown.")

    def _own_files(self) -> set[Identity]:
        found: set[Identity] = set()
        for top in self._own:
            for folder, _, names in os.walk(top):
                for name in names:
                    identity = _identity(os.path.join(folder, name))
                    if identity is not None:
                        found.add(identity)
                if len(found) > MAX_OWN_FILES:
                    raise FileForbidden("This file has several names, and may be one of Bascule's own.")
        return found


def parts_of(path: str) -> list[str]:
    """The steps of a relative path. Raises for whatever could lead elsewhere."""
    if len(path.encode(errors="surrogatepass")) >= MAX_PATH or "\x00" in path:
        raise FileForbidden("This path is not taken.")
    if path.startswith(("/", "~")) or ".." in path.replace("\\", "/").split("/"):
        raise FileForbidden("Only paths inside the session's folder are shown.")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if len(parts) > MAX_DEPTH:
        raise FileForbidden("This path is too deep.")
    return parts


def _open_folder(name: str, parent: int) -> int:
    return os.open(name, FOLDER, dir_fd=parent)


def _open_or_make(name: str, parent: int) -> int:
    try:
        return _open_folder(name, parent)
    except FileNotFoundError:
        os.mkdir(name, 0o755, dir_fd=parent)
        return _open_folder(name, parent)


@contextmanager
def _in_our_words(name: str) -> Generator[None, None, None]:
    """Turns OSError into our errors; a link in place of a folder is ELOOP or ENOTDIR."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFound(f"There is no {name!r} there.") from None
    except (OSError, UnicodeError) as error:
        raise FileForbidden(f"{name!r} can't be opened: links are not followed.") from error


def _identity(path: str) -> Identity | None:
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _kernel_devices() -> set[int]:
    """File systems that are not files: reading there can tell any process's secrets."""
    top = os.stat("/").st_dev
    found = {identity[0] for path in ("/proc", "/sys") if (identity := _identity(path)) is not None}
    return found - {top}
