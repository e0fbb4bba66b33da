"""Commands that change a session's repository: stage, revert, commit, and open a pull request."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from bascule.model.commands import Done, SessionCommand
from bascule.model.fields import Name, Short, Title

MAX_PATHS = 300
Paths = Annotated[tuple[Short, ...], Meta(min_length=1, max_length=MAX_PATHS)]
ObjectId = Annotated[str, Meta(pattern="^[0-9a-f]{40,64}$")]
BranchName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,200}$")]


class StageFiles(SessionCommand[Done], frozen=True, kw_only=True):
    """Stage these files as they are now, or take them out of the next commit again."""

    paths: Paths
    staged: bool = True


class Reverted(Struct, frozen=True, rename="camel"):
    """`kept` is the object that holds the content that was replaced; empty if there was none."""

    path: str
    kept: str = ""


class RevertFile(SessionCommand[Reverted], frozen=True, kw_only=True):
    """Make a file what it was in the last commit; a new one goes away. With `kept`, take a revert back."""

    path: Short
    kept: ObjectId | None = None


class Committed(Struct, frozen=True, rename="camel"):
    """`skipped` are hooks of the repository that were not run, and `signing` when it wanted a signature."""

    commit: str
    branch: str | None
    files: int
    skipped: tuple[str, ...] = ()


class CommitFiles(SessionCommand[Committed], frozen=True, kw_only=True):
    """Commit these files as they are now; without any, what is staged."""

    message: Annotated[str, Meta(min_length=1, max_length=20_000)]
    paths: Annotated[tuple[Short, ...], Meta(max_length=MAX_PATHS)] = ()


class PullRequestPlan(Struct, frozen=True, rename="camel"):
    """What a pull request would be made from. `problem` says what is missing, and what to do."""

    tool: Literal["gh", "glab"] | None = None
    repository: str = ""  # host/owner/name
    branch: str | None = None
    title: str = ""  # the last commit's first line
    problem: str | None = None


class PlanPullRequest(SessionCommand[PullRequestPlan], frozen=True, kw_only=True):
    """Where a pull request of this session's branch would go."""


class PullRequestOpened(Struct, frozen=True, rename="camel"):
    url: str


class OpenPullRequest(SessionCommand[PullRequestOpened], frozen=True, kw_only=True):
    """Push the last commit as `branch` and open a pull request with the person's own `gh` or `glab`.

    `repository` is what the person was shown; another one by now is refused.
    """

    repository: Name
    branch: BranchName
    title: Title
    body: Annotated[str, Meta(max_length=60_000)] = ""
    draft: bool = False


GitCommand = StageFiles | RevertFile | CommitFiles | PlanPullRequest | OpenPullRequest
