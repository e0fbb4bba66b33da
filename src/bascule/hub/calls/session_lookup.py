"""Looks up the session that an operation names, or those of a device."""

from bascule.hub.services import Hub
from bascule.model.errors import SessionNotFound
from bascule.model.records import SessionRecord


async def require_session(hub: Hub, session_id: str) -> SessionRecord:
    record = await hub.feed.records.get(session_id)
    if record is None:
        raise SessionNotFound(session_id)
    return record


def devices_of(hub: Hub, device: str) -> tuple[str, ...]:
    """The names under which a device's sessions stand in the log: older logs of this machine name none."""
    this = hub.switchboard.this
    return (device, "") if device == this or not this else (device,)
