"""Audits what a hub elsewhere can bring about as often as it likes, so that it can't fill the log with it."""

import asyncio
import logging
from collections.abc import Callable

from msgspec.structs import replace

from bascule.model.errors import StorageFailed
from bascule.policy.repeats import Counted, Repeats
from bascule.store.base import AuditRecord
from bascule.store.protocols import DaemonStore

log = logging.getLogger(__name__)

LONGEST_DETAIL = 1000  # characters; it quotes what was asked for
HERE = "this machine"


class RepeatedAudit:
    """One for the whole machine: a hub could call itself something else each time."""

    def __init__(self, store: DaemonStore, steady: Callable[[], float]) -> None:
        self._store, self._steady = store, steady
        self._repeats: Repeats[AuditRecord] = Repeats(steady)
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    async def add(self, record: AuditRecord) -> None:
        """Written at once, or counted when the same was written a moment ago."""
        if self._repeats.over:
            await self._count()
        record = replace(record, detail=record.detail[:LONGEST_DETAIL])
        # Each start has an id of its own, which says nothing of what it was.
        is_new = self._repeats.write(replace(record, session_id=None))
        self._look_later()
        if is_new:
            await self._store.audit([record])

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
        await self.flush()

    def _look_later(self) -> None:
        ends = self._repeats.ends
        if ends is not None and self._timer is None:
            delay = max(0.0, ends - self._steady())
            self._timer = asyncio.get_running_loop().call_later(delay + 0.1, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._repeats.over:
            self._task = asyncio.get_running_loop().create_task(self.flush(), name="audit")
        else:
            self._look_later()

    async def flush(self) -> None:
        """Write what has been counted so far."""
        try:
            await self._count()
        except StorageFailed as error:
            log.warning("how often something was done or refused is not in the audit log: %s", error.message)

    async def _count(self) -> None:
        rows = counted_rows(self._repeats.take())
        if rows:
            await self._store.audit(rows)


def counted_rows(counted: Counted[AuditRecord]) -> list[AuditRecord]:
    """A row for each that came more than once, and one for all beyond the first so many kinds."""
    span = f"within {max(1, round(counted.seconds))} s"
    rows = [
        replace(record, detail=f"{record.detail} ({times} more time{'s' if times > 1 else ''} {span})")
        for record, times in counted.again
    ]
    if counted.others:
        words = f"{counted.others} more starts and commands from elsewhere {span}: too many to name each"
        rows.append(AuditRecord("refused", HERE, detail=words))
    return rows
