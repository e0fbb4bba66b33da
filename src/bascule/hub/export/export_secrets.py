"""Decides whether an export keeps what looks like a secret: only when the owner says so for this file."""

from contextvars import ContextVar
from typing import Any

from bascule.policy.scrub import scrub, scrub_value

# Set by the export that is being written; each is written in a task of its own.
keeps_secrets: ContextVar[bool] = ContextVar("keeps_secrets", default=False)


def hide(text: str) -> str:
    return text if keeps_secrets.get() else scrub(text)


def hide_in(value: Any) -> Any:
    return value if keeps_secrets.get() else scrub_value(value)
