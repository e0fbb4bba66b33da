"""Idempotency keys, made the sender's own, and session ids that follow from them."""

import secrets
from hashlib import sha256

from bascule.hub.roles import Grant
from bascule.model.errors import InvalidInput

KEY_LENGTH = 200


def scoped_key(grant: Grant, key: str | None) -> str | None:
    """Two people who think of the same key must not meet."""
    if key is None:
        return None
    if not 0 < len(key) <= KEY_LENGTH or not key.isprintable():
        raise InvalidInput(f"An idempotency key has 1 to {KEY_LENGTH} printable characters.")
    return f"{grant.id}:{key}"


def new_session_id(key: str | None) -> str:
    """Opaque; the same for the same key, so that a wish sent twice is the same wish."""
    if key is None:
        return secrets.token_hex(8)
    return sha256(key.encode()).hexdigest()[:16]
