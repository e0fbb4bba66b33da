"""Answers of the API about folders: projects, recent folders, and the files that sessions changed."""

from typing import Literal

from msgspec import field

from bascule.api.view import View
from bascule.model.projects import Project


class ProjectList(View, frozen=True, kw_only=True):
    """In the order they were added."""

    projects: list[Project]


class RecentFolder(View, frozen=True, kw_only=True):
    """A path means a folder only together with its machine."""

    path: str
    device: str


class RecentDirectories(View, frozen=True, kw_only=True):
    """The latest first. `directories` are the paths alone, each once."""

    directories: list[str]
    folders: list[RecentFolder] = field(default_factory=list[RecentFolder])


class Directories(View, frozen=True, omit_defaults=True, kw_only=True):
    """Either the real path of the folder asked about, or folders that a beginning could become."""

    path: str | None = None
    files: int | None = None  # how many git tracks or does not ignore there; none without git
    directories: list[str] | None = None
    cut: bool = False


class ChangedFile(View, frozen=True, kw_only=True):
    """`source` says who knows of it: the session's own tools, git, or both. Git's patch is the whole change.

    `edits` are the entries that changed it, newest first. `status` "edited" is a tool's word without git's.
    """

    path: str
    status: Literal["modified", "added", "deleted", "untracked", "conflict", "edited"]
    added: int
    removed: int
    patch: str
    cut: bool
    binary: bool
    staged: bool = False
    source: Literal["session", "git", "both"]
    edits: list[int]


class Changes(View, frozen=True, kw_only=True):
    branch: str | None
    files: list[ChangedFile]
    cut: bool
    git_problem: str | None
