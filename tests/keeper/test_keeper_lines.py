"""Lines for a terminal: what the kernel would cut is refused in words, everything else arrives whole."""

import asyncio
import contextlib
import hashlib
import os
import signal
import termios
import time
import tty

import pytest

from bascule.keeper.lines import LONGEST, TOGETHER_SECONDS, LineGuard
from bascule.transport.errors import KeeperError
from bascule.transport.keeper_messages import PtySize

SIZE = PtySize(cols=80, rows=24)
# Reads as `cat` does, and says of each read what it was.
READER = (
    "import hashlib, os, termios, tty, sys\n"
    "modes = termios.tcgetattr(0); modes[3] &= ~termios.ECHO; termios.tcsetattr(0, termios.TCSANOW, modes)\n"
    "os.write(1, b'up\\r\\n')\n"
    "while data := os.read(0, 1 << 16):\n"
    "  os.write(1, b'<%d %s>' % (len(data), hashlib.sha256(data).hexdigest()[:16].encode()))\n"
)
# Takes everything raw, but only once a first key has come; then says what all of it was.
LATE = (
    "import hashlib, os, sys, tty, time\n"
    "tty.setraw(0); os.write(1, b'up')\n"
    "while not os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
    "left, seen = int(sys.argv[2]), hashlib.sha256()\n"
    "while left:\n"
    "  data = os.read(0, 1 << 16); seen.update(data); left -= len(data)\n"
    "os.write(1, seen.hexdigest().encode())\n"
)


