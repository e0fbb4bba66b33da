"""`bascule attach ID`: shows a session's terminal in this one. Detaching leaves the program running."""

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import termios
import time
import tty
from collections.abc import Generator

from bascule.client import Client
from bascule.client.address import Unreachable
from bascule.client.terminal import Piece, Said, TerminalLine
from bascule.commands import exits
from bascule.commands.request_prompt import command_line, flat
from bascule.commands.server_address import connected
from bascule.model.errors import InvalidInput, Refusal, Refused
from bascule.policy.visible import visible

DETACH = 0x1D  # Ctrl-]
READ = 64 * 1024
PATIENCE = 600.0
PAUSE = 0.5
NEW_KEY_SECONDS = 15.0
AGAIN_SECONDS = 2.0
UNREAD = "The program is not reading. What you typed waits until it does."
# Whatever the program switched on is off again when we leave: this is somebody's own terminal.
MODES_OFF = b"".join(b"\x1b[?%dl" % mode for mode in (1049, 1000, 1002, 1003, 1004, 1006, 2004, 1))
RESTORE = MODES_OFF + b"\x1b>\x1b[?25h\x1b[0m\r\n"


async def attach(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        return await attach_to(client, args.session, detach=detach_key(args.detach_key))


async def attach_to(client: Client, session_id: str, *, detach: int = DETACH) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InvalidInput("attach needs a terminal for input and output.")
    visit = Visit(client, session_id, detach)
    with _raw(sys.stdin.fileno()):
        try:
            code = await visit.run()
        finally:
            _write(RESTORE)
    print(visit.farewell, file=sys.stderr)
    return code


def detach_key(name: str) -> int:
    """`ctrl-]` or `^]` -> its byte."""
    letter = name.lower().removeprefix("ctrl-").removeprefix("^").upper()
    if len(letter) != 1 or not "@" <= letter <= "_":
        raise InvalidInput(f"{name!r} is not a control key; use one such as ctrl-] or ctrl-a.")
    return ord(letter) & 0x1F


class Visit:
    """One attachment to a terminal; it survives reconnects."""

    def __init__(self, client: Client, session_id: str, detach: int) -> None:
        self._client = client
        self._session_id = session_id
        self._detach = detach
        self._next: int | None = None
        self._run: int | None = None
        self._epoch: str | None = None
        self._line: TerminalLine | None = None
        self._leaving = asyncio.Event()
        self._begun = asyncio.Event()
        self._typed: asyncio.Queue[bytes] = asyncio.Queue()
        self._said = ("", 0.0)
        self.farewell = f"Detached; it keeps running. Come back with: {command_line('attach', session_id)}"

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        loop.add_reader(sys.stdin.fileno(), self._read_keys)
        loop.add_signal_handler(signal.SIGWINCH, self._wake_size)
        following = asyncio.create_task(self._follow(), name="attach")
        leaving = asyncio.create_task(self._leaving.wait(), name="detach")
        typing = asyncio.create_task(self._send_keys(), name="keys")
        try:
            await asyncio.wait({following, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return following.result() if following.done() else exits.OK
        finally:
            loop.remove_reader(sys.stdin.fileno())
            loop.remove_signal_handler(signal.SIGWINCH)
            for task in (following, leaving, typing):
                task.cancel()
            await asyncio.gather(following, leaving, typing, return_exceptions=True)

    async def _follow(self) -> int:
        lost_at, refused_at = time.monotonic(), 0.0
        while True:
            try:
                line = await TerminalLine.open(
                    self._client.address,
                    self._session_id,
                    after=self._next,
                    run=self._run,
                    epoch=self._epoch,
                )
            except (Unreachable, Refused) as error:
                now = time.monotonic()
                if isinstance(error, Unreachable):
                    refused_at, give_up = 0.0, now - lost_at > PATIENCE
                else:
                    # A server that has just come back may not have written its new key down yet.
                    refused_at = refused_at or now
                    give_up = self._run is None or now - refused_at > NEW_KEY_SECONDS
                if give_up:
                    raise
                await asyncio.sleep(PAUSE)
                self._client.look_again()
                continue
            async with line:
                ended = await self._show(line)
            if ended is not None:
                return ended
            lost_at, refused_at = time.monotonic(), 0.0

    async def _show(self, line: TerminalLine) -> int | None:
        """Until the connection breaks (None) or the program ends (what to exit with)."""
        try:
            async for one in line:
                match one:
                    case Piece():
                        await asyncio.to_thread(_write, one.data)
                        self._next = one.offset + len(one.data)
                        await line.ack(self._next)
                    case Said(type="begin"):
                        self._run, self._epoch = one.run, one.epoch or None
                        await asyncio.to_thread(_write, one.prelude.encode())
                        await self._take(line, one)
                    case Said(type="skipped"):
                        await asyncio.to_thread(_write, one.prelude.encode())
                    case Said(type="ended"):
                        self.farewell = _ended_words(one)
                        return exits.OK if one.code == 0 else exits.FAILED
                    case Said(type="error"):
                        await asyncio.to_thread(self._say, one.refusal().message)
                    case Said(type="unread") if one.bytes:
                        await asyncio.to_thread(self._say, UNREAD)
                    case Said(type="revoked" | "expired"):
                        raise _let_go(one.type)
                    case _:
                        pass
        except Unreachable:
            return None
        finally:
            self._line = None
        return None

    def _say(self, words: str) -> None:
        """A line of our own between the program's; once, though each piece of a paste may be refused."""
        now = time.monotonic()
        if words != self._said[0] or now - self._said[1] > AGAIN_SECONDS:
            _write(f"\r\n[bascule] {visible(words)}\r\n".encode())
        self._said = words, now

    async def _take(self, line: TerminalLine, begin: Said) -> None:
        self._begun.set()
        if not begin.read_only and not begin.over:
            self._line = line
            await line.resize(*_size())
            await line.claim()

    def _wake_size(self) -> None:
        if self._line is not None:
            self._typed.put_nowait(b"")

    def _read_keys(self) -> None:
        data = os.read(sys.stdin.fileno(), READ)
        if not data or self._detach in data:
            data = data[: data.find(bytes([self._detach]))] if data else b""
            self._leaving.set()
        if data:
            self._typed.put_nowait(data)

    async def _send_keys(self) -> None:
        """In order; what is typed while the server is away is dropped rather than typed later by surprise."""
        await self._begun.wait()
        while True:
            data = await self._typed.get()
            line = self._line
            if line is None:
                continue
            with contextlib.suppress(Unreachable):  # the follower connects again
                if data:
                    await line.keys(data)
                else:
                    await line.resize(*_size())


def _let_go(why: str) -> Refused:
    return Refused(Refusal("FORBIDDEN", f"The token was {why}; ask for a new link."))


def _ended_words(ended: Said) -> str:
    how = f"signal {ended.signal}" if ended.signal is not None else f"exit code {ended.code}"
    return f"The terminal has ended ({flat(ended.message or how)})."


def _size() -> tuple[int, int]:
    size = os.get_terminal_size(sys.stdout.fileno())
    return size.columns, size.lines


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sys.stdout.fileno(), view) :]


@contextlib.contextmanager
def _raw(fd: int) -> Generator[None]:
    """Keys come as they are, and whatever happens the terminal is as it was afterwards."""
    before = termios.tcgetattr(fd)
    tty.setraw(fd, termios.TCSADRAIN)  # what was typed ahead is meant for the session
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
