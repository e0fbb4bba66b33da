"""Reads cost what they return, however long the session is."""

import asyncio
import sqlite3
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from tests.store.conftest import Opener
from tests.store.logs import STARTED, append_all, opened, rest_times, step, text

from bascule.model.entries import TextEntry
from bascule.model.events import (
    AnyEvent,
    Diff,
    EntryClosed,
    TextSaid,
    ToolChanged,
    ToolStarted,
    TurnEnded,
)
from bascule.store import audit, reader, transaction
from bascule.store.rows import decode_entry
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio

STATEMENTS = {
    f"{module.__name__}.{name}": statement
    for module in (reader, transaction, audit)
    for name, statement in vars(module).items()
    if isinstance(statement, str)
    and statement.strip().split(" ")[0] in ("SELECT", "UPDATE", "DELETE", "INSERT")
}


def test_the_statements_were_found() -> None:
    assert {"EVENTS", "ENTRIES", "SWEEP_REPLIES"} <= {name.rpartition(".")[2] for name in STATEMENTS}
    assert len(STATEMENTS) > 20


@pytest.mark.parametrize("name", STATEMENTS)
async def test_no_statement_reads_a_whole_table_or_sorts(store: SqliteStore, name: str) -> None:
    statement = STATEMENTS[name]

    def plan(connection: sqlite3.Connection) -> list[str]:
        values = (0,) * statement.count("?")
        return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)]

    for line in await store.query(plan):
        # Open requests are listed by an index that holds only open ones; the chain's head by its key.
        scans_an_index_of_few = "USING INDEX requests_open" in line or line == "SCAN audit"
        scans_what_it_inserts = line.endswith("CONSTANT ROWS")
        assert not line.startswith("SCAN") or scans_an_index_of_few or scans_what_it_inserts, line
        assert "TEMP B-TREE" not in line, line


