"""An agent's process, as the session sees it, run by the keeper."""

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bascule.model.errors import AgentFailed, BasculeError, HostError, LineTooLong
from bascule.model.records import Write
from bascule.session.agent import ProcessUnreachable, SpawnPlan
from bascule.transport.errors import KeeperError, KeeperGone
from bascule.transport.keeper import UNKNOWN, KeeperConnection
from bascule.transport.keeper_messages import PtySize
from bascule.transport.position import Position
from bascule.transport.spool import SpoolReader

log = logging.getLogger(__name__)

NO_CAGES = (
    "The process that holds this machine's agents is of an earlier version, which has no cages, so nothing "
    "was started. End every session and the server with `bascule down`, and start Bascule again."
)
KILL_SECONDS = 0.5  # between asking it to stop and stopping it


class KeeperLink:
    """Holds the current connection to the keeper, which is replaced on reconnect."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.connection: KeeperConnection | None = None

    def get(self) -> KeeperConnection:
        if self.connection is None:
            raise ProcessUnreachable("The keeper does not answer.")
        return self.connection


class KeeperProcess:
    """Implements `TerminalProcess` with requests to the keeper."""

    def __init__(
        self, keeper: KeeperLink, name: str, *, grace_stdin: float = 2.0, grace_term: float = 5.0
    ) -> None:
        self.name = name
        self._grace_stdin = grace_stdin
        self._grace_term = grace_term
        self._keeper = keeper
        self._out = SpoolReader(keeper.folder, name, "out")
        self._err = SpoolReader(keeper.folder, name, "err")

    async def spawn(self, plan: SpawnPlan) -> int:
        try:
            spawned = await self._keeper.get().spawn(
                self.name,
                plan.argv,
                plan.env,
                plan.cwd,
                spawn_id=plan.spawn_id,
                cwd_stat=plan.cwd_stat,
                pty=PtySize(*plan.pty) if plan.pty else None,
                label=plan.label,
                cage=plan.cage,
            )
        except KeeperError as error:
            if error.code == UNKNOWN and plan.cage is not None:
                raise AgentFailed(NO_CAGES, reason="no_cage") from error
            raise AgentFailed(f"The agent did not start: {error.message}", reason=error.code) from error
        except (KeeperGone, ProcessUnreachable) as error:
            raise AgentFailed("The keeper went away while starting the agent. Try again.") from error
        return spawned.pid

    async def write(self, write: Write) -> None:
        try:
            await self._keeper.get().write(self.name, write.write_id, write.data)
        except (KeeperError, KeeperGone) as error:
            raise _not_written(error) from error

    def post_write(self, write: Write, delivered: Callable[[BasculeError | None], None]) -> None:
        done = partial(_written, delivered)
        self._keeper.get().post_write(self.name, write.write_id, write.data, done)

    async def unread(self) -> int | None:
        try:
            return await self._keeper.get().unread(self.name)
        except (KeeperError, KeeperGone) as error:
            raise ProcessUnreachable(f"Nobody can tell: {error}") from error

    def post_resize(self, cols: int, rows: int) -> None:
        self._keeper.get().post_resize(self.name, cols, rows, self._resized)

    def _resized(self, error: KeeperError | KeeperGone | None) -> None:
        if error is not None:  # it has ended meanwhile, and its exit says so
            log.debug("terminal %s could not be resized: %s", self.name, error)

    async def end(self) -> None:
        try:
            await self._keeper.get().end(
                self.name, grace_stdin=self._grace_stdin, grace_term=self._grace_term
            )
        except (KeeperError, KeeperGone) as error:
            raise AgentFailed(f"The agent could not be stopped: {error}") from error

    async def kill(self) -> None:
        try:
            await self._keeper.get().end(self.name, grace_stdin=0.0, grace_term=KILL_SECONDS)
        except (KeeperError, KeeperGone) as error:
            raise AgentFailed(f"The agent could not be stopped: {error}") from error

    async def forget(self) -> None:
        try:
            await self._keeper.get().forget(self.name)
        except (KeeperError, KeeperGone, ProcessUnreachable):
            # The next start sweeps whatever the keeper holds of sessions that are over.
            return

    def read_out(self, offset: int, limit: int) -> bytes:
        return self._out.read(offset, limit)

    def read_err(self, offset: int, limit: int) -> bytes:
        return self._err.read(offset, limit)

    def position(self, *, out: int, err: int, trim_out: int, trim_err: int) -> None:
        if self._keeper.connection is not None:
            self._keeper.connection.post_position(self.name, Position(out, err, trim_out, trim_err))

    def close(self) -> None:
        if self._keeper.connection is not None:
            self._keeper.connection.close_input(self.name)
        self._out.close()
        self._err.close()


def _written(
    delivered: Callable[[BasculeError | None], None], error: KeeperError | KeeperGone | None
) -> None:
    delivered(None if error is None else _not_written(error))


def _not_written(error: KeeperError | KeeperGone) -> BasculeError:
    if isinstance(error, KeeperGone):
        return ProcessUnreachable("The keeper went away.")
    if error.code == "line_too_long":
        return LineTooLong(error.message)
    return HostError(error.message, reason=error.code)
