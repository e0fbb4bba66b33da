"""R21, R22, S60: a database is opened only if it is ours, sound and free, and nothing is ever thrown away."""

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.store.conftest import Clock, Opener
from tests.store.following import follow
from tests.store.logs import STARTED, append_all, begin, numbers, step, text
from tests.waiting import PATIENCE

from bascule.model.errors import AlreadyRunning, StoreDamaged, StoreRefused
from bascule.store import schema
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


@pytest.fixture
async def filled(open_store: Opener, database: Path) -> Path:
    """A closed database of twenty sessions."""
    store = await open_store()
    for n in range(20):
        await append_all(store, [STARTED, *[text("x" * 500)] * 60], session_id=f"s{n}", size=61)
    await store.close()
    return database


def _zero_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\x00" * 100)


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _truncate_inside_header(path: Path) -> None:
    os.truncate(path, 50)


def _empty(path: Path) -> None:
    os.truncate(path, 0)


def _garbage_in(table: str) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        with sqlite3.connect(path) as connection:
            root = connection.execute(
                "SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)
            ).fetchone()[0]
            size = connection.execute("PRAGMA page_size").fetchone()[0]
        connection.close()
        with path.open("r+b") as file:
            file.seek((root - 1) * size)
            file.write(b"\xa5" * size)

    return spoil


@pytest.mark.row("REL-21")
@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_zero_header, "does not begin as an SQLite database does"),
        (_truncate_inside_header, "does not begin as an SQLite database does"),
        (_truncate, "is cut off"),
        (_empty, "is empty"),
        (_garbage_in("sessions"), "is damaged"),
        (_garbage_in("grants"), "is damaged"),
        (_garbage_in("sqlite_autoindex_outbox_1"), "is damaged"),
    ],
)
async def test_a_damaged_file_is_put_aside_and_named(
    filled: Path, open_store: Opener, spoil: Callable[[Path], None], words: str
) -> None:
    spoil(filled)
    spoiled = filled.read_bytes()
    with pytest.raises(StoreDamaged, match=words) as caught:
        await open_store()
    moved = Path(str(caught.value.fields["moved_to"]))
    assert moved.name.startswith("bascule.db.corrupt-2027")
    assert str(moved) in caught.value.message
    assert moved.read_bytes() == spoiled
    assert not filled.exists()
    store = await open_store()
    assert await store.sessions() == []
    assert store.quarantined == [moved]


@pytest.mark.row("REL-21")
async def test_two_damaged_files_in_one_second_are_both_kept(filled: Path, open_store: Opener) -> None:
    for n in range(2):
        filled.write_bytes(b"not a database %d" % n)
        with pytest.raises(StoreDamaged):
            await open_store()
    kept = sorted(filled.parent.glob("*.corrupt-*"))
    assert [one.read_bytes() for one in kept] == [b"not a database 0", b"not a database 1"]


@pytest.mark.row("REL-21")
async def test_garbage_where_logs_are_hurts_only_the_session_it_hit(filled: Path, open_store: Opener) -> None:
    data = bytearray(filled.read_bytes())
    page = data.index(b'{"seq":30,') // 4096 * 4096
    data[page : page + 4096] = b"\xa5" * 4096
    filled.write_bytes(data)
    store = await open_store()
    served: list[str] = []
    named: list[object] = []
    for record in await store.sessions():
        try:
            assert len(await store.read(record.session_id, 0)) == 61
            served.append(record.session_id)
        except StoreDamaged as damage:
            named.append(damage.fields["session_id"])
    assert sorted(served + named) == sorted(f"s{n}" for n in range(20))
    assert 18 <= len(served) < 20
    await store.append(step(62, text(), session_id=served[-1]))
    assert numbers(await store.read(served[-1], 61)) == [62]


def _flip(path: Path, needle: bytes) -> None:
    data = bytearray(path.read_bytes())
    assert data.count(needle) == 1
    data[data.index(needle)] ^= 0x01
    path.write_bytes(data)


@pytest.mark.row("REL-21")
async def test_a_flipped_bit_in_an_event_is_caught_by_its_checksum(
    open_store: Opener, database: Path
) -> None:
    store = await open_store()
    for name in ("s1", "s2"):
        await store.append(step(1, STARTED, text(f"needle of {name}"), session_id=name))
    await store.close()
    _flip(database, b"needle of s1")
    with sqlite3.connect(database) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    store = await open_store()
    with pytest.raises(StoreDamaged, match="Session s1: event 2") as caught:
        await store.read("s1", 0)
    assert (caught.value.fields["session_id"], caught.value.fields["seq"]) == ("s1", 2)
    with pytest.raises(StoreDamaged):
        await store.page("s1")
    with pytest.raises(StoreDamaged):
        await anext(follow(store, "s1"))
    assert numbers(await store.read("s2", 0)) == [1, 2]
    assert len(await store.sessions()) == 2


