"""What a line to a hub of its own does with frames while it is still beginning."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.daemon.joined import welcome
from tests.store.conftest import Clock
from tests.store.copies import BEGUN
from tests.store.logs import append_all
from tests.waiting import PATIENCE

from bascule.daemon.hub_lines.far_line import FarLine
from bascule.link.frames import Resume, SessionOutput
from bascule.model.events import SessionEnded
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


class Held:
    """A store whose second promise of synced rows, the audit log's, comes when the test says so."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._asked = 0
        self.audit_begins = asyncio.Event()
        self.go_on = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def need_synced_rows(self) -> Any:
        self._asked += 1
        if self._asked == 2:
            self.audit_begins.set()
            await self.go_on.wait()
        return await self._store.need_synced_rows()


@pytest.mark.row("R11")
async def test_where_the_copies_end_is_heard_also_while_the_audit_log_begins(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "bascule.db", clock=Clock(), loop=asyncio.get_running_loop())
    await append_all(store, [BEGUN, SessionEnded("exited")])
    held = Held(store)
    sent: asyncio.Queue[Any] = asyncio.Queue()
    closed: list[str] = []
    host: Any = SimpleNamespace(
        attach=lambda send, far: SimpleNamespace(receive=lambda frame: None, closed=lambda: None)
    )
    nothing: Any = None
    line = FarLine(host, held, nothing, lambda frame, *_: sent.put_nowait(frame), closed.append)
    line.receive(welcome())
    async with asyncio.timeout(PATIENCE):
        await held.audit_begins.wait()
        line.receive(Resume({}))
        while not isinstance(frame := await sent.get(), SessionOutput):
            pass
    assert (frame.session_id, frame.first, len(frame.rows)) == ("s1", 1, 2)
    held.go_on.set()
    await line.closed()
    await store.close()
    assert closed == []
