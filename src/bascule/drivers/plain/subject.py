"""What a question of a plain-text agent is about, read from what it printed before it asked."""

import re

from bascule.drivers.plain.state import PlainState

UNREAD = (
    "What this is about can't be read exactly from what the agent printed. "
    "This is all of it since its last question."
)
_FENCES = re.compile(r"^(`{3,}|~{3,})[^\n]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)


def subject_in(state: PlainState) -> str | None:
    """The lines between the last empty line and the question; None when they can't be known exactly.

    The agent may break long lines, fill short ones with spaces and leave control characters out. What it is
    really about was then said in the answer before, in a line or a fenced block of its own; if just one says
    the same but for space, that is it.
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
    # What is too far back was not compared: the one that was found need not be the one that is meant.
    return said.pop() if said and not state.clipped else None


def _candidates(printed: str) -> list[str]:
    fenced = [_without_margins(found.group(2)) for found in _FENCES.finditer(printed)]
    return [*fenced, *(line.strip() for line in printed.split("\n"))]


def _without_margins(script: str) -> str:
    return "\n".join(line.rstrip() for line in script.strip().splitlines())


def _squeezed(words: str) -> str:
    """Without space and control characters, which printing may change."""
    return "".join(
        character
        for character in words
        if not character.isspace() and (character.isprintable() or ord(character) > 0x9F)
    )
