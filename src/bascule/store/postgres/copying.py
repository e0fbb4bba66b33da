"""Copies a hub's SQLite database into an empty PostgreSQL database, in one transaction, and compares both.

Rows of the log go as their bytes are. What can be made again is: the words to search by are indexed by the
hub that opens the copy. What a hub has in files and nodes share (channels of notifications, their keys)
comes, too. An older copy of a file that no hub has opened is reported as such, as a hub would.
"""

import secrets
import sqlite3
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bascule.model.codec import timestamp
from bascule.model.errors import AlreadyRunning, StoreDamaged, StoreRefused
from bascule.store.audit import keep_cut
from bascule.store.connection import Connection
from bascule.store.continuity import AUDITED, examined, say_older
from bascule.store.grants import revoke_in_copy
from bascule.store.heads import Heads
from bascule.store.postgres.connection import HUB_LOCK, SCHEMA, PostgresConnection
from bascule.store.postgres.errors import in_our_words
from bascule.store.postgres.node_rows import request_claim
from bascule.store.postgres.schema import prepare
from bascule.store.rows import checksum, event_row
from bascule.store.transaction import Transaction

PAGE = 1000
MAX_PAGE_BYTES = 8 * 1024 * 1024

# Each table that a hub needs, and its key. What belongs to a machine's own agents stays there.
TABLES: dict[str, tuple[str, ...]] = {
    "sessions": ("session_id",),
    "pending": ("session_id",),
    "driver_states": ("session_id",),
    "session_index": ("session_id",),
    "replicas": ("session_id",),
    "replica_rows": ("device",),
    "events": ("session_id", "seq"),
    "entries": ("session_id", "first_seq"),
    "requests": ("session_id", "request_id"),
    "edits": ("session_id", "first_seq", "path"),
    "search_sessions": ("n",),  # their order in search results; the words are indexed again
    "audit": ("n",),
    "device_audit": ("device", "chain", "n"),
    "device_chains": ("device", "chain"),
    "grants": ("id",),
    "projects": ("n",),
    "prompts": ("n",),
    "prompt_versions": ("prompt_id", "version"),
    "prompt_uses": ("n",),
    "devices": ("n",),
    "standing_commands": ("n",),
    "answers_waiting": ("n",),
}
COUNTED = [name for name, key in TABLES.items() if key == ("n",) and name not in ("audit", "search_sessions")]
COLUMNS = """
SELECT column_name FROM information_schema.columns
WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position
"""
KEPT_META = ("epoch", "audit_head", "audit_cut", "restored")
LEFT_META = {
    "barrier": "of the file that has it",
    "opened": "of the file that has it",
    "probe": "of the file that has it",
    "backup": "only in a backup, which is restored first",
    "tokenizer": "the words are indexed again",
}
META = f"SELECT name, value FROM meta WHERE name IN ({', '.join(map(repr, KEPT_META))})"
KEEP_META = "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)"
WORDS = "SELECT id, prompt_words.body FROM prompt_words JOIN prompts ON prompts.n = prompt_words.rowid"
ADOPT = f"""
INSERT INTO {SCHEMA}.replicas (session_id, device)
SELECT session_id, ? FROM {SCHEMA}.sessions WHERE session_id NOT IN (SELECT session_id FROM {SCHEMA}.replicas)
RETURNING session_id
"""
# Notices of these were sent; a node sends those of the others. The first node that starts takes these over.
CLAIM_SENT = "INSERT OR IGNORE INTO claimed_notices (what) VALUES (?)"
SENT = "SELECT session_id, request_id, tag FROM sent_notices"
PUT_SENT = "INSERT INTO sent_notices (session_id, request_id, tag, node) VALUES (?, ?, ?, '')"
SHOWN = "SELECT tag, channel, shown FROM sent_channels"
PUT_SHOWN = "INSERT INTO sent_channels (tag, channel, shown, node) VALUES (?, ?, ?, '')"
PUT_CHOICE = "INSERT OR REPLACE INTO choices (name, value) VALUES (?, ?)"
CHOICES = "SELECT name, value FROM choices"
IN_USE = "The database is in use. Stop the hubs that write into it first."
NOT_EMPTY = "The database {url} holds {what} already; a copy needs an empty one."

