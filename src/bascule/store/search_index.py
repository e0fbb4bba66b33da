"""Fills the search index from the entries, a little at a time, outside the steps that sessions wait for.

Putting words into the index costs more than storing them (10 MB of text a second here), so a step only notes
that an entry is owed (`search_owed`, in its own transaction: nothing is forgotten), and this pays later, for
a tenth of the writer's time, a fortieth in a flood, half of it while no session writes or too much is owed.
First it has those entries folded whose folding was put off. A damaged index is made again; no step can fail
because of it.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import closing
from time import monotonic, thread_time
from typing import Protocol, TypeVar

from bascule.model.errors import StorageFailed, StoreDamaged
from bascule.store import edits, reader
from bascule.store.connection import Connection
from bascule.store.found import search_number
from bascule.store.rows import decode_entry, entry_body
from bascule.store.search_text import text_of
from bascule.store.tokenizer import VERSION
from bascule.store.transaction import Transaction
from bascule.store.words import words_of

log = logging.getLogger(__name__)

SLICE_ENTRIES = 128
SLICE_CHARACTERS = 24 * 1024  # about 3 ms of the writer's time
# Rest after each slice, in times as long as it took: nine tenths of the writer's time stay the sessions'.
REST_BESIDE_SESSIONS = 9
REST_ALONE = 1  # while no session writes
REST_IN_FLOOD = 39
FLOOD = 5000  # events a second, in all sessions
MAX_OWED = 50_000  # entries; with more, sessions wait for the index
COUNT_EVERY = 64  # slices: to count them takes about as long as a slice

RETRY_SECONDS = 0.25

OWED = """
SELECT owed.session_id, owed.first_seq, entries.body, entries.crc
FROM search_owed AS owed LEFT JOIN entries USING (session_id, first_seq)
ORDER BY owed.session_id, owed.first_seq LIMIT ?
"""
COUNT_OWED = "SELECT count(*) FROM (SELECT 1 FROM search_owed LIMIT 100000) AS owed"
# All that was read, up to this one in the same order.
PAID = "DELETE FROM search_owed WHERE (session_id, first_seq) <= (?, ?)"
NUMBER = "SELECT n, title FROM search_sessions WHERE session_id = ?"
NEW_NUMBER = "INSERT INTO search_sessions (n, session_id) VALUES (?, ?)"
KEEP_TITLE = "UPDATE search_sessions SET title = ? WHERE n = ?"
# Read from indexes alone: entries can be gigabytes. A prompt is owed by its number, with no session.
OWE_ALL = (
    "UPDATE search_sessions SET title = '' WHERE title <> ''",
    "INSERT OR IGNORE INTO search_owed SELECT session_id, 0 FROM sessions",
    "INSERT OR IGNORE INTO search_owed SELECT session_id, first_seq FROM entries",
    """
DELETE FROM search_owed
WHERE (session_id, first_seq) IN (SELECT session_id, first_seq FROM entries WHERE open = 1)
""",
    "INSERT OR IGNORE INTO search_owed SELECT '', n FROM prompts",
)
OWED_PROMPT = ""
MADE_BY = "SELECT value FROM meta WHERE name = 'tokenizer'"
NOW_MADE_BY = "INSERT OR REPLACE INTO meta (name, value) VALUES ('tokenizer', ?)"

T = TypeVar("T")


class Writable(Protocol):
    """The part of the store that the filler uses."""

    def transact(self, work: Callable[[Transaction], T], *, sync: bool = True) -> "asyncio.Future[T]": ...
    async def writable(self) -> None: ...


def rest_after(seconds: float, events: int, elapsed: float, owed: int = 0) -> float:
    """How long to rest after a slice, when sessions wrote so many events since the last one."""
    if not events or owed > MAX_OWED:
        return seconds * REST_ALONE
    return seconds * (REST_IN_FLOOD if events > FLOOD * elapsed else REST_BESIDE_SESSIONS)


def row_id(number: int, first_seq: int) -> int:
    return number << 32 | first_seq


class Filler:
    """A task that indexes owed entries and then sleeps until there are more."""

    def __init__(self, store: Writable, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._more = asyncio.Event()
        self._more.set()  # what an earlier run still owed
        self._nothing_owed = asyncio.Event()
        self._renewed = False  # looked, since the store was opened, whose words the index holds
        self._events, self._since = 0, monotonic()  # that sessions wrote since the last slice
        self._slices, self._owed = 0, 0
        self._task = loop.create_task(self._run(), name="search index")

    def wake(self) -> None:
        self._nothing_owed.clear()
        self._more.set()

    def sessions_wrote(self, events: int) -> None:
        self._events += events

    async def up_to_date(self) -> None:
        """Wait until everything that is folded can be found."""
        await self._nothing_owed.wait()

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        rebuilt = False
        while True:
            await self._more.wait()
            self._more.clear()
            try:
                rest = await self._pay_all()
            except StorageFailed:
                self._more.set()
                await asyncio.sleep(RETRY_SECONDS)  # a store that is closing fails at once, every time
                await self._store.writable()
            except Exception as damage:  # noqa: BLE001 - each database has its own errors
                if rebuilt or not await self._begin_again(damage):
                    break
                rebuilt = True
            else:
                rebuilt = False
                await asyncio.sleep(rest)
        log.error("the search index can't be filled; everything else goes on")
        self._nothing_owed.set()

    async def _begin_again(self, damage: Exception) -> bool:
        log.warning("the search index is damaged and is made again: %s", damage)
        try:
            await self._store.transact(forget_all, sync=False)
        except Exception:
            log.exception("the search index can't be made again")
            return False
        self._more.set()
        return True

    async def _pay_all(self) -> float:
        if not self._renewed:
            await self._store.transact(renew, sync=False)
            self._renewed = True
        while True:
            if self._slices % COUNT_EVERY == 0:
                self._owed = await self._store.transact(count_owed, sync=False)
            self._slices += 1
            left, seconds = await self._store.transact(pay_some, sync=False)
            rest = rest_after(seconds, self._events, monotonic() - self._since, self._owed)
            self._events, self._since = 0, monotonic()
            if not left:
                if not self._more.is_set():
                    self._nothing_owed.set()
                return rest
            await asyncio.sleep(rest)


def forget_all(transaction: Transaction) -> None:
    words_of(transaction.connection).forget_all(transaction.connection)
    owe_all(transaction.connection)


def owe_all(connection: Connection) -> None:
    for statement in OWE_ALL:
        connection.execute(statement)


def renew(transaction: Transaction) -> None:
    """Owe what another version of the tokenizer made: all, or what a server beside this one still makes."""
    connection = transaction.connection
    words, before = words_of(connection), made_by(connection)
    if words.shared and before < VERSION:
        owe_all(connection)
    elif not words.shared and before != VERSION:
        forget_all(transaction)
    elif before == VERSION:
        words.owe_older(connection)
    if before < VERSION or not words.shared:
        connection.execute(NOW_MADE_BY, (b"%d" % VERSION,))


def made_by(connection: Connection) -> int:
    """The version of the tokenizer whose words the index holds, or is to hold."""
    row = connection.execute(MADE_BY).fetchone()
    return int(bytes(row[0])) if row else 0


def owed_to_search(connection: Connection) -> int:
    """How many texts can't be found yet; counted up to 100,000."""
    return int(connection.execute(COUNT_OWED).fetchone()[0])


