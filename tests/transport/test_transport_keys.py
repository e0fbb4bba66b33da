"""A terminal's keys over a borrowed descriptor: in order, none lost, and the descriptor is given back."""

import asyncio
import contextlib
import errno
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import PATIENCE

from bascule.keeper.frames import FrameReader, encode
from bascule.keeper.lines import LONGEST, TOGETHER_SECONDS
from bascule.transport import keys, loan
from bascule.transport.errors import KeeperError, KeeperGone
from bascule.transport.keeper import KeeperConnection, ensure_keeper
from bascule.transport.keeper_messages import ExitNotice, PtySize
from bascule.transport.spool import SpoolReader

SIZE = PtySize(80, 24)
# In raw mode the kernel echoes nothing: all that is shown was read by the program.
READER = (
    "import os, tty; tty.setraw(0); os.write(1, b'up\\n')\nwhile data := os.read(0, 65536): os.write(1, data)"
)
DEAF = (
    "import os, sys, time, tty; tty.setraw(0); os.write(1, b'up\\n')\n"
    "while not os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
    "while data := os.read(0, 65536): os.write(1, data)"
)
LINES = "import sys; print('up', flush=True)\nfor line in sys.stdin: print(len(line), flush=True)"


class Typist:
    """A terminal, the keys typed into it and what became of each."""

    def __init__(self, connection: KeeperConnection, folder: Path, session: str) -> None:
        self.connection, self.folder, self.session = connection, folder, session
        self.outcomes: list[KeeperError | KeeperGone | None] = []
        self.typed = 0

    def type(self, data: bytes) -> None:
        self.typed += 1
        self.connection.post_write(self.session, f"k{self.typed}", data, self.outcomes.append)

    async def told(self) -> None:
        await until(lambda: len(self.outcomes) == self.typed)

    async def borrow(self) -> None:
        """Type until the keys go straight into the terminal."""
        async with asyncio.timeout(PATIENCE):
            while not self.is_direct:
                self.type(b".")
                await self.told()
                await asyncio.sleep(0.001)

    @property
    def keys(self) -> Any:
        return self.connection._keys[self.session]

    @property
    def is_direct(self) -> bool:
        known = self.connection._keys.get(self.session)
        return known is not None and known._fd >= 0 and known._room > 0

    def shown(self) -> bytes:
        reader = SpoolReader(self.folder, self.session, "out")
        try:
            return reader.read(0, 8 << 20)
        finally:
            reader.close()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - another process sends no event
            await asyncio.sleep(0.005)


@pytest.fixture
async def connection(folder):
    await ensure_keeper(folder)
    made = await KeeperConnection.connect(folder)
    yield made
    # What a test left running would otherwise be waited for as long as an agent may take to leave.
    with contextlib.suppress(KeeperGone):
        for state in await made.list():
            if state.pid is not None and state.exit is None:
                os.kill(state.pid, signal.SIGKILL)
    await made.aclose()


async def typist(connection: KeeperConnection, folder: Path, session: str, code: str, *args: str) -> Typist:
    argv = [sys.executable, "-S", "-c", code, *args]
    await connection.spawn(session, argv, {"PATH": os.environ["PATH"]}, "/", spawn_id=session, pty=SIZE)
    one = Typist(connection, folder, session)
    await until(lambda: b"up" in one.shown())
    return one


def open_terminals() -> int:
    """How many terminals' descriptors this process holds."""
    count = 0
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            count += "ptmx" in os.readlink(link)
    return count


async def test_keys_and_pastes_arrive_in_the_order_they_were_typed_whichever_way_they_go(connection, folder):
    one = await typist(connection, folder, "t", READER)
    await one.borrow()
    dots = one.typed
    expected = b"up\n" + b"." * dots
    direct = 0
    for number in range(400):
        direct += one.is_direct and not one.keys._under_way
        piece = b"<%d>" % number * (300 if number % 37 == 0 else 1)
        one.type(piece)
        expected += piece
        if number % 5 == 0:
            await asyncio.sleep(0.002)
        if number % 37 == 18:  # however slow the keeper is, some keys come when it has nothing under way
            await one.told()
    await one.told()
    assert set(one.outcomes) == {None}
    assert direct > 20
    await until(lambda: len(one.shown()) >= len(expected))
    assert one.shown() == expected


async def test_a_key_costs_no_request_and_its_outcome_is_known_at_once(connection, folder):
    one = await typist(connection, folder, "t", READER)
    await one.borrow()
    one.type(b"a")  # the keeper hears of this one, and of no other for a while
    before, outcomes = connection._protocol._last_id, len(one.outcomes)
    for _ in range(20):
        one.type(b"k")
    assert connection._protocol._last_id - before <= 1
    assert one.outcomes[outcomes:] == [None] * 20
    await until(lambda: one.shown().endswith(b"k" * 20))


