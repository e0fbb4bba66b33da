"""Writes long finished sessions into a data folder, through the store's own door."""

import asyncio
import time
from pathlib import Path

from bascule.model.codec import timestamp
from bascule.model.events import (
    AnyEvent,
    EntryClosed,
    EntryOpened,
    SessionEnded,
    SessionStarted,
    TextAppended,
    ToolChanged,
    ToolStarted,
)
from bascule.store.base import Batch
from bascule.store.sqlite import SqliteStore

STEP = 2_000  # events in one batch
TEXT = "A sentence as an agent says it, neither short nor long, and then one more of the same kind. " * 3


def _entry(n: int) -> list[AnyEvent]:
    """Every third entry is a tool call, the others are text."""
    if n % 3 == 2:
        tool = f"tool-{n}"
        return [ToolStarted(tool, "Bash", f"printf {n}"), ToolChanged(tool, "done", f"{n} {TEXT}")]
    name = f"entry-{n}"
    return [EntryOpened(name, "assistant"), TextAppended(name, "assistant", f"{n} {TEXT}"), EntryClosed(name)]


async def _write_log(store: SqliteStore, session: str, entries: int) -> None:
    events: list[AnyEvent] = [_started(session)]
    seq = 1
    for n in range(entries):
        events += _entry(n)
        if len(events) >= STEP or n == entries - 1:
            if n == entries - 1:
                events.append(SessionEnded(reason="closed"))
            await store.append(Batch(session, seq, timestamp(time.time()), events))
            seq += len(events)
            events = []


def _started(session: str) -> SessionStarted:
    return SessionStarted(agent="emitter", driver="stream_json", cwd="/tmp", by=session)


async def write_logs(data: Path, sizes: list[int]) -> list[str]:
    """One session per size; their ids."""
    store = SqliteStore.open(data / "bascule.db", clock=time.time, loop=asyncio.get_running_loop())
    try:
        names = [f"{n:016x}" for n in range(len(sizes))]
        for name, entries in zip(names, sizes, strict=True):
            await _write_log(store, name, entries)
        return names
    finally:
        await store.close()


if __name__ == "__main__":
    import sys

    asyncio.run(write_logs(Path(sys.argv[1]), [int(one) for one in sys.argv[2:]]))
