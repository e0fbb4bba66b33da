"""What a line of an agent's output costs in CPU time, without processes, sockets or a disk.

`python bench/lines.py`.

One thread's own time, the least of nine runs: what a line costs when nothing else disturbs it. To compare two
versions, run this file with each one's `src` in PYTHONPATH, in turns.
"""

import asyncio
import time
from collections.abc import Callable
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

LINES = 20_000
CHUNK = 256 * 1024
RUNS = 9
HEAD = "| lines | driver | admit | entries | sum | events a line |\n|---|---|---|---|---|---|"


class Cost(NamedTuple):
    """Microseconds a line."""

    driver: float
    admit: float
    entries: float


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


def outputs() -> dict[str, bytes]:
    pieces = [DELTA % (f"word {n:08d} ¶ and a few more words ", n, "m") for n in range(LINES)]
    return {
        "whole messages": "".join(message_lines(LINES, "t")).encode(),
        "tool calls": "".join(tool_lines(LINES // 2, "t")).encode(),
        "text pieces": text_begins("m") + "".join(pieces).encode() + text_ends(),
    }


def supervisor() -> Supervisor:
    record, store, process = SessionRecord("s"), cast(Any, Committed()), cast(Any, NoProcess())
    point = ResumePoint(record, Pending(), 0, 0, None, [], [])
    ledger, driver = Ledger(store, point, time.time), StreamJsonDriver()
    limits = Limits(output_bytes=0)
    live = Supervisor(ledger, process, driver, point, limits, time.time, time.monotonic)
    ledger.log([SessionStarted("a", "stream_json", "/", "me"), SessionReady(), PromptSent("p", "go", "me")])
    assert record.phase is Phase.RUNNING
    driver.receive(init())
    return live


async def cost_of(output: bytes) -> tuple[Cost, int]:
    chunks = [output[at : at + CHUNK] for at in range(0, len(output), CHUNK)]
    live, fold = supervisor(), Fold()
    spent, seq, heard = [0, 0, 0], 0, 0
    for chunk in chunks:
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


async def main() -> None:
    print(f"CPU µs a line, least of {RUNS} runs of {LINES} lines\n\n{HEAD}")
    for name, output in outputs().items():
        runs = [await cost_of(output) for _ in range(RUNS)]
        best = Cost(*(min(column) for column in zip(*(cost for cost, _ in runs), strict=True)))
        cells = " | ".join(f"{value:.2f}" for value in (*best, sum(best)))
        print(f"| {name} | {cells} | {runs[0][1] / LINES:.2f} |", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
