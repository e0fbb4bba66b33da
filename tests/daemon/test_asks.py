"""Commands from hubs: how many are at work, which wait, and which nobody waits for any more."""

import asyncio
from dataclasses import dataclass, field

import pytest
from tests.waiting import PATIENCE

from bascule.daemon.asks.asks import MAX_AT_WORK, MAX_WAITING, Asks
from bascule.link.frames import AnyFrame, Ask, Reply
from bascule.link.machine import EndAll, ListAgents, PauseDevice
from bascule.model.commands import Actor

pytestmark = pytest.mark.anyio

ANA = Actor("ana")


@dataclass(eq=False)
class Line:
    sent: list[Reply] = field(default_factory=list[Reply])

    def send(self, frame: AnyFrame) -> None:
        assert isinstance(frame, Reply)
        self.sent.append(frame)

    @property
    def answered(self) -> list[int]:
        return [one.ask for one in self.sent if one.refusal is None]


@dataclass(frozen=True)
class Conditions:
    reads: bool
    urgent: bool


class Desk:
    """`ListAgents` takes until `go`; it may be cut short. `PauseDevice` takes as long, and may not."""

    def __init__(self) -> None:
        self.now = 0.0
        self.go = asyncio.Event()
        self.begun: list[int] = []
        self.asks = Asks(
            self._answer,
            lambda command: Conditions(isinstance(command, ListAgents), isinstance(command, EndAll)),
            lambda: self.now,
        )

    async def _answer(self, ask: Ask) -> Reply:
        self.begun.append(ask.ask)
        if not isinstance(ask.command, EndAll):
            await self.go.wait()
        return Reply(ask.ask)

    async def fill(self, line: Line, number: int) -> None:
        for n in range(number):
            self.asks.take(line, Ask(n, ListAgents(), ANA))
        await asyncio.sleep(0)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.row("R15")
async def test_so_many_commands_are_at_work_some_wait_and_more_are_refused_in_words() -> None:
    desk, line = Desk(), Line()
    await desk.fill(line, MAX_AT_WORK + MAX_WAITING + 1)
    assert len(desk.begun) == MAX_AT_WORK
    (refused,) = line.sent
    assert refused.refusal is not None
    assert refused.refusal.code == "LIMIT_REACHED"
    assert "busy" in refused.refusal.message
    desk.go.set()
    async with asyncio.timeout(PATIENCE):
        while len(line.answered) < MAX_AT_WORK + MAX_WAITING:  # noqa: ASYNC110 - a list tells nobody
            await asyncio.sleep(0)
    assert line.answered == list(range(MAX_AT_WORK + MAX_WAITING))


@pytest.mark.row("R20")
async def test_the_panic_button_waits_for_no_other_command() -> None:
    desk, line = Desk(), Line()
    await desk.fill(line, MAX_AT_WORK + 10)
    desk.asks.take(line, Ask(9999, EndAll(), ANA))
    await settle()
    assert line.answered == [9999]
    await desk.asks.close()


async def test_a_cancelled_question_frees_its_place_and_a_change_is_carried_out() -> None:
    desk, line = Desk(), Line()
    desk.asks.take(line, Ask(0, PauseDevice(paused=True), ANA))
    for n in range(1, MAX_AT_WORK + 1):
        desk.asks.take(line, Ask(n, ListAgents(), ANA))
    await settle()
    assert MAX_AT_WORK not in desk.begun
    desk.asks.cancel(line, 0)
    await settle()
    assert MAX_AT_WORK not in desk.begun
    desk.asks.cancel(line, 1)
    await settle()
    assert MAX_AT_WORK in desk.begun
    desk.go.set()
    await settle()
    assert 0 in line.answered


async def test_what_waited_beyond_its_deadline_is_dropped() -> None:
    desk, line = Desk(), Line()
    await desk.fill(line, MAX_AT_WORK)
    desk.asks.take(line, Ask(1001, ListAgents(), ANA, deadline_ms=1000))
    desk.asks.take(line, Ask(1002, ListAgents(), ANA, deadline_ms=9000))
    desk.now = 2.0
    desk.go.set()
    async with asyncio.timeout(PATIENCE):
        while 1002 not in line.answered:  # noqa: ASYNC110 - a list tells nobody
            await asyncio.sleep(0)
    assert 1001 not in desk.begun


async def test_questions_of_a_line_that_is_lost_are_left() -> None:
    desk, lost, other = Desk(), Line(), Line()
    await desk.fill(lost, MAX_AT_WORK)
    await desk.fill(other, 3)
    desk.asks.leave(lost)
    await settle()
    desk.go.set()
    await settle()
    assert other.answered == [0, 1, 2]
