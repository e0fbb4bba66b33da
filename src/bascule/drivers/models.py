"""Checks a model a person switches to against the models the agent offers."""

from collections.abc import Collection

from bascule.model.errors import InvalidInput
from bascule.model.events import Note

MAX_NAMED = 20


def check_offered(model: str, offered: Collection[str]) -> None:
    """Refuse a model that is not offered. For protocols in which the agent lists all its models."""
    if offered and model not in offered:
        names = ", ".join(list(offered)[:MAX_NAMED])
        more = f" and {len(offered) - MAX_NAMED} more" if len(offered) > MAX_NAMED else ""
        message = f"This agent has no model {model[:80]!r}. It offers {names}{more}."
        raise InvalidInput(message, field="model")


def unlisted(model: str) -> Note:
    """A warning for a model that is not listed. For agents that accept any name and fail later."""
    words = f"{model[:80]!r} is not among the models this agent names. The next turn shows whether it works."
    return Note("model_unlisted", words, "warning")
