"""Programs that the keeper runs for an agent. They end with the session.

A terminal's name says all that a restarted server must know of it: whose it is, which one, and how much of
its output is kept.
"""

import asyncio
import hashlib
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress

import msgspec
from msgspec import Struct

from bascule.agents.command import child_variables, may_set
from bascule.daemon.files.directories import check_directory
from bascule.daemon.processes.keeper_process import KeeperLink
from bascule.drivers.acp.service_calls import HostCall
from bascule.model.errors import (
    AgentFailed,
    BadDirectory,
    HostError,
    InvalidInput,
    LimitReached,
    OutsideRoots,
)
from bascule.session.agent import Exit
from bascule.session.live import Hears
from bascule.transport.errors import KeeperError, KeeperGone, SpoolTrimmed
from bascule.transport.position import Position
from bascule.transport.spool import SpoolReader

MAX_OF_A_SESSION = 16
KEPT_BYTES, MAX_KEPT = 1024 * 1024, 4 * 1024 * 1024
MAX_WORDS, MAX_WORD_BYTES = 4096, 1024 * 1024
# Both outputs are one, in the order they were written; then the program takes this one's place. No shell.
JOIN = """
import os, sys
os.dup2(1, 2)
try:
    os.execvp(sys.argv[1], sys.argv[1:])
except OSError as error:
    os.write(2, f"{sys.argv[1]}: {error.strerror}\\n".encode())
    os._exit(127)
"""


class Variable(Struct):
    name: str
    value: str


class CreateParams(Struct, rename="camel"):
    command: str
    args: list[str] = []
    env: list[Variable] = []
    cwd: str | None = None
    output_byte_limit: int | None = None


class NamedParams(Struct, rename="camel"):
    terminal_id: str


class AgentTerminal:
    """One program that the keeper runs for an agent, updated by the keeper's notices."""

    def __init__(self, keeper: KeeperLink, name: str, limit: int) -> None:
        self.name = name
        self.exit: Exit | None = None
        self.over = asyncio.Event()
        self.released = False
        self.forgetting: asyncio.Task[None] | None = None
        self._keeper = keeper
        self._limit = limit
        self._end = 0

    def output(self, end: int | None = None, err_end: int | None = None) -> None:
        self._end = max(self._end, end or 0)
        if self._keeper.connection is not None:
            kept = Position(self._end, err_end or 0, max(0, self._end - self._limit), err_end or 0)
            self._keeper.connection.post_position(self.name, kept)

    def exited(self, exit: Exit) -> None:
        self._end = max(self._end, exit.out_end)
        self.exit = exit
        self.over.set()

    def tail(self) -> tuple[str, bool]:
        """The end of its output, and whether it is truncated."""
        start = max(0, self._end - self._limit)
        reader = SpoolReader(self._keeper.folder, self.name, "out")
        pieces: list[bytes] = []
        at = start
        try:
            while at < self._end and (piece := reader.read(at, self._end - at)):
                pieces.append(piece)
                at += len(piece)
        except SpoolTrimmed:
            return "", True
        finally:
            reader.close()
        data = b"".join(pieces)
        if start > 0:  # it may begin inside a character
            data = data.lstrip(bytes(range(0x80, 0xC0)))
        return data.decode(errors="replace"), start > 0

    def status(self) -> dict[str, object] | None:
        if self.exit is None:
            return None
        number = self.exit.signal
        return {"exitCode": self.exit.code, "signal": signal.Signals(number).name if number else None}


