"""Takes the audit chain that one machine sends into this hub's store, and says how far the copy reaches.

One frame at a time: each is answered once its records are on the disk, and the next one follows the answer.
What does not follow from the copy is kept out; the machine is informed, and the copy marked as broken there.
"""

import asyncio
import logging
from collections.abc import Callable

from bascule.link.frames import AuditHeld, AuditOutput, DownFrame
from bascule.model.errors import StorageFailed
from bascule.store.audit import FIRST, SentRecord
from bascule.store.device_audit import TakenAudit
from bascule.store.replication import ReplicaStore

log = logging.getLogger(__name__)

RETRY_SECONDS = 0.25  # a store that is closing fails at once, every time
UNASKED = "The device sent audit records before those of before were answered."


class AuditInflow:
    """One line's receiver. `close` ends the line and says why."""

    def __init__(
        self,
        store: ReplicaStore,
        device: str,
        send: Callable[[DownFrame], None],
        close: Callable[[str], None],
    ) -> None:
        self._store = store
        self._device = device
        self._send = send
        self._close = close
        self._asked = False  # the machine may send
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Tell the machine where its copy ends."""
        copy = await self._store.audit_copy(self._device)
        self._say(AuditHeld(0, FIRST) if copy is None else AuditHeld(copy.n, copy.hash))

    async def stop(self) -> None:
        """The line is gone. What was taken in stays."""
        self._asked = False
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def receive(self, frame: AuditOutput) -> None:
        if not self._asked:
            self._close(UNASKED)
            return
        self._asked = False
        name = f"audit of {self._device}"
        self._task = asyncio.get_running_loop().create_task(self._take_in(frame), name=name)
        self._task.add_done_callback(self._ended)

    async def _take_in(self, frame: AuditOutput) -> None:
        rows = [SentRecord(row.body, row.prev_hash, row.hash) for row in frame.rows]
        try:
            taken = await self._store.take_in_audit(self._device, frame.first, rows, anew=frame.anew)
        except StorageFailed as error:
            log.warning("the audit log of %s waits: %s", self._device, error)
            await asyncio.sleep(RETRY_SECONDS)
            await self._store.writable()
            await self.start()
            return
        self._report(taken)
        self._say(AuditHeld(taken.copy.n, taken.copy.hash, taken.refused))

    def _report(self, taken: TakenAudit) -> None:
        copy = taken.copy
        if taken.began:
            words = "the audit log of %s is another one than was copied: chain %d begins, chain %d is kept"
            log.warning(words, self._device, copy.chain, copy.chain - 1)
        if taken.refused:
            words = "the audit log of %s is broken at record %d, which is not taken: %s"
            log.warning(words, self._device, copy.broken_at, taken.refused)

    def _say(self, held: AuditHeld) -> None:
        self._asked = not held.fault
        self._send(held)

    def _ended(self, done: "asyncio.Task[None]") -> None:
        if not done.cancelled() and (error := done.exception()) is not None:
            log.error("the audit log of %s can't be taken in", self._device, exc_info=error)
            self._close(f"The audit log can't be taken in: {error}")
