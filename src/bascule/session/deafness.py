"""Detects an agent that does not read its stdin: notes it once, and once more when it reads again."""

import asyncio
from collections.abc import Awaitable, Callable

from bascule.model.errors import HostError
from bascule.model.events import Note
from bascule.session.ledger import Ledger

DEAF_SECONDS = 8.0  # without a byte being read; with one look each second it is said within 10 s
LOOK_SECONDS = 1.0
NOT_READING = "not_reading"
READS_AGAIN = "reads_again"


class Deafness:
    """`unread` returns how many bytes the agent has not read; None if unknown.

    Looks only while something waits: an agent that reads costs one question for each thing it is sent.
    """

    def __init__(self, ledger: Ledger, unread: Callable[[], Awaitable[int | None]]) -> None:
        self._ledger = ledger
        self._unread = unread
        self._sent = asyncio.Event()
        self._said = False

    def sent(self) -> None:
        """Something is on its way to the agent."""
        self._sent.set()

    async def run(self) -> None:
        while True:
            await self._sent.wait()
            self._sent.clear()
            await self._until_read()

    async def _until_read(self) -> None:
        loop = asyncio.get_running_loop()
        lowest, since = None, loop.time()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            waiting = await self._ask()
            if not waiting:
                self._reads_again()
                return
            # More may have been sent meanwhile: only fewer bytes show that it reads.
            if lowest is not None and waiting < lowest:
                self._reads_again()
                since = loop.time()
            lowest = waiting if lowest is None else min(lowest, waiting)
            if loop.time() - since >= DEAF_SECONDS:
                self._not_reading(waiting)
                lowest = waiting

    async def _ask(self) -> int | None:
        try:
            return await self._unread()
        except HostError:
            return None  # it has ended, or the keeper is away; either is logged elsewhere

    def _not_reading(self, waiting: int) -> None:
        if not self._said:
            self._said = True
            text = f"The agent has not read what was sent to it for 10 s; {waiting} bytes wait."
            self._ledger.log([Note(NOT_READING, text, "warning")])

    def _reads_again(self) -> None:
        if self._said:
            self._said = False
            self._ledger.log([Note(READS_AGAIN, "The agent reads again what is sent to it.")])
