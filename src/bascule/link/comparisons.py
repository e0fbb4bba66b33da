"""What is asked of a device about prompts for several agents, and what is answered."""

from msgspec import Struct

from bascule.link.files import GitChanges
from bascule.model.commands import Actor
from bascule.model.comparisons import Comparison
from bascule.model.events import Image, PermissionMode, snake


class ComparisonQuestion(Struct, frozen=True, tag_field="type", tag=snake):
    """The base of the questions here."""


class Entrant(Struct, frozen=True):
    session_id: str
    agent: str
    model: str | None = None


class StartComparison(ComparisonQuestion, frozen=True, kw_only=True):
    comparison_id: str
    folder: str
    prompt: str
    entrants: tuple[Entrant, ...]
    by: Actor
    permission_mode: PermissionMode = "relay"
    images: tuple[Image, ...] = ()
    title: str | None = None
    key: str | None = None


class ListComparisons(ComparisonQuestion, frozen=True):
    pass


class ReadComparison(ComparisonQuestion, frozen=True):
    comparison_id: str


class ReadContestant(ComparisonQuestion, frozen=True):
    """What one agent changed since the commit everybody began from."""

    comparison_id: str
    session_id: str


class KeepContestant(ComparisonQuestion, frozen=True):
    """Take one agent's changes over into the working copy."""

    comparison_id: str
    session_id: str
    by: Actor


class RemoveTrees(ComparisonQuestion, frozen=True):
    """End these sessions and remove their work trees. Their work stays on their branches."""

    comparison_id: str
    session_ids: tuple[str, ...]
    by: Actor


ComparisonCommand = (
    StartComparison | ListComparisons | ReadComparison | ReadContestant | KeepContestant | RemoveTrees
)


class Comparisons(Struct, frozen=True):
    comparisons: list[Comparison]


class ContestantChanges(GitChanges, frozen=True, rename="camel", kw_only=True):
    """`ignored`: files git was told to ignore; they are in nobody's branch and go with the work tree."""

    ignored: int = 0


class Kept(Struct, frozen=True, rename="camel"):
    files: int
    words: str


class TreeRemoval(Struct, frozen=True, rename="camel"):
    """What became of one work tree. `branch` still holds its work; None when there was none."""

    session_id: str
    removed: bool
    branch: str | None
    words: str


class TreesRemoved(Struct, frozen=True, rename="camel"):
    trees: list[TreeRemoval]
    comparison: Comparison