async def test_a_program_that_does_not_read_gets_everything_in_order_once_it_does(
    connection, folder, tmp_path
):
    one = await typist(connection, folder, "t", DEAF, str(tmp_path / "go"))
    await one.borrow()
    expected = b"up\n" + b"." * one.typed
    while one.keys._under_way == 0 or one.keys._fd < 0:  # until the terminal is full: the keeper has it then
        piece = b"%06d " % one.typed * 30
        one.type(piece)
        expected += piece
        if one.keys._under_way and len(expected) < 12_000:
            await one.told()
        assert len(expected) < 1 << 20
    while len(expected) < 200_000:
        piece = b"%06d;" % one.typed * 9
        one.type(piece)
        expected += piece
    await asyncio.sleep(0)
    assert len(one.outcomes) < one.typed
    (tmp_path / "go").touch()
    await one.told()
    await until(lambda: len(one.shown()) >= len(expected))
    assert one.shown() == expected
    assert set(one.outcomes) == {None}
    await one.borrow()


async def test_a_key_after_a_resize_comes_after_it(connection, folder):
    code = (
        "import os, signal, tty; tty.setraw(0)\n"
        "signal.signal(signal.SIGWINCH, lambda *a: os.write(1, b'R'))\n"
        "os.write(1, b'up\\n')\nwhile data := os.read(0, 1): os.write(1, data)"
    )
    one = await typist(connection, folder, "t", code)
    await one.borrow()
    for number in range(10):
        connection.post_resize("t", 90 + number, 30, one.outcomes.append)
        one.typed += 1
        assert one.keys._under_way
        one.type(b"k")
        await until(lambda: one.shown().count(b"k") == number + 1)  # noqa: B023 - it has run by then
    assert one.shown().replace(b".", b"") == b"up\n" + b"Rk" * 10


async def test_a_line_that_the_kernel_would_cut_is_refused_with_keys_counted_on_both_ways(connection, folder):
    one = await typist(connection, folder, "t", LINES)
    await one.borrow()
    one.type(b"\n")
    await one.told()
    for _ in range(100):
        one.type(b"k")
    one.type(b"p" * (LONGEST - 150))
    await one.told()
    assert set(one.outcomes) == {None}
    refused = 0
    for _ in range(100):  # 50 more fit
        one.type(b"k")
        await one.told()
        refused += one.outcomes[-1] is not None
    assert refused >= 50
    assert {outcome.code for outcome in one.outcomes if isinstance(outcome, KeeperError)} == {"line_too_long"}
    taken = LONGEST - 50 + 100 - refused
    assert taken <= LONGEST
    told = time.monotonic()
    await until(lambda: time.monotonic() - told > TOGETHER_SECONDS)  # what comes sooner is of the same paste
    one.type(b"\n")
    await one.told()
    await until(lambda: b"\r\n%d\r\n" % (taken + 1) in one.shown() or b"\r\n%d\r\n" % taken in one.shown())


async def test_the_end_of_the_program_closes_the_duplicate_and_later_keys_are_refused(connection, folder):
    exits: list[Any] = []
    await connection.watch(lambda notice: exits.append(notice) if isinstance(notice, ExitNotice) else None)
    before = open_terminals()
    one = await typist(connection, folder, "t", READER)
    await one.borrow()
    assert open_terminals() == before + 1
    await connection.end("t", grace_stdin=0, grace_term=1)
    await until(lambda: exits)
    await until(lambda: open_terminals() == before)
    one.type(b"late")
    await one.told()
    assert isinstance(one.outcomes[-1], KeeperError)
    assert one.outcomes[-1].code in ("ended", "stdin_closed")


async def test_a_program_that_is_hung_up_on_by_a_dead_keeper_is_not_kept_by_our_duplicate(
    connection, folder, tmp_path
):
    code = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGHUP, lambda *a: (open(sys.argv[1], 'w').close(), os._exit(0)))\n"
        "os.write(1, b'up\\n')\nwhile True: time.sleep(600)"
    )
    before = open_terminals()
    one = await typist(connection, folder, "t", code, str(tmp_path / "hung up"))
    await one.borrow()
    os.kill((await connection.hello()).pid, signal.SIGKILL)
    await until((tmp_path / "hung up").exists)
    assert open_terminals() == before
    one.type(b"late")
    await one.told()
    assert isinstance(one.outcomes[-1], KeeperGone)


