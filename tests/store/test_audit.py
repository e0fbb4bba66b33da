"""S49: the audit log can only grow, and what was changed in it behind our back is found."""

import json
import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest
from tests.store.conftest import Opener
from tests.store.logs import STARTED, step, text

from bascule.model.errors import StoreConflict
from bascule.store.audit import FIRST
from bascule.store.base import AuditRecord
from bascule.store.sqlite import SqliteStore
from bascule.store.transaction import Transaction

pytestmark = pytest.mark.anyio


async def _write_ten(store: SqliteStore) -> None:
    await store.append(step(1, STARTED, audit=[AuditRecord("session_started", "ana", session_id="s1")]))
    for n in range(9):
        await store.audit([AuditRecord("permission", "ana", decision="allow", detail=f"number {n}")])


@pytest.mark.row("S49")
@pytest.mark.parametrize(
    "change", ["UPDATE audit SET body = x'00'", "DELETE FROM audit", "DELETE FROM events"]
)
async def test_rows_can_be_neither_changed_nor_deleted(store: SqliteStore, change: str) -> None:
    await _write_ten(store)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        await store.transact(lambda group: group.connection.execute(change))
    assert (await store.verify_audit()).checked == 10


@pytest.mark.row("S49")
async def test_the_export_can_be_verified_by_anybody(store: SqliteStore) -> None:
    await _write_ten(store)
    before = FIRST
    for n, line in enumerate(await store.audit_lines(), 1):
        parsed = json.loads(line)
        assert parsed["prev_hash"] == before
        canonical = json.dumps(parsed["entry"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        before = sha256(f"{before}{canonical}".encode()).hexdigest()
        assert parsed["hash"] == before
        assert parsed["entry"]["n"] == n
    assert (await store.verify_audit()).head == before


@pytest.mark.row("S49")
@pytest.mark.parametrize(
    ("change", "bad", "fault"),
    [
        ("UPDATE audit SET body = replace(body, 'ana', 'bob') WHERE n = 4", 4, "changed"),
        ("DELETE FROM audit WHERE n = 6", 6, "missing"),
        ("DELETE FROM audit WHERE n > 8", 9, "missing from the end"),
        ("UPDATE audit SET hash = prev_hash WHERE n = 2", 2, "changed"),
        ("UPDATE audit SET prev_hash = hash WHERE n = 3", 3, "does not follow"),
    ],
)
async def test_the_first_bad_record_is_named(
    open_store: Opener, database: Path, change: str, bad: int, fault: str
) -> None:
    store = await open_store()
    await _write_ten(store)
    await store.close()
    with sqlite3.connect(database) as connection:
        connection.execute("DROP TRIGGER audit_is_never_changed")
        connection.execute("DROP TRIGGER audit_is_never_deleted")
        connection.execute(change)
    connection.close()
    store = await open_store()
    for _ in range(2):
        check = await store.verify_audit()
        assert check.bad == bad
        assert fault in check.fault
        assert check.checked == bad - 1
        await store.audit([AuditRecord("grant", "ana")])  # what follows does not hide it


@pytest.mark.row("S49")
async def test_a_record_goes_with_its_step_or_not_at_all(store: SqliteStore) -> None:
    await _write_ten(store)
    allowed = AuditRecord("permission", "ana", session_id="s1", decision="allow")
    both = [store.append(step(2, text(), audit=[allowed])) for _ in range(2)]
    await both[0]
    with pytest.raises(StoreConflict):
        await both[1]
    assert (await store.verify_audit()).checked == 11


async def test_the_chain_goes_on_after_a_group_that_failed(store: SqliteStore) -> None:
    await _write_ten(store)

    def fail(group: Transaction) -> None:
        group.audit([AuditRecord("grant", "nobody")])
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError):
        await store.transact(fail)
    await store.audit([AuditRecord("grant", "ana")])
    check = await store.verify_audit()
    assert (check.checked, check.bad) == (11, None)
