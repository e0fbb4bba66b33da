"""Positions of a reader: a number in a log and, if known, its epoch.

An epoch names the history that numbers are of: that of this hub's store, or, of a session whose log was begun
again in it, one that is made of both. On the wire a position is `42-9f3c2a1b7d5e4f60`, or the number alone,
which is then of the present epoch. Ids that a stream sends are tagged with epoch and session together, so
that one of another session is noticed; a caller that names the epoch alone is believed.
"""

import re
from hashlib import sha256
from typing import Literal

from msgspec import Struct

from bascule.model.errors import InvalidInput

MAX_POSITION = 2**53
_POSITION = re.compile(r"([0-9]{1,16})(?:-([0-9a-f]{16}))?", re.ASCII)
_OFFSET = re.compile(r"[0-9]{1,15}", re.ASCII)

Reason = Literal["replaced", "ahead"]
WORDS: dict[Reason, str] = {
    "replaced": "The log was replaced, or the position is of another session; load this view again.",
    "ahead": "The log on this machine does not go as far as you have read; load this view again.",
}


def epoch_of(store_epoch: str, generation: int) -> str:
    """Names the history of one session's log."""
    if generation == 0:
        return store_epoch
    return sha256(f"{store_epoch} {generation}".encode()).hexdigest()[:16]


def session_tag(epoch: str, session_id: str) -> str:
    """Names the history of one session's log so that no other session's fits. It looks like an epoch."""
    return sha256(f"{epoch} {session_id}".encode()).hexdigest()[:16]


class Position(Struct, frozen=True):
    seq: int = 0
    epoch: str | None = None  # or a session's tag

    def lost(self, epoch: str, session_id: str, head: int) -> Reason | None:
        """Why a reader can't resume from here; None when it can."""
        if self.epoch not in (None, epoch, session_tag(epoch, session_id)):
            return "replaced"
        return "ahead" if self.seq > head else None


def position_of(text: str, where: str) -> Position:
    """Raises `InvalidInput` in words for anything that is no position."""
    match = _POSITION.fullmatch(text)
    if match is None or int(match[1]) > MAX_POSITION:
        shown = text if len(text) <= 40 else f"{text[:40]}… ({len(text)} characters)"
        raise InvalidInput(
            f"{where} {shown!r} is no place in a log. Give a number of 0 or more, or an id as it was sent; "
            "leave it out to read from the start."
        )
    return Position(int(match[1]), match[2])


def offset_of(text: str) -> int | None:
    """A place on a terminal's tape; None for its tail. Raises `InvalidInput` in words."""
    if text == "tail":
        return None
    if _OFFSET.fullmatch(text) is None:
        shown = text if len(text) <= 40 else f"{text[:40]}… ({len(text)} characters)"
        raise InvalidInput(
            f"after {shown!r} is no place in a terminal's output. Give a number of bytes, or `tail`."
        )
    return int(text)


def wire_id(seq: int, tag: str) -> bytes:
    """The id of an event in a stream; `tag` is that of its session."""
    return b"%d-%s" % (seq, tag.encode())
