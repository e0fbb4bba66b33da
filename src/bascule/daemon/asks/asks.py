"""Commands from hubs: some at work, some waiting their turn, and refused beyond that."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from bascule.link.frames import AnyFrame, Ask, Reply
from bascule.model.commands import Command
from bascule.model.errors import DeviceOffline, LimitReached

MAX_AT_WORK = 256
MAX_WAITING = 1024
BUSY = f"This machine is busy: {MAX_AT_WORK} commands are at work and {MAX_WAITING} wait. Try again."

WENT_AWAY = "The device went away before it answered."


class Line(Protocol):
    """Where an answer goes."""

    def send(self, frame: AnyFrame) -> None: ...


class Conditions(Protocol):
    """What is known of a command's handler."""

    @property
    def reads(self) -> bool:
        """It may be cut short: nothing is left half done."""
        ...

    @property
    def urgent(self) -> bool:
        """It waits for no other."""
        ...


@dataclass(frozen=True, eq=False)
class Taken:
    line: Line
    ask: Ask
    deadline: float | None  # on the steady clock


@dataclass(frozen=True, eq=False)
class Working:
    taken: Taken
    task: asyncio.Task[None]


class Asks:
    """`answer` never raises, but for being cancelled.

    Answers go to the line that asked.
    """

    def __init__(
        self,
        answer: Callable[[Ask], Awaitable[Reply]],
        conditions: Callable[[Command[Any]], Conditions],
        steady: Callable[[], float],
    ) -> None:
        self._answer = answer
        self._conditions = conditions
        self._steady = steady
        self._at_work: dict[tuple[Line, int], Working] = {}
        self._waiting: dict[tuple[Line, int], Taken] = {}

    def take(self, line: Line, ask: Ask) -> None:
        deadline = None if ask.deadline_ms is None else self._steady() + ask.deadline_ms / 1000
        taken = Taken(line, ask, deadline)
        if len(self._at_work) < MAX_AT_WORK or self._conditions(ask.command).urgent:
            self._begin(taken)
        elif len(self._waiting) < MAX_WAITING:
            self._waiting[line, ask.ask] = taken
        else:
            line.send(Reply(ask.ask, refusal=LimitReached(BUSY, retry_after=1).refusal()))

    def cancel(self, line: Line, number: int) -> None:
        """The hub no longer waits for this answer. A command that changes something still runs to its end."""
        self._waiting.pop((line, number), None)
        working = self._at_work.get((line, number))
        if working is not None and self._conditions(working.taken.ask.command).reads:
            working.task.cancel()

    def leave(self, line: Line) -> None:
        """The line is lost, and with it the hub's wait for these answers."""
        for of, number in [*self._waiting, *self._at_work]:
            if of is line:
                self.cancel(line, number)

    async def close(self) -> None:
        waiting, self._waiting = list(self._waiting.values()), {}
        for taken in waiting:
            taken.line.send(Reply(taken.ask.ask, refusal=DeviceOffline(WENT_AWAY).refusal()))
        tasks = [one.task for one in self._at_work.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, taken: Taken) -> None:
        key = (taken.line, taken.ask.ask)
        task = asyncio.create_task(self._work(taken), name=f"ask {taken.ask.ask}")
        working = self._at_work[key] = Working(taken, task)
        task.add_done_callback(lambda _: self._ended(key, working))

    async def _work(self, taken: Taken) -> None:
        taken.line.send(await self._answer(taken.ask))

    def _ended(self, key: tuple[Line, int], working: Working) -> None:
        if self._at_work.get(key) is working:
            del self._at_work[key]
        while self._waiting and len(self._at_work) < MAX_AT_WORK:
            taken = self._waiting.pop(next(iter(self._waiting)))
            if taken.deadline is None or taken.deadline > self._steady():
                self._begin(taken)
