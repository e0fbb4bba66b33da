"""Terminals: a real controlling terminal, its size, its keys, its end."""

import pytest
from tests.waiting import PATIENCE

from bascule.transport.errors import KeeperError
from bascule.transport.keeper_messages import PtySize

SIZE = PtySize(cols=101, rows=37)


async def test_a_terminal_session_sees_a_terminal_of_the_size_asked(client):
    code = (
        "import os\nprint(all(map(os.isatty, (0, 1, 2))), *os.get_terminal_size(), open('/dev/tty').isatty())"
    )
    await client.spawn("t", code, pty=SIZE)
    notice = await client.exit_of("t")
    assert client.read("t") == b"True 101 37 True\r\n"
    assert (notice.code, notice.err) == (0, 0)


async def test_a_resize_reaches_the_program_clamped(client):
    code = (
        "import os, signal, time\n"
        "tell = lambda *a: os.write(1, b'%d %d\\n' % tuple(os.get_terminal_size()))\n"
        "signal.signal(signal.SIGWINCH, tell)\n"
        "print('up', flush=True)\n"
        "while True: time.sleep(600)"
    )
    await client.spawn("t", code, pty=SIZE)
    await client.output("t", b"up")
    await client.keeper.resize("t", 80, 24)
    await client.output("t", b"80 24")
    await client.keeper.resize("t", 5000, 0)
    await client.output("t", b"1000 1")


async def test_control_c_interrupts_the_foreground_program(client):
    code = (
        "import time\n"
        "try:\n"
        "  print('up', flush=True)\n"
        "  time.sleep(600)\n"
        "except KeyboardInterrupt: print('interrupted', flush=True)"
    )
    await client.spawn("t", code, pty=SIZE)
    await client.output("t", b"up")
    await client.keeper.write("t", "k1", b"\x03")
    await client.output("t", b"interrupted")
    assert (await client.exit_of("t")).code == 0


async def test_typed_lines_are_read_and_closing_stdin_types_end_of_file(client):
    code = "import sys\nfor line in sys.stdin: print('got', line.strip(), flush=True)\nprint('end')"
    await client.spawn("t", code, pty=SIZE)
    await client.keeper.write("t", "k1", b"hello\r")
    await client.output("t", b"got hello")
    await client.keeper.close_stdin("t")
    await client.exit_of("t")
    assert client.read("t").endswith(b"end\r\n")


async def test_a_shell_that_ignores_term_leaves_when_its_terminal_hangs_up(client):
    code = (
        "import signal, sys, tty, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); tty.setraw(0)\n"
        "signal.signal(signal.SIGHUP, lambda *a: sys.exit(5))\n"
        "print('up', flush=True)\n"
        "while True: time.sleep(600)"
    )
    await client.spawn("t", code, pty=SIZE)
    await client.output("t", b"up")
    await client.keeper.end("t", grace_stdin=0.1, grace_term=PATIENCE)
    assert (await client.exit_of("t")).code == 5


async def test_a_terminal_flood_is_spooled_whole(client):
    code = "import sys, tty\ntty.setraw(1)\nfor i in range(200): sys.stdout.buffer.write(b'%05d' % i * 4000)"
    await client.spawn("t", code, pty=SIZE, spool_cap=100_000)
    seen = []
    await client.drain("t", seen.append)
    assert b"".join(seen) == b"".join(b"%05d" % number * 4000 for number in range(200))


async def test_a_session_without_a_terminal_cannot_be_resized(client):
    await client.spawn("a", "import sys; sys.stdin.read()")
    with pytest.raises(KeeperError) as refusal:
        await client.keeper.resize("a", 80, 24)
    assert refusal.value.code == "not_a_terminal"
