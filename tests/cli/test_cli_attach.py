"""`bascule attach` and `run --terminal` in a real terminal of their own."""

import asyncio
import fcntl
import os
import pty
import struct
import sys
import termios
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.live import LiveServer
from tests.terminal.viewing import terminal, viewing
from tests.waiting import PATIENCE

from bascule.commands.attach import detach_key
from bascule.model.errors import InvalidInput
from bascule.model.events import TerminalResized

pytestmark = pytest.mark.anyio


class Tty:
    """A terminal with the command in it."""

    def __init__(self, server: LiveServer, *words: str, cols: int = 90, rows: int = 25) -> None:
        self.server = server
        self.ours, self.theirs = pty.openpty()
        self.resize(cols, rows)
        self.before = termios.tcgetattr(self.theirs)
        self.words = words
        self.data = bytearray()
        self._news = asyncio.Event()

    def resize(self, cols: int, rows: int) -> None:
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    async def __aenter__(self) -> "Tty":
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.server.home), "TERM": "xterm"}
        environ["BASCULE_CONFIG_DIR"] = str(self.server.config)
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bascule", *self.words, "--data", str(self.server.data)),
            stdin=self.theirs,
            stdout=self.theirs,
            stderr=self.theirs,
            env=environ,
            start_new_session=True,
        )
        asyncio.get_running_loop().add_reader(self.ours, self._read)
        return self

    def _read(self) -> None:
        self.data += os.read(self.ours, 65536)
        self._news.set()

    async def __aexit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self.ours)
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
        os.close(self.ours)
        os.close(self.theirs)

    def type(self, data: bytes) -> None:
        os.write(self.ours, data)

    async def shows(self, text: bytes) -> None:
        async with asyncio.timeout(PATIENCE):
            while text not in self.data:
                self._news.clear()
                await self._news.wait()

    async def ends(self) -> int:
        return await asyncio.wait_for(self.process.wait(), PATIENCE)

    def as_before(self) -> bool:
        return termios.tcgetattr(self.theirs) == self.before


@pytest.fixture
async def server(short_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(short_dir, env={"SHELL": "/bin/sh"}) as live:
        yield live


@pytest.mark.row("P7")
async def test_attach_shows_types_resizes_and_detaches(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session) as page, Tty(server, "attach", session) as tty:
        await tty.shows(b"\x1b[!p")
        await server.wait_for(session, lambda one: one == TerminalResized(90, 25, "this machine"))
        tty.type(b"echo from''here; stty size\r")
        await page.shows(b"fromhere")
        await page.shows(b"25 90")
        await tty.shows(b"fromhere")
        await page.type("echo from''page\r")
        await tty.shows(b"frompage")
        tty.resize(70, 20)
        tty.process.send_signal(28)  # WINCH: the tests' own terminal is nobody's foreground
        await server.wait_for(session, lambda one: one == TerminalResized(70, 20, "this machine"))
        tty.type(b"\x1d")
        assert await tty.ends() == 0
        assert tty.as_before()
        await page.type("echo still''here\r")
        await page.shows(b"stillhere")


async def test_attach_goes_on_after_a_restart_of_the_server(server: LiveServer):
    session = await terminal(server)
    async with Tty(server, "attach", session) as tty:
        await tty.shows(b"\x1b[!p")
        tty.type(b"echo fi''rst\r")
        await tty.shows(b"first")
        await server.kill()
        tty.resize(70, 20)
        await server.start()
        # Its own size comes only once it is back and takes keys: what is typed before that is dropped.
        await server.wait_for(session, lambda one: one == TerminalResized(70, 20, "this machine"))
        tty.type(b"echo sec''ond; exit 4\r")
        await tty.shows(b"second")
        assert await tty.ends() == 1
        assert tty.as_before()
        assert tty.data.count(b"first\r\n") == 1


async def test_run_terminal_starts_an_agent_and_attaches(server: LiveServer):
    async with Tty(server, "run", "--terminal", "shell", "--cwd", str(server.work)) as tty:
        await tty.shows(b"\x1b[!p")
        tty.type(b"stty size; pwd; exit\r")
        await tty.shows(b"25 90")
        await tty.shows(str(server.work).encode())
        assert await tty.ends() == 0
        assert tty.as_before()


async def test_a_session_that_is_not_there_is_refused_and_the_terminal_is_as_before(server: LiveServer):
    async with Tty(server, "attach", "nothing") as tty:
        assert await tty.ends() == 4
        assert tty.as_before()


def test_detach_keys_are_control_keys():
    assert detach_key("ctrl-]") == 0x1D
    assert detach_key("^A") == 1
    with pytest.raises(InvalidInput):
        detach_key("x1")
