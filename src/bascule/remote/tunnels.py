"""Keeps `ssh -R` tunnels to machines that can't dial this hub, also after a loss or a restart."""

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bascule.link.tunnels import TunnelState, TunnelStatus
from bascule.model.errors import InvalidInput
from bascule.remote.ssh import MAX_SAID, OPTIONS, destination

log = logging.getLogger(__name__)

FILE = "tunnels.json"
PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0)
DECIDE_SECONDS = 30.0
STOP_SECONDS = 5.0
UP = "bascule-tunnel"
MAX_TUNNELS = 32


class Wanted(Struct, frozen=True):
    host: str
    port: int


class Tunnels:
    """All on one event loop. `allow` gets the addresses by which machines come through the tunnels."""

    def __init__(self, folder: Path, hub_port: int, pauses: tuple[float, ...] = PAUSES) -> None:
        self._file, self._hub_port, self._pauses = folder / FILE, hub_port, pauses
        self._tunnels: dict[str, Tunnel] = {}
        self.allow: Callable[[Iterable[str]], None] = lambda hosts: None

    def start(self) -> None:
        """Open what was open before. A damaged list is reported, and begins anew."""
        try:
            kept = msgspec.json.decode(self._file.read_bytes(), type=list[Wanted])
        except FileNotFoundError:
            return
        except (OSError, msgspec.MsgspecError) as error:
            log.warning("%s can't be read (%s); open the tunnels again", self._file, error)
            return
        for one in kept:
            self._begin(one)
        self._tell()

    def list(self) -> list[TunnelStatus]:
        return [tunnel.status for tunnel in self._tunnels.values()]

    async def open(self, host: str, port: int) -> TunnelStatus:
        wanted = Wanted(destination(host), port)
        if len(self._tunnels) >= MAX_TUNNELS and host not in self._tunnels:
            raise InvalidInput(f"There are {MAX_TUNNELS} tunnels already; close one first.")
        await self._end(host)
        tunnel = self._begin(wanted)
        self._keep()
        await tunnel.decided(DECIDE_SECONDS)
        return tunnel.status

    async def close(self, host: str) -> bool:
        there = await self._end(host)
        self._keep()
        return there

    async def stop(self) -> None:
        """End them all; the next start opens them again."""
        await asyncio.gather(*(tunnel.stop() for tunnel in self._tunnels.values()))

    def _begin(self, wanted: Wanted) -> "Tunnel":
        tunnel = self._tunnels[wanted.host] = Tunnel(wanted, self._hub_port, self._pauses)
        return tunnel

    async def _end(self, host: str) -> bool:
        tunnel = self._tunnels.pop(host, None)
        if tunnel is not None:
            await tunnel.stop()
        return tunnel is not None

    def _keep(self) -> None:
        fresh = self._file.with_name(f"{FILE}.new")
        kept = [Wanted(one.host, one.port) for one in self.list()]
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(kept))
        fresh.replace(self._file)
        self._tell()

    def _tell(self) -> None:
        self.allow([f"127.0.0.1:{one.port}" for one in self.list()])


class Tunnel:
    """One machine's. It runs until `stop`."""

    def __init__(self, wanted: Wanted, hub_port: int, pauses: tuple[float, ...]) -> None:
        self.status = TunnelStatus(wanted.host, wanted.port)
        self._hub_port, self._pauses = hub_port, pauses
        self._decided = asyncio.Event()
        self._running = asyncio.create_task(self._run(), name=f"tunnel to {wanted.host}")

    async def decided(self, seconds: float) -> None:
        """Wait until the first try has worked or not."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._decided.wait()

    async def stop(self) -> None:
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)

    def _words(self) -> list[str]:
        """It ends when its stdin does, so also when we are killed. It says a word once the forward is there,
        and never asks: nobody is at hand to type a password."""
        forward = f"127.0.0.1:{self.status.port}:127.0.0.1:{self._hub_port}"
        fails = ("-o", "BatchMode=yes", "-o", "ExitOnForwardFailure=yes", "-o", "ControlPath=none")
        words = ["ssh", "-T", *OPTIONS, *fails, "-R", forward, "--", self.status.host]
        return [*words, f"echo {UP}; exec cat"]

    async def _run(self) -> None:
        failed = 0
        while True:
            worked = await self._once()
            failed = 0 if worked else failed + 1
            self._decided.set()
            await asyncio.sleep(self._pauses[min(failed, len(self._pauses) - 1)])

    async def _once(self) -> bool:
        """Whether it was open until it broke off."""
        try:
            process = await asyncio.create_subprocess_exec(
                *self._words(),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            self._say("failed", f"ssh can't be started: {error}")
            return False
        try:
            return await self._watch(process)
        except ValueError:  # of the stream's own limit
            self._say("failed", "The other machine writes a line without end.")
            return False
        finally:
            await _end(process)

    async def _watch(self, process: asyncio.subprocess.Process) -> bool:
        assert process.stdout is not None
        assert process.stdin is not None
        words, opened = LastWords(process), False
        try:
            async for line in process.stdout:
                if not opened and line.strip() == UP.encode():
                    opened = True
                    self._say("open", "")
                    self._decided.set()
            process.stdin.close()  # programs that ssh has started may wait for that, and hold its stderr open
            self._say("failed", await words.read() or "The connection was lost.")
        finally:
            words.stop()
        return opened

    def _say(self, state: TunnelState, message: str) -> None:
        if (self.status.state, self.status.message) != (state, message):
            log.info("tunnel to %s: %s %s", self.status.host, state, message)
            self.status = replace(self.status, state=state, message=message)


class LastWords:
    """The last line that a program writes on stderr, which is always read: a full pipe would stop it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._said = b""
        self._reading = asyncio.create_task(self._read(process), name="tunnel stderr")

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while data := await process.stderr.read(4096):
            self._said = (self._said + data)[-MAX_SAID:]

    def stop(self) -> None:
        self._reading.cancel()

    async def read(self) -> str:
        """Wait for its end, but not for long."""
        await asyncio.wait([self._reading], timeout=STOP_SECONDS)
        lines = self._said.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
