"""The copy of a machine's audit chain only grows, and takes in nothing that does not follow."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.store.audit_copies import LAPTOP, AuditCopyConformance, chain, walked
from tests.store.conftest import Clock, Opener
from tests.store.logs import STARTED, step

from bascule.store.audit import FIRST
from bascule.store.base import AuditRecord
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


class TestSqliteAuditCopies(AuditCopyConformance):
    @pytest.fixture
    def opener(self, open_store: Opener) -> Opener:
        return open_store


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    path = tmp_path / "hub" / "bascule.db"
    store = SqliteStore.open(path, clock=Clock(), loop=asyncio.get_running_loop())
    yield store
    await store.close()


@pytest.mark.row("R16")
async def test_what_one_store_sends_another_takes_and_both_chains_hold(
    store: SqliteStore, hub: SqliteStore
) -> None:
    await store.append(step(1, STARTED, audit=[AuditRecord("session_started", "ana", session_id="s1")]))
    await store.audit([AuditRecord("permission", "ana", decision="allow", detail=f"{n} ü") for n in range(9)])
    taken = await hub.take_in_audit(LAPTOP, 1, await store.audit_rows(0, 1 << 20))
    assert (taken.copy.n, taken.refused) == (10, "")
    assert taken.copy.hash == (await store.verify_audit()).head == await store.audit_hash(10)
    assert await hub.copied_audit_lines(LAPTOP) == await store.audit_lines()
    assert await walked(hub) == [(1, 10, None)]


@pytest.mark.row("S49")
@pytest.mark.parametrize("change", ["UPDATE device_audit SET body = x'00'", "DELETE FROM device_audit"])
async def test_a_copy_can_be_neither_changed_nor_deleted(hub: SqliteStore, change: str) -> None:
    await hub.take_in_audit(LAPTOP, 1, chain("a", "b"))
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        await hub.transact(lambda group: group.connection.execute(change))
    assert await walked(hub) == [(1, 2, None)]


@pytest.mark.row("S49")
@pytest.mark.parametrize(
    ("change", "bad"),
    [
        ("UPDATE device_audit SET body = replace(body, 'ana', 'bob') WHERE n = 2", 2),
        ("DELETE FROM device_audit WHERE n = 2", 2),
        ("DELETE FROM device_audit WHERE n = 3", 3),
    ],
)
async def test_a_copy_that_was_changed_at_the_hub_does_not_hold(
    open_store: Opener, database: Path, change: str, bad: int
) -> None:
    store = await open_store()
    await store.take_in_audit(LAPTOP, 1, chain("a", "b", "c"))
    await store.close()
    with sqlite3.connect(database) as connection:
        connection.execute("DROP TRIGGER device_audit_is_never_changed")
        connection.execute("DROP TRIGGER device_audit_is_never_deleted")
        connection.execute(change)
    assert [one[2] for one in await walked(await open_store())] == [bad]


async def test_who_watches_is_told_of_each_commit_with_records(store: SqliteStore) -> None:
    told: list[int] = []
    ended = store.watch_audit(lambda: told.append(1))
    await store.append(step(1, STARTED))
    assert told == []
    await store.append(step(2, audit=[AuditRecord("input", "ana")]))
    await store.audit([AuditRecord("grant", "ana")])
    assert told == [1, 1]
    ended()
    await store.audit([AuditRecord("grant", "ana")])
    assert told == [1, 1]


async def test_a_record_of_a_step_without_events_is_synced_while_a_hub_copies(store: SqliteStore) -> None:
    synced: list[bool | None] = []
    store.watch_audit(lambda: synced.append(store.engine.full_sync))
    await store.append(step(1, STARTED, audit=[AuditRecord("input", "ana")]))
    release = await store.need_synced_rows()
    await store.append(step(2, audit=[AuditRecord("input", "ana")]))
    release()
    await store.append(step(2, audit=[AuditRecord("input", "ana")]))
    assert synced == [False, True, False]


async def test_records_to_send_come_in_steps(store: SqliteStore) -> None:
    await store.audit([AuditRecord("grant", "ana", detail="x" * n) for n in (10, 5000, 10)])
    assert len(await store.audit_rows(0, 1 << 20)) == 3
    assert len(await store.audit_rows(0, 1000)) == 1
    assert len(await store.audit_rows(1, 1000)) == 1
    assert await store.audit_rows(3, 1000) == []
    assert await store.audit_hash(0) == FIRST
    assert await store.audit_hash(4) is None
