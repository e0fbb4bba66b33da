"""Commands about comparisons: one prompt for several agents."""

from typing import Annotated

from msgspec import Meta, Struct

from bascule.link.files import GitChanges
from bascule.model.commands import Command, SentImage
from bascule.model.comparisons import MAX_CONTESTANTS, Comparison
from bascule.model.events import PermissionMode
from bascule.model.fields import Name, Short, Text, Title


class Entrant(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    session_id: Name
    agent: Name
    model: Name | None = None


class StartComparison(Command[Comparison], frozen=True, kw_only=True):
    """Give the same prompt to several agents, each in a git work tree of its own."""

    comparison_id: Name
    folder: Short
    prompt: Text
    entrants: tuple[Entrant, ...]
    permission_mode: PermissionMode = "relay"
    images: tuple[SentImage, ...] = ()
    title: Title | None = None


class ReadComparison(Command[Comparison], frozen=True, kw_only=True):
    comparison_id: Name


class Comparisons(Struct, frozen=True):
    comparisons: list[Comparison]


class ListComparisons(Command[Comparisons], frozen=True, kw_only=True):
    """The newest first."""


class ContestantChanges(GitChanges, frozen=True, rename="camel", kw_only=True):
    """`ignored`: files that git ignores; they are in nobody's branch and go with the work tree."""

    ignored: int = 0


class ReadContestant(Command[ContestantChanges], frozen=True, kw_only=True):
    """What one agent changed since the commit everybody began from."""

    comparison_id: Name
    session_id: Name


class Kept(Struct, frozen=True, rename="camel"):
    files: int
    words: str


class KeepContestant(Command[Kept], frozen=True, kw_only=True):
    """Take one agent's changes over into the working copy."""

    comparison_id: Name
    session_id: Name


class TreeRemoval(Struct, frozen=True, rename="camel"):
    """What became of one work tree. `branch` still holds its work; None when there was none."""

    session_id: str
    removed: bool
    branch: str | None
    words: str


class TreesRemoved(Struct, frozen=True, rename="camel"):
    trees: list[TreeRemoval]
    comparison: Comparison


class RemoveTrees(Command[TreesRemoved], frozen=True, kw_only=True):
    """End these sessions and remove their work trees. Their work stays on their branches.

    `confirm` must be true: folders are removed, and with them what git ignores in them.
    """

    comparison_id: Name
    session_ids: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=MAX_CONTESTANTS)]
    confirm: bool = False


ComparisonCommand = (
    StartComparison | ListComparisons | ReadComparison | ReadContestant | KeepContestant | RemoveTrees
)
