"""What any terminal answers to the questions that agents' screens begin with."""

import re

ANSWERS: tuple[tuple[bytes, bytes], ...] = (
    (rb"\x1b\[6n", b"\x1b[1;1R"),
    (rb"\x1b\[0?c", b"\x1b[?62;22c"),
    (rb"\x1b\[\?u", b"\x1b[?0u"),
    (rb"\x1b\]10;\?(?:\x07|\x1b\\)", b"\x1b]10;rgb:c0c0/caca/f5f5\x1b\\"),
    (rb"\x1b\]11;\?(?:\x07|\x1b\\)", b"\x1b]11;rgb:1a1a/1b1b/2626\x1b\\"),
)


def answers_to(output: bytes) -> bytes:
    """The replies to all questions in the output, in their order."""
    asked = [(found.start(), reply) for shape, reply in ANSWERS for found in re.finditer(shape, output)]
    return b"".join(reply for _, reply in sorted(asked))
