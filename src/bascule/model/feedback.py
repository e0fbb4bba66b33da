"""How a message that somebody left here is worded for an agent in a terminal, and known again in its file."""

import re

from msgspec import Struct

MAX_NAME = 60
_HEAD = re.compile(r"Message from Bascule, written by (?P<by>[^\n]{1,60}) \((?P<id>[0-9a-f]{8,64})\):\n")
_TAIL = "</system-reminder>"


class Handed(Struct, frozen=True):
    """A message that reached an agent by its own hook."""

    prompt_id: str
    by: str
    text: str


def in_words(handed: Handed) -> str:
    """Says first where it comes from: whoever sits at the terminal did not type it."""
    name = " ".join(handed.by.split())[:MAX_NAME].strip() or "somebody"
    return f"Message from Bascule, written by {name} ({handed.prompt_id}):\n{handed.text}"


def handed_in(said: str) -> Handed | None:
    """The message in what an agent noted of it. The first heading is ours, the rest is somebody's text."""
    head = _HEAD.search(said)
    if head is None:
        return None
    text = said[head.end() :].rstrip()
    return Handed(head["id"], head["by"], text.removesuffix(_TAIL).rstrip())