class AgentTerminals:
    """`hears` maps a process's name to the receiver of the keeper's notices."""

    def __init__(
        self,
        keeper: KeeperLink,
        hears: dict[str, Hears],
        environ: Mapping[str, str],
        own: tuple[str, ...],
    ) -> None:
        self._keeper = keeper
        self._hears = hears
        self._environ = environ
        self._own = own

    async def serve(self, session_id: str, cwd: str, call: HostCall) -> object:
        if call.method == "terminal/create":
            asked = msgspec.json.decode(call.params, type=CreateParams)
            return {"terminalId": await self._create(session_id, cwd, call.call_id, asked)}
        params = msgspec.json.decode(call.params, type=NamedParams)
        terminal = self._find(session_id, params.terminal_id)
        match call.method:
            case "terminal/output":
                text, truncated = await asyncio.to_thread(terminal.tail)
                return {"output": text, "truncated": truncated, "exitStatus": terminal.status()}
            case "terminal/wait_for_exit":
                await terminal.over.wait()
                return terminal.status()
            case "terminal/kill":
                await self._stop(terminal)
                return {}
            case _:
                await self._release(terminal)
                return {}

    def adopt(self, name: str, live: set[str]) -> bool:
        """Take up what a session had running before a restart. False when it is not such a thing."""
        session_id, _, rest = name.partition(".")
        limit = rest.partition(".")[2]
        if session_id not in live or not limit.isdigit():
            return False
        self._hears[name] = AgentTerminal(self._keeper, name, int(limit))
        return True

    async def release_all(self, session_id: str) -> None:
        for terminal in self._of(session_id):
            with suppress(AgentFailed):  # the keeper is away; the next start ends what no session owns
                await self._release(terminal)

    async def _create(self, session_id: str, cwd: str, call_id: str, asked: CreateParams) -> str:
        limit = KEPT_BYTES if asked.output_byte_limit is None else asked.output_byte_limit
        limit = max(0, min(limit, MAX_KEPT))
        # The same call made again after a restart names the same terminal, and the keeper starts it once.
        terminal_id = f"{hashlib.sha256(call_id.encode()).hexdigest()[:12]}.{limit}"
        name = f"{session_id}.{terminal_id}"
        known = self._hears.get(name)
        if known is None and len(self._of(session_id)) >= MAX_OF_A_SESSION:
            raise LimitReached(f"At most {MAX_OF_A_SESSION} terminals at once. Release one first.")
        folder, cwd_stat = self._checked(cwd, asked.cwd)
        argv, env = _argv(asked), self._environment(asked)
        if known is None:
            self._hears[name] = AgentTerminal(self._keeper, name, limit)
        try:
            connection = self._keeper.get()
            await connection.spawn(name, argv, env, folder, spawn_id=name, cwd_stat=cwd_stat)
            await connection.close_stdin(name)
        except (KeeperError, KeeperGone, HostError) as error:
            self._hears.pop(name, None)
            raise AgentFailed(f"It did not start: {error}") from error
        return terminal_id

    def _checked(self, cwd: str, wanted: str | None) -> tuple[str, tuple[int, int]]:
        """The folder a program runs in. No setting lets it out of the session's, so none is named."""
        try:
            return check_directory(cwd if wanted is None else wanted, (cwd,), self._own)
        except OutsideRoots as error:
            raise BadDirectory(f"{wanted} lies outside the session's folder, {cwd}.") from error

    def _environment(self, asked: CreateParams) -> dict[str, str]:
        env = child_variables(self._environ)
        for one in asked.env:
            if not may_set(one.name):
                raise InvalidInput(f"The variable {one.name[:80]!r} can't be set here.")
            env[one.name] = one.value
        return env

    def _find(self, session_id: str, terminal_id: str) -> AgentTerminal:
        found = self._hears.get(f"{session_id}.{terminal_id}")
        if not isinstance(found, AgentTerminal) or found.released:
            raise InvalidInput(f"There is no terminal {terminal_id[:80]!r} in this session.")
        return found

    def _of(self, session_id: str) -> list[AgentTerminal]:
        mine = [one for name, one in self._hears.items() if name.startswith(f"{session_id}.")]
        return [one for one in mine if isinstance(one, AgentTerminal) and not one.released]

    async def _stop(self, terminal: AgentTerminal) -> None:
        if terminal.exit is None:
            try:
                await self._keeper.get().end(terminal.name, grace_stdin=0.0, grace_term=1.0)
            except (KeeperError, KeeperGone, HostError) as error:
                raise AgentFailed(f"It could not be stopped: {error}") from error

    async def _release(self, terminal: AgentTerminal) -> None:
        """End it if it runs; what is kept of it goes when it has ended, or with the next start."""
        terminal.released = True
        await self._stop(terminal)
        terminal.forgetting = asyncio.create_task(self._forget(terminal), name=f"forget {terminal.name}")

    async def _forget(self, terminal: AgentTerminal) -> None:
        await terminal.over.wait()
        self._hears.pop(terminal.name, None)
        try:
            await self._keeper.get().forget(terminal.name)
        except (KeeperError, KeeperGone, HostError):
            return  # the next start sweeps what no session owns


def _argv(asked: CreateParams) -> list[str]:
    words = [asked.command, *asked.args]
    if not asked.command or len(words) > MAX_WORDS or sum(map(len, words)) > MAX_WORD_BYTES:
        raise InvalidInput("A command has one word at least, and not more than a program can be given.")
    if any("\0" in word for word in words):
        raise InvalidInput("A command can't hold a NUL character.")
    return [sys.executable, "-I", "-c", JOIN, *words]
