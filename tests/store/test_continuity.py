"""R11: a database that is older than what was read from it is noticed, said, and gets a new epoch."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.conftest import Opener
from tests.store.logs import STARTED, append_all, begin, step, text

from bascule.model.codec import decode_logged
from bascule.model.events import Note, PromptQueued
from bascule.store.base import AuditRecord
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


async def notes(store: SqliteStore, session_id: str) -> list[Note]:
    events = [decode_logged(row.body).event for row in await store.read(session_id, 0)]
    return [event for event in events if isinstance(event, Note) and event.code == "log_restored"]


@pytest.mark.row("F5", "REL-11")
async def test_a_log_that_goes_on_keeps_its_epoch(open_store: Opener) -> None:
    store = await open_store()
    epoch = store.epoch
    await begin(store)
    await store.close()
    for _ in range(3):
        store = await open_store()
        assert (store.epoch, store.behind) == (epoch, {})
        await store.close()


@pytest.mark.row("F5", "REL-11")
async def test_a_new_database_has_a_new_epoch(open_store: Opener, database: Path) -> None:
    store = await open_store()
    epoch = store.epoch
    await begin(store)
    await store.close()
    database.unlink()
    store = await open_store()
    assert store.epoch != epoch
    again = store.epoch
    await store.close()
    assert (await open_store()).epoch == again


@pytest.mark.row("F5", "REL-11")
async def test_an_older_copy_gets_a_note_in_the_logs_that_are_behind_and_a_new_epoch(
    open_store: Opener, database: Path, tmp_path: Path
) -> None:
    store = await open_store()
    epoch = store.epoch
    await append_all(store, [STARTED, *[text()] * 4], "s1")
    await append_all(store, [STARTED, *[text()] * 4], "s2")
    await store.close()
    shutil.copy(database, tmp_path / "copy")
    store = await open_store()
    await store.append(step(6, text(), text(), session_id="s1"))
    await begin(store, "s3")
    await store.close()
    shutil.copy(tmp_path / "copy", database)

    store = await open_store()
    assert store.epoch != epoch
    assert store.behind == {"s1": 7, "s3": 1}
    (note,) = await notes(store, "s1")
    assert "ended at number 7 and now ends at 5" in note.text
    assert note.level == "warning"
    assert await notes(store, "s2") == []
    renewed = store.epoch
    await store.close()
    store = await open_store()
    assert (store.epoch, store.behind) == (renewed, {})
    assert len(await notes(store, "s1")) == 1


@pytest.mark.row("F5", "REL-11")
async def test_a_copy_made_while_it_ran_is_noticed_too(
    open_store: Opener, database: Path, tmp_path: Path
) -> None:
    store = await open_store()
    epoch = store.epoch
    await begin(store)
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(tmp_path / "copy")) as target:
        source.backup(target)
    await store.append(step(2, text()))
    await store.close()
    shutil.copy(tmp_path / "copy", database)
    store = await open_store()
    assert store.behind == {"s1": 2}
    assert store.epoch != epoch


@pytest.mark.row("F5", "REL-11")
async def test_only_the_audit_log_being_behind_is_enough(
    open_store: Opener, database: Path, tmp_path: Path
) -> None:
    store = await open_store()
    epoch = store.epoch
    await store.audit([AuditRecord("grant", "ana")])
    await store.close()
    shutil.copy(database, tmp_path / "copy")
    store = await open_store()
    await store.audit([AuditRecord("grant", "ana", detail="revoked")])
    await store.close()
    shutil.copy(tmp_path / "copy", database)
    store = await open_store()
    assert (store.epoch != epoch, store.behind) == (True, {"@audit": 2})


@pytest.mark.row("F5", "REL-11")
@pytest.mark.parametrize("damage", ["missing", "garbage", "cut"])
async def test_a_log_without_its_marks_gets_a_new_epoch(
    damage: str, open_store: Opener, database: Path
) -> None:
    store = await open_store()
    epoch = store.epoch
    await begin(store)
    await store.close()
    marks = database.with_name("bascule.db.heads")
    if damage == "missing":
        marks.unlink()
    else:
        marks.write_bytes(b"\xa5" * 500 if damage == "garbage" else marks.read_bytes()[:30])
    store = await open_store()
    assert (store.epoch != epoch, store.behind) == (True, {})
    assert await notes(store, "s1") == []


OWN_COLUMNS = ("seq", "archived", "record", "crc", "folded_seq", "out_offset", "resume_crc", "found")
COLUMNS = [
    *(("sessions", column) for column in OWN_COLUMNS),
    ("pending", "body"),
    ("driver_states", "out_offset"),
    ("driver_states", "state"),
]


@pytest.mark.row("F5", "REL-11")
@pytest.mark.parametrize(("table", "column"), COLUMNS)
async def test_one_changed_bit_in_any_column_is_named_and_the_rest_is_served(
    table: str, column: str, open_store: Opener, database: Path
) -> None:
    store = await open_store()
    for name in ("s1", "s2"):
        queued = PromptQueued("p1", "later", "ana")
        begun = step(1, STARTED, queued, session_id=name, out_offset=9, driver_state=b'{"a":1}')
        await store.append(begun)
    await store.close()
    with closing(sqlite3.connect(database, isolation_level=None)) as spoiler:
        (value,) = spoiler.execute(f"SELECT {column} FROM {table} WHERE session_id = 's1'").fetchone()
        worse = value ^ 1 if isinstance(value, int) else value[:5] + bytes([value[5] ^ 1]) + value[6:]
        spoiler.execute(f"UPDATE {table} SET {column} = ? WHERE session_id = 's1'", (worse,))
    store = await open_store()
    await store.examine()
    assert list(store.damaged_sessions) == ["s1"]
    await store.append(step(3, text(), session_id="s2"))
    assert not await forgotten(store, "s1")
    assert len(await store.read("s1", 0)) == 2


async def forgotten(store: SqliteStore, session_id: str) -> bool:
    """Whether it would be deleted as one whose files are gone."""
    if session_id not in [one.record.session_id for one in await store.found()]:
        return False
    return await store.forget(session_id)
