"""R19, R20: a disk that will not take more stops the writing, not the reading, and passes by itself."""

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.conftest import Opener
from tests.store.logs import STARTED, begin, numbers, step, text
from tests.waiting import PATIENCE

from bascule.model.errors import StorageFailed, StorageFull, StoreConflict
from bascule.store import writer
from bascule.store.base import Committed
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio

LUMP = "x" * 20_000


async def _fill(store: SqliteStore) -> int:
    """Append until it is refused; the last number that was promised."""
    record = await store.session("s1")
    seq = record.seq if record else 0
    while True:
        try:
            await store.append(step(seq + 1, STARTED if seq == 0 else text(LUMP)))
        except StorageFull:
            return seq
        seq += 1


def _limit_pages(store: SqliteStore, count: int) -> "asyncio.Future[None]":
    return store.transact(lambda group: group.connection.execute(f"PRAGMA max_page_count = {count}") and None)


async def _is_sound(store: SqliteStore, head: int) -> None:
    assert await store.query(lambda one: one.execute("PRAGMA integrity_check").fetchone()) == ("ok",)
    assert numbers(await store.read("s1", 0, 1 << 30)) == list(range(1, head + 1))


@pytest.mark.row("REL-19")
async def test_a_full_database_refuses_keeps_reading_and_goes_on_by_itself(store: SqliteStore) -> None:
    heard: list[Committed] = []
    store.listen(heard.append)
    await begin(store)
    await _limit_pages(store, 200)
    head = await _fill(store)
    assert store.storage_problem is not None
    assert "full" in store.storage_problem
    assert heard[-1].rows[-1].seq == head
    await _is_sound(store, head)
    assert (await store.page("s1")).seq == head
    # The problem keeps the writer from its own connection, so the limit is lifted behind its back.
    store.engine.connection.execute("PRAGMA max_page_count = 1000000")
    async with asyncio.timeout(PATIENCE):
        await store.writable()
    assert store.storage_problem is None
    await store.append(step(head + 1, text()))
    await _is_sound(store, head + 1)


@pytest.mark.row("REL-19")
async def test_steps_queued_behind_one_that_was_refused_are_told_of_the_disk(store: SqliteStore) -> None:
    await begin(store)
    await _limit_pages(store, 60)
    waiting = [store.append(step(seq, text(LUMP))) for seq in range(2, 200)]
    results = await asyncio.gather(*waiting, return_exceptions=True)
    kept = sum(one is None for one in results)
    assert all(isinstance(one, StorageFull) for one in results[kept:])
    assert len(results) > kept
    await _is_sound(store, 1 + kept)


@pytest.mark.row("REL-19")
async def test_a_step_behind_a_lost_one_is_told_of_the_disk_even_when_there_is_room_again(
    store: SqliteStore,
) -> None:
    await begin(store)
    await _limit_pages(store, 60)
    head = await _fill(store)
    store.engine.connection.execute("PRAGMA max_page_count = 1000000")
    async with asyncio.timeout(PATIENCE):
        await store.writable()
    with pytest.raises(StorageFull):
        await store.append(step(head + 2, text()))
    await store.append(step(head + 1, text()))
    with pytest.raises(StoreConflict):
        await store.append(step(head + 3, text()))


@pytest.mark.row("REL-20")
async def test_a_refusing_disk_is_looked_at_now_and_then_and_not_all_the_time(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "PROBE_SECONDS", 0.05)
    await begin(store)
    await _limit_pages(store, 60)
    await _fill(store)
    looks = 0
    look = store._writer._probe  # pyright: ignore[reportPrivateUsage]

    def counted() -> None:
        nonlocal looks
        looks += 1
        look()

    monkeypatch.setattr(store._writer, "_probe", counted)  # pyright: ignore[reportPrivateUsage]
    began = time.monotonic()
    while looks < 10:
        with pytest.raises(StorageFailed):
            await store.append(step(2, text()))
    assert time.monotonic() - began > 8 * writer.PROBE_SECONDS


@pytest.mark.row("REL-20")
async def test_a_disk_that_may_not_be_written_is_never_promised_anything(store: SqliteStore) -> None:
    await begin(store)
    await store.transact(lambda group: group.connection.execute("PRAGMA query_only = ON") and None)
    with pytest.raises(StorageFailed):
        await store.append(step(2, text()))
    assert store.storage_problem is not None
    assert numbers(await store.read("s1", 0)) == [1]
    store.engine.connection.execute("PRAGMA query_only = OFF")
    async with asyncio.timeout(PATIENCE):
        await store.writable()
    await store.append(step(2, text()))


@pytest.mark.row("REL-20")
async def test_a_database_that_was_deleted_is_never_promised_anything(
    store: SqliteStore, database: Path
) -> None:
    await begin(store)
    await store.read("s1", 0)  # so that a reader has the file open, as one has in real life
    elsewhere = database.with_name("elsewhere")
    database.rename(elsewhere)
    with pytest.raises(StorageFailed, match="removed or replaced"):
        await store.append(step(2, text()))
    assert numbers(await store.read("s1", 0)) == [1]
    elsewhere.rename(database)
    async with asyncio.timeout(PATIENCE):
        await store.writable()
    await store.append(step(2, text()))
    assert numbers(await store.read("s1", 0)) == [1, 2]


@pytest.fixture
def small_disk() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="bascule-disk-"))
    mounted = os.geteuid() == 0 and (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", str(folder)], capture_output=True
        ).returncode
        == 0
    )
    if not mounted:
        folder.rmdir()
        pytest.skip("needs root: it mounts a small file system")
    yield folder
    # Lazily: a test that failed may have left files open, and a mount must not outlive the run.
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
    folder.rmdir()


@pytest.mark.row("REL-19")
async def test_a_real_disk_of_4_mb_fills_up_and_is_freed(small_disk: Path, open_store: Opener) -> None:
    ballast, second = small_disk / "ballast", small_disk / "second"
    ballast.write_bytes(b"x" * 700_000)
    second.write_bytes(b"x" * 1_500_000)
    store = await open_store(small_disk / "data" / "bascule.db")
    head = await _fill(store)
    assert head > 10
    with pytest.raises(StorageFull):
        await store.append(step(head + 1, text(LUMP)))
    await _is_sound(store, head)
    ballast.unlink()
    async with asyncio.timeout(PATIENCE):
        await store.writable()
    await store.append(step(head + 1, text(LUMP), sync=True))
    head = await _fill(store)
    await store.close()
    again = await open_store(small_disk / "data" / "bascule.db")  # opened while it is full: read, not written
    await _is_sound(again, head)
    head = await _fill(again)
    assert again.storage_problem is not None
    second.unlink()
    async with asyncio.timeout(PATIENCE):
        await again.writable()
    await again.append(step(head + 1, text(LUMP)))
    await again.close()
    await _is_sound(await open_store(small_disk / "data" / "bascule.db"), head + 1)
