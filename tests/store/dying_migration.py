"""`python dying_migration.py DATABASE N`: opens a database and is killed, as by `kill -9`, before the N-th
statement of all that its migrations still have to do."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bascule.store import schema
from bascule.store.sqlite import SqliteStore

left = int(sys.argv[2])
statements = schema._statements  # pyright: ignore[reportPrivateUsage] - the one place where it can be stopped


def until_killed(script: str) -> Iterator[str]:
    global left
    for statement in statements(script):
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        yield statement


async def main() -> None:
    store = SqliteStore.open(Path(sys.argv[1]), clock=time.time, loop=asyncio.get_running_loop())
    await store.close()


schema._statements = until_killed  # pyright: ignore[reportPrivateUsage]
asyncio.run(main())
