"""The ladder of reconnects: how often, how long between, when it gives up, and what a person can do."""

import asyncio

import pytest
from tests.waiting import PATIENCE

from bascule.daemon.reconnecting.reconnecting import PAUSES, STEADY_SECONDS, Reconnecting
from bascule.model.errors import AgentUnavailable, BasculeError, InvalidInput, LimitReached
from bascule.model.events import ReconnectScheduled

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
        self.steps: list[tuple[str, int, float]] = []
        self.given_up: list[tuple[str, str, str]] = []
        self.pauses: list[float] = []
        self.ladder = Reconnecting(self, lambda: self.now, pauses)

    async def bring(self, session: str) -> None:
        self.brought.append(session)
        if self.fails > 0:
            self.fails -= 1
            raise self.refusal

    async def scheduled(self, session: str, step: ReconnectScheduled) -> None:
        self.steps.append((session, step.attempt, step.seconds))

    async def gave_up(self, session: str, message: str, stderr_tail: str) -> None:
        self.given_up.append((session, message, stderr_tail))

    def changed(self, group: str) -> None:
        state = self.ladder.state_of(group, "idle")
        if not self.states or self.states[-1] != state:
            self.states.append(state)
        if not self.ladder._climbs:  # pyright: ignore[reportPrivateUsage] - nothing else tells that it rests
            self.quiet.set()

    async def lose(self, *sessions: str) -> None:
        self.quiet.clear()
        self.ladder.lost("it", list(sessions), "it stopped")
        async with asyncio.timeout(PATIENCE):
            await self.quiet.wait()


@pytest.mark.row("A2")
def test_the_backoff_doubles_from_one_second_five_times_and_stays_below_thirty():
    assert PAUSES == (1.0, 2.0, 4.0, 8.0, 16.0)
    assert max(PAUSES) <= 30


@pytest.mark.row("TC-5.2c", "A11")
async def test_all_sessions_of_a_process_reconnect_with_the_first():
    agent = Agent(fails=2)
    await agent.lose("a", "b", "c")
    assert agent.brought == ["a", "a", "a", "b", "c"]
    assert agent.states == [*["disconnected", "reconnecting"] * 3, "idle"]


@pytest.mark.row("A2")
async def test_after_five_attempts_reconnecting_waits_for_a_person_and_says_why():
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


@pytest.mark.row("TC-5.2d", "A11")
async def test_a_person_can_reconnect_before_the_next_attempt():
    agent = Agent(fails=0, pauses=(3600.0,) * 5)
    agent.ladder.lost("it", ["a"], "it stopped")
    assert await agent.ladder.now("it", ["b"]) is True
    assert agent.brought == ["a", "b"]


@pytest.mark.row("A2")
async def test_the_backoff_uses_the_given_clock_and_each_attempt_is_announced_before_it():
    agent = Agent(fails=100, pauses=PAUSES)

    async def passes(now: asyncio.Event, seconds: float) -> None:
        agent.pauses.append(seconds)
        agent.now += seconds

    agent.ladder = Reconnecting(agent, lambda: agent.now, PAUSES, passes)
    agent.refusal = AgentUnavailable("It stopped.", stderr_tail="not logged in")
    await agent.lose("a", "b")
    assert agent.pauses == [1.0, 2.0, 4.0, 8.0, 16.0]
    assert agent.steps == [(one, n + 1, PAUSES[n]) for n in range(5) for one in ("a", "b")]
    assert agent.given_up == [("a", "It stopped.", "not logged in"), ("b", "It stopped.", "not logged in")]


async def test_a_ladder_that_a_restart_cut_goes_on_where_it_was():
    agent = Agent(fails=100)
    agent.quiet.clear()
    agent.ladder.lost("it", ["a"], "it stopped", tries=3)
    await agent.quiet.wait()
    assert [attempt for _, attempt, _ in agent.steps] == [4, 5]


async def test_a_session_that_can_not_be_brought_back_does_not_hold_up_its_siblings():
    agent = Agent(fails=1)
    agent.refusal = InvalidInput("Its folder is gone.")
    await agent.lose("a", "b", "c")
    assert agent.brought == ["a", "b", "c", "a"]
    assert agent.given_up == []


async def test_sessions_that_share_a_process_with_a_reconnected_one_follow_at_once():
    agent = Agent(fails=0, pauses=(3600.0,) * 5)
    agent.quiet.clear()
    agent.ladder.lost("it", ["a", "b", "c"], "it stopped")
    agent.ladder.resumed("b")
    async with asyncio.timeout(PATIENCE):
        await agent.quiet.wait()
    assert agent.brought == ["a", "c"]


async def test_also_when_the_ladder_had_been_given_up():
    agent = Agent(fails=5)
    await agent.lose("a", "b")
    assert [one for one, _, _ in agent.given_up] == ["a", "b"]
    agent.quiet.clear()
    agent.ladder.resumed("a")
    async with asyncio.timeout(PATIENCE):
        await agent.quiet.wait()
    assert agent.brought[5:] == ["b"]


async def test_one_that_a_person_ended_is_not_brought_back():
    agent = Agent(fails=0, pauses=(3600.0,) * 5)
    agent.quiet.clear()
    agent.ladder.lost("it", ["a"], "it stopped")
    agent.ladder.forget("a")
    async with asyncio.timeout(PATIENCE):
        await agent.quiet.wait()
    assert (agent.brought, agent.given_up) == ([], [])


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
