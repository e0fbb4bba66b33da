"""A machine's audit chain on its way to a hub: cut, refused, tampered with, begun anew. Frames are bytes."""

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.daemon.joined import LAPTOP, welcome
from tests.store.named_stores import OpenNamed, named_stores
from tests.waiting import PATIENCE

from bascule.daemon.hub_lines import audit_outflow
from bascule.daemon.hub_lines.audit_outflow import AuditOutflow
from bascule.hub.devices import audit_inflow
from bascule.hub.devices.audit_inflow import UNASKED, AuditInflow
from bascule.link.frames import AuditHeld, AuditOutput, AuditRow
from bascule.model.errors import StorageFull
from bascule.store.audit import FIRST, chained
from bascule.store.base import AuditRecord
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


@pytest.fixture
async def open_store(tmp_path: Path) -> AsyncIterator[OpenNamed]:
    async with named_stores(tmp_path) as opener:
        yield opener


class Joined:
    """One connection. `frames` is all that went over it; after `cut` nothing more arrives."""

    def __init__(self, home: SqliteStore, hub: SqliteStore) -> None:
        self.home, self.hub = home, hub
        self.frames: list[Any] = []
        self.closed: list[str] = []
        self.is_cut = False
        self.at_most = 1 << 30  # frames that go up before the connection is lost
        self._more = asyncio.Event()
        self.outflow = AuditOutflow(home, self._up, self._close)
        self.inflow = AuditInflow(hub, LAPTOP, self._down, self._close)

    def _close(self, why: str) -> None:
        self.closed.append(why)
        self._more.set()

    def _carry(self, frame: Any) -> Any:
        self.frames.append(frame)
        self._more.set()
        kind: type[Any] = AuditHeld if isinstance(frame, AuditHeld) else AuditOutput
        return msgspec.json.decode(msgspec.json.encode(frame), type=kind)

    def _up(self, frame: Any) -> None:
        if not self.is_cut and len(self.output()) < self.at_most:
            self.inflow.receive(self._carry(frame))

    def _down(self, frame: Any) -> None:
        if not self.is_cut:
            self.outflow.receive(self._carry(frame))

    def output(self) -> list[AuditOutput]:
        return [frame for frame in self.frames if isinstance(frame, AuditOutput)]

    def held(self) -> list[AuditHeld]:
        return [frame for frame in self.frames if isinstance(frame, AuditHeld)]

    async def connect(self) -> "Joined":
        await self.outflow.start(welcome(self.hub))
        await self.inflow.start()
        return self

    async def cut(self) -> None:
        self.is_cut = True
        await self.outflow.close()
        await self.inflow.stop()

    async def until(self, condition: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._more.clear()
                await self._more.wait()

    async def level(self) -> None:
        """Wait until the hub has said that it has all there is."""
        last = (await self.home.verify_audit()).head
        await self.until(lambda: self.held() and self.held()[-1].hash == last)
        assert await self.hub.copied_audit_lines(LAPTOP) == await self.home.audit_lines()


async def write(store: SqliteStore, *details: str) -> None:
    await store.audit([AuditRecord("input", "ana", detail=detail) for detail in details])


def tamper(store_folder: Path, *changes: str) -> None:
    with sqlite3.connect(store_folder / "bascule.db") as connection:
        connection.execute("DROP TRIGGER audit_is_never_changed")
        connection.execute("DROP TRIGGER audit_is_never_deleted")
        for change in changes:
            connection.execute(change)


def rechain(store_folder: Path) -> None:
    """As one does who rewrites a log: every hash after the change is made anew, the head's too."""
    with sqlite3.connect(store_folder / "bascule.db") as connection:
        before, n = FIRST, 0
        for n, body in connection.execute("SELECT n, body FROM audit ORDER BY n").fetchall():
            own = chained(before, body)
            connection.execute("UPDATE audit SET prev_hash = ?, hash = ? WHERE n = ?", (before, own, n))
            before = own
        head = f"{n} {before}".encode()
        connection.execute("UPDATE meta SET value = ? WHERE name = 'audit_head'", (head,))


@pytest.mark.row("R16")
async def test_what_was_written_before_and_what_is_written_now_is_at_the_hub(open_store: OpenNamed) -> None:
    home, hub = await open_store("home"), await open_store("hub")
    await write(home, "a", "ü", "c")
    line = await Joined(home, hub).connect()
    await line.level()
    await write(home, "d")
    await line.level()
    copy = await hub.audit_copy(LAPTOP)
    assert copy is not None
    assert (await hub.verify_audit_copy(copy)).checked == 4
    assert (await hub.verify_audit()).checked == 0
    await line.cut()


async def test_one_frame_is_under_way_at_a_time_and_a_cut_begins_nothing_anew(
    open_store: OpenNamed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_outflow, "STEP", 300)
    home, hub = await open_store("home"), await open_store("hub")
    await write(home, *(f"number {n}" for n in range(40)))
    line = Joined(home, hub)
    line.at_most = 5
    await line.connect()
    await line.until(lambda: len(line.held()) == 6)
    assert [isinstance(frame, AuditHeld) for frame in line.frames] == [True, *[False, True] * 5]
    reached = line.held()[-1].n
    await line.cut()
    again = await Joined(home, hub).connect()
    await again.level()
    assert again.output()[0].first == reached + 1
    assert not any(frame.anew for frame in again.output())
    await again.cut()


async def test_a_hub_with_the_same_store_is_sent_nothing(open_store: OpenNamed) -> None:
    home = await open_store("home")
    await write(home, "a")
    line = Joined(home, home)
    await line.outflow.start(welcome(home))
    line.outflow.receive(AuditHeld(0, FIRST))
    await write(home, "b")
    assert line.frames == []
    await line.outflow.close()


async def test_a_hub_that_never_asks_is_sent_nothing(open_store: OpenNamed) -> None:
    home, hub = await open_store("home"), await open_store("hub")
    line = Joined(home, hub)
    await line.outflow.start(welcome(hub))
    await write(home, "a")
    assert line.frames == []
    await line.outflow.close()


@pytest.mark.row("S49")
@pytest.mark.parametrize(
    ("change", "bad"),
    [
        ("UPDATE audit SET body = replace(body, 'ana', 'bob') WHERE n = 3", 3),
        ("UPDATE audit SET body = x'00ff' WHERE n = 2", 2),
        ("UPDATE audit SET body = 17 WHERE n = 2", 2),
        ("UPDATE audit SET hash = x'ff' WHERE n = 4", 4),
        ("DELETE FROM audit WHERE n = 2", 2),
    ],
)
async def test_a_record_changed_before_it_was_copied_is_refused_and_both_sides_say_so(
    open_store: OpenNamed, tmp_path: Path, change: str, bad: int, caplog: pytest.LogCaptureFixture
) -> None:
    home, hub = await open_store("home"), await open_store("hub")
    await write(home, "a", "b", "c", "d", "e")
    await home.close()
    tamper(tmp_path / "home", change)
    line = await Joined(await open_store("home"), hub).connect()
    with caplog.at_level(logging.WARNING):
        await line.until(lambda: line.held() and line.held()[-1].fault)
    copy = await hub.audit_copy(LAPTOP)
    assert copy is not None
    assert (copy.n, copy.broken_at) == (bad - 1, bad)
    assert f"the audit log of laptop is broken at record {bad}" in caplog.text
    assert f"the hub does not take record {bad} of the audit log" in caplog.text
    count = len(line.frames)
    await write(line.home, "f")
    assert len(line.frames) == count
    assert line.closed == []
    await line.cut()


@pytest.mark.row("S49")
@pytest.mark.parametrize(
    ("change", "parted"),
    [
        ("UPDATE audit SET body = CAST(replace(body, 'ana', 'bob') AS BLOB) WHERE n = 2", 2),
        ("DELETE FROM audit WHERE n > 2", 3),
    ],
)
async def test_a_log_rewritten_with_new_hashes_is_kept_beside_the_one_that_was_copied(
    open_store: OpenNamed, tmp_path: Path, change: str, parted: int
) -> None:
    home, hub = await open_store("home"), await open_store("hub")
    await write(home, "a", "b", "c", "d")
    line = await Joined(home, hub).connect()
    await line.level()
    await line.cut()
    copied = await hub.copied_audit_lines(LAPTOP)
    await home.close()
    tamper(tmp_path / "home", change)
    rechain(tmp_path / "home")
    home = await open_store("home")
    assert (await home.verify_audit()).fault == ""  # the machine alone can't tell
    again = await Joined(home, hub).connect()
    await again.level()
    await write(home, "after")
    await again.level()
    assert await hub.copied_audit_lines(LAPTOP, 1) == copied
    first, second = await hub.audit_copies()
    assert await hub.audit_parted_at(first) == parted
    assert (await hub.verify_audit_copy(second)).fault == ""
    assert [frame.anew for frame in again.output()][:1] == [True]
    await again.cut()
    third = await Joined(home, hub).connect()
    await third.level()
    assert third.output() == []
    await third.cut()


async def test_a_hub_restored_from_an_older_copy_gets_the_rest_again(
    open_store: OpenNamed, tmp_path: Path
) -> None:
    home, hub = await open_store("home"), await open_store("hub")
    await write(home, "a", "b")
    line = await Joined(home, hub).connect()
    await line.level()
    (tmp_path / "older").mkdir()
    with sqlite3.connect(hub.path) as connection:
        connection.execute("VACUUM INTO ?", (str(tmp_path / "older" / "bascule.db"),))
    await write(home, "c", "d")
    await line.level()
    await line.cut()
    older = await open_store("older")
    again = await Joined(home, older).connect()
    await again.level()
    assert [frame.first for frame in again.output()] == [3]
    assert [copy.chain for copy in await older.audit_copies()] == [1]
    await again.cut()


async def test_records_sent_unasked_end_the_line(open_store: OpenNamed) -> None:
    hub = await open_store("hub")
    line = Joined(await open_store("home"), hub)
    frame = AuditOutput(1, (AuditRow(b"{}", FIRST, FIRST),))
    line.inflow.receive(frame)
    assert line.closed == [UNASKED]
    line.closed.clear()
    await line.inflow.start()
    line.inflow.receive(frame)
    line.inflow.receive(frame)
    assert line.closed == [UNASKED]
    await line.until(lambda: line.held()[-1].fault)
    line.inflow.receive(frame)  # after a refusal nothing more is taken
    assert line.closed == [UNASKED, UNASKED]
    await line.inflow.stop()


async def test_a_hub_whose_disk_is_full_asks_again_once_there_is_room(
    open_store: OpenNamed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_inflow, "RETRY_SECONDS", 0.01)
    home, hub = await open_store("home"), await open_store("hub")
    take_in, failed = hub.take_in_audit, [0]

    def full_once(*given: Any, **named: Any) -> "asyncio.Future[Any]":
        if failed[0]:
            return take_in(*given, **named)
        failed[0] = 1
        refused: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        refused.set_exception(StorageFull("no room"))
        return refused

    monkeypatch.setattr(hub, "take_in_audit", full_once)
    await write(home, "a", "b")
    line = await Joined(home, hub).connect()
    await line.level()
    assert [frame.n for frame in line.held()] == [0, 0, 2]
    await line.cut()
