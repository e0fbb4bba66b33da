"""Answers of the API to searches: messages, titles and sessions found on the machines' disks."""

from bascule.api.view import View
from bascule.link.found import FoundList


class SearchHitView(View, frozen=True, kw_only=True):
    """A message, or with `firstSeq` 0 a title. The second, fourth, … pieces of `snippet` matched."""

    session_id: str
    title: str
    first_seq: int
    snippet: list[str]
    at: str
    kind: str
    archived: bool
    found: bool  # in a session that was begun outside Bascule
    device: str = ""  # of a found session that this hub has no copy of yet: `found:fetch` makes one


class MissingDevice(View, frozen=True, kw_only=True):
    """A machine that is not in a list of all of them: it is away, or did not answer in time."""

    device: str
    name: str
    last_heard: str | None = None


class SearchAnswer(View, frozen=True, kw_only=True):
    """Newest first, titles before messages. `owed` messages can't be found yet: the index is being filled.

    `missing`: machines whose found sessions were not searched: they are away or did not answer in time.
    """

    hits: list[SearchHitView]
    owed: int
    missing: tuple[MissingDevice, ...] = ()


class FoundEverywhere(FoundList, frozen=True, kw_only=True, rename="camel"):
    """Found sessions of one machine or of all; `missing` are those that did not answer."""

    missing: tuple[MissingDevice, ...] = ()