async def test_keys_of_a_killed_server_and_of_the_next_one_are_all_there(connection, folder):
    code = (
        "import asyncio, os, sys\n"
        "from pathlib import Path\n"
        "from bascule.transport.keeper import KeeperConnection\n"
        "async def main():\n"
        "    keeper = await KeeperConnection.connect(Path(sys.argv[1]))\n"
        "    count, told = 0, []\n"
        "    while count < 50 or len(told) < count or not keeper._keys['t']._room:\n"
        "        count += 1\n"
        "        keeper.post_write('t', f'a{count}', b'a', told.append)\n"
        "        await asyncio.sleep(0.005)\n"
        "    os.write(1, b'%d' % count)\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())"
    )
    one = await typist(connection, folder, "t", READER)
    words = [sys.executable, "-c", code, str(folder)]
    server = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    count, _ = await asyncio.wait_for(server.communicate(), PATIENCE)
    assert server.returncode == -signal.SIGKILL
    await one.borrow()
    one.type(b"z")
    await until(lambda: one.shown().endswith(b"z"))
    assert one.shown() == b"up\n" + b"a" * int(count) + b"." * (one.typed - 1) + b"z"


async def test_only_one_server_holds_a_terminal(connection, folder):
    before = open_terminals()
    one = await typist(connection, folder, "t", READER)
    await one.borrow()
    second = await KeeperConnection.connect(folder)
    other = Typist(second, folder, "t")
    other.typed = 1000
    other.outcomes = [None] * 1000
    await other.borrow()
    await until(lambda: not one.is_direct)
    await until(lambda: open_terminals() == before + 1)
    await second.aclose()
    await until(lambda: open_terminals() == before)


async def test_a_hundred_terminals_are_given_back_when_nobody_types(connection, folder, monkeypatch):
    before = open_terminals()
    names = [f"t{number}" for number in range(100)]
    for name in names:
        await connection.spawn(name, ["/bin/cat"], {}, "/", spawn_id=name, pty=SIZE)
    typists = [Typist(connection, folder, name) for name in names]
    monkeypatch.setattr(keys, "IDLE_SECONDS", 0.2)
    for one in typists:
        one.type(b"x")
    await until(lambda: open_terminals() == before)
    for one in typists:
        one.type(b"y")
        await one.told()
    assert {outcome for one in typists for outcome in one.outcomes} == {None}
    await until(lambda: all(b"xy" in one.shown() for one in typists))


async def test_without_room_for_another_file_keys_go_by_the_keeper(connection, folder, monkeypatch):
    def full(*_: object) -> Any:
        raise OSError(errno.EMFILE, "too many open files")

    one = await typist(connection, folder, "t", READER)
    monkeypatch.setattr(loan.socket, "socket", full)
    for number in range(30):
        one.type(b"%02d" % number)
        await one.told()
    assert not one.is_direct
    await until(lambda: one.shown() == b"up\n" + b"".join(b"%02d" % number for number in range(30)))


async def test_a_descriptor_that_did_not_come_is_not_used(connection, folder, monkeypatch):
    def cut(line: Any, size: int, most: int, flags: int = 0) -> Any:
        return line.recv(size), [], socket.MSG_CTRUNC, None

    one = await typist(connection, folder, "t", READER)
    monkeypatch.setattr(loan.socket, "recv_fds", cut)
    for _ in range(10):
        one.type(b"k")
        await one.told()
    await until(lambda: one.keys._loan is None)
    assert not one.is_direct
    assert set(one.outcomes) == {None}


async def test_the_duplicate_is_not_inherited_by_programs_we_start(connection, folder):
    one = await typist(connection, folder, "t", READER)
    await one.borrow()
    assert not os.get_inheritable(one.keys._fd)
    assert not os.get_blocking(one.keys._fd)


class OldKeeper(asyncio.Protocol):
    """A keeper from before `lend`: it takes writes, and knows nothing newer."""

    def __init__(self, seen: list[Any]) -> None:
        self._seen, self._frames = seen, FrameReader()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._frames.feed(data)
        while frame := self._frames.next():
            message, blob = frame
            self._seen.append((message["op"], set(message), blob))
            answer: dict[str, Any] = {"id": message["id"]}
            if message["op"] == "write":
                answer["ok"] = {}
            else:
                answer |= {"error": "unknown_op", "message": "no such operation"}
            self._transport.write(encode(answer))


async def test_a_keeper_that_is_older_than_lending_gets_every_key_by_request(tmp_path):
    seen: list[Any] = []
    path = tmp_path / "keeper.sock"
    server = await asyncio.get_running_loop().create_unix_server(lambda: OldKeeper(seen), str(path))
    connection = await KeeperConnection.connect(tmp_path)
    one = Typist(connection, tmp_path, "t")
    for number in range(20):
        one.type(b"%02d" % number)
        await one.told()
        await asyncio.sleep(0.001)
    assert one.outcomes == [None] * 20
    writes = [(fields, blob) for operation, fields, blob in seen if operation == "write"]
    assert [blob for _, blob in writes] == [b"%02d" % number for number in range(20)]
    assert {frozenset(fields) for fields, _ in writes} == {frozenset({"id", "op", "session", "write_id"})}
    assert [operation for operation, *_ in seen if operation != "write"] == ["lend"]
    await connection.aclose()
    server.close()
