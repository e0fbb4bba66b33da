"""What a line of an agent's output costs in CPU time, without processes and sockets.

`python bench/lines.py [--runs N]`.

A thread's own time, the least of nine runs: what a line costs when nothing else disturbs it. First driver,
supervisor and fold alone, with a store that has everything at once; then the whole way through a real store,
as the time of the loop's thread and of the writer's. To compare two versions, run this file with each one's
`src` in PYTHONPATH, in turns.
"""

import argparse
import asyncio
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

from emitter import DELTA, init, message_lines, text_begins, text_ends, tool_lines

from bascule.drivers.stream_json import StreamJsonDriver
from bascule.model.codec import Logged
from bascule.model.entries import Fold
from bascule.model.events import PromptSent, SessionReady, SessionStarted
from bascule.model.lifecycle import Phase
from bascule.model.records import Pending, SessionRecord
from bascule.model.settings import Limits
from bascule.session.ledger import Ledger
from bascule.session.supervisor import Supervisor
from bascule.store.base import Batch, ResumePoint
from bascule.store.sqlite import SqliteStore

LINES = 20_000
CHUNK = 256 * 1024
RUNS = 9
HEAD = (
    "| lines | driver | admit | entries | sum | events a line | with a store: loop | writer | both |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


class Cost(NamedTuple):
    """Microseconds a line."""

    driver: float
    admit: float
    entries: float


class Stored(NamedTuple):
    """Microseconds a line, of the threads that share the work."""

    loop: float
    writer: float


class Committed:
    """A store that has everything at once."""

    def append(self, _: Batch) -> "asyncio.Future[None]":
        committed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        committed.set_result(None)
        return committed


class NoProcess:
    """What a supervisor asks of a process that only speaks."""

    async def unread(self) -> int:
        return 0

    def read_out(self, offset: int, limit: int) -> bytes:
        return b""

    read_err = read_out


def outputs() -> dict[str, bytes]:
    pieces = [DELTA % (f"word {n:08d} ¶ and a few more words ", n, "m") for n in range(LINES)]
    return {
        "whole messages": "".join(message_lines(LINES, "t")).encode(),
        "tool calls": "".join(tool_lines(LINES // 2, "t")).encode(),
        "text pieces": text_begins("m") + "".join(pieces).encode() + text_ends(),
    }


def supervisor(store: Any) -> Supervisor:
    record, process = SessionRecord("s"), cast(Any, NoProcess())
    point = ResumePoint(record, Pending(), 0, 0, None, [], [])
    ledger, driver = Ledger(store, point, time.time), StreamJsonDriver()
    limits = Limits(output_bytes=0)
    live = Supervisor(ledger, process, driver, point, limits, time.time, time.monotonic)
    ledger.log([SessionStarted("a", "stream_json", "/", "me"), SessionReady(), PromptSent("p", "go", "me")])
    assert record.phase is Phase.RUNNING
    driver.receive(init())
    return live


def chunks_of(output: bytes) -> list[bytes]:
    return [output[at : at + CHUNK] for at in range(0, len(output), CHUNK)]


async def stored_cost(output: bytes) -> Stored:
    """The next piece is read when the last is committed, as a session's reader does it."""
    with tempfile.TemporaryDirectory() as folder:
        path, loop = Path(folder) / "store.db", asyncio.get_running_loop()
        store = SqliteStore.open(path, clock=time.time, loop=loop)
        live = supervisor(store)
        await live.ledger.settled()
        writer = next(thread for thread in threading.enumerate() if thread.name == "store writer")
        assert writer.ident is not None
        clock = time.pthread_getcpuclockid(writer.ident)
        began, writer_began = time.thread_time_ns(), time.clock_gettime_ns(clock)
        for chunk in chunks_of(output):
            await live.admit(live.driver.receive(chunk), 0)
        spent = time.thread_time_ns() - began, time.clock_gettime_ns(clock) - writer_began
        await store.close()
        return Stored(*(ns / 1000 / LINES for ns in spent))


async def cost_of(output: bytes) -> tuple[Cost, int]:
    live, fold = supervisor(Committed()), Fold()
    spent, seq, heard = [0, 0, 0], 0, 0
    for chunk in chunks_of(output):
        events, spent[0] = _timed(spent[0], lambda: live.driver.receive(chunk))  # noqa: B023 - used at once
        heard += len(events)
        begun = time.thread_time_ns()
        await live.admit(events, 0)
        spent[1] += time.thread_time_ns() - begun
        rows = [Logged(seq + n, "2026-01-01T00:00:00.000Z", event) for n, event in enumerate(events, 1)]
        seq += len(rows)
        _, spent[2] = _timed(spent[2], lambda: _fold(fold, rows))  # noqa: B023 - used at once
    return Cost(*(ns / 1000 / LINES for ns in spent)), heard


def _timed(before: int, work: Callable[[], Any]) -> tuple[Any, int]:
    begun = time.thread_time_ns()
    result = work()
    return result, before + time.thread_time_ns() - begun


def _fold(fold: Fold, rows: list[Logged]) -> None:
    for row in rows:
        fold.apply(row)
    fold.take_dirty()


async def main(runs: int) -> None:
    print(f"CPU µs a line, least of {runs} runs of {LINES} lines\n\n{HEAD}")
    for name, output in outputs().items():
        alone = [await cost_of(output) for _ in range(runs)]
        stored = [await stored_cost(output) for _ in range(runs)]
        best = Cost(*map(min, zip(*(cost for cost, _ in alone), strict=True)))
        both = Stored(*map(min, zip(*stored, strict=True)))
        cells = " | ".join(f"{value:.2f}" for value in (*best, sum(best)))
        threads = " | ".join(f"{value:.2f}" for value in (*both, sum(both)))
        print(f"| {name} | {cells} | {alone[0][1] / LINES:.2f} | {threads} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    asyncio.run(main(parser.parse_args().runs))