async def test_a_page_of_a_long_session_costs_about_what_one_of_a_short_session_does(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest_times(monkeypatch, 0)
    for session_id, count in (("short", 2_000), ("long", 40_000)):
        events: list[AnyEvent] = [STARTED, *[TurnEnded("end_turn", duration_ms=n) for n in range(count)]]
        await append_all(store, events, session_id, size=1000)
    await store.searchable()

    def steps(connection: sqlite3.Connection, session_id: str) -> int:
        """How much SQLite did, in virtual machine instructions: the machine's mood does not matter."""
        counted = 0

        def count() -> int:
            nonlocal counted
            counted += 1
            return 0

        connection.set_progress_handler(count, 10)
        reader.page(connection, session_id, 50, None)
        connection.set_progress_handler(None, 0)
        return counted

    short = await store.query(lambda connection: steps(connection, "short"))
    long = await store.query(lambda connection: steps(connection, "long"))
    assert long <= short * 1.1


async def test_the_loop_goes_on_while_much_is_read(store: SqliteStore) -> None:
    await append_all(store, [STARTED, *[text("x" * 200)] * 20_000], size=1000)
    reading = asyncio.create_task(store.read("s1", 0, 1 << 30))
    turns = 0
    while not reading.done():
        await asyncio.sleep(0)
        turns += 1
    assert len(await reading) == 20_001
    assert turns > 10  # read on the loop itself, it would be one or two


async def test_entries_on_disk_lag_the_log_by_a_bounded_part(open_store: Opener) -> None:
    store = await open_store()
    await store.append(step(1, STARTED, opened()))
    lags: list[int] = []
    for seq in range(3, 3003, 100):
        await store.append(step(seq, *[text("word ")] * 100))
        await store.searchable()  # what was put off has been folded
        lags.append(await store.query(_lag))
    assert max(lags) < 512
    assert max(lags) > 100
    await store.append(step(3003, TurnEnded("end_turn")))
    assert await store.query(_lag) == 0


async def test_a_long_text_is_not_written_anew_for_each_part_of_it(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest_times(monkeypatch, 0)
    await store.append(step(1, STARTED, opened()))
    sizes: list[int] = []
    for seq in range(3, 20_003, 100):
        await store.append(step(seq, *[text("x" * 200)] * 100))
        await store.searchable()
        sizes.append(await store.query(_entry_size))
    written = sum(size for before, size in pairwise(sizes) if size != before)
    assert written < 4 * sizes[-1]  # 39 parts of 512 events would be twenty times the text
    assert sizes[-1] > 3_000_000


async def test_a_text_of_a_third_of_a_megabyte_is_folded_once_before_its_end(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest_times(monkeypatch, 0)
    await store.append(step(1, STARTED, opened()))
    sizes: set[int] = set()
    for seq in range(3, 1603, 50):
        await store.append(step(seq, *[text("x" * 200)] * 50))
        await store.searchable()
        sizes.add(await store.query(_entry_size))
    assert len(sizes - {0}) == 1


def _entry_size(connection: sqlite3.Connection) -> int:
    return connection.execute("SELECT max(length(body)) FROM entries").fetchone()[0] or 0


async def test_a_step_folds_by_itself_once_too_much_was_put_off(
    open_store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest_times(monkeypatch, 1_000_000)  # there is no spare time
    monkeypatch.setattr(transaction, "MAX_DEBT_BYTES", 100_000)
    store = await open_store()
    await store.append(step(1, STARTED, opened()))
    lags: list[int] = []
    for seq in range(3, 20_003, 100):
        await store.append(step(seq, *[text("word ")] * 100))
        lags.append(await store.query(_lag))
    assert 512 < max(lags) < 2000
    page = await store.page("s1")
    assert page.seq == 20_002
    assert decode_entry(page.entries[-1]).last_seq == 20_002


async def test_large_steps_beside_another_sessions_debt_leave_no_more_to_fold(
    open_store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest_times(monkeypatch, 1_000_000)  # there is no spare time
    monkeypatch.setattr(transaction, "MAX_DEBT_BYTES", 100_000)
    store = await open_store()
    await append_all(store, [STARTED, opened(), *[text("word ")] * 1000], "idle", size=1002)
    await store.append(step(1, STARTED, opened()))
    lags: list[int] = []
    for seq in range(3, 20_003, 2000):  # more than is folded at a time
        await store.append(step(seq, *[text("word ")] * 2000))
        lags.append(await store.query(_lag_of("s1")))
    assert max(lags) < 2000


async def test_a_large_entry_is_not_read_by_every_insertion_beside_it(store: SqliteStore) -> None:
    large = [STARTED, opened(), *[text("x" * 800)] * 5000, TurnEnded("end_turn")]
    await append_all(store, large, "b", size=1000)
    await store.searchable()
    await store.append(step(1, STARTED, session_id="a"))
    before = _bytes_read()
    for seq in range(2, 402, 2):
        await store.append(
            step(seq, TextSaid("m", "assistant", "short"), TurnEnded("end_turn"), session_id="a")
        )
    assert _bytes_read() - before < 100_000_000  # not 4 MB each, to compare its key
    assert len((await store.page("a", 1000)).entries) == 401


async def test_entries_edits_and_search_are_made_again_from_the_log(
    open_store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "MAX_TAIL", 50)
    store = await open_store()
    diff = Diff("a.py", "@@ -1 +1 @@", added=1)
    turn: list[AnyEvent] = [
        TextSaid("m", "assistant", "a heron"),
        ToolStarted("t", "Edit", "Edit a.py", "edit"),
        ToolChanged("t", "done", diffs=(diff,)),
        TurnEnded("end_turn"),
    ]
    await append_all(store, [STARTED, *turn * 300, opened(), text("half said")], size=100)
    await append_all(store, [STARTED, *turn], "s2")
    await store.searchable()

    async def folded() -> list[object]:
        await store.searchable()
        pages = [await store.page(name, 10_000) for name in ("s1", "s2")]
        found = await store.search("heron", limit=1000)
        return [pages, sorted(found.hits), found.owed, await store.edited("s1"), await store.session("s1")]

    before = await folded()
    stored = await store.query(
        lambda one: one.execute("SELECT * FROM entries ORDER BY session_id, first_seq").fetchall()
    )
    await store.rebuild("s1")
    assert (
        await store.query(
            lambda one: one.execute("SELECT * FROM entries ORDER BY session_id, first_seq").fetchall()
        )
        == stored
    )
    assert await folded() == before
    await store.rebuild("nobody")
    await store.append(step(1204, text(", and said"), EntryClosed("e"), TurnEnded("end_turn")))
    last = decode_entry((await store.page("s1")).entries[-2])
    assert isinstance(last, TextEntry)
    assert last.text == "half said, and said"


def _lag_of(session_id: str) -> Callable[[sqlite3.Connection], int]:
    def lag(connection: sqlite3.Connection) -> int:
        """Events that the session's stored entries do not hold."""
        logged = "SELECT max(seq) FROM events WHERE session_id = ?"
        head = connection.execute(logged, (session_id,)).fetchone()[0]
        folded = "SELECT folded_seq FROM sessions WHERE session_id = ?"
        return head - connection.execute(folded, (session_id,)).fetchone()[0]

    return lag


_lag = _lag_of("s1")


def _bytes_read() -> int:
    """By this process so far, also from the system's cache."""
    return int(Path("/proc/self/io").read_text().split("rchar: ")[1].split()[0])
