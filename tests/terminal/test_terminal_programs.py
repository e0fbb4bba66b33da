"""Real full-screen programs, seen by a viewer who comes late: the right screen at once."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.live import LiveServer
from tests.terminal.viewing import Viewer, terminal, viewing

from bascule.drivers.terminal.virtual_screen import Screen

pytestmark = pytest.mark.anyio

LIMITS = "[limits]\nsessions = 0\nspawns_per_minute = 100000\n"


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        shutil.which(program) is None, reason=f"needs {program}: sudo apt install {program}"
    )


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(module_dir, config=LIMITS) as live:
        yield live


def screen_of(viewer: Viewer, cols: int = 80, rows: int = 24) -> list[str]:
    screen = Screen(cols, rows)
    screen.feed(bytes(viewer.data))
    return screen.text()


async def sees(viewer: Viewer, *words: str) -> None:
    await viewer.until(lambda one: all(word in "\n".join(screen_of(one)) for word in words))


@pytest.mark.row("P7")
@needs("vim")
async def test_vim_is_drawn_again_for_whoever_comes(server: LiveServer):
    text = "\n".join(f"line {n} of the file" for n in range(1, 200))
    (server.work / "text").write_text(text)
    session = await terminal(server)
    async with viewing(server, session) as one:
        await one.type("vim -u NONE -N text\r")
        await sees(one, "line 1 of the file", "line 20 of the file")
        # Far more drawing than a tail holds: the beginning of the program's screen is long gone.
        for _ in range(40):
            await one.type("\x06" * 8 + "\x02" * 8)
        await one.type("gg:set ruler\r")
        await sees(one, "line 1 of the file")
    async with viewing(server, session) as late:
        begin = await late.hears("begin")
        assert "\x1b[?1049l" in begin.prelude
        await sees(late, "line 1 of the file", "line 20 of the file")
        await late.type("iHELLO\x1b:wq\r")
        await late.until(lambda v: b"\x1b[?1049l" in v.data)
        await late.type("head -c 5 text; echo; echo qu''it\r")
        await late.shows(b"quit")
    assert (server.work / "text").read_text().startswith("HELLO")


@pytest.mark.row("P7")
@needs("less")
async def test_less_goes_on_after_a_server_restart(server: LiveServer):
    (server.work / "text").write_text("\n".join(f"entry {n}" for n in range(1, 500)))
    session = await terminal(server)
    async with viewing(server, session) as one:
        await one.type("less text\r")
        await sees(one, "entry 23")
        await one.type(" ")
        await sees(one, "entry 46")
    await server.kill()
    await server.start()
    async with viewing(server, session) as late:
        await sees(late, "entry 46")
        await late.type("q")
        await late.type("echo ba''ck\r")
        await late.shows(b"back")


@pytest.mark.row("P7")
@needs("top")
async def test_top_is_seen_by_two_at_the_size_of_the_smaller(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session) as one, viewing(server, session) as two:
        await one.line.resize(100, 30)
        await two.line.resize(80, 24)
        await one.type("top -d 1\r")
        await sees(one, "PID", "COMMAND")
        await sees(two, "PID", "COMMAND")
        async with viewing(server, session) as three:
            await sees(three, "PID", "COMMAND")
        await one.type("q")


@pytest.mark.row("P7")
@needs("tmux")
async def test_tmux_inside_a_terminal_is_redrawn(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session) as one:
        await one.type(f"tmux -S {server.folder}/t -f /dev/null new 'echo in''side; exec cat'\r")
        await sees(one, "inside")
    async with viewing(server, session) as late:
        await sees(late, "inside")
        await late.type("typed\r")
        await sees(late, "typed")
        await late.type(b"\x03")


@needs("vim")
async def test_a_program_that_asks_its_terminal_is_not_typed_to_by_replays(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session) as one:
        await one.type("vim -u NONE -N\r")
        await sees(one, "VIM - Vi IMproved")
        await one.type(":q!\r")
        await one.until(lambda v: b"\x1b[?1049l" in v.data)
        await one.type("echo af''ter\r")
        await one.shows(b"after")
    async with viewing(server, session) as late:
        await late.shows(b"after")
        assert b"\x1b[6n" not in late.data
        assert b"\x1b[>c" not in late.data
