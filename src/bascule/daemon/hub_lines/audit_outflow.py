"""Sends this machine's audit chain to a hub with a store of its own, from where the hub's copy ends.

The hub says how far its copy reaches; then some records go up, and the next ones once it has said so again.
So at most one frame of them is under way, and nothing else ever waits for it.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from bascule.link.frames import AuditHeld, AuditOutput, AuditRow, UpFrame, Welcome
from bascule.store.replication import SourceStore

log = logging.getLogger(__name__)

STEP = 16 * 1024  # bytes of records in one frame, unless a single one is larger


class Send(Protocol):
    def __call__(self, frame: UpFrame) -> None: ...


class AuditOutflow:
    """One line's sender. `send` never blocks; `close` ends the line and says why."""

    def __init__(self, store: SourceStore, send: Send, close: Callable[[str], None]) -> None:
        self._store = store
        self._send = send
        self._close = close
        self._held: AuditHeld | None = None  # None: the hub has not answered yet
        self._compared = False
        self._anew = False
        self._work = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stop: list[Callable[[], None]] = []

    async def start(self, welcome: Welcome) -> None:
        """Begin, unless the hub uses this very store. A hub that keeps no copies never asks for any."""
        if welcome.store == self._store.link_name:
            return
        self._stop.append(self._store.watch_audit(self._work.set))
        self._stop.append(await self._store.need_synced_rows())
        self._task = asyncio.get_running_loop().create_task(self._run(), name="audit outflow")
        self._task.add_done_callback(self._ended)

    async def close(self) -> None:
        for stop in self._stop:
            stop()
        self._stop.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def receive(self, held: AuditHeld) -> None:
        """Where the hub's copy ends: at the beginning, and after what was sent last."""
        if held.fault:
            log.warning("the hub does not take record %d of the audit log: %s", held.n + 1, held.fault)
            self._held = None
            return
        self._held, self._compared = held, False
        self._work.set()

    async def _run(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            if self._held is not None:
                await self._step(self._held)

    async def _step(self, held: AuditHeld) -> None:
        if not self._compared:
            self._compared, self._anew = True, await self._store.audit_hash(held.n) != held.hash
            if self._anew:
                log.warning("the hub has copied another audit log than this one: it is sent anew")
        after = 0 if self._anew else held.n
        rows = await self._store.audit_rows(after, STEP)
        if rows and self._held is held:
            self._held = None
            self._send(AuditOutput(after + 1, tuple([AuditRow(*row) for row in rows]), self._anew))

    def _ended(self, done: "asyncio.Task[None]") -> None:
        if not done.cancelled() and (error := done.exception()) is not None:
            log.error("the audit log is not sent to the hub", exc_info=error)
            self._close(f"The audit log can't be read: {error}")
