"""Passes a prompt to an agent: as one argument, or typed as a bracketed paste. Pure."""

import unicodedata

ARGUMENT_BYTES = 131_072  # Linux: one argument, its closing NUL included (MAX_ARG_STRLEN)
# What an agent could take for an option (-), a file to read (@), a shell command (!) or one of its own (/).
SPECIAL = ("-", "@", "!", "/")
# In an agent's input box these run something at once, so a person sends them.
COMMANDS = ("!", "/")
_TYPED_CONTROLS = frozenset("\t\n\r")


def fits_argument(prompt: str, words: tuple[str, ...]) -> bool:
    """Whether the prompt may be given as an argument: no agent reads it as anything but text, and it fits."""
    if not words or prompt.lstrip().startswith(SPECIAL):
        return False
    # `claude update`: a single word may be a command of the agent's own, after any option and after `--`.
    if "{value}" in words and len(prompt.split()) < 2:
        return False
    longest = max(len(word.replace("{value}", prompt).encode()) for word in words)
    return longest < ARGUMENT_BYTES


def may_be_sent(prompt: str) -> bool:
    """Whether a typed prompt may be sent without a person pressing Enter."""
    return not prompt.lstrip().startswith(COMMANDS)


def untypable(prompt: str) -> str | None:
    """The first control character that can't be typed: it could end the paste, or be taken for a key."""
    return next(
        (one for one in prompt if unicodedata.category(one) == "Cc" and one not in _TYPED_CONTROLS), None
    )
