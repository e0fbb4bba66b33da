"""Just after a start, a command waits for the first device instead of being told that there is none."""

import asyncio

import pytest

from bascule.hub.switchboard import Switchboard
from bascule.link.frames import DaemonConnected
from bascule.model.errors import DeviceOffline

pytestmark = pytest.mark.anyio


async def test_a_command_made_before_the_first_device_is_there_waits_for_it():
    board = Switchboard(first_wait=10)
    met = asyncio.create_task(board.met())
    await asyncio.sleep(0)
    assert not met.done()
    board.attach(lambda _: None).receive(DaemonConnected("d", "here", "1", 1))
    await met
    assert board.device(None) == "d"


async def test_when_no_device_comes_the_answer_is_that_and_the_next_one_is_at_once():
    board = Switchboard(first_wait=0.01)
    for _ in range(2):
        await board.met()
        with pytest.raises(DeviceOffline):
            board.device(None)
