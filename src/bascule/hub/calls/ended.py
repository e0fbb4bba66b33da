"""Explains a refusal to a browser: what became of its key and, on this machine, the command for a new one."""

from bascule.hub.services import Hub
from bascule.hub.wire.asgi_types import Scope
from bascule.hub.wire.intake import header
from bascule.model.codec import timestamp
from bascule.model.errors import Field
from bascule.model.loopback import is_loopback


def what_became(hub: Hub, secret: str | None) -> dict[str, Field]:
    """Only for the holder of a secret that was valid once: as long as any other, so nobody guesses it."""
    grant = hub.grants.ended(secret) if secret else None
    if grant is None:
        return {}
    ended: dict[str, str | int] = {
        "reason": "expired" if grant.revoked_at is None else "revoked",
        "at": timestamp(grant.revoked_at or grant.expires_at or hub.grants.clock()),
        "by": grant.by,
        "share": int(grant.session_id is not None),
    }
    return {"ended": ended}


def way_in(hub: Hub, scope: Scope, address: str) -> dict[str, Field]:
    """How the owner gets a new link; for a browser on this machine, by its own name and not a proxy's."""
    host = (header(scope["headers"], b"host") or "").rpartition(":")[0].strip("[]")
    if scope["path"] != "/api/tickets" or not is_loopback(address) or not is_loopback(host):
        return {}
    return {"command": hub.link_command}
