"""Reconnecting with backoff: restarts a lost agent soon, then less often, then only on request.

A group is what comes back together: the sessions on one shared process, or one session with its own.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from bascule.link.machine import AgentState
from bascule.model.errors import AgentUnavailable, BasculeError, LimitReached
from bascule.model.events import ReconnectScheduled

log = logging.getLogger(__name__)

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds before each try; never above 30
STEADY_SECONDS = 60.0  # a process that lived this long starts a new count
STDERR = "stderr_tail"  # the field of an error that holds what the agent printed last

Wait = Callable[[asyncio.Event, float], Awaitable[None]]  # until the event, or for so many seconds


class Lost(Protocol):
    """The interface of lost sessions, as the reconnect ladder uses it."""

    async def bring(self, session: str) -> None:
        """Start its agent again. Raises when it does not come up."""
        ...

    async def scheduled(self, session: str, step: ReconnectScheduled) -> None:
        """A try comes next, after a pause."""
        ...

    async def gave_up(self, session: str, message: str, stderr_tail: str) -> None:
        """Every try failed; from here on only a person can ask for one."""
        ...

    def changed(self, group: str) -> None: ...


async def wait_for(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


class Reconnecting:
    def __init__(
        self,
        lost: Lost,
        steady: Callable[[], float],
        pauses: tuple[float, ...] = PAUSES,
        wait: Wait = wait_for,
    ) -> None:
        self.messages: dict[str, str] = {}
        self._lost = lost
        self._steady = steady
        self._pauses = pauses
        self._wait = wait
        self._tails: dict[str, str] = {}
        self._waiting: dict[str, list[str]] = {}  # group -> its sessions, in the order they were lost
        self._tries: dict[str, tuple[int, float]] = {}  # group -> tries so far, and when it last came up
        self._climbs: dict[str, asyncio.Task[None]] = {}
        self._now: dict[str, asyncio.Event] = {}
        self._trying: set[str] = set()
        self._by_hand: set[str] = set()

    def lost(self, group: str, sessions: list[str], why: str, tries: int = 0) -> None:
        """These sessions have lost their process, after so many tries: begin, or go on with, the ladder."""
        self.messages[group] = why
        waiting = self._waiting.setdefault(group, [])
        waiting += [session for session in sessions if session not in waiting]
        if group in self._climbs:
            return
        known, came_up = self._tries.get(group, (tries, self._steady()))
        if self._steady() - came_up >= STEADY_SECONDS:
            known = 0
        self._tries[group] = (known, came_up)
        self._begin(group)

    def state_of(self, group: str, processes: AgentState) -> AgentState:
        """The group's state: that of its processes, unless it waits to be reconnected."""
        waiting = bool(self._waiting.get(group))
        if group in self._climbs and waiting:
            return "reconnecting" if group in self._trying else "disconnected"
        if waiting and processes in ("idle", "disconnected"):
            return "disconnected"
        return processes

    async def now(self, group: str, sessions: list[str]) -> bool:
        """A person asks: one try, at once. False when there is nothing to take up."""
        waiting = self._waiting.setdefault(group, [])
        waiting += [session for session in sessions if session not in waiting]
        if not waiting:
            del self._waiting[group]
            return False
        self._by_hand.add(group)
        self._hurry(group)
        await asyncio.wait([self._climbs[group]])
        if self._waiting.get(group):
            raise AgentUnavailable(self.messages.get(group) or "The agent can't be reached.")
        return True

    def resumed(self, session: str) -> None:
        """A person has brought this one back: it waits no longer, and those beside it need not either."""
        for group in self.forget(session):
            if self._waiting[group]:
                self._hurry(group)

    def forget(self, session: str) -> list[str]:
        """It is not to be taken up any more. Gives the group it was lost with, if it was."""
        groups = [group for group, waiting in self._waiting.items() if session in waiting]
        for group in groups:
            self._waiting[group].remove(session)
            if not self._waiting[group]:
                self._tries.pop(group, None)
            if not self._waiting[group] and group in self._now:
                self._now[group].set()
        return groups

    async def close(self) -> None:
        for task in list(self._climbs.values()):
            task.cancel()
        await asyncio.gather(*self._climbs.values(), return_exceptions=True)

    def _hurry(self, group: str) -> None:
        if group not in self._climbs:
            self._tries[group] = (0, 0.0)
            self._begin(group)
        self._now[group].set()

    def _begin(self, group: str) -> None:
        self._now[group] = asyncio.Event()
        task = asyncio.create_task(self._climb(group), name=f"reconnect {group}")
        self._climbs[group] = task
        task.add_done_callback(lambda _: self._over(group))

    def _over(self, group: str) -> None:
        self._climbs.pop(group, None)
        self._now.pop(group, None)
        self._tails.pop(group, None)
        self._trying.discard(group)
        self._by_hand.discard(group)
        if not self._waiting.get(group):
            self._waiting.pop(group, None)
            self.messages.pop(group, None)
        self._lost.changed(group)

    async def _climb(self, group: str) -> None:
        rest, attempts = 0.0, len(self._pauses)
        while self._waiting[group]:
            tries, came_up = self._tries.get(group, (0, 0.0))
            if tries >= attempts:
                break
            self._lost.changed(group)
            pause = rest or self._pauses[tries]
            message = self.messages.get(group, "")
            await self._say(group, ReconnectScheduled(tries + 1, attempts, pause, message))
            await self._wait(self._now[group], pause)
            self._now[group].clear()
            self._tries[group] = (tries + 1, came_up)
            self._trying.add(group)
            self._lost.changed(group)
            rest = await self._try(group)
            if rest > 0:
                self._tries[group] = (tries, came_up)  # it was not begun, so it does not count
            self._trying.discard(group)
            if group in self._by_hand:
                break  # the caller gets the error, and may ask again
        await self._give_up(group)

    async def _say(self, group: str, step: ReconnectScheduled) -> None:
        for session in list(self._waiting[group]):
            await self._lost.scheduled(session, step)

    async def _give_up(self, group: str) -> None:
        for session in list(self._waiting[group]):
            message, tail = self.messages.get(group, ""), self._tails.get(group, "")
            log.warning("%s did not come back: %s", group, message)
            await self._lost.gave_up(session, message, tail)

    async def _try(self, group: str) -> float:
        """The first session that waits shows whether the agent comes up; the others follow it.

        Returns for how many seconds it is no use to try again, where that is known.
        """
        waiting = list(self._waiting[group])
        problems = [await self._attempt(group, one) for one in waiting[:1]]
        if any(isinstance(problem, AgentUnavailable | LimitReached) for problem in problems):
            seconds = [problem.fields.get("retry_after") for problem in problems if problem is not None]
            return max((float(one) for one in seconds if isinstance(one, int)), default=0.0)
        await asyncio.gather(*(self._attempt(group, one) for one in waiting[1:]))
        self._tries[group] = (self._tries.get(group, (0, 0.0))[0], self._steady())
        return 0.0

    async def _attempt(self, group: str, session: str) -> BasculeError | None:
        try:
            await self._lost.bring(session)
        except BasculeError as error:
            self.messages[group] = error.message
            tail = error.fields.get(STDERR)
            self._tails[group] = tail if isinstance(tail, str) else ""
            return error
        if session in self._waiting.get(group, []):
            self._waiting[group].remove(session)
        return None
