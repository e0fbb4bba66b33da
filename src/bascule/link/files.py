"""Commands about a device's files: folders, files, changes."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from bascule.model.commands import Command, SessionCommand
from bascule.model.fields import Short

MAX_FILE = 1024 * 1024  # bytes of a file that are shown


class Folders(Struct, frozen=True, rename="camel"):
    directories: list[str]
    cut: bool  # there are more


class ListFolders(Command[Folders], frozen=True, kw_only=True):
    """Folders whose path begins like this, to complete what somebody types."""

    prefix: Short
    limit: Annotated[int, Meta(ge=1, le=200)] = 50


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


class ListFiles(SessionCommand[FileList], frozen=True, kw_only=True):
    """List a folder in a session's working directory; `path` is relative to that."""

    path: Short = ""


class FoundFiles(Struct, frozen=True, rename="camel"):
    paths: list[str]  # relative to the session's working directory, best first


class FindFiles(SessionCommand[FoundFiles], frozen=True, kw_only=True):
    """Files of the project by letters of their path: those that git tracks or does not ignore."""

    q: Short
    limit: Annotated[int, Meta(ge=1, le=100)] = 30


class FileContent(Struct, frozen=True, rename="camel"):
    """`text` is empty for a binary file, and only the beginning when `cut`."""

    path: str
    size: int
    modified_at: str
    binary: bool
    cut: bool
    text: str


class ReadFile(SessionCommand[FileContent], frozen=True, kw_only=True):
    path: Short = ""
    max: Annotated[int, Meta(ge=0, le=MAX_FILE)] = MAX_FILE


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
    staged: bool = False  # some of it is in the index, for the next commit


class GitChanges(Struct, frozen=True, rename="camel"):
    """`problem` says why there is nothing from git, in words; None when all is well."""

    branch: str | None
    files: list[FileChange]
    cut: bool = False
    problem: str | None = None


class ReadChanges(SessionCommand[GitChanges], frozen=True, kw_only=True):
    """What differs from the last commit in a session's working directory."""


FilesCommand = ListFolders | ListFiles | FindFiles | ReadFile | ReadChanges