Said = Callable[[str, int, int], None]  # a table, how many of its rows are done, of how many
Row = tuple[Any, ...]


class Table(NamedTuple):
    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]


class Copied(NamedTuple):
    """How many rows of each table were copied and found equal."""

    rows: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.rows.values())


class Kept(NamedTuple):
    """What a hub has in files: the id by which machines know it, and the choices that all nodes share; which
    grants were revoked and how far its logs had got, in case its database is an older copy."""

    hub: str
    choices: Mapping[str, bytes]
    revoked: Container[str]
    heads: Heads


def copy_store(
    source: sqlite3.Connection, url: str, kept: Kept, said: Said, clock: Callable[[], float]
) -> Copied:
    """Raises `StoreRefused`, `AlreadyRunning`, `StoreDamaged`."""
    try:
        prepare(url)
        target = PostgresConnection(url, role=None)
        try:
            if not target.execute("SELECT pg_try_advisory_lock(?, ?)", HUB_LOCK).fetchone()[0]:
                raise AlreadyRunning(IN_USE)
            return _copy(source, target, url, kept, said, clock)
        finally:
            target.close()
    except (AlreadyRunning, StoreDamaged, StoreRefused):
        raise
    except Exception as error:
        raise in_our_words(error) from error


def _copy(
    source: sqlite3.Connection,
    target: PostgresConnection,
    url: str,
    kept: Kept,
    said: Said,
    clock: Callable[[], float],
) -> Copied:
    tables = [_table(target, name, key) for name, key in TABLES.items()]
    for name in (*TABLES, "choices"):
        if target.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone():
            raise StoreRefused(NOT_EMPTY.format(url=url.split("?")[0], what=name))
    target.script("BEGIN")
    for table in tables:
        _fill(source, target, table, said)
    _keep_meta(source, target, kept.hub)
    rows = {table.name: _compare(source, target, table, said) for table in tables}
    rows["choices"] = _keep_choices(target, kept.choices, said)
    _adopt(target, kept.hub)
    _index(source, target)
    _keep_sent(source, target)
    _begin_anew_if_older(source, target, kept, clock)
    target.script("COMMIT")
    return Copied(rows)


def _table(target: PostgresConnection, name: str, key: tuple[str, ...]) -> Table:
    return Table(name, key, tuple(column for (column,) in target.execute(COLUMNS, (SCHEMA, name))))


def _fill(source: sqlite3.Connection, target: PostgresConnection, table: Table, said: Said) -> None:
    names = ", ".join(table.columns)
    insert = f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' for _ in table.columns)})"
    total, done = _count(source, table), 0
    for page in _pages(source, table):
        target.executemany(insert, [_as_copied(table, row) for row in page])
        done += len(page)
        said(table.name, done, total)
    if table.name in COUNTED and total:
        sequence = f"pg_get_serial_sequence('{SCHEMA}.{table.name}', 'n')"
        target.execute(f"SELECT setval({sequence}, (SELECT max(n) FROM {table.name}))")


def _as_copied(table: Table, row: Row) -> Row:
    """A row of the log without what its own machine notes beside it; it is checked on the way."""
    if table.name != "events":
        return row
    fields = dict(zip(table.columns, row, strict=True))
    session_id, seq, body = fields["session_id"], fields["seq"], fields["body"]
    event_row(session_id, seq, body, fields["crc"], fields["offsets"])
    fields |= {"crc": checksum(session_id, seq, body), "offsets": None}
    return tuple(fields[name] for name in table.columns)


def _compare(source: sqlite3.Connection, target: PostgresConnection, table: Table, said: Said) -> int:
    """Every row again, from both sides."""
    there = (row for page in _pages(target, table) for row in page)
    count = 0
    for page in _pages(source, table):
        for row in page:
            copied = next(there, None)
            if copied != _as_copied(table, row):
                raise StoreDamaged(f"The copy differs in {table.name}, row {row[: len(table.key)]}.")
        count += len(page)
    if next(there, None) is not None:
        raise StoreDamaged(f"The copy has more rows in {table.name} than there are.")
    said(f"compared {table.name}", count, count)
    return count


