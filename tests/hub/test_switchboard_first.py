"""Just after a start, a command waits for the first device instead of being told that there is none."""

import asyncio

import pytest

from bascule.hub.switchboard import Switchboard
from bascule.link.frames import AnyFrame, Ask, DaemonConnected, ListAgents, Reply
from bascule.model.errors import DeviceOffline

pytestmark = pytest.mark.anyio


async def test_a_wish_made_before_the_first_device_is_there_reaches_it():
    board = Switchboard(first_wait=10)
    asked = asyncio.create_task(board.ask(ListAgents()))
    await asyncio.sleep(0)

    def send(frame: AnyFrame) -> None:
        assert isinstance(frame, Ask)
        line.receive(Reply(frame.ask))

    line = board.attach(send)
    line.receive(DaemonConnected("d", "here", "1", 1))
    assert await asked == b"{}"


async def test_when_no_device_comes_the_answer_is_that_and_the_next_one_is_at_once():
    board = Switchboard(first_wait=0.01)
    for _ in range(2):
        with pytest.raises(DeviceOffline):
            await board.ask(ListAgents())