@pytest.mark.row("REL-21")
async def test_a_flipped_bit_in_a_record_leaves_the_other_sessions_listed(
    open_store: Opener, database: Path
) -> None:
    store = await open_store()
    for name in ("s1", "s2"):
        await begin(store, f"needle {name}")
    await store.close()
    _flip(database, b'{"session_id":"needle s1"')
    store = await open_store()
    assert [one.session_id for one in await store.sessions()] == ["needle s2"]
    assert any("needle s1" in message for message in store.damaged)
    with pytest.raises(StoreDamaged):
        await store.append(step(2, text(), session_id="needle s1"))
    await store.append(step(2, text(), session_id="needle s2"))


@pytest.mark.row("REL-21")
async def test_a_missing_event_is_named(open_store: Opener, database: Path) -> None:
    store = await open_store()
    await append_all(store, [STARTED, *[text()] * 9])
    await store.close()
    with sqlite3.connect(database) as connection:
        connection.execute("DROP TRIGGER events_are_never_deleted")
        connection.execute("DELETE FROM events WHERE seq = 5")
    connection.close()
    with pytest.raises(StoreDamaged, match="event 5 is missing"):
        await (await open_store()).read("s1", 0)


@pytest.mark.row("REL-21")
async def test_a_database_of_another_program_is_left_alone(open_store: Opener, database: Path) -> None:
    database.parent.mkdir()
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    before = database.read_bytes()
    with pytest.raises(StoreRefused, match="another program"):
        await open_store()
    assert database.read_bytes() == before


@pytest.mark.row("REL-21")
async def test_a_newer_schema_is_left_alone(filled: Path, open_store: Opener) -> None:
    with sqlite3.connect(filled) as connection:
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    before = filled.read_bytes()
    with pytest.raises(StoreRefused, match=f"newer Bascule .schema {schema.VERSION + 1}"):
        await open_store()
    assert filled.read_bytes() == before


async def _kill_while_open(database: Path) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("appender.py")),
        str(database),
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdout is not None
    async with asyncio.timeout(PATIENCE):
        for _ in range(20):
            await child.stdout.readline()
        child.kill()
        await child.stdout.read()
        await child.wait()


@pytest.mark.row("REL-21")
async def test_a_write_ahead_log_that_went_missing_is_noticed(database: Path, open_store: Opener) -> None:
    await _kill_while_open(database)
    wal = database.with_name("bascule.db-wal")
    kept = wal.read_bytes()
    wal.unlink()
    for _ in range(2):  # and it stays noticed
        with pytest.raises(StoreRefused, match=r"bascule\.db-wal is missing"):
            await open_store()
    wal.write_bytes(kept)
    store = await open_store()
    assert len(await store.read("s1", 0)) >= 20


@pytest.mark.row("REL-21")
async def test_a_write_ahead_log_without_its_database_is_put_aside(
    database: Path, open_store: Opener
) -> None:
    await _kill_while_open(database)
    database.unlink()
    with pytest.raises(StoreDamaged, match="is gone, though its write-ahead log"):
        await open_store()
    assert list(database.parent.glob("*.corrupt-*-wal"))
    await (await open_store()).append(step(1, STARTED))


@pytest.mark.row("REL-22")
async def test_a_second_opener_is_told_who_has_it(store: SqliteStore, database: Path, clock: Clock) -> None:
    with pytest.raises(AlreadyRunning, match=rf"already running \(pid {os.getpid()}\)"):
        SqliteStore.open(database, clock=clock, loop=asyncio.get_running_loop())
    program = (
        "import asyncio, sys, time\n"
        "from bascule.store.sqlite import SqliteStore\n"
        "async def main(): SqliteStore.open(sys.argv[1], clock=time.time, loop=asyncio.get_running_loop())\n"
        "asyncio.run(main())\n"
    )
    other = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", program, str(database)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert other.returncode != 0
    assert f"already running (pid {os.getpid()})" in other.stderr
    await begin(store)


@pytest.mark.row("REL-22")
async def test_a_lock_left_by_a_killed_process_is_no_hindrance(database: Path, open_store: Opener) -> None:
    await _kill_while_open(database)
    assert (await open_store()).storage_problem is None


@pytest.mark.row("S60")
async def test_all_files_are_private_even_under_umask_0(tmp_path: Path, open_store: Opener) -> None:
    before = os.umask(0)
    try:
        folder = tmp_path / "state" / "bascule"
        store = await open_store(folder / "bascule.db")
        await begin(store)
        modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()}
    finally:
        os.umask(before)
    own = {"bascule.db", "bascule.db-wal", "bascule.db-shm", "bascule.db.lock", "bascule.db.heads"}
    assert set(modes) == own
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.row("S60")
async def test_a_database_that_was_readable_by_others_is_closed_to_them(
    filled: Path, open_store: Opener
) -> None:
    filled.chmod(0o644)
    await open_store()
    assert stat.S_IMODE(filled.stat().st_mode) == 0o600


async def test_a_crash_while_the_database_is_made_leaves_nothing_that_looks_damaged(
    database: Path, open_store: Opener
) -> None:
    database.parent.mkdir()
    database.with_name("bascule.db.new").write_bytes(b"half made")
    await begin(await open_store())
