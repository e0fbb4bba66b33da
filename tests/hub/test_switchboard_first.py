"""Just after a start, a command waits for the first device instead of being told that there is none."""

import asyncio
from pathlib import Path

import pytest
from tests.hub.boards import switchboard

from bascule.link.frames import DaemonConnected
from bascule.model.errors import DeviceOffline

pytestmark = pytest.mark.anyio


async def test_a_command_made_before_the_first_device_is_there_waits_for_it(tmp_path: Path):
    async with switchboard(tmp_path, first_wait=10) as board:
        met = asyncio.create_task(board.met())
        await asyncio.sleep(0)
        assert not met.done()
        board.attach(lambda _: None).receive(DaemonConnected("d", "here", "1"))
        await met
        assert board.device(None) == "d"


async def test_when_no_device_comes_the_answer_is_that_and_the_next_one_is_at_once(tmp_path: Path):
    async with switchboard(tmp_path, first_wait=0.01) as board:
        for _ in range(2):
            await board.met()
            with pytest.raises(DeviceOffline):
                board.device(None)
