"""Guard rails: the names of what stops an agent until a person decides."""

from typing import Literal

CapName = Literal[
    "session_cents", "session_tokens", "project_cents", "project_tokens", "day_cents", "day_tokens"
]
GuardKind = (
    CapName | Literal["loop"]  # the same call with the same outcome, too often
)
