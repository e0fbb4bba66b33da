"""Reads the subject of a plain-text agent's question from the output before it."""

import re

from bascule.drivers.plain.state import PlainState

UNREAD = (
    "What this is about can't be read exactly from what the agent printed. "
    "This is all of it since its last question."
)
_FENCES = re.compile(r"^(`{3,}|~{3,})[^\n]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)


def subject_in(state: PlainState) -> str | None:
    """The lines between the last empty line and the question; None if they can't be read exactly.

    The agent may wrap long lines, pad short ones and drop control characters. The exact subject is then in
    the answer before, as a line or a fenced block: the one that equals it but for space, if only one does.
    """
    lines = state.turn_text[state.since :].removesuffix("\n").split("\n")
    block: list[str] = []
    while lines and lines[-1]:
        block.insert(0, lines.pop())
    printed = "\n".join(block)
    before = state.turn_text[: len(state.turn_text) - len(printed) - 1]
    said = {candidate for candidate in _candidates(before) if _squeezed(candidate) == _squeezed(printed)}
    if not printed.strip() or len(said) > 1:
        return None
    if len(block) == 1 and said <= {printed}:
        return printed
    # Output that was clipped was not compared: the match need not be the one that is meant.
    return said.pop() if said and not state.clipped else None


def _candidates(printed: str) -> list[str]:
    fenced = [_without_margins(found.group(2)) for found in _FENCES.finditer(printed)]
    return [*fenced, *(line.strip() for line in printed.split("\n"))]


def _without_margins(script: str) -> str:
    return "\n".join(line.rstrip() for line in script.strip().splitlines())


def _squeezed(words: str) -> str:
    """Remove spaces and control characters, which printing may change."""
    return "".join(
        character
        for character in words
        if not character.isspace() and (character.isprintable() or ord(character) > 0x9F)
    )
