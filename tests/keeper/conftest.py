"""A real keeper in a short private folder, a client that watches it, and what tests ask of both."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest
from tests.liveness import is_alive
from tests.waiting import PATIENCE

from bascule.keeper.folder import marker_of
from bascule.transport.keeper import KeeperConnection
from bascule.transport.keeper_messages import ExitNotice, OutputNotice, StorageNotice
from bascule.transport.position import Position
from bascule.transport.spool import SpoolReader

ENV = {"PATH": os.environ["PATH"]}


@pytest.fixture
def anyio_backend():
    return "asyncio"


class Client:
    """A connection plus the newest notice of each kind, and a way to wait for one."""

    def __init__(self, folder):
        self.folder = folder
        self.ends = {}
        self.exits = {}
        self.storage = {}
        self._news = asyncio.Event()

    async def open(self):
        self.keeper = await KeeperConnection.connect(self.folder)
        await self.keeper.watch(self._notice)
        return self

    async def spawn(self, session, code, *args, **options):
        options.setdefault("spawn_id", f"spawn-{session}")
        env = options.pop("env", ENV)
        cwd = options.pop("cwd", "/")
        argv = [sys.executable, "-S", "-c", code, *args]
        return await self.keeper.spawn(session, argv, env, cwd, **options)

    async def until(self, condition, seconds=PATIENCE):
        async with asyncio.timeout(seconds):
            while not condition():
                self._news.clear()
                await self._news.wait()

    async def exit_of(self, session, seconds=PATIENCE):
        await self.until(lambda: session in self.exits, seconds)
        return self.exits[session]

    async def output(self, session, wanted, stream="out", seconds=PATIENCE):
        """Wait until the stream holds `wanted`, and return all of it."""
        async with asyncio.timeout(seconds):
            while wanted not in (text := self.read(session, stream)):
                self._news.clear()
                await self._news.wait()
        return text

    def read(self, session, stream="out", offset=0):
        reader = SpoolReader(self.folder, session, stream)
        parts = []
        while data := reader.read(offset, 1 << 20):
            parts.append(data)
            offset += len(data)
        reader.close()
        return b"".join(parts)

    async def drain(self, session, consume, trim=True, seconds=PATIENCE):
        """Follow `out` to the exit as the daemon does: read, commit, tell the position."""
        reader = SpoolReader(self.folder, session, "out")
        offset = 0
        async with asyncio.timeout(seconds):
            while not (session in self.exits and offset == self.exits[session].out):
                self._news.clear()
                while data := reader.read(offset, 1 << 18):
                    consume(data)
                    offset += len(data)
                    self.keeper.post_position(session, Position(offset, 0, offset if trim else 0, 0))
                    await asyncio.sleep(0)
                if not (session in self.exits and offset == self.exits[session].out):
                    await self._news.wait()
        reader.close()

    def _notice(self, notice):
        match notice:
            case OutputNotice():
                self.ends[notice.session] = (notice.out, notice.err)
            case ExitNotice():
                self.exits[notice.session] = notice
            case StorageNotice():
                self.storage[notice.session] = notice.error
        self._news.set()


class World:
    """One folder, the keepers started in it, and the clients opened on it."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        self.clients = []

    async def start(self, *options, **popen):
        command = [sys.executable, "-I", "-m", "bascule.keeper", "--foreground", "--dir", str(self.folder)]
        process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, **popen)  # noqa: ASYNC220 - returns at once
        self.processes.append(process)
        async with asyncio.timeout(PATIENCE):
            while process.poll() is None and not await self._is_mine(process):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return process

    async def client(self):
        client = await Client(self.folder).open()
        self.clients.append(client)
        return client

    async def _is_mine(self, process):
        try:
            probe = await KeeperConnection.connect(self.folder)
        except Exception:  # noqa: BLE001 - not there yet, whatever the reason
            return False
        try:
            return (await probe.hello()).pid == process.pid
        finally:
            await probe.aclose()

    async def close(self):
        for client in self.clients:
            await client.keeper.aclose()
        for process in self.processes:
            if process.poll() is None:
                self._kill_agents(process.pid)
                process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(process.wait, PATIENCE)
            process.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _kill_agents(self, keeper):
        """What a test left running would otherwise be waited for as long as an agent may take to leave."""
        for agent in psutil.Process(keeper).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                agent.kill()


@pytest.fixture
async def world():
    made = World(Path(tempfile.mkdtemp(prefix="bk-", dir="/tmp")))
    yield made
    await made.close()


@pytest.fixture
async def client(world):
    await world.start()
    return await world.client()


@pytest.fixture
def eventually():
    """Wait for something that sends no notice, by looking again for a bounded time."""

    async def wait(condition, seconds=PATIENCE):
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110 - another process sends no event
                await asyncio.sleep(0.02)

    return wait


@pytest.fixture
def pids_with(world):
    """Pids alive whose environment holds all these texts, looked up by the test itself, not by the keeper."""

    def find(*texts):
        return [
            int(entry.name)
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and holds(entry, texts)
        ]

    def holds(entry, texts):
        try:
            environment, stat = (entry / "environ").read_bytes(), (entry / "stat").read_bytes()
        except OSError:
            return False
        return b") Z" not in stat and all(text.encode() in environment for text in texts)

    return find


@pytest.fixture
def members(world, pids_with):
    """Pids alive that carry the marks of this session of this test's keeper."""

    def find(session):
        return pids_with(f"BASCULE_SESSION={session}", f"BASCULE_KEEPER={marker_of(str(world.folder))}")

    return find


@pytest.fixture
def alive():
    return is_alive
