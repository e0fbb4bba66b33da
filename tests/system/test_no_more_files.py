"""A server that can open no more files: who comes then waits, nobody is turned away, and no core is busy."""

import asyncio
import os
import resource
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from tests.hub.running_hub import until
from tests.live import LiveServer
from tests.waiting import PATIENCE
from websockets.asyncio.client import ClientConnection, connect

from bascule.model.events import AgentSpawned

pytestmark = pytest.mark.anyio

VIEWERS = 200
ROOM = 20  # files, for those who come first


@pytest.fixture
async def server(short_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(short_dir) as made:
        yield made


def open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


async def view(server: LiveServer) -> ClientConnection:
    url = server.url.replace("http", "ws", 1) + "/ws"
    headers = {"authorization": f"Bearer {server.token}"}
    return await connect(url, additional_headers=headers, proxy=None, open_timeout=PATIENCE, close_timeout=2)


@pytest.mark.row("REL-27")
async def test_newcomers_wait_while_no_file_can_be_opened_and_all_get_in_after(server: LiveServer):
    pid = server.front.pid
    process = psutil.Process(pid)
    had = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (open_files(pid) + ROOM, had[1]))
    coming = [asyncio.create_task(view(server)) for _ in range(VIEWERS)]
    try:
        await until(lambda: "new connections wait: no more files can be opened" in server.front.stderr())
        before, began = process.cpu_times(), asyncio.get_running_loop().time()
        await asyncio.wait(coming, timeout=3)  # nobody is turned away in this time
        after, seconds = process.cpu_times(), asyncio.get_running_loop().time() - began
        assert not [task for task in coming if task.done() and task.exception()]
        assert 0 < sum(task.done() for task in coming) <= ROOM
        assert after.user + after.system - before.user - before.system < seconds / 3
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, had)
    viewers = await asyncio.wait_for(asyncio.gather(*coming), PATIENCE)
    await until(lambda: "connections are accepted again" in server.front.stderr())
    for viewer in viewers:
        await viewer.close()


@pytest.mark.row("REL-27")
async def test_the_server_may_open_more_files_than_it_was_started_with_and_agents_may_not(short_dir: Path):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    server = LiveServer(short_dir, under=("sh", "-c", 'ulimit -S -n 1024; exec "$@"', "sh"))
    await server.start()
    try:
        assert resource.prlimit(server.pid, resource.RLIMIT_NOFILE)[0] == min(hard, 65_536)
        session = await server.create("hello")
        agent = (await server.wait_for(session, AgentSpawned)).event
        assert isinstance(agent, AgentSpawned)
        assert resource.prlimit(agent.pid, resource.RLIMIT_NOFILE) == (1024, hard)
    finally:
        await server.stop()
        await server.end_keeper()
