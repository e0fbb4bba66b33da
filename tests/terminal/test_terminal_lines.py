"""Keys for a terminal's program: none is cut off or left waiting in silence, by the API or by `attach`."""

import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.cli.test_cli_attach import Tty
from tests.live import LiveServer
from tests.terminal.viewing import terminal, viewing

pytestmark = pytest.mark.anyio

LONG = b"0123456789" * 600 + b"!"


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(module_dir, env={"SHELL": "/bin/sh"}) as live:
        yield live


@pytest.mark.row("REL-36")
async def test_a_viewer_is_told_of_a_line_the_program_cannot_take(server: LiveServer) -> None:
    session = await terminal(server)
    async with viewing(server, session) as page:
        await page.type("stty -echo; echo rea''dy; cat > taken; echo clo''sed\r")
        await page.shows(b"ready")
        await page.line.keys(LONG + b"\r")
        told = await page.until(lambda one: next((said for said in one.said if said.type == "error"), None))
        refusal = told.refusal().refusal()
        assert refusal.code == "LINE_TOO_LONG"
        assert "at most 4,095 bytes of a line. This line would have 6,001" in refusal.message
        text = b"".join(b"%06d %s\r" % (number, b"x" * (number % 250)) for number in range(7800))
        await page.line.keys(b"\x15")  # a person clears the line: what was refused is over
        await page.line.keys(text)
        await page.line.keys(b"\x04")
        await page.shows(b"closed")
    taken = (server.work / "taken").read_bytes()
    assert hashlib.sha256(taken).digest() == hashlib.sha256(text.replace(b"\r", b"\n")).digest()


@pytest.mark.row("REL-36")
async def test_a_program_that_does_not_read_is_reported_and_loses_nothing(server: LiveServer) -> None:
    """It reads raw, so that everything is taken as it is; and not before a file is there."""
    reader = server.work / "reader.py"
    reader.write_text(
        "import hashlib, os, time, tty\n"
        "tty.setraw(0); os.write(1, b'DE' + b'AF')\n"
        "while not os.path.exists('go'): time.sleep(0.02)\n"
        "left, seen = 300_000, hashlib.sha256()\n"
        "while left:\n"
        "  data = os.read(0, 65536); seen.update(data); left -= len(data)\n"
        "os.write(1, seen.hexdigest().encode())\n"
    )
    session = await terminal(server)
    text = os.urandom(150_000).hex().encode()
    async with viewing(server, session) as page:
        await page.type("python3 reader.py\r")
        await page.shows(b"DEAF")
        await page.line.keys(text)
        told = await page.until(lambda one: next((said for said in one.said if said.type == "unread"), None))
        assert told.bytes == 300_000
        (server.work / "go").touch()
        await page.shows(hashlib.sha256(text).hexdigest().encode())
        await page.until(lambda one: one.said[-1].type == "unread" and one.said[-1].bytes == 0)


@pytest.mark.row("REL-36")
async def test_attach_reports_input_that_was_refused(server: LiveServer) -> None:
    session = await terminal(server)
    async with Tty(server, "attach", session) as tty:
        await tty.shows(b"\x1b[!p")
        tty.type(b"stty -echo; echo rea''dy; cat > taken; echo clo''sed\r")
        await tty.shows(b"ready")
        tty.type(LONG[:3000])
        tty.type(LONG[3000:])
        await tty.shows(b"[bascule] The program reads line by line")
        tty.type(b"\x1d")
        assert await tty.ends() == 0
        assert tty.data.count(b"[bascule]") == 1


WRITER = """
import hashlib, os, sys, time
seen = hashlib.sha256()
os.write(1, b"<<" + b"<")
while True:
    last = os.path.exists("storm-is-over")
    piece = os.urandom(2048).hex().encode()
    seen.update(piece)
    while piece:
        piece = piece[os.write(1, piece):]
    if last:
        break
    time.sleep(0.001)  # so that it lasts as long as the storm, and no more than that is written
while os.get_terminal_size(1) != (123, 45):  # pages hear of a size when it is on its way to the keeper
    time.sleep(0.01)
columns, rows = os.get_terminal_size(1)
os.write(1, b">>" + b"> %d %d %s." % (columns, rows, seen.hexdigest().encode()))
"""


@pytest.mark.row("REL-36")
async def test_500_resizes_while_output_flows_lose_no_byte(server: LiveServer) -> None:
    (server.work / "writer.py").write_text(WRITER)
    session = await terminal(server)
    async with viewing(server, session, after=0, lag=0) as page:
        await page.type("python3 writer.py\r")
        await page.shows(b"<<<")
        for number in range(500):
            await page.line.resize(60 + number % 41, 20 + number % 23)
        await page.line.resize(123, 45)
        await page.until(lambda one: any((said.cols, said.rows) == (123, 45) for said in one.said))
        (server.work / "storm-is-over").touch()
        await page.until(lambda one: one.data.rstrip(b"\r\n$# ").endswith(b".") and b">>>" in one.data)
        written, _, told = bytes(page.data).partition(b"<<<")[2].partition(b">>>")
    sizes = {(said.cols, said.rows) for said in page.said if said.type == "size"}
    assert len(sizes) > 100
    assert told.split(b".")[0].decode() == f" 123 45 {hashlib.sha256(written).hexdigest()}"


@pytest.mark.row("REL-36")
async def test_1_mb_that_is_written_just_before_the_end_arrives_whole(server: LiveServer) -> None:
    text = os.urandom(500_000).hex().encode()
    (server.work / "last").write_bytes(text)
    session = await terminal(server)
    async with viewing(server, session, after=0, lag=0) as page:
        await page.type("stty -echo; echo rea''dy; exec cat last\r")
        ended = await page.hears("ended")
        assert (ended.code, ended.reason) == (0, "exited")
        await page.over()
    async with viewing(server, session, after=0, lag=0) as late:
        await late.over()
    for one in (page, late):
        last = bytes(one.data).partition(b"ready\r\n")[2]
        assert hashlib.sha256(last).digest() == hashlib.sha256(text).digest()
