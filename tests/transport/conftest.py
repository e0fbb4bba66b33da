"""A short private folder, and an end for whatever keeper was started in it."""

import asyncio
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from tests.liveness import is_alive
from tests.waiting import PATIENCE

from bascule.transport.errors import KeeperGone
from bascule.transport.keeper import KeeperConnection
from bascule.transport.keeper_messages import Spawned


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request):
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture
async def folder():
    made = Path(tempfile.mkdtemp(prefix="bt-", dir="/tmp"))
    yield made
    try:
        connection = await KeeperConnection.connect(made)
    except KeeperGone:
        connection = None
    if connection is not None:
        keeper = await connection.hello()
        os.kill(keeper.pid, signal.SIGTERM)
        await asyncio.wait_for(connection.wait_closed(), PATIENCE)
        await connection.aclose()
        async with asyncio.timeout(PATIENCE):
            while is_alive(Spawned(keeper.pid, keeper.started, keeper.boot)):  # noqa: ASYNC110 - not our child
                await asyncio.sleep(0.02)
    shutil.rmtree(made)
