"""Follows a session's log in a test: the past from `read`, then whatever `listen` reports, as one stream."""

import asyncio
from collections.abc import AsyncGenerator

from bascule.store.base import Committed, Row
from bascule.store.protocols import Log


async def follow(store: Log, session_id: str, after: int = 0) -> AsyncGenerator[list[Row], None]:
    """Every row after `after`, in order, once. It listens before it reads, so no commit falls between."""
    changed = asyncio.Event()

    def committed(commit: Committed) -> None:
        if commit.record.session_id == session_id:
            changed.set()

    stop = store.listen(committed)
    try:
        while True:
            changed.clear()
            rows = await store.read(session_id, after)
            if rows:
                after = rows[-1].seq
                yield rows
            else:
                await changed.wait()
    finally:
        stop()
