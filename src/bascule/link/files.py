"""What is asked about a device's files, and what is answered: folders, files, changes."""

from typing import Literal

from msgspec import Struct

from bascule.model.events import snake

MAX_FILE = 1024 * 1024  # bytes of a file that are shown


class FileCommand(Struct, frozen=True, tag_field="type", tag=snake):
    """The base of the questions here."""


class ListFolders(FileCommand, frozen=True):
    """Folders whose path begins like this, to complete what somebody types."""

    prefix: str
    limit: int = 50


class ListFiles(FileCommand, frozen=True):
    """What is in a folder of a session's working directory; `path` is relative to that."""

    session_id: str
    path: str = ""


class ReadFile(FileCommand, frozen=True):
    session_id: str
    path: str
    max: int = MAX_FILE


class ReadChanges(FileCommand, frozen=True):
    """What differs from the last commit in a session's working directory."""

    session_id: str


class Folders(Struct, frozen=True, rename="camel"):
    directories: list[str]
    cut: bool  # there are more


FileKind = Literal["folder", "file", "link", "other"]


class FileItem(Struct, frozen=True, rename="camel"):
    name: str
    kind: FileKind
    size: int
    modified_at: str


class FileList(Struct, frozen=True, rename="camel"):
    path: str
    items: list[FileItem]
    cut: bool


class FileContent(Struct, frozen=True, rename="camel"):
    """`text` is empty for a binary file, and only the beginning when `cut`."""

    path: str
    size: int
    modified_at: str
    binary: bool
    cut: bool
    text: str


ChangeStatus = Literal["modified", "added", "deleted", "untracked", "conflict"]


class FileChange(Struct, frozen=True, rename="camel"):
    """One file against the last commit. `patch` is hunks of a unified diff, without file headers."""

    path: str  # relative to the session's working directory
    status: ChangeStatus
    added: int
    removed: int
    patch: str
    cut: bool = False  # the patch is not whole, or left out for its size
    binary: bool = False


class GitChanges(Struct, frozen=True, rename="camel"):
    """`problem` says why there is nothing from git, in words; None when all is well."""

    branch: str | None
    files: list[FileChange]
    cut: bool = False
    problem: str | None = None
