"""A link that shows one session to somebody, read-only, until it is revoked or over."""

from bascule.hub.api.bodies import ShareBody
from bascule.hub.api.views import GrantMade, grant_view
from bascule.hub.services import Hub
from bascule.model.commands import Actor
from bascule.model.records import SessionRecord


async def share(hub: Hub, by: Actor, record: SessionRecord, body: ShareBody) -> GrantMade:
    """The secret stands behind the `#`, which browsers do not send: it is in no server's log."""
    name = body.name or f"share of {record.title or record.session_id}"[:100]
    name = "".join(letter for letter in name if letter.isprintable()) or "share"
    grant, secret = await hub.grants.create(
        name, "viewer", session_id=record.session_id, expires_in=body.expires_in, by=by.name
    )
    return GrantMade(grant=grant_view(grant), token=secret, link=f"{hub.doors.url}/s#token={secret}")
