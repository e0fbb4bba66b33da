"""A program that takes in a copy and appends to a log of its own; made to lose power.

`python copying.py DATABASE`: prints `end` when the last rows, which nobody waited for, are written.
"""

import asyncio
import sys
import time
from pathlib import Path

from bascule.model.codec import encode_logged
from bascule.model.events import Note, SessionStarted
from bascule.store.base import Batch
from bascule.store.sqlite import SqliteStore

AT = "2027-01-15T08:00:00.000Z"


def rows(first: int, last: int) -> list[bytes]:
    started = SessionStarted("demo", "stream_json", "/", "ana", device="laptop")
    return [encode_logged(n, AT, started if n == 1 else Note("n", str(n))) for n in range(first, last + 1)]


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def main(path: Path) -> None:
    store = SqliteStore.open(path, clock=time.time, loop=asyncio.get_running_loop())
    store.take_in("laptop", "copied", 1, rows(1, 40))
    await store.take_in("laptop", "copied", 41, rows(41, 80))
    await store.append(Batch("own", 1, AT, [SessionStarted("demo", "stream_json", "/", "ana")]))
    await store.barrier()
    await store.append(Batch("own", 2, AT, [Note("n", "before anybody relied on it")]))
    release = await store.need_synced_rows()
    await store.append(Batch("own", 3, AT, [Note("n", "told only when it would last")]))
    release()
    await store.take_in("laptop", "copied", 81, rows(81, 90))
    await store.append(Batch("own", 4, AT, [Note("n", "nobody waited for this")]))
    say("end")
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
