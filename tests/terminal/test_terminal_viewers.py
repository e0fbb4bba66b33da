"""Several viewers of one terminal: one size, one who answers, and none who slows another."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.live import LiveServer
from tests.terminal.viewing import Viewer, terminal, viewing

pytestmark = pytest.mark.anyio

LIMITS = "[limits]\nsessions = 0\nspawns_per_minute = 100000\n"
# Asks its terminal something, waits until each of these letters was typed, and tells in hex what else came.
ASKER = r"""
import os, sys, termios, tty
letters, query = sys.argv[1].encode(), sys.argv[2].encode().decode("unicode_escape").encode()
old = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, query + b"asked.")
got = b""
while not all(one in got for one in letters):
    got += os.read(0, 4096)
termios.tcsetattr(0, termios.TCSADRAIN, old)
print("got=<" + got.translate(None, letters).hex() + ">", "<>" + "over", sep="\n", flush=True)
"""


def ask(query: str, letters: str = "X") -> str:
    """The line that asks; whoever is to answer types a letter after it, so that no clock decides."""
    return f"{sys.executable} -S asker.py {letters} '{query}'\r"


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(module_dir, config=LIMITS, env={"SHELL": "/bin/sh"}) as live:
        (live.work / "asker.py").write_text(ASKER)
        yield live


async def size_of(viewer: Viewer) -> bytes:
    mark = len(viewer.data)
    await viewer.type("stty size; echo si''zed\r")
    await viewer.shows(b"sized", after=mark)
    return bytes(viewer.data[mark:])


@pytest.mark.row("REL-38", "P7")
async def test_the_smallest_window_decides_until_it_leaves(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session) as one, viewing(server, session) as two:
        await one.line.resize(120, 40)
        await one.until(lambda v: (v.said[-1].cols, v.said[-1].rows, v.said[-1].owner) == (120, 40, True))
        await two.line.resize(90, 50)
        await one.until(lambda v: (v.said[-1].cols, v.said[-1].rows) == (90, 40))
        async with viewing(server, session) as three:
            await three.line.resize(100, 20)
            await one.until(lambda v: (v.said[-1].cols, v.said[-1].rows) == (90, 20))
            assert b"20 90" in await size_of(one)
        await one.until(lambda v: (v.said[-1].cols, v.said[-1].rows) == (90, 40))
        assert b"40 90" in await size_of(one)
        await two.until(lambda v: (v.said[-1].cols, v.said[-1].rows) == (90, 40))
        owners = [v for v in (one, two) if v.said[-1].owner]
        assert len(owners) == 1


@pytest.mark.row("REL-38")
async def test_whoever_claims_decides_alone(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session) as one, viewing(server, session) as two:
        await one.line.resize(60, 20)
        await two.line.resize(100, 30)
        await two.line.claim()
        await one.until(lambda v: (v.said[-1].cols, v.said[-1].rows) == (100, 30))
        assert (one.said[-1].owner, one.said[-1].replies) == (False, False)
        await two.until(lambda v: v.said[-1].owner and v.said[-1].replies)
        assert b"30 100" in await size_of(one)


@pytest.mark.row("P7")
async def test_by_setting_the_one_who_types_decides(short_dir: Path):
    config = LIMITS + '[terminal]\nsize_owner = "typing"\n'
    async with LiveServer(short_dir, config=config) as server:
        session = await terminal(server)
        async with viewing(server, session) as one, viewing(server, session) as two:
            await one.line.resize(60, 20)
            await two.line.resize(100, 30)
            await one.until(lambda v: (v.said[-1].cols, v.said[-1].rows) == (60, 20))
            await two.type("\r")
            await one.until(lambda v: (v.said[-1].cols, v.said[-1].rows) == (100, 30))
            assert b"30 100" in await size_of(two)


@pytest.mark.row("S54", "REL-38")
async def test_three_viewers_answer_and_one_answer_arrives(server: LiveServer):
    session = await terminal(server)
    async with (
        viewing(server, session) as one,
        viewing(server, session) as two,
        viewing(server, session) as three,
    ):
        everybody = (one, two, three)
        assert [v.said[-1].replies for v in everybody if await v.hears("size")].count(True) == 1
        await one.type(ask(r"\033[c\033[6n", "XYZ"))
        for viewer, letter in zip(everybody, "XYZ", strict=True):
            await viewer.shows(b"\x1b[c\x1b[6n")
            await viewer.type(b"\x1b[?1;2c")
            await viewer.type(b"\x1b[5;7R")
            await viewer.type(letter)
        await one.shows(b"<>over")
        assert b"got=<1b5b3f313b32631b5b353b3752>" in one.data


@pytest.mark.row("S54", "P9")
async def test_an_attackers_text_never_comes_back_as_keystrokes(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session) as one:
        await one.type(ask(r"\033]0;touch pwned\007\033[21t\033]52;c;?\007\033P+q544e\033\134"))
        await one.shows(b"\x1b[21t")
        assert b"\x1b]52" not in one.data
        await one.type(b"\x1b]ltouch pwned\x1b\\")
        await one.type(b"\x1b]52;c;cm0gLXJm\x07")
        await one.type(b"\x1bP1+r544e=78\x1b\\")
        await one.type("X")
        await one.shows(b"<>over")
        assert b"got=<>" in one.data


@pytest.mark.row("S54")
async def test_without_viewers_no_query_is_answered_and_a_late_viewer_is_not_asked_again(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session) as one:
        await one.type("sleep 1; " + ask(r"\033[c"))
        await one.shows(b"sleep 1")
    async with viewing(server, session) as late:
        await late.shows(b"asked.")
        await late.type("X")
        await late.shows(b"<>over")
        await late.leave()
    async with viewing(server, session) as later:
        await later.shows(b"<>over")
        assert b"got=<>" in later.data
        assert b"\x1b[c" not in later.data, "what was asked before is not asked again"


@pytest.mark.row("S54")
async def test_when_the_answering_viewer_leaves_another_one_answers(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session) as one, viewing(server, session) as two:
        await two.hears("size")
        first = one if (await one.hears("size")).replies else two
        assert first is one
        await one.leave()
        await two.until(lambda v: v.said[-1].replies)
        await two.type(ask(r"\033[5n"))
        await two.shows(b"\x1b[5n")
        await two.type(b"\x1b[0n")
        await two.type("X")
        await two.shows(b"got=<1b5b306e>")


@pytest.mark.row("REL-37")
async def test_a_slow_viewer_skips_and_slows_nobody(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session) as quick, viewing(server, session, after=0) as slow:
        # The slow one acks nothing more after this, so it is sent a window and waits.
        await slow.line.ack(0)
        await quick.type("seq 1 1000000; echo do''ne\r")
        await quick.until(lambda v: b"done" in v.data[-200:])
        await slow.line.ack(slow.next)
        skipped = await slow.hears("skipped")
        assert skipped.to - skipped.skipped_from > 1_000_000
        assert skipped.prelude
        await slow.line.ack(slow.next)
        await slow.until(lambda v: b"done" in v.data[-200:])
        assert len(slow.data) < 4_000_000


@pytest.mark.row("REL-37")
async def test_every_byte_of_a_large_output_is_on_the_tape(server: LiveServer):
    session = await terminal(server)
    async with viewing(server, session, after=0, lag=0) as viewer:
        await viewer.type("PS1=; stty -echo -onlcr; echo be''gin\r")
        await viewer.shows(b"begin\n")
        await viewer.type("head -c 40000000 /dev/zero | tr '\\0' 'y'; echo e''nd\r")
        await viewer.until(lambda v: b"end\n" in v.data[-20:])
        body = bytes(viewer.data)
        start = body.index(b"begin\n") + 6
        assert body[start : start + 40_000_000] == b"y" * 40_000_000


@pytest.mark.row("REL-37")
async def test_broken_utf8_and_split_characters_arrive_as_they_were(server: LiveServer):
    data = bytes(range(128, 256)) + "é😀".encode() * 100
    (server.work / "bytes").write_bytes(data)
    session = await terminal(server)
    async with viewing(server, session) as viewer:
        await viewer.type("stty -onlcr; for i in 1 2 3; do dd if=bytes bs=7 2>/dev/null; done; echo o''ver\r")
        await viewer.shows(b"over\n")
        assert data * 3 in bytes(viewer.data)


async def test_a_ticket_opens_one_terminal_once(server: LiveServer):
    session = await terminal(server)
    made = await server.post("/api/tickets", purpose="terminal", sessionId=session)
    assert made.status_code == 200
    assert (await server.post("/api/tickets", purpose="terminal")).status_code == 400
