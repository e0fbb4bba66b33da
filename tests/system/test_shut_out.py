"""Strangers in their thousands, and the owner who comes anew: never refused, never kept waiting for long."""

import asyncio
import contextlib
import os
import resource
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.hub.running_hub import ask
from tests.live import LiveServer
from tests.system import crowd
from tests.waiting import PATIENCE, stretched
from websockets.asyncio.client import connect

pytestmark = pytest.mark.anyio

VISITS = 25
SECONDS = 5.0  # for one visit, on a machine that has time for it


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(module_dir) as made:
        yield made


@contextlib.asynccontextmanager
async def strangers(server: LiveServer, kind: str, count: int, whose: str) -> AsyncIterator[None]:
    port = server.url.rsplit(":", 1)[1]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", crowd.__file__, port, kind, str(count), whose),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert await asyncio.wait_for(process.stdout.readline(), PATIENCE) == b"ready\n"
        yield
        assert process.returncode is None
    finally:
        process.stdin.close()
        await asyncio.wait_for(process.wait(), PATIENCE)


async def visit(server: LiveServer) -> float:
    """A request and a socket of the owner, each on a new connection: how long the slower one took."""
    headers = {"authorization": f"Bearer {server.token}"}
    began = time.monotonic()
    answer = await server.http.get("/api/sessions", headers={"connection": "close"})
    assert answer.status_code == 200
    between = time.monotonic()
    url = server.url.replace("http", "ws", 1) + "/ws"
    async with connect(
        url, additional_headers=headers, proxy=None, open_timeout=PATIENCE, close_timeout=2
    ) as socket:
        assert "ok" in await ask(socket, "ping")
    return max(between - began, time.monotonic() - between)


def check_descriptors(count: int) -> None:
    """A smaller crowd would prove less in silence."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit < count + 200:
        pytest.skip(f"needs {count + 200} file descriptors for {count} strangers; RLIMIT_NOFILE is {limit}")


@pytest.mark.row("F8", "S57", "X6")
@pytest.mark.parametrize(
    ("kind", "count", "whose"),
    [
        ("idle", 300, "self"),
        ("cycle", 400, "self"),
        ("cycle", 400, "other"),
        ("slow", 1000, "other"),
        ("half", 1000, "other"),
        ("idle", 5000, "self"),
    ],
)
async def test_the_owner_always_gets_in(server: LiveServer, kind: str, count: int, whose: str):
    check_descriptors(count)
    if whose == "other" and os.getuid() != 0:
        pytest.skip("needs root, to be strangers of another user")
    files = len(os.listdir(f"/proc/{server.front.pid}/fd"))
    async with strangers(server, kind, count, whose):
        with stretched() as seen:
            took = [await visit(server) for _ in range(VISITS)]
            together = await asyncio.gather(*(visit(server) for _ in range(VISITS)))
        busy = max(seen)
        assert max(*took, *together) < SECONDS * busy, (busy, sorted(took)[-5:], max(together))
    async with asyncio.timeout(PATIENCE):
        while len(os.listdir(f"/proc/{server.front.pid}/fd")) > files + 20:  # noqa: ASYNC110 - the kernel tells nobody
            await asyncio.sleep(0.05)
