"""Makes every character visible that could hide, reorder or imitate text which a person must judge.

The page has the same function in JavaScript; both are held to `tests/fixtures/visible.json`.
"""

import re

# Characters that draw nothing, look like an ordinary space, or change the order or colour of what follows.
_HIDDEN_RANGES: tuple[tuple[int, int], ...] = (
    (0x00, 0x08),  # C0 controls, ANSI's escape among them; not tab and newline
    (0x0B, 0x1F),
    (0x7F, 0xA0),  # delete, C1 controls, no-break space
    (0xAD, 0xAD),  # soft hyphen
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x061C, 0x061C),  # Arabic letter mark
    (0x115F, 0x1160),  # Hangul fillers
    (0x1680, 0x1680),  # Ogham space
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian selectors
    (0x2000, 0x200F),  # spaces of other widths, zero-width characters, direction marks
    (0x2028, 0x202F),  # line and paragraph separators, bidi embeddings and overrides, narrow space
    (0x205F, 0x206F),  # mathematical space, word joiner, bidi isolates, deprecated controls
    (0x2800, 0x2800),  # Braille blank
    (0x3000, 0x3000),  # ideographic space
    (0x3164, 0x3164),  # Hangul filler
    (0xD800, 0xDFFF),  # lone surrogates
    (0xFDD0, 0xFDEF),  # noncharacters
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),  # byte order mark
    (0xFFA0, 0xFFA0),  # half-width Hangul filler
    (0xFFF0, 0xFFFB),  # unassigned ignorables, interlinear annotation
    (0xFFFE, 0xFFFF),
    (0x1BCA0, 0x1BCA3),  # shorthand format controls
    (0x1D173, 0x1D17A),  # musical format controls
    (0xE0000, 0xE0FFF),  # tags and the supplementary variation selectors
)

# Of these, the ones that can take over a terminal or turn a line around. The rest belongs to honest prose:
# emoji are joined and coloured with zero-width characters.
_UNRULY_RANGES: tuple[tuple[int, int], ...] = (
    (0x00, 0x08),
    (0x0B, 0x1F),
    (0x7F, 0x9F),
    (0x061C, 0x061C),
    (0x200E, 0x200F),
    (0x2028, 0x202E),
    (0x2066, 0x2069),
    (0xD800, 0xDFFF),
)


def _any_of(ranges: tuple[tuple[int, int], ...]) -> re.Pattern[str]:
    spans = "".join(f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in ranges)
    return re.compile(f"[{spans}]")


_hidden = _any_of(_HIDDEN_RANGES)
_unruly = _any_of(_UNRULY_RANGES)


def visible(text: str) -> str:
    """The text as it must be shown beside an Allow button: what hides is written as `\\u{202e}`."""
    return _hidden.sub(_escape, text)


def has_hidden(text: str) -> bool:
    """Whether the text holds a character that `visible` would escape."""
    return _hidden.search(text) is not None


def sanitize(text: str) -> str:
    """An agent's prose, safe to print: controls and bidi marks written out, emoji left whole."""
    return _unruly.sub(_escape, text)


def json_visible(text: str) -> str:
    """JSON that means the same, with every character that hides written as JSON writes it."""
    return _hidden.sub(_json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{{{ord(match[0]):x}}}"
