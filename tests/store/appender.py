"""A program that appends as fast as it can and says each number once it is stored; made to be killed.

`python appender.py DATABASE`: prints the head it found, then the last number of every step it was promised.
"""

import asyncio
import itertools
import sys
import time
from pathlib import Path

from bascule.model.codec import timestamp
from bascule.model.events import AnyEvent, EntryOpened, SessionStarted, TextAppended, TurnEnded
from bascule.store.base import Batch
from bascule.store.sqlite import SqliteStore

IN_FLIGHT = 16


def event(seq: int) -> AnyEvent:
    if seq == 1:
        return SessionStarted("demo", "stream_json", "/", "test")
    if seq % 100 == 0:
        return TurnEnded("end_turn")
    if seq % 100 == 1:
        return EntryOpened(f"e{seq // 100}", "assistant")
    return TextAppended(f"e{seq // 100}", "assistant", f"word {seq} ")


def say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


async def main(path: Path) -> None:
    store = SqliteStore.open(path, clock=time.time, loop=asyncio.get_running_loop())
    record = await store.session("s1")
    seq = record.seq + 1 if record else 1
    say(seq - 1)
    room = asyncio.Semaphore(IN_FLIGHT)
    for n in itertools.count():
        await room.acquire()
        size = n % 7 + 1
        last = seq + size - 1
        batch = Batch("s1", seq, timestamp(time.time()), [event(one) for one in range(seq, last + 1)])
        batch.out_offset, batch.sync = last, n % 50 == 0
        promise = store.append(batch)
        promise.add_done_callback(lambda done, last=last: (done.result(), say(last), room.release()))
        seq = last + 1


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
