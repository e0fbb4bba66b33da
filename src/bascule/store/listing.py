"""Lists of sessions: a page at a time, the latest activity first, chosen and counted by the database.

A cursor is a position in that order (the activity and id of the last row), not a number of rows: a session
that becomes active between two pages moves above the cursor and shifts nothing below it. The order is that of
the stored rows, exact to the second while a session speaks; what a page says of its sessions is as of the end
of their logs.
"""

import base64
import binascii

from bascule.model.errors import InvalidInput, StoreDamaged
from bascule.store.base import (
    MAX_FOLDERS,
    Conversation,
    Devices,
    FolderCount,
    SessionCounts,
    SessionFilter,
    SessionPage,
)
from bascule.store.connection import Connection
from bascule.store.reader import Records, current_records
from bascule.store.rows import LIVE_PHASES

# The inner query is answered by indexes alone; records are read for the page only.
_PAGE = """
SELECT chosen.updated_at, session_id, seq, record, crc FROM (
    SELECT updated_at, session_id FROM sessions
    WHERE found = 0 AND archived = :archived AND updated_at <= :at AND (updated_at < :at OR session_id > :id)
    {condition} ORDER BY updated_at DESC, session_id LIMIT :limit
) AS chosen CROSS JOIN sessions USING (session_id) ORDER BY chosen.updated_at DESC, session_id
"""
# The index is only used by a query that repeats its condition.
_WITHOUT_AGENT = "end_reason IN ('disconnected', 'could_not_connect')"
_LIVE = f"""
SELECT session_id FROM sessions WHERE phase IN ({LIVE_PHASES})
UNION ALL SELECT session_id FROM session_index WHERE {_WITHOUT_AGENT} AND end_reason = 'disconnected'
"""
_IN_FOLDER = "SELECT session_id FROM session_index WHERE found = 0 AND archived = :archived AND home = :home"
_BELOW = """
UNION ALL SELECT session_id FROM session_index
WHERE found = 0 AND archived = :archived AND home > :home_slash AND home < :home_next
"""
_FOLDERS = """
SELECT home, device, count(*) FROM session_index WHERE found = 0 AND archived = :archived
GROUP BY home, device ORDER BY count(*) DESC, home, device LIMIT :limit
"""
_COUNT = "SELECT count(*) FROM session_index WHERE found = 0 AND archived = ?"
_ORPHANS = f"""
SELECT session_id, seq, record, crc FROM session_index CROSS JOIN sessions USING (session_id)
WHERE {_WITHOUT_AGENT} AND sessions.found = 0 AND sessions.archived = 0
"""
_LIVE_RECORDS = f"""
SELECT session_id, seq, record, crc FROM sessions WHERE phase IN ({LIVE_PHASES}) AND found = 0
"""
_OF_CONVERSATION = """
SELECT session_id, seq, record, crc FROM session_index CROSS JOIN sessions USING (session_id)
WHERE agent = ? AND conversation = ? AND conversation <> '' AND sessions.found = 0
"""
_RECENT = """
SELECT * FROM (SELECT updated_at, session_id FROM sessions WHERE found = 0 AND archived = {archived}
               ORDER BY updated_at DESC, session_id LIMIT 1000) AS newest
"""
_RECENT_FOLDERS = f"""
SELECT home, device FROM ({_RECENT.format(archived=0)} UNION ALL {_RECENT.format(archived=1)}) AS recent
CROSS JOIN session_index USING (session_id)
WHERE home <> '' {{condition}} GROUP BY home, device ORDER BY max(updated_at) DESC, home, device LIMIT ?
"""
_CONVERSATIONS = """
SELECT agent, conversation, session_id FROM session_index WHERE found = 0 AND conversation <> ''
"""
_NO_BOUND = ("\U0010ffff", "")  # before the first row


def page(
    connection: Connection, where: SessionFilter, limit: int, cursor: str | None
) -> tuple[SessionPage, list[StoreDamaged]]:
    """The page after a cursor, and the damaged rows that are left out of it."""
    at, session_id = _NO_BOUND if cursor is None else _position(cursor)
    values: dict[str, object] = {"archived": int(where.archived), "at": at, "id": session_id}
    rows = connection.execute(_query(where, values), {**values, "limit": limit + 1}).fetchall()
    sound, damaged = current_records(connection, (row[1:] for row in rows[:limit]))
    following = _cursor(*rows[limit - 1][:2]) if len(rows) > limit else None
    return SessionPage(sound, following), damaged


def _query(where: SessionFilter, values: dict[str, object]) -> str:
    chosen = ""
    if where.live:
        chosen += f"AND session_id IN ({_LIVE})"
    if where.folder is not None:
        values["home"] = where.folder
        inside = _IN_FOLDER
        if where.below:
            stem = where.folder.rstrip("/")
            values["home_slash"], values["home_next"] = f"{stem}/", f"{stem}0"  # "0" follows "/"
            inside += _BELOW
        chosen += f"AND session_id IN ({inside})"
    if where.devices is not None:
        names = {f"device{n}": device for n, device in enumerate(where.devices)}
        values.update(names)
        chosen += " AND (SELECT device FROM session_index WHERE session_id = sessions.session_id)"
        chosen += f" IN ({', '.join(f':{name}' for name in names)})"
    return _PAGE.format(condition=chosen)


def counts(connection: Connection, archived: bool) -> SessionCounts:
    folders = connection.execute(_FOLDERS, {"archived": int(archived), "limit": MAX_FOLDERS}).fetchall()
    number = [int(connection.execute(_COUNT, (each,)).fetchone()[0]) for each in (0, 1)]
    return SessionCounts([FolderCount(*row) for row in folders], *number)


def orphans(connection: Connection) -> Records:
    """Sessions whose agent went away, or could not be started again."""
    return current_records(connection, connection.execute(_ORPHANS))


def live(connection: Connection) -> Records:
    """Sessions in a phase in which an agent runs, archived ones included."""
    return current_records(connection, connection.execute(_LIVE_RECORDS))


def of_conversation(connection: Connection, conversation: Conversation) -> Records:
    return current_records(connection, connection.execute(_OF_CONVERSATION, conversation))


def recent_folders(connection: Connection, limit: int, devices: Devices) -> list[tuple[str, str]]:
    condition, values = _of_devices(devices)
    query = _RECENT_FOLDERS.format(condition=condition)
    return [(row[0], row[1]) for row in connection.execute(query, (*values, limit))]


def conversations(connection: Connection, agent: str | None, devices: Devices) -> dict[Conversation, str]:
    """The session of each of the agents' own conversations; of one agent, or of all."""
    condition, values = _of_devices(devices)
    query = _CONVERSATIONS + condition
    if agent is not None:
        query, values = query + " AND agent = ?", (*values, agent)
    return {(row[0], row[1]): row[2] for row in connection.execute(query, values)}


def _of_devices(devices: Devices) -> tuple[str, tuple[str, ...]]:
    """A condition on `device`, and its values."""
    if devices is None:
        return "", ()
    return f"AND device IN ({', '.join('?' for _ in devices)})", tuple(devices)


def _cursor(at: str, session_id: str) -> str:
    return base64.urlsafe_b64encode(f"{at} {session_id}".encode()).decode().rstrip("=")


def _position(cursor: str) -> tuple[str, str]:
    """Raises `InvalidInput` for anything that is no cursor of ours."""
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        text = ""
    at, space, session_id = text.partition(" ")
    if not space or not at:
        raise InvalidInput("That is no cursor of a list. Give `next` as it was sent, or leave it out.")
    return at, session_id
