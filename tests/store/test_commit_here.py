"""Small steps that the event loop's own thread commits, and those that it leaves to the writer's."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.store.logs import STARTED, begin, numbers, step, text
from tests.waiting import PATIENCE

from bascule.model.errors import StorageFull
from bascule.model.events import AnyEvent
from bascule.model.records import Write
from bascule.store import checkpoint, writer
from bascule.store.base import AuditRecord, Batch, Committed, StoredReply
from bascule.store.health import BUSY_SECONDS
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio

Asking = Callable[[], bool]


@pytest.fixture
async def by_loop(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> Asking:
    """A session with one row and nothing left to do; then, whether the loop's thread made the last commit."""
    monkeypatch.setattr(writer, "SLOW_SECONDS", PATIENCE)  # a busy machine is no slow disk
    await begin(store)
    await store.searchable()
    threads: list[int] = []

    def committed(statement: str) -> None:
        if statement == "COMMIT":
            threads.append(threading.get_ident())

    store.engine.connection.set_trace_callback(committed)
    return lambda: threads[-1] == threading.get_ident()


async def test_a_few_rows_are_committed_by_the_loop_s_own_thread(store: SqliteStore, by_loop: Asking) -> None:
    await store.append(step(2, text()))
    assert by_loop()
    await store.append(step(3, text(), text(), out_offset=70))
    assert by_loop()
    assert numbers(await store.read("s1", 0)) == [1, 2, 3, 4]
    resumed = await store.resume_point("s1")
    assert resumed is not None
    assert resumed.out_offset == 70


@pytest.mark.parametrize(
    "batch",
    [
        step(2, text(), sync=True),
        step(2, text(), driver_state=b""),
        step(2, text(), writes=[Write("w", b"x")]),
        step(2, text(), delivered=["w"]),
        step(2, text(), audit=[AuditRecord("input", "ana")]),
        step(2, text(), reply=StoredReply("k", "hash", b"{}")),
        step(2, *[text()] * (writer.MAX_HERE_EVENTS + 1)),
        step(2, text("x" * (writer.MAX_HERE_BYTES + 1))),
        step(1, STARTED, session_id="not in memory"),
    ],
    ids=["sync", "driver state", "write", "delivered", "audit", "reply", "many", "large", "new session"],
)
async def test_all_other_steps_are_the_writer_s(store: SqliteStore, by_loop: Asking, batch: Batch) -> None:
    await store.append(batch)
    assert not by_loop()
    assert len(await store.read(batch.session_id, 0)) > 0


async def test_while_rows_must_be_on_the_disk_the_writer_waits_for_it(
    store: SqliteStore, by_loop: Asking
) -> None:
    release = await store.need_synced_rows()
    await store.append(step(2, text()))
    assert not by_loop()
    release()
    await store.append(step(3, text()))
    assert by_loop()


async def test_nobody_is_told_before_the_commit_nor_before_the_promise_is_given(
    store: SqliteStore, by_loop: Asking, database: Path
) -> None:
    seen: list[list[int]] = []

    def look(commit: Committed) -> None:
        with sqlite3.connect(database) as other:
            stored = other.execute("SELECT seq FROM events WHERE session_id = 's1' ORDER BY seq")
            seen.append([seq for (seq,) in stored])
        other.close()

    store.listen(look)
    promise = store.append(step(2, text()))
    assert by_loop()
    assert (seen, promise.done()) == ([], False)
    await promise
    assert seen == [[1, 2]]


async def test_a_small_step_never_overtakes_one_that_is_queued(store: SqliteStore, by_loop: Asking) -> None:
    heard: list[tuple[str, int]] = []
    store.listen(lambda commit: heard.extend((commit.record.session_id, row.seq) for row in commit.rows))
    many: list[AnyEvent] = [text() for _ in range(50)]
    first, second = store.append(step(1, STARTED, *many, session_id="s2")), store.append(step(2, text()))
    await second
    assert first.done()
    assert not by_loop()
    assert heard[-1] == ("s1", 2)
    # Nor one that is committed and not told of yet.
    third, fourth = store.append(step(3, text())), store.append(step(4, text()))
    await fourth
    assert third.done()
    assert [seq for name, seq in heard if name == "s1"] == [2, 3, 4]


async def test_a_full_disk_is_met_by_the_writer_s_thread_which_looks_again(
    store: SqliteStore, by_loop: Asking
) -> None:
    await store.transact(lambda group: group.connection.execute("PRAGMA max_page_count = 1") and None)
    promises = [store.append(step(2, text("x" * 2000)))]
    while not (await asyncio.gather(promises[-1], return_exceptions=True))[0]:
        promises.append(store.append(step(len(promises) + 2, text("x" * 2000))))
    assert isinstance(promises[-1].exception(), StorageFull)
    assert not by_loop()
    assert store.storage_problem is not None
    store.engine.connection.execute("PRAGMA max_page_count = 1000000")
    await store.writable()
    await store.append(step(len(promises) + 1, text()))
    assert len(await store.read("s1", 0)) == len(promises) + 1


async def test_a_lock_of_another_process_does_not_stop_the_loop(
    store: SqliteStore, by_loop: Asking, database: Path
) -> None:
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    promise = store.append(step(2, text()))
    assert time.monotonic() - began < BUSY_SECONDS
    assert not promise.done()
    other.execute("ROLLBACK")
    await promise
    assert not by_loop()
    other.close()


async def test_the_first_commits_after_a_checkpoint_are_the_writer_s(
    store: SqliteStore, by_loop: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "EVERY_BYTES", 1)
    await store.append(step(2, text()))
    assert by_loop()
    await store.append(step(3, text()))
    assert not by_loop()


async def test_after_a_slow_commit_the_loop_leaves_them_to_the_writer_for_a_while(
    store: SqliteStore, by_loop: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "SLOW_SECONDS", 0.0)
    await store.append(step(2, text()))
    assert by_loop()
    await store.append(step(3, text()))
    assert not by_loop()
    monkeypatch.setattr(store._writer, "_not_here_before", 0.0)  # pyright: ignore[reportPrivateUsage]
    await store.append(step(4, text()))
    assert by_loop()
