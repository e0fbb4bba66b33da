"""Commands and their answers over a line: correlation, timeouts, devices that go, lines that are older."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import Raw
from tests.hub.boards import switchboard

from bascule.hub.devices.switchboard import Switchboard
from bascule.link.frames import (
    AgentsChanged,
    AnyFrame,
    Ask,
    DaemonConnected,
    Ping,
    Pong,
    Reply,
)
from bascule.link.machine import AgentInfo, AgentList, CheckDirectory, Directory, ListAgents
from bascule.model.commands import Actor
from bascule.model.errors import DeviceOffline, InvalidInput, Refusal, Refused

pytestmark = pytest.mark.anyio

ANA = Actor("ana", "grant-1")
NO_AGENTS = Raw(b'{"agents":[]}')


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Switchboard]:
    async with switchboard(tmp_path) as made:
        yield made


def hello(attempt: int, device: str = "d", boot: str = "b") -> DaemonConnected:
    return DaemonConnected(device, "laptop", "1", boot=boot, attempt=attempt)


async def test_answers_find_their_askers_in_any_order(board: Switchboard) -> None:
    sent = list[AnyFrame]()
    line = board.attach(sent.append)
    line.receive(hello(1))
    asking = [asyncio.create_task(board.ask("d", CheckDirectory(path="/"), ANA, "k")) for _ in range(3)]
    await asyncio.sleep(0)
    numbers = [frame.ask for frame in sent if isinstance(frame, Ask)]
    for number in reversed(numbers):
        line.receive(Reply(number, Raw(b'{"path":"/%d"}' % number)))
    assert await asyncio.gather(*asking) == [Directory(path=f"/{number}") for number in numbers]
    assert {(frame.by, frame.key) for frame in sent if isinstance(frame, Ask)} == {(ANA, "k")}


async def test_a_refusal_keeps_its_code_and_fields(board: Switchboard) -> None:

    def refuse(frame: AnyFrame) -> None:
        if isinstance(frame, Ask):
            line.receive(Reply(frame.ask, refusal=Refusal("X", "no", {"by": "ana"})))

    line = board.attach(refuse)
    line.receive(hello(1))
    with pytest.raises(Refused) as refused:
        await board.ask("d", ListAgents(), ANA)
    assert refused.value.refusal() == Refusal("X", "no", {"by": "ana"})


async def test_silence_ends_in_device_offline(board: Switchboard) -> None:
    line = board.attach(lambda _: None)
    line.receive(hello(1))
    with pytest.raises(DeviceOffline, match="did not answer"):
        await board.ask("d", ListAgents(), ANA, seconds=0.01)
    line.receive(Reply(1))  # too late, and harmless


async def test_a_device_that_goes_fails_what_waits_and_what_comes(board: Switchboard) -> None:
    line = board.attach(lambda _: None)
    line.receive(hello(1))
    waiting = asyncio.create_task(board.ask("d", ListAgents(), ANA))
    await asyncio.sleep(0)
    line.closed()
    with pytest.raises(DeviceOffline):
        await waiting
    with pytest.raises(DeviceOffline, match="laptop is not connected, last heard at 20"):
        await board.ask("d", ListAgents(), ANA)
    with pytest.raises(DeviceOffline, match="No device"):
        await board.ask("e", ListAgents(), ANA)
    assert [device.online for device in board.devices()] == [False]


async def test_an_older_line_cannot_mark_a_newer_one_offline(board: Switchboard) -> None:
    sent = list[AnyFrame]()
    old, new = board.attach(lambda _: None), board.attach(sent.append)
    old.receive(hello(1))
    new.receive(hello(2))
    old.closed()
    old.receive(hello(1))
    old.receive(AgentsChanged((AgentInfo("x", "X", True),)))
    assert [(one.online, one.epoch, one.agents) for one in board.devices()] == [(True, 2, ())]
    asking = asyncio.create_task(board.ask("d", ListAgents(), ANA))
    await asyncio.sleep(0)
    new.receive(Reply(1, NO_AGENTS))
    assert await asking == AgentList(agents=())


async def test_watchers_hear_of_devices_and_pings_are_answered(board: Switchboard) -> None:
    sent, heard = list[AnyFrame](), list[int]()
    board.watch(lambda: heard.append(len(board.devices())))
    line = board.attach(sent.append)
    line.receive(hello(1))
    line.receive(AgentsChanged((AgentInfo("x", "X", True),)))
    line.receive(Ping(7))
    line.closed()
    assert heard == [1, 1, 1]
    assert [frame.n for frame in sent if isinstance(frame, Pong)] == [7]


async def test_a_device_must_be_named_once_there_are_several(board: Switchboard) -> None:
    with pytest.raises(DeviceOffline, match="No device"):
        board.device(None)
    board.attach(lambda _: None).receive(hello(1, "d"))
    assert board.device(None) == "d"
    board.attach(lambda _: None).receive(hello(1, "e"))
    assert board.device("e") == "e"
    with pytest.raises(InvalidInput, match=r"say which one with `device`: d \(laptop\), e \(laptop\)"):
        board.device(None)
    with pytest.raises(InvalidInput, match="There is no device 'f'"):
        board.device("f")
