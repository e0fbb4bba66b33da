"""Redacts secrets in text that is logged or shown: logs, errors, crash reports."""

import re

MARK = "[redacted]"

_VALUE = r"[^\s\"'&;,<>#)\]}]+"
# A name begins a word, or follows a dash of a longer one (session_token), or a URL escape (%23token).
_BEGIN = r"(?:\b|_|(?<=%[0-9A-Fa-f]{2}))"
_NAMES = (
    r"(?:token|ticket|secret|password|passwd|api[_-]?key|access[_-]?key|authorization|cookie|set-cookie|key)"
)

_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    # Authorization: Bearer abc, in a header, a dict's repr or a sentence.
    (re.compile(r"\b(bearer|basic)(\s+|%20|\+)[^\s\"',;<>)\]}]+", re.IGNORECASE), rf"\1\2{MARK}"),
    # "token": "abc" and b'token', b'abc': quoted values, spaces and all.
    (
        re.compile(rf"({_BEGIN}{_NAMES}[\"']\s*[:,=]\s*b?)([\"'])(?:(?!\2).)*\2", re.IGNORECASE),
        rf"\1\2{MARK}\2",
    ),
    # ?token=abc, #token=abc, ticket%3Dabc, secret: abc.
    (
        re.compile(
            rf"({_BEGIN}{_NAMES}\s*(?:=|%3D|:)\s*b?[\"']?)(?!{re.escape(MARK)}|(?:bearer|basic)\b){_VALUE}",
            re.IGNORECASE,
        ),
        rf"\1{MARK}",
    ),
    # Keys of model providers, wherever they stand.
    (re.compile(r"\bsk-[A-Za-z0-9_-]{16,}"), MARK),
    # A bare 256-bit secret as grants and tickets are written: 43 characters of URL-safe base64.
    (
        re.compile(r"(?<![\w-])(?=[\w-]*[A-Z])(?=[\w-]*[a-z])(?=[\w-]*\d)[A-Za-z0-9_-]{43}(?![\w-])"),
        MARK,
    ),
)


def redact(text: str) -> str:
    """The same text with bearer tokens, tickets, keys and passwords replaced."""
    for pattern, replacement in _PATTERNS:
        text = pattern.sub(replacement, text)
    return text
