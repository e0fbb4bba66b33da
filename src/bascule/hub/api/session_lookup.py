"""Looks up the session that an operation names."""

from bascule.hub.services import Hub
from bascule.model.errors import SessionNotFound
from bascule.model.records import SessionRecord


async def require_session(hub: Hub, session_id: str) -> SessionRecord:
    record = await hub.feed.records.get(session_id)
    if record is None:
        raise SessionNotFound(session_id)
    return record
