"""Files that a session's tools changed: one small row each, so that the log need not be read."""

from collections.abc import Iterable

from bascule.model.entries import AnyEntry, ToolEntry
from bascule.model.errors import SessionNotFound
from bascule.store import reader
from bascule.store.base import Edited
from bascule.store.connection import Connection
from bascule.store.rows import decode_entry, entry_body

MAX_FILES = 500
MAX_PATCH = 64 * 1024  # characters for one file
MAX_PATCHES = 1024 * 1024

KEEP = """
INSERT OR REPLACE INTO edits (session_id, path, first_seq, added, removed) VALUES (?, ?, ?, ?, ?)
"""
EDITS = """
SELECT path, first_seq, added, removed FROM edits WHERE session_id = ? ORDER BY first_seq DESC LIMIT ?
"""
ENTRY = "SELECT first_seq, body, crc FROM entries WHERE session_id = ? AND first_seq = ?"
MAX_EDITS = 5000


def keep(connection: Connection, session_id: str, entry: AnyEntry) -> None:
    """Note the files a finished tool changed. Called in the transaction that stores its entry."""
    if isinstance(entry, ToolEntry) and entry.diffs and entry.status == "done":
        for path, (added, removed) in _counted(entry).items():
            connection.execute(KEEP, (session_id, path, entry.first_seq, added, removed))


def edited(connection: Connection, session_id: str) -> list[Edited]:
    """Newest change first, those not yet folded included."""
    row = reader.session_row(connection, session_id)
    if row is None:
        raise SessionNotFound(session_id)
    files: dict[str, Edited] = {}
    fresh = _fresh(reader.folded_tail(connection, session_id, row).values())
    for entry in fresh:
        for path, (added, removed) in _counted(entry).items():
            _add(files, path, entry.first_seq, added, removed)
    for path, first_seq, added, removed in connection.execute(EDITS, (session_id, MAX_EDITS)).fetchall():
        if path not in files or first_seq not in files[path].entries:
            _add(files, path, first_seq, added, removed)
    found = list(files.values())[:MAX_FILES]
    _put_patches(connection, session_id, found, {entry.first_seq: entry for entry in fresh})
    return found


def _fresh(bodies: Iterable[bytes]) -> list[ToolEntry]:
    # Most of a tail is text: only what can hold a diff is decoded.
    entries = [decode_entry(body) for body in bodies if b'"diffs":' in body]
    tools = [entry for entry in entries if isinstance(entry, ToolEntry) and entry.status == "done"]
    return sorted(tools, key=lambda entry: -entry.first_seq)


def _counted(entry: ToolEntry) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for diff in entry.diffs:
        added, removed = counts.get(diff.path, (0, 0))
        counts[diff.path] = added + diff.added, removed + diff.removed
    return counts


def _add(files: dict[str, Edited], path: str, first_seq: int, added: int, removed: int) -> None:
    file = files.setdefault(path, Edited(path))
    file.added, file.removed = file.added + added, file.removed + removed
    file.entries.append(first_seq)


def _put_patches(
    connection: Connection, session_id: str, files: list[Edited], known: dict[int, ToolEntry]
) -> None:
    room = MAX_PATCHES
    for file in files:
        patches: list[str] = []
        size = 0
        for first_seq in file.entries:
            entry = known.get(first_seq) or _entry(connection, session_id, first_seq)
            texts = [diff.patch for diff in entry.diffs if diff.path == file.path] if entry else []
            size += sum(map(len, texts))
            if size > min(MAX_PATCH, room):
                file.cut = True
                break
            patches = texts + patches  # oldest first, as they happened
        file.patch = "\n".join(patches)
        room -= len(file.patch)


def _entry(connection: Connection, session_id: str, first_seq: int) -> ToolEntry | None:
    values = connection.execute(ENTRY, (session_id, first_seq)).fetchone()
    entry = None if values is None else decode_entry(entry_body(session_id, *values))
    return entry if isinstance(entry, ToolEntry) else None
