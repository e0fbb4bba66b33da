"""A terminal's output without what looks like a secret, byte for byte as long as before. Pure.

Colours and other escape sequences may stand in the middle of a key; they are looked past and stay. What a
program draws piece by piece, here and there on its screen, is not recognised.
"""

import re

from bascule.policy.scrub import is_open_key, masked

# What a terminal obeys and does not write. Readline ends a full row with a space and a carriage return.
_UNSEEN = re.compile(
    r"(\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|\Z))"  # text for the terminal: a title, a link
    r"|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|[\x00-\x07\x0e-\x1a\x7f]| \r(?!\n)"
)


def hide_in_output(data: bytes) -> bytes:
    """Same length: what was noted of offsets and times still holds."""
    text = data.decode("latin-1")  # each byte a character
    seen: list[tuple[int, int]] = []
    titles: list[tuple[int, int]] = []
    at = 0
    for unseen in _UNSEEN.finditer(text):
        seen.append((at, unseen.start()))
        if unseen[1]:
            titles.append(unseen.span())
        at = unseen.end()
    seen.append((at, len(text)))
    out = bytearray(data)
    _write(out, seen, masked("".join(text[start:end] for start, end in seen)))
    for start, end in titles:
        _write(out, [(start, end)], masked(text[start:end]))
    return bytes(out)


def _write(out: bytearray, places: list[tuple[int, int]], text: str) -> None:
    written = 0
    for start, end in places:
        out[start:end] = text[written : written + end - start].encode("latin-1")
        written += end - start


def whole_lines(data: bytes) -> bytes:
    """Without a line that is cut off at the end, or a private key that has only begun: half of one is not
    recognised. All of it where nothing would be left."""
    kept = data[: data.rfind(b"\n") + 1]
    if is_open_key(kept.decode("latin-1")):
        kept = kept[: kept.rfind(b"-----BEGIN ")]
    return kept or data
