"""How fast the store takes events, against a bare sqlite3 loop with the same rows, in one run, interleaved.

`python bench/store.py [events]`: medians of five rounds; each round runs every contender once.
"""

import asyncio
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from bascule.model.codec import encode_logged, timestamp
from bascule.model.events import AnyEvent, EntryClosed, EntryOpened, SessionStarted, TextAppended, TurnEnded
from bascule.store.base import Batch
from bascule.store.sqlite import SqliteStore

ROUNDS = 5
BATCH = 64
IN_FLIGHT = 64
ONE_BY_ONE = 300
AT = timestamp(1_800_000_000.0)


def speech(count: int) -> list[AnyEvent]:
    """Turns of one answer in 200 pieces, as a talking agent makes them."""
    events: list[AnyEvent] = [SessionStarted("demo", "stream_json", "/tmp", "bench")]
    while len(events) < count:
        name = f"entry-{len(events)}"
        events.append(EntryOpened(name, "assistant"))
        events += [TextAppended(name, "assistant", "a few words of text ") for _ in range(200)]
        events += [EntryClosed(name), TurnEnded("end_turn")]
    return events[:count]


def bare(folder: Path, events: list[AnyEvent], size: int, synchronous: str) -> float:
    """Encode, insert, commit: nothing folded, nobody told."""
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute(
        "CREATE TABLE events (session_id TEXT, seq INTEGER, body BLOB, PRIMARY KEY (session_id, seq))"
        " WITHOUT ROWID"
    )
    began = time.perf_counter()
    for start in range(0, len(events), size):
        rows = [
            ("bench", seq, encode_logged(seq, AT, event))
            for seq, event in enumerate(events[start : start + size], start + 1)
        ]
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")
    rate = len(events) / (time.perf_counter() - began)
    connection.close()
    return rate


async def stored(folder: Path, events: list[AnyEvent], size: int, in_flight: int, sync: bool) -> float:
    store = SqliteStore.open(folder / "store.db", clock=time.time, loop=asyncio.get_running_loop())
    began = time.perf_counter()
    waiting: list[asyncio.Future[None]] = []
    for start in range(0, len(events), size):
        waiting.append(store.append(Batch("bench", start + 1, AT, events[start : start + size], sync=sync)))
        if len(waiting) >= in_flight:
            await asyncio.gather(*waiting)
            waiting = []
    await asyncio.gather(*waiting)
    rate = len(events) / (time.perf_counter() - began)
    await store.close()
    return rate


async def cold_page(folder: Path, entries: int) -> float:
    """Milliseconds for the first page of 50 from a session of this many entries, on a fresh connection."""
    loop = asyncio.get_running_loop()
    store = SqliteStore.open(folder / "pages.db", clock=time.time, loop=loop)
    seq = 1
    while seq <= entries:
        batch = [TurnEnded("end_turn", duration_ms=seq + n) for n in range(1000)]
        await store.append(Batch("bench", seq, AT, list(batch)))
        seq += len(batch)
    await store.close()
    times: list[float] = []
    for _ in range(9):
        store = SqliteStore.open(folder / "pages.db", clock=time.time, loop=loop)
        began = time.perf_counter()
        await store.page("bench", 50)
        times.append((time.perf_counter() - began) * 1000)
        await store.close()
    return median(times)


async def main(count: int) -> None:
    events, few = speech(count), speech(ONE_BY_ONE)

    async def bare_in(folder: Path, which: list[AnyEvent], size: int, synchronous: str) -> float:
        return await asyncio.to_thread(bare, folder, which, size, synchronous)

    contenders: dict[str, Callable[[Path], Awaitable[float]]] = {
        f"bare, {BATCH} a transaction": lambda folder: bare_in(folder, events, BATCH, "NORMAL"),
        "bare, 2048 a transaction": lambda folder: bare_in(folder, events, 2048, "NORMAL"),
        f"store, steps of {BATCH}": lambda folder: stored(folder, events, BATCH, IN_FLIGHT, False),
        "store, steps of 1": lambda folder: stored(folder, events[: count // 4], 1, 1024, False),
        "bare, one by one, fsync": lambda folder: bare_in(folder, few, 1, "FULL"),
        "store, one by one, sync": lambda folder: stored(folder, few, 1, 1, True),
        "store, one by one": lambda folder: stored(folder, few, 1, 1, False),
    }
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, contender in contenders.items():
            with tempfile.TemporaryDirectory() as folder:
                rates[name].append(await contender(Path(folder)))
    for name, found in rates.items():
        print(f"{name:32} {median(found):>10,.0f} events/s   ({min(found):,.0f} to {max(found):,.0f})")
    for entries in (2_000, 100_000):
        with tempfile.TemporaryDirectory() as folder:
            print(
                f"cold page of 50 of {entries:>7,} entries   {await cold_page(Path(folder), entries):.2f} ms"
            )


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000))
