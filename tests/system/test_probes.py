"""F11: programs that are only asked for their version do not outlive the server that asked them."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from tests.live import LiveServer
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio

KILLS = 15
HANGS = """#!/bin/sh
echo $$ >> {pids}
sleep 600 &
echo $! >> {pids}
trap '' TERM HUP INT
exec sleep 600
"""


def running(pids: Path) -> list[psutil.Process]:
    numbers = [int(line) for line in pids.read_text().split()] if pids.exists() else []
    found: list[psutil.Process] = []
    for pid in numbers:
        try:
            process = psutil.Process(pid)
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not done():  # noqa: ASYNC110 - another program's file
            await asyncio.sleep(0.05)


@pytest.mark.row("F11")
async def test_a_version_that_hangs_leaves_nothing_after_fifteen_kills(
    make_server: Callable[..., LiveServer],
) -> None:
    server = make_server()
    pids = server.folder / "pids"
    program = server.folder / "hangs"
    program.write_text(HANGS.format(pids=pids))
    program.chmod(0o700)
    server.add_agent_file(
        "hangs",
        f'name = "hangs"\ntitle = "Hangs"\nsearch = [{json.dumps(str(program))}]\n'
        '[version]\nargs = ["--version"]\n[[drivers]]\nname = "stream_json"\n',
    )
    try:
        for _ in range(KILLS):
            asked = len(pids.read_text().split()) if pids.exists() else 0
            await server.start()
            await until(lambda asked=asked: pids.exists() and len(pids.read_text().split()) >= asked + 2)
            await server.kill()
        assert len(pids.read_text().split()) >= 2 * KILLS
        assert running(pids)  # nobody was there to end the last one
        await server.start()
        last = set(pids.read_text().split()[: 2 * KILLS])
        await until(lambda: not [one for one in running(pids) if str(one.pid) in last])
        await server.stop()
        await until(lambda: not running(pids))
    finally:
        for left in running(pids):
            os.kill(left.pid, signal.SIGKILL)