def line_of(length):
    return (b"0123456789abcdef" * (length // 16 + 1))[:length]


def said(data):
    return b"<%d %s>" % (len(data), hashlib.sha256(data).hexdigest()[:16].encode())


async def a_pause():
    """Not to wait for something: what comes at once counts as the rest of what was refused. Judged by the
    keeper's clock: a loop's own may run behind it, and end a sleep too soon."""
    began = time.monotonic()
    while time.monotonic() - began <= TOGETHER_SECONDS:  # noqa: ASYNC110 - no event tells that time has passed
        await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def refused(words):
    with pytest.raises(KeeperError) as caught:
        yield
    assert caught.value.code == "line_too_long"
    assert words in caught.value.message


@pytest.mark.row("REL-36")
async def test_a_line_the_kernel_would_cut_is_held_back_and_said(client):
    await client.spawn("t", READER, pty=SIZE)
    await client.output("t", b"up")
    async with refused("at most 4,095 bytes of a line. This line would have 6,001, so it was held back."):
        await client.keeper.write("t", "k1", line_of(6001) + b"\n")
    await a_pause()
    async with refused("This line would have 4,096"):
        await client.keeper.write("t", "k2", b"short\n" + line_of(4096))
    await a_pause()
    await client.keeper.write("t", "k3", b"fits\r")
    await client.output("t", said(b"fits\n"))
    assert client.read("t").count(b"<") == 1, "nothing of the lines held back has reached the program"


@pytest.mark.row("REL-36")
async def test_the_longest_line_that_fits_arrives_whole(client):
    await client.spawn("t", READER, pty=SIZE)
    await client.output("t", b"up")
    whole = line_of(LONGEST) + b"\n"
    await client.keeper.write("t", "k1", whole)
    await client.output("t", said(whole))


@pytest.mark.row("REL-36")
async def test_a_line_typed_piece_by_piece_is_counted_as_one(client):
    await client.spawn("t", READER, pty=SIZE)
    await client.output("t", b"up")
    for number in range(40):
        await client.keeper.write("t", f"k{number}", line_of(100))
    # The end of the same paste comes right behind, and must not send a half line off.
    keeper = (await client.keeper.hello()).pid
    os.kill(keeper, signal.SIGSTOP)  # until both are there: later, the end would be a line of its own
    writes = [client.keeper.write("t", "k40", line_of(100)), client.keeper.write("t", "k41", b"\n")]
    both = [asyncio.create_task(one) for one in writes]
    await asyncio.sleep(0)
    os.kill(keeper, signal.SIGCONT)
    for one in await asyncio.gather(*both, return_exceptions=True):
        assert isinstance(one, KeeperError)
        assert "4,100 with what is typed already, so the rest was held back" in one.message
    await a_pause()
    await client.keeper.write("t", "k42", b"\x15")  # Ctrl-U throws the line away
    await client.keeper.write("t", "k43", line_of(4000) + b"\n")
    await client.output("t", said(line_of(4000) + b"\n"))
    assert client.read("t").count(b"<") == 1


@pytest.mark.row("REL-36")
async def test_a_megabyte_of_short_lines_arrives_whole(client, tmp_path):
    taken = tmp_path / "taken"
    code = (
        "import os, sys, termios\n"
        "modes = termios.tcgetattr(0); modes[3] &= ~termios.ECHO\n"
        "termios.tcsetattr(0, termios.TCSANOW, modes); os.write(1, b'up')\n"
        "with open(sys.argv[1], 'wb') as file:\n"
        "  while data := os.read(0, 1 << 16): file.write(data)\n"
    )
    await client.spawn("t", code, str(taken), pty=SIZE)
    await client.output("t", b"up")
    text = b"".join(b"%06d %s\n" % (number, line_of(number % 300)) for number in range(6800))
    assert len(text) > 1024 * 1024
    await client.keeper.write("t", "k1", text)
    await client.keeper.close_stdin("t")
    await client.exit_of("t")
    assert hashlib.sha256(taken.read_bytes()).hexdigest() == hashlib.sha256(text).hexdigest()


@pytest.mark.row("REL-36")
async def test_a_raw_program_that_stops_reading_loses_nothing(client, tmp_path):
    go = tmp_path / "go"
    text = line_of(1024 * 1024)
    await client.spawn("t", LATE, str(go), str(len(text)), pty=SIZE)
    await client.output("t", b"up")
    write = asyncio.create_task(client.keeper.write("t", "k1", text))
    # It is not there yet, and whoever wrote it has not been told that it is.
    assert await client.keeper.list()
    assert not write.done()
    go.touch()
    await write
    await client.output("t", b"up" + hashlib.sha256(text).hexdigest().encode())


@pytest.fixture
def pair():
    master, slave = os.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


@pytest.mark.row("REL-36")
def test_what_ends_or_clears_a_line_is_read_from_the_terminals_own_settings(pair):
    master, slave = pair
    long, rest = line_of(4000), line_of(96)
    for ending in (b"\n", b"\r", b"\x04", b"\x15", b"\x03", b"\x1c", b"\x1a", b"\x7f"):
        assert LineGuard(master).refusal(long + ending + rest) is None, ending
    for other in (b"\t", b"\x16\n", b"x"):  # Ctrl-V quotes the character after it
        assert LineGuard(master).refusal(long + other + rest), other
    modes = termios.tcgetattr(slave)
    modes[0] &= ~termios.ICRNL
    modes[3] &= ~termios.ISIG
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    for character in (b"\r", b"\x03"):
        assert LineGuard(master).refusal(long + character + rest), character


@pytest.mark.row("REL-36")
def test_what_a_raw_program_was_typed_does_not_count_for_a_later_line(pair):
    master, slave = pair
    before = termios.tcgetattr(slave)
    guard = LineGuard(master)
    tty.setraw(slave)
    assert guard.refusal(line_of(6001)) is None
    for _ in range(5000):
        assert guard.refusal(b"j") is None
    termios.tcsetattr(slave, termios.TCSANOW, before)
    assert guard.refusal(line_of(3800)) is None


@pytest.mark.row("REL-36")
def test_what_comes_soon_after_a_refused_line_is_its_rest_and_later_a_line_of_its_own(pair):
    now = 100.0
    guard = LineGuard(pair[0], lambda: now)
    assert guard.refusal(line_of(6001))
    now += 0.2
    assert guard.refusal(b"rest\n")
    now += 0.2
    assert guard.refusal(b"of it\n"), "counted from the last piece"
    now += 0.3
    assert guard.refusal(b"another line\n") is None
