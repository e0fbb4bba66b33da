"""The index of sessions: what lists choose them by, written beside a record when one of these changes."""

from bascule.model.records import SessionRecord
from bascule.store.connection import Connection

UPSERT = """
INSERT OR REPLACE INTO session_index
    (session_id, found, archived, home, device, agent, conversation, end_reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""

Facts = tuple[bool, bool, str, str, str, str, str]


def facts_of(record: SessionRecord) -> Facts:
    return (
        record.found,
        record.archived,
        record.worktree_of or record.cwd,
        record.device,
        record.agent,
        record.agent_session_id or "",
        record.end_reason or "",
    )


def write(connection: Connection, session_id: str, facts: Facts) -> None:
    connection.execute(UPSERT, (session_id, *facts))
