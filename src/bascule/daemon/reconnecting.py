"""Takes up sessions whose agent process went away: soon, then ever less often, then when a person asks."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from bascule.link.frames import AgentState
from bascule.model.errors import AgentUnavailable, BasculeError

log = logging.getLogger(__name__)

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds before each try; never above 30
STEADY_SECONDS = 60.0  # a process that lived this long starts a new count


Bring = Callable[[str], Awaitable[None]]  # a session; raises when its agent does not come up for it


class Reconnecting:
    """One ladder per agent. `bring` takes up one session, and raises when the agent does not come up."""

    def __init__(
        self,
        bring: Bring,
        changed: Callable[[str], None],
        steady: Callable[[], float],
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        self.messages: dict[str, str] = {}
        self._bring = bring
        self._changed = changed
        self._steady = steady
        self._pauses = pauses
        self._waiting: dict[str, list[str]] = {}  # agent -> its sessions, in the order they were lost
        self._tries: dict[str, tuple[int, float]] = {}  # agent -> tries so far, and when it last came up
        self._climbs: dict[str, asyncio.Task[None]] = {}
        self._now: dict[str, asyncio.Event] = {}
        self._trying: set[str] = set()
        self._by_hand: set[str] = set()

    def lost(self, agent: str, sessions: list[str], why: str) -> None:
        """These sessions have lost their process: begin, or go on with, the agent's ladder."""
        self.messages[agent] = why
        waiting = self._waiting.setdefault(agent, [])
        waiting += [one for one in sessions if one not in waiting]
        tries, came_up = self._tries.get(agent, (0, 0.0))
        if agent not in self._climbs:
            steady = self._steady() - came_up >= STEADY_SECONDS
            self._tries[agent] = (0 if steady else tries, came_up)
            self._begin(agent)

    def state_of(self, agent: str, processes: AgentState) -> AgentState:
        """What a person is told, from what the processes are in."""
        waiting = bool(self._waiting.get(agent))
        if agent in self._climbs and waiting:
            return "reconnecting" if agent in self._trying else "disconnected"
        if waiting and processes in ("idle", "disconnected"):
            return "disconnected"
        return processes

    async def now(self, agent: str, sessions: list[str]) -> bool:
        """A person asks: one try, at once. False when there is nothing to take up."""
        waiting = self._waiting.setdefault(agent, [])
        waiting += [one for one in sessions if one not in waiting]
        if not waiting:
            del self._waiting[agent]
            return False
        self._by_hand.add(agent)
        if agent not in self._climbs:
            self._tries[agent] = (0, 0.0)
            self._begin(agent)
        self._now[agent].set()
        await asyncio.wait([self._climbs[agent]])
        if self._waiting.get(agent):
            raise AgentUnavailable(self.messages.get(agent) or "The agent can't be reached.", agent=agent)
        return True

    async def close(self) -> None:
        for task in list(self._climbs.values()):
            task.cancel()
        await asyncio.gather(*self._climbs.values(), return_exceptions=True)

    def _begin(self, agent: str) -> None:
        self._now[agent] = asyncio.Event()
        task = asyncio.create_task(self._climb(agent), name=f"reconnect {agent}")
        self._climbs[agent] = task
        task.add_done_callback(lambda _: self._over(agent))

    def _over(self, agent: str) -> None:
        self._climbs.pop(agent, None)
        self._now.pop(agent, None)
        self._trying.discard(agent)
        self._by_hand.discard(agent)
        if not self._waiting.get(agent):
            self._waiting.pop(agent, None)
            self.messages.pop(agent, None)
        self._changed(agent)

    async def _climb(self, agent: str) -> None:
        rest = 0.0
        while self._waiting[agent]:
            tries, came_up = self._tries[agent]
            if tries >= len(self._pauses):
                log.warning("%s did not come back: %s", agent, self.messages.get(agent, ""))
                return
            self._changed(agent)
            await self._pause(agent, rest or self._pauses[tries])
            self._tries[agent] = (self._tries[agent][0] + 1, came_up)
            self._trying.add(agent)
            self._changed(agent)
            rest = await self._try(agent)
            if rest > 0:
                self._tries[agent] = (tries, came_up)  # it was not begun, so it does not count
            self._trying.discard(agent)
            if agent in self._by_hand:
                return  # whoever asked is told, and may ask again

    async def _pause(self, agent: str, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._now[agent].wait()
        except TimeoutError:
            return
        self._now[agent].clear()

    async def _try(self, agent: str) -> float:
        """The first session that waits shows whether the agent comes up; the others follow it.

        Returns for how many seconds it is no use to try again, where that is known.
        """
        for session in list(self._waiting[agent]):
            try:
                await self._bring(session)
            except BasculeError as error:
                self.messages[agent] = error.message
                seconds = error.fields.get("retry_after")
                return float(seconds) if isinstance(seconds, int) else 0.0
            self._waiting[agent].remove(session)
        self._tries[agent] = (self._tries[agent][0], self._steady())
        return 0.0
