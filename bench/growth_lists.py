"""Lists of many sessions: what a page costs, and what others wait while lists are asked for."""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from streaming import Sizes
from table import Figure, spread

from bascule.api.session_answers import SessionList
from bascule.hub.views import session_view
from bascule.model.codec import encode
from bascule.model.events import SessionEnded, SessionReady, SessionStarted, TextAppended
from bascule.store.base import Batch, SessionFilter
from bascule.store.sqlite import SqliteStore

ASKED_EVERY = 0.05
PIECES = 400
PACE = 0.005


async def fill(store: SqliteStore, number: int) -> None:
    last = None
    for n in range(number):
        start = SessionStarted("demo", "stream_json", f"/code/p{n % 40}", "ana")
        over = SessionEnded("closed") if n % 1000 else SessionReady(f"c{n}", "m")
        at = f"2027-01-{1 + n % 28:02}T{n % 24:02}:{n % 60:02}:00.000Z"
        last = store.append(Batch(f"s{n:06}", 1, at, [start, over]))
    if last is not None:
        await last


async def page(store: SqliteStore, where: SessionFilter) -> int:
    found = await store.list_sessions(where)
    return len(encode(SessionList(sessions=[session_view(one) for one in found.sessions], next=found.next)))


async def whole(store: SqliteStore) -> int:
    return len(encode(SessionList(sessions=[session_view(one) for one in await store.sessions()])))


async def pieces(store: SqliteStore, name: str) -> list[float]:
    """Milliseconds from each piece's append to its report."""
    await store.append(Batch(name, 1, "2027-02-01T00:00:00.000Z", [SessionStarted("demo", "x", "/w", "ana")]))
    took: list[float] = []
    for n in range(PIECES):
        began = time.perf_counter()
        piece = TextAppended("e", "assistant", "some words")
        await store.append(Batch(name, n + 2, "2027-02-01T00:00:00.000Z", [piece]))
        took.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(PACE)
    return sorted(took)


async def asking(ask) -> None:  # type: ignore[no-untyped-def]
    while True:
        await ask()
        await asyncio.sleep(ASKED_EVERY)


async def measure(store: SqliteStore, name: str, ask) -> float:  # type: ignore[no-untyped-def]
    beside = asyncio.create_task(asking(ask)) if ask is not None else None
    took = await pieces(store, name)
    if beside is not None:
        beside.cancel()
        await asyncio.gather(beside, return_exceptions=True)
    p50, p99 = took[len(took) // 2], took[len(took) * 99 // 100]
    print(f"{name:<24} p50 {p50:6.2f} ms   p99 {p99:6.2f} ms", file=sys.stderr)
    return p99


async def _figures(number: int, rounds: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore.open(Path(folder) / "b.db", clock=time.time, loop=asyncio.get_running_loop())
        await fill(store, number)
        await page(store, SessionFilter())  # the first one starts the thread that reads
        pages, ratios = list[float](), list[float]()
        for n in range(rounds):
            began = time.perf_counter()
            await page(store, SessionFilter())
            pages.append((time.perf_counter() - began) * 1000)
            alone = await measure(store, f"alone, {n}", None)
            ratios.append(await measure(store, f"beside, {n}", lambda: page(store, SessionFilter())) / alone)
        await store.close()
    beside = f"{spread(ratios)} × of the p99 without lists, a page every {ASKED_EVERY * 1000:.0f} ms"
    return [
        Figure(f"first page of {number:,} sessions", median(pages), " ms", f"{spread(pages)} ms", most=5),
        Figure("others' p99 beside such pages", median(ratios), " ×", beside, most=1.2),
    ]


def lists(sizes: Sizes) -> Iterator[Figure]:
    yield from asyncio.run(_figures(500 if sizes.quick else 10_000, sizes.rounds))


async def run(number: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore.open(Path(folder) / "b.db", clock=time.time, loop=asyncio.get_running_loop())
        await fill(store, number)
        filters = {"first page": SessionFilter(), "those that run": SessionFilter(live=True)}
        filters["one folder"] = SessionFilter(folder="/code/p3")
        for name, where in filters.items():
            best, size = 1e9, 0
            for _ in range(7):
                began = time.perf_counter()
                size = await page(store, where)
                best = min(best, (time.perf_counter() - began) * 1000)
            print(f"{name:<24} {best:6.2f} ms   {size / 1024:8.1f} KB   of {number} sessions")
        began = time.perf_counter()
        size = await whole(store)
        print(f"{'all at once':<24} {(time.perf_counter() - began) * 1000:6.2f} ms   {size / 1024:8.1f} KB")
        alone = await measure(store, "alone", None)
        paged = await measure(store, "beside pages", lambda: page(store, SessionFilter()))
        all_of_them = await measure(store, "beside whole lists", lambda: whole(store))
        print(f"p99 beside pages {paged / alone:.2f} of alone; beside whole lists {all_of_them / alone:.2f}")
        await store.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10_000)
    asyncio.run(run(parser.parse_args().sessions))
