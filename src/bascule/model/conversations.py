"""Conversations that an agent keeps itself."""

from msgspec import Struct


class Conversation(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A conversation. `id` is the agent's own id of it."""

    id: str
    title: str = ""
    cwd: str = ""
    updated_at: str = ""
    session: str | None = None  # the session in Bascule that holds it
