"""Hides what looks like a key, a token or a password in text that leaves this machine: exports, share links,
notifications. Pure.

`redact` does the same for our own logs and may hide too much there. Here a person reads what is left, so a
rule matches what is surely a secret: the prefix of a known provider, the form of a private key, or a value
beside a name that says so. Hashes, ids and version numbers stay.
"""

import re
from functools import cache
from typing import Any, cast

HIDDEN = "[hidden]"


def scrub_value(value: Any) -> Any:
    """The same JSON value with secrets out of every string in it."""
    match value:
        case str():
            return scrub(value)
        case list():
            return [scrub_value(one) for one in cast("list[Any]", value)]
        case dict():
            return {scrub(str(key)): scrub_value(one) for key, one in cast("dict[Any, Any]", value).items()}
        case _:
            return value


@cache
def _rules() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Compiled when they are first needed: a start has nothing to hide yet."""
    from bascule.policy.secret_forms import RULES  # noqa: PLC0415 - see above

    return RULES


def scrub(text: str) -> str:
    """The same text with what looks like a secret written as `[hidden]`."""
    for pattern, replacement in _rules():
        text = pattern.sub(replacement, text)
    return text


def masked(text: str) -> str:
    """The same text with what looks like a secret overwritten: as long as before, in as many lines."""
    for pattern, replacement in _rules():
        text = pattern.sub(lambda found, to=replacement: _overwritten(found, to), text)
    return text


def _overwritten(found: re.Match[str], replacement: str) -> str:
    before, _, after = found.expand(replacement).partition(HIDDEN)
    secret = found[0][len(before) : len(found[0]) - len(after)]
    cover = HIDDEN.ljust(len(secret), "*") if len(secret) >= len(HIDDEN) else "*" * len(secret)
    return (
        before
        + "".join(was if was in "\r\n" else put for was, put in zip(secret, cover, strict=True))
        + after
    )


_BEGIN_KEY, _END_KEY = "PRIVATE KEY", "-----END "


def is_open_key(text: str) -> bool:
    """Whether a private key has begun in this text and not ended: what follows belongs to it."""
    begun = text.rfind("-----BEGIN ")
    return begun >= 0 and _BEGIN_KEY in text[begun : begun + 80] and _END_KEY not in text[begun:]
