"""Commands for a machine that was lost a moment ago: they wait until it is back; not for long.

One that was sent goes out again, with its key, to a process that knows what it has answered.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.hub.boards import switchboard
from tests.waiting import PATIENCE

from bascule.hub.devices.device_line import DeviceLine
from bascule.hub.devices.switchboard import GRACE_SECONDS, RESTART_SECONDS, Switchboard
from bascule.link.frames import REMEMBERS_ANSWERS, AnyFrame, Ask, DaemonConnected, Reply
from bascule.link.machine import AgentList, ListAgents
from bascule.model.commands import Actor, RenameSession
from bascule.model.errors import DeviceOffline

pytestmark = pytest.mark.anyio

ANA = Actor("ana", "grant-1")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Laptop:
    """A machine that answers at once, and keeps what it was asked."""

    def __init__(self, board: Switchboard, *features: str) -> None:
        self._board = board
        self._features = features
        self.boot = "b"
        self.answers = True
        self.asked: list[Ask] = []
        self._attempt = 0
        self.connect()

    def connect(self, board: Switchboard | None = None) -> None:
        self._board = board or self._board
        self._attempt += 1
        self.line: DeviceLine = self._board.attach(self._receive, close=lambda _: None)
        self.line.receive(
            DaemonConnected(
                "d", "laptop", "1", features=self._features, boot=self.boot, attempt=self._attempt
            )
        )

    def _receive(self, frame: AnyFrame) -> None:
        if isinstance(frame, Ask):
            self.asked.append(frame)
            if self.answers:
                self.line.receive(Reply(frame.ask, Raw(b'{"agents":[]}')))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def board(tmp_path: Path, clock: Clock) -> AsyncIterator[Switchboard]:
    async with switchboard(tmp_path, grace=GRACE_SECONDS, steady=clock) as made, asyncio.timeout(PATIENCE):
        yield made


async def begun(work: "asyncio.Task[AgentList]") -> None:
    """Let it go as far as it can."""
    for _ in range(5):
        await asyncio.sleep(0)
    assert not work.done()


@pytest.mark.row("R11")
async def test_a_command_waits_for_a_machine_that_was_lost_just_now_and_is_sent_once(
    board: Switchboard, clock: Clock
) -> None:
    laptop = Laptop(board)
    laptop.line.closed()
    clock.now += GRACE_SECONDS - 1
    asking = asyncio.create_task(board.ask("d", ListAgents(), ANA, "k"))
    await begun(asking)
    assert laptop.asked == []
    clock.now += 0.5
    laptop.connect()
    assert await asking == AgentList(agents=())
    (ask,) = laptop.asked
    assert (ask.by, ask.key) == (ANA, "k")
    assert ask.deadline_ms == 29_500  # what is left of its time


async def test_commands_that_wait_are_sent_in_the_order_they_were_given(board: Switchboard) -> None:
    laptop = Laptop(board)
    laptop.line.closed()
    asking = [asyncio.create_task(board.ask("d", ListAgents(), ANA, str(n))) for n in range(20)]
    await begun(asking[-1])
    laptop.connect()
    await asyncio.gather(*asking)
    assert [one.key for one in laptop.asked] == [str(n) for n in range(20)]


@pytest.mark.row("R11")
async def test_a_hub_that_was_restarted_waits_for_the_machines_it_had(tmp_path: Path) -> None:
    def now() -> float:
        return time.time() + later

    later = 0.0
    async with switchboard(tmp_path, clock=now) as before:
        laptop = Laptop(before)
    async with switchboard(tmp_path, grace=GRACE_SECONDS, clock=now) as board, asyncio.timeout(PATIENCE):
        asking = asyncio.create_task(board.ask("d", ListAgents(), ANA, "k"))
        await begun(asking)
        laptop.connect(board)
        assert await asking == AgentList(agents=())
        assert [one.key for one in laptop.asked] == ["k"]
    later = RESTART_SECONDS + 1
    async with switchboard(tmp_path, grace=GRACE_SECONDS, clock=now) as board, asyncio.timeout(PATIENCE):
        with pytest.raises(DeviceOffline, match="laptop is not connected"):
            async with asyncio.timeout(GRACE_SECONDS / 2):
                await board.ask("d", ListAgents(), ANA)


@pytest.mark.row("R11")
async def test_a_machine_that_is_gone_for_longer_is_answered_for_at_once(
    board: Switchboard, clock: Clock
) -> None:
    laptop = Laptop(board)
    laptop.line.closed()
    clock.now += GRACE_SECONDS
    with pytest.raises(DeviceOffline, match="laptop is not connected") as offline:
        async with asyncio.timeout(GRACE_SECONDS / 2):
            await board.ask("d", ListAgents(), ANA)
    assert offline.value.fields["lastHeard"]


async def test_one_that_does_not_come_back_in_time_is_offline(tmp_path: Path) -> None:
    async with switchboard(tmp_path, grace=0.02) as board, asyncio.timeout(PATIENCE):
        laptop = Laptop(board)
        laptop.line.closed()
        with pytest.raises(DeviceOffline, match="laptop is not connected"):
            await board.ask("d", ListAgents(), ANA)
        laptop.connect()
        assert laptop.asked == []


async def test_nobody_waits_longer_than_their_own_deadline(board: Switchboard) -> None:
    laptop = Laptop(board)
    laptop.line.closed()
    with pytest.raises(DeviceOffline):
        await board.ask("d", ListAgents(), ANA, seconds=0.01)
    laptop.connect()
    assert laptop.asked == []


async def test_a_command_that_was_sent_is_not_sent_again_to_a_machine_that_would_do_it_twice(
    board: Switchboard,
) -> None:
    laptop = Laptop(board)
    laptop.answers = False
    asking = asyncio.create_task(board.ask("d", ListAgents(), ANA))
    await begun(asking)
    laptop.line.closed()
    with pytest.raises(DeviceOffline, match="went away before it answered"):
        await asking
    laptop.connect()
    assert len(laptop.asked) == 1


async def cut_before_the_answer(laptop: Laptop, asking: "asyncio.Task[Any]") -> None:
    laptop.answers = False
    await begun(asking)
    laptop.line.closed()
    await begun(asking)
    laptop.answers = True


@pytest.mark.row("R11")
async def test_a_command_whose_answer_was_lost_goes_out_again_with_the_same_key(
    board: Switchboard, clock: Clock
) -> None:
    laptop = Laptop(board, REMEMBERS_ANSWERS)
    asking = asyncio.create_task(board.ask("d", ListAgents(), ANA))
    await cut_before_the_answer(laptop, asking)
    clock.now += 2
    laptop.connect()
    assert await asking == AgentList(agents=())
    first, second = laptop.asked
    assert first.key
    assert second.key == first.key
    assert (first.deadline_ms, second.deadline_ms) == (30_000, 28_000)


async def test_every_command_has_a_key_of_its_own(board: Switchboard) -> None:
    laptop = Laptop(board, REMEMBERS_ANSWERS)
    for _ in range(2):
        await board.ask("d", ListAgents(), ANA)
    first, second = laptop.asked
    assert len({None, "", first.key, second.key}) == 4


async def test_a_process_that_was_restarted_gets_only_what_it_can_not_do_twice(board: Switchboard) -> None:
    laptop = Laptop(board, REMEMBERS_ANSWERS)
    asking = asyncio.create_task(board.ask("d", ListAgents(), ANA))
    sending = asyncio.create_task(board.ask("d", RenameSession(session_id="s", title="new"), ANA))
    await cut_before_the_answer(laptop, asking)
    laptop.boot = "another"
    laptop.connect()
    with pytest.raises(DeviceOffline, match="Look whether it was done"):
        await asking
    await sending
    assert [type(one.command) for one in laptop.asked] == [ListAgents, RenameSession, RenameSession]


async def test_one_that_is_lost_again_before_the_command_was_sent_is_waited_for_again(
    board: Switchboard,
) -> None:
    laptop = Laptop(board)
    laptop.line.closed()
    asking = asyncio.create_task(board.ask("d", ListAgents(), ANA))
    await begun(asking)
    laptop.connect()
    laptop.line.closed()
    await begun(asking)
    laptop.connect()
    await asking
    assert len(laptop.asked) == 1


async def test_a_machine_that_is_removed_is_no_longer_waited_for(board: Switchboard) -> None:
    laptop = Laptop(board)
    laptop.line.closed()
    asking = asyncio.create_task(board.ask("d", ListAgents(), ANA))
    await begun(asking)
    await board.forget("d", ANA)
    with pytest.raises(DeviceOffline, match="No device"):
        await asking
