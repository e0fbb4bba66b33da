"""Throws away what is folded from a session's log (entries, edits, search) and makes it again."""

from bascule.store import reader
from bascule.store.found import drop_text
from bascule.store.rows import encode_session
from bascule.store.transaction import UPSERT_SESSION, Transaction

FOLDED = ("entries", "edits", "search_owed")


def rebuild(transaction: Transaction, session_id: str) -> None:
    """Raises `StoreDamaged` when its log can't be read; then nothing is changed."""
    connection = transaction.connection
    transaction.write_now(session_id)
    row = reader.stored_row(connection, session_id)
    if row is None:
        return
    drop_text(connection, session_id)
    for table in FOLDED:
        connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))
    row.folded_seq = 0
    connection.execute(UPSERT_SESSION, encode_session(row))
    transaction.rebuild(session_id)
