"""Reads every session's record once at startup, to list the damaged ones."""

from bascule.model.errors import StoreDamaged
from bascule.store.connection import Connection
from bascule.store.rows import SESSION_COLUMNS, SESSION_TABLES, decode_session

EXAMINED = f"SELECT {SESSION_COLUMNS}, archived, found FROM {SESSION_TABLES}"


def examined(connection: Connection) -> list[StoreDamaged]:
    """The damage in our own sessions, including damage that listing or resuming would not meet."""
    damaged: list[StoreDamaged] = []
    for *values, archived, found in connection.execute(EXAMINED):
        try:
            row = decode_session(tuple(values))
            if row.record.found:
                continue
            if (archived, found) != (int(row.record.archived), 0):
                raise StoreDamaged(
                    f"Session {values[0]}: its row and its record differ.",
                    session_id=values[0],
                    seq=values[1],
                )
        except StoreDamaged as damage:
            damaged.append(damage)
    return damaged


def processes(connection: Connection) -> dict[str, str]:
    """Each session of ours, and the keeper's name of its process where that is not the session's own."""
    known: dict[str, str] = {}
    for *values, _, found in connection.execute(EXAMINED):
        try:
            known[values[0]] = decode_session(tuple(values)).record.process
        except StoreDamaged:
            if not found:
                known[values[0]] = ""
    return known
