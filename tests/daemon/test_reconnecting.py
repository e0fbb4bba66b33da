"""The ladder of reconnects: how often, how long between, when it gives up, and what a person can do."""

import asyncio

import pytest

from bascule.daemon.reconnecting import PAUSES, STEADY_SECONDS, Reconnecting
from bascule.model.errors import AgentUnavailable, BasculeError, LimitReached

pytestmark = pytest.mark.anyio

QUICK = (0.001, 0.001, 0.001, 0.001, 0.001)


class Agent:
    """An agent that comes up after some tries; and what was seen of it."""

    def __init__(self, fails: int, pauses: tuple[float, ...] = QUICK) -> None:
        self.fails = fails
        self.refusal: BasculeError = AgentUnavailable("Could not connect to it: exit code 1.")
        self.brought: list[str] = []
        self.states: list[str] = []
        self.now = 1000.0
        self.quiet = asyncio.Event()
        self.ladder = Reconnecting(self.bring, self.changed, lambda: self.now, pauses)

    async def bring(self, session: str) -> None:
        self.brought.append(session)
        if self.fails > 0:
            self.fails -= 1
            raise self.refusal

    def changed(self, agent: str) -> None:
        state = self.ladder.state_of(agent, "idle")
        if not self.states or self.states[-1] != state:
            self.states.append(state)
        if not self.ladder._climbs:  # pyright: ignore[reportPrivateUsage] - nothing else tells that it rests
            self.quiet.set()

    async def lose(self, *sessions: str) -> None:
        self.quiet.clear()
        self.ladder.lost("it", list(sessions), "it stopped")
        async with asyncio.timeout(20):
            await self.quiet.wait()


def test_a2_the_pauses_double_from_one_second_five_times_and_stay_below_thirty():
    assert PAUSES == (1.0, 2.0, 4.0, 8.0, 16.0)
    assert max(PAUSES) <= 30


async def test_tc_5_2c_all_sessions_follow_the_first_that_comes_up():
    agent = Agent(fails=2)
    await agent.lose("a", "b", "c")
    assert agent.brought == ["a", "a", "a", "b", "c"]
    assert agent.states == [*["disconnected", "reconnecting"] * 3, "idle"]


async def test_a2_after_five_tries_it_waits_for_a_person_who_is_told_why():
    agent = Agent(fails=100)
    await agent.lose("a", "b")
    assert agent.brought == ["a"] * 5
    assert agent.ladder.state_of("it", "idle") == "disconnected"
    with pytest.raises(AgentUnavailable, match="Could not connect"):
        await agent.ladder.now("it", [])
    assert agent.brought == ["a"] * 6
    agent.fails = 0
    assert await agent.ladder.now("it", []) is True
    assert agent.brought[6:] == ["a", "b"]
    assert agent.ladder.state_of("it", "connected") == "connected"


async def test_an_agent_that_may_not_be_asked_yet_is_waited_for_and_loses_no_try():
    agent = Agent(fails=1, pauses=(0.001,))
    agent.refusal = LimitReached("Try again in 1 s.", retry_after=1)
    await agent.lose("a", "b")
    assert agent.brought == ["a", "a", "b"]
    assert agent.states[-1] == "idle"


async def test_tc_5_2d_a_person_need_not_wait_for_the_next_try():
    agent = Agent(fails=0, pauses=(3600.0,) * 5)
    agent.ladder.lost("it", ["a"], "it stopped")
    assert await agent.ladder.now("it", ["b"]) is True
    assert agent.brought == ["a", "b"]


async def test_there_is_nothing_to_reconnect_when_nothing_was_lost():
    agent = Agent(fails=0)
    assert await agent.ladder.now("it", []) is False
    assert agent.ladder.state_of("it", "connected") == "connected"


async def test_an_agent_that_dies_again_and_again_is_not_started_for_ever():
    agent = Agent(fails=0)
    for _ in range(5):
        await agent.lose("a")
    assert len(agent.brought) == 5
    await agent.lose("a")
    assert len(agent.brought) == 5
    assert agent.ladder.state_of("it", "idle") == "disconnected"
    assert agent.ladder.messages["it"] == "it stopped"


async def test_one_that_lived_for_a_while_has_all_its_tries_again():
    agent = Agent(fails=0)
    for _ in range(8):
        await agent.lose("a")
        agent.now += STEADY_SECONDS
    assert len(agent.brought) == 8


async def test_it_ends_with_the_server():
    agent = Agent(fails=0, pauses=(3600.0,) * 5)
    agent.ladder.lost("it", ["a"], "it stopped")
    await agent.ladder.close()
    assert agent.brought == []
