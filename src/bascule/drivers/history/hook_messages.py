"""Formats the messages that Bascule delivers through an agent's hook, and parses them from its history."""

import re

from msgspec import Struct

MAX_NAME = 60
_HEAD = re.compile(r"Message from Bascule, written by (?P<by>[^\n]{1,60}) \((?P<id>[0-9a-f]{8,64})\):\n")
_TAIL = "</system-reminder>"


class HookMessage(Struct, frozen=True):
    """A message that an agent received through its hook."""

    prompt_id: str
    by: str
    text: str


def format_hook_message(message: HookMessage) -> str:
    """Names the sender first: the person at the terminal did not type it."""
    name = " ".join(message.by.split())[:MAX_NAME].strip() or "somebody"
    return f"Message from Bascule, written by {name} ({message.prompt_id}):\n{message.text}"


def parse_hook_message(said: str) -> HookMessage | None:
    """Parses the message from the agent's history: our heading, then the text."""
    head = _HEAD.search(said)
    if head is None:
        return None
    text = said[head.end() :].rstrip()
    return HookMessage(head["id"], head["by"], text.removesuffix(_TAIL).rstrip())