def count_owed(transaction: Transaction) -> int:
    return owed_to_search(transaction.connection)


def pay_some(transaction: Transaction) -> tuple[bool, float]:
    """Fold or index some of what is owed; whether there may be more, and the seconds of work it took."""
    began = thread_time()
    left = transaction.fold_some()
    if (
        not left and made_by(transaction.connection) == VERSION
    ):  # a newer server's index is filled by newer servers
        left = _pay_some(transaction.connection)
    return left, thread_time() - began


def _pay_some(connection: Connection) -> bool:
    numbers: dict[str, int] = {}
    texts: list[tuple[int, str]] = []
    size = paid = 0
    last = ("", 0)
    with closing(connection.execute(OWED, (SLICE_ENTRIES,))) as owed:  # one by one: they can be megabytes
        for session_id, first_seq, body, crc in owed:
            paid, last = paid + 1, (session_id, first_seq)
            if session_id == OWED_PROMPT:
                size += _pay_prompt(connection, first_seq)
            elif first_seq == 0:
                size += _pay_title(connection, session_id)
            elif body is not None:
                text = _text(connection, session_id, first_seq, body, crc)
                size += len(text)
                if text.strip():
                    if session_id not in numbers:
                        numbers[session_id], _ = _numbered(connection, session_id)
                    texts.append((row_id(numbers[session_id], first_seq), text))
            if size >= SLICE_CHARACTERS:
                break
    words_of(connection).add(connection, texts)
    if paid:
        connection.execute(PAID, last)
    return size >= SLICE_CHARACTERS or paid == SLICE_ENTRIES


def _text(connection: Connection, session_id: str, first_seq: int, body: bytes, crc: int) -> str:
    try:
        entry = decode_entry(entry_body(session_id, first_seq, body, crc))
    except StoreDamaged as damage:
        log.warning("not searchable: %s", damage.message)  # the entry itself, not the index
        return ""
    edits.keep(connection, session_id, entry)  # for entries from before there was such a table
    return text_of(entry)


def _pay_title(connection: Connection, session_id: str) -> int:
    try:
        record = reader.record(connection, session_id)
    except StoreDamaged as damage:
        log.warning("not searchable: %s", damage.message)
        return 0
    number, before = _numbered(connection, session_id)
    now = record.title if record is not None else ""
    if now != before:
        if before:
            words_of(connection).drop_title(connection, number, before)
        if now:
            words_of(connection).add_title(connection, number, now)
        connection.execute(KEEP_TITLE, (now, number))
    return len(now)


def _pay_prompt(connection: Connection, number: int) -> int:
    words = words_of(connection)
    found = words.prompt_text(connection, number)
    if found is None:
        return 0
    words.set_prompt(connection, *found)
    return len(found[1])


def _numbered(connection: Connection, session_id: str) -> tuple[int, str]:
    found = connection.execute(NUMBER, (session_id,)).fetchone()
    if found is not None:
        return found
    number = search_number(connection, session_id)
    connection.execute(NEW_NUMBER, (number, session_id))
    return number, ""
