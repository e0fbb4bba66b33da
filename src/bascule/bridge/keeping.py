"""A bridge's connection to its keeper: opens it on first use, ends programs of dead owners."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path

from bascule.bridge.bridge_types import BridgeError
from bascule.bridge.running import Running
from bascule.model.process_ids import pid_exists
from bascule.transport.errors import KeeperError, KeeperGone
from bascule.transport.keeper import KeeperConnection, ensure_keeper
from bascule.transport.keeper_messages import ExitNotice, Notice, OutputNotice
from bascule.transport.spool import SpoolReader


class Keeping:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._connection: KeeperConnection | None = None
        self._opening = asyncio.Lock()
        self._following: dict[str, tuple[Running, Callable[[], object]]] = {}
        self._ended: dict[str, ExitNotice] = {}  # of programs faster than our own book-keeping
        self._tasks: set[asyncio.Task[None]] = set()

    async def get(self, lost: Callable[[Exception], None]) -> KeeperConnection:
        async with self._opening:
            if self._connection is None:
                await ensure_keeper(self._folder)
                connection = await KeeperConnection.connect(self._folder)
                await self._sweep(connection)
                await connection.watch(self._notice)
                self._connection = connection
                self._do(self._wait_lost(connection, lost))
            return self._connection

    def spool(self, name: str) -> SpoolReader:
        return SpoolReader(self._folder, name, "out")

    def follow(self, name: str, running: Running, gone: Callable[[], object]) -> None:
        """From now on its output and its exit reach it; what has come already, at once."""
        self._following[name] = (running, gone)
        running.output()
        if name in self._ended:
            self._finish(self._ended.pop(name))

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.aclose()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _notice(self, notice: Notice) -> None:
        known = self._following.get(notice.session)
        if isinstance(notice, ExitNotice):
            if known is not None:
                self._finish(notice)
            elif notice.session.startswith(f"{os.getpid()}."):
                self._ended[notice.session] = notice
        elif isinstance(notice, OutputNotice) and known is not None:
            known[0].output()

    def _finish(self, notice: ExitNotice) -> None:
        running, gone = self._following.pop(notice.session)
        gone()
        running.exited(notice)
        self._do(self._forget(notice.session))

    async def _forget(self, name: str) -> None:
        try:
            if self._connection is not None:
                await self._connection.forget(name)
        except (KeeperError, KeeperGone):
            return  # the next bridge sweeps it

    async def _wait_lost(self, connection: KeeperConnection, lost: Callable[[Exception], None]) -> None:
        await connection.wait_closed()
        if self._connection is connection:
            self._connection = None
            self._following.clear()
            lost(BridgeError("The keeper went away, and its programs with it."))

    async def _sweep(self, connection: KeeperConnection) -> None:
        """Names begin with their owner's pid: what belongs to nobody any more is ended, then forgotten."""
        for state in await connection.list():
            owner = state.session.partition(".")[0]
            if owner.isdigit() and pid_exists(int(owner)):
                continue
            if state.exit is None:
                await connection.end(state.session)
            else:
                await connection.forget(state.session)

    def _do(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
