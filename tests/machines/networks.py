"""Networks of a test's own: namespaces that a bridge joins, each with a server in it, and links that go down.

A link that goes down drops what is sent and tells nobody: no connection is reset, as when a cable is pulled.
"""

import asyncio
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from tests.waiting import PATIENCE

PORT = 3333  # of every server: each has a network to itself
FORWARD = Path(__file__).parent / "forward.py"


def reason_to_skip() -> str | None:
    if sys.platform != "linux" or not all(map(shutil.which, ("ip", "nsenter", "tc", "unshare"))):
        return "no network namespaces here: they need Linux with ip, nsenter, tc and unshare"
    tried = subprocess.run(["unshare", "--net", "ip", "link", "set", "lo", "up"], capture_output=True)
    return None if tried.returncode == 0 else "this user may not make network namespaces"


class Place:
    """One namespace. `address` is its own on the network, `enter` runs a program there."""

    def __init__(self, name: str, address: str, pid: int) -> None:
        self.name, self.address, self.pid = name, address, pid
        self.enter = ("nsenter", f"--net=/proc/{pid}/ns/net")

    async def ip(self, *words: str) -> None:
        process = await asyncio.create_subprocess_exec(*self.enter, "ip", *words)
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0, words


class Network:
    def __init__(self, bridge: Place, closing: AsyncExitStack) -> None:
        self._bridge, self._closing = bridge, closing
        self._count = 0

    async def place(self, name: str) -> Place:
        """A namespace with a cable to all others."""
        self._count += 1
        made = Place(name, f"10.77.0.{self._count}", await self._closing.enter_async_context(_namespace()))
        await self._bridge.ip(
            *("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(made.pid))
        )
        await self._bridge.ip("link", "set", name, "master", "bridge", "up")
        await made.ip("link", "set", "lo", "up")
        await made.ip("address", "add", f"{made.address}/24", "dev", "eth0")
        await made.ip("link", "set", "eth0", "up")
        return made

    async def down(self, place: Place) -> None:
        await self._bridge.ip("link", "set", place.name, "down")

    async def up(self, place: Place) -> None:
        await self._bridge.ip("link", "set", place.name, "up")

    async def slow(self, place: Place, bits_per_second: int) -> None:
        """Both ways, with a short queue, as a home router has it."""
        for words in (
            (*place.enter, "tc", "qdisc", "add", "dev", "eth0"),
            (*self._bridge.enter, "tc", "qdisc", "add", "dev", place.name),
        ):
            process = await asyncio.create_subprocess_exec(
                *words, "root", "tbf", "rate", f"{bits_per_second}bit", "burst", "4kb", "latency", "100ms"
            )
            assert await asyncio.wait_for(process.wait(), PATIENCE) == 0, words

    async def door(self, place: Place, host: str) -> str:
        """A port of this machine's 127.0.0.1 that leads to the server there, by which the test reaches it."""
        with socket.create_server(("127.0.0.1", 0)) as listening:
            words = (*place.enter, sys.executable, "-S", "-E", str(FORWARD), str(listening.fileno()), host)
            process = await asyncio.create_subprocess_exec(
                *words, str(PORT), stdin=asyncio.subprocess.PIPE, pass_fds=[listening.fileno()]
            )
            self._closing.push_async_callback(_ended, process)
            return f"127.0.0.1:{listening.getsockname()[1]}"


@asynccontextmanager
async def _namespace() -> AsyncGenerator[int]:
    """Lives as long as the process in it, which waits for the end of its input."""
    process = await asyncio.create_subprocess_exec(
        *("unshare", "--net", "sh", "-c", "echo there; cat"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), PATIENCE) == b"there\n"
    try:
        yield process.pid
    finally:
        await _ended(process)


async def _ended(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    await asyncio.wait_for(process.wait(), PATIENCE)


@asynccontextmanager
async def network() -> AsyncGenerator[Network]:
    async with AsyncExitStack() as closing:
        bridge = Place("bridge", "", await closing.enter_async_context(_namespace()))
        await bridge.ip("link", "add", "bridge", "type", "bridge")
        await bridge.ip("link", "set", "bridge", "up")
        yield Network(bridge, closing)