def _count(source: sqlite3.Connection, table: Table) -> int:
    return int(source.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0])


def _pages(connection: Connection, table: Table) -> Iterator[list[Row]]:
    """All rows in the order of their key, some at a time, in either database."""
    names, key = ", ".join(table.columns), ", ".join(table.key)
    places = [table.columns.index(name) for name in table.key]
    begin = f"SELECT {names} FROM {table.name} ORDER BY {key} LIMIT {PAGE}"
    after = f"({key}) > ({', '.join('?' for _ in table.key)})"
    next_page = f"SELECT {names} FROM {table.name} WHERE {after} ORDER BY {key} LIMIT {PAGE}"
    rows: Sequence[Row] = [tuple(row) for row in connection.execute(begin)]
    while rows:
        yield from _halved(rows)
        last = tuple(rows[-1][place] for place in places)
        rows = [tuple(row) for row in connection.execute(next_page, last)] if len(rows) == PAGE else []


def _halved(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Rows may be large: what is sent at once is bounded."""
    page: list[Row] = []
    size = 0
    for row in rows:
        size += sum(len(value) for value in row if isinstance(value, bytes | str))
        page.append(row)
        if size > MAX_PAGE_BYTES:
            yield page
            page, size = [], 0
    if page:
        yield page


def _keep_meta(source: sqlite3.Connection, target: PostgresConnection, hub: str) -> None:
    """Positions of pages and the end of the audit log stay what they are, and so does the hub's own id."""
    for name, value in source.execute(META):
        target.execute(KEEP_META, (name, bytes(value) if isinstance(value, bytes) else str(value).encode()))
    if hub:
        target.execute(KEEP_META, ("hub", hub.encode()))


def _begin_anew_if_older(
    source: sqlite3.Connection, target: PostgresConnection, kept: Kept, clock: Callable[[], float]
) -> None:
    """What a hub does when it opens its file. None may have done that since an older copy was put there."""
    transaction, now = Transaction(target, clock), clock()
    _, goes_on, behind = examined(source, kept.heads)
    keep_cut(target)
    if not goes_on:
        target.execute(KEEP_META, ("epoch", secrets.token_hex(8).encode()))
    if behind:
        say_older(transaction, behind, int(target.execute(AUDITED).fetchone()[0]), timestamp(now))
    revoke_in_copy(transaction, kept.revoked, now)


def _keep_choices(target: PostgresConnection, choices: Mapping[str, bytes], said: Said) -> int:
    for name, value in choices.items():
        target.execute(PUT_CHOICE, (name, value))
    if {name: bytes(value) for name, value in target.execute(CHOICES)} != dict(choices):
        raise StoreDamaged("The copy differs in the choices about notifications.")
    said("choices", len(choices), len(choices))
    return len(choices)


def _keep_sent(source: sqlite3.Connection, target: PostgresConnection) -> None:
    for session_id, request_id, tag in source.execute(SENT).fetchall():
        target.execute(CLAIM_SENT, (request_claim(session_id, request_id),))
        target.execute(PUT_SENT, (session_id, request_id, tag))
    target.executemany(PUT_SHOWN, source.execute(SHOWN).fetchall())


def _adopt(target: PostgresConnection, hub: str) -> None:
    """Sessions of the machine itself: here they are copies, and go on if it joins the hub as a machine."""
    adopted = target.execute(ADOPT, (hub,)).fetchall()
    if adopted:
        target.execute(
            "INSERT INTO replica_rows (device, rows) SELECT ?, count(*) FROM events JOIN replicas "
            "USING (session_id) WHERE device = ? ON CONFLICT DO NOTHING",
            (hub, hub),
        )


def _index(source: sqlite3.Connection, target: PostgresConnection) -> None:
    """Words of prompts; all others are owed when a hub opens the copy and sees an index of no version."""
    for prompt_id, text in source.execute(WORDS):
        target.words.set_prompt(target, prompt_id, text)
