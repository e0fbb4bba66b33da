"""A piece of output is stored as rows of the log; the rest is written when it matters, and folded from it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.store.conftest import Opener
from tests.store.logs import AT, STARTED, append_all, asked, opened, step, text

from bascule.model.errors import StoreDamaged
from bascule.model.events import (
    AnswerDelivered,
    AnyEvent,
    Diff,
    PermissionAnswered,
    PromptQueued,
    PromptSent,
    SessionReady,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    UsageChanged,
)
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio

BEGUN = [STARTED, SessionReady("a1"), PromptSent("p1", "go", "ana"), opened()]
WAITING = PromptQueued("p2", "x" * 1_000_000, "ana")
LATER = AT.replace("08:00:00", "08:00:01")


async def begin(store: SqliteStore, *more: AnyEvent) -> int:
    """Give the number of the next event."""
    await append_all(store, [*BEGUN, *more], size=100)
    return len(BEGUN) + len(more) + 1


async def written(store: SqliteStore) -> tuple[int, int]:
    """The number that the stored row of the only session has got to, and the last one of its log."""

    def numbers(connection: sqlite3.Connection) -> tuple[int, int]:
        (row,), (log,) = connection.execute("SELECT seq FROM sessions UNION ALL SELECT max(seq) FROM events")
        return row, log

    return await store.query(numbers)


def wal_bytes(store: SqliteStore) -> int:
    return store.path.with_name(store.path.name + "-wal").stat().st_size


async def test_a_piece_leaves_the_sessions_row_alone(store: SqliteStore) -> None:
    seq = await begin(store)
    head = seq - 1
    for n in range(5):
        await store.append(step(seq + n, text("word "), out_offset=100 + n))
    assert await written(store) == (head, head + 5)
    record = await store.session("s1")
    assert record is not None
    assert record.seq == head + 5


@pytest.mark.parametrize("waiting", [(), (WAITING,)])
async def test_a_piece_costs_little_more_than_its_page_also_while_a_large_prompt_waits(
    store: SqliteStore, waiting: tuple[AnyEvent, ...]
) -> None:
    seq = await begin(store, *waiting)
    before = wal_bytes(store)
    for n in range(100):
        await store.append(step(seq + n, text("x" * 200), out_offset=100 + n))
    assert (wal_bytes(store) - before) / 100 < 10_000


@pytest.mark.parametrize(
    "event",
    [asked(), PromptQueued("p2", "then", "ana"), TurnEnded("end_turn"), UsageChanged(cost_usd=0.5)],
    ids=["request", "queue", "turn end", "cost"],
)
async def test_what_a_restart_or_a_list_needs_is_written_at_once(store: SqliteStore, event: AnyEvent) -> None:
    seq = await begin(store)
    await store.append(step(seq, text()))
    await store.append(step(seq + 1, event))
    assert await written(store) == (seq + 1, seq + 1)


async def test_the_row_follows_within_a_second_because_lists_are_in_its_order(store: SqliteStore) -> None:
    seq = await begin(store)
    await store.append(step(seq, text()))
    await store.append(step(seq + 1, text(), at=LATER))
    assert await written(store) == (seq + 1, seq + 1)


async def test_the_row_follows_before_its_readers_would_have_much_to_fold(store: SqliteStore) -> None:
    seq = await begin(store)
    await store.append(step(seq, *[text()] * 500))
    assert await written(store) == (seq - 1, seq + 499)
    await store.append(step(seq + 500, *[text()] * 20))
    assert await written(store) == (seq + 519, seq + 519)


async def test_offsets_without_an_event_and_a_drivers_state_are_in_the_row(store: SqliteStore) -> None:
    seq = await begin(store)
    await store.append(step(seq, text(), out_offset=10, driver_state=b"ten"))
    await store.append(step(seq + 1, text(), out_offset=20))
    assert await written(store) == (seq, seq + 1)
    await store.append(step(seq + 2, err_offset=5))
    assert await written(store) == (seq + 1, seq + 1)
    point = await store.resume_point("s1")
    assert point is not None
    assert (point.out_offset, point.err_offset) == (20, 5)
    assert (point.state_offset, point.driver_state) == (10, b"ten")


async def test_what_the_row_lacks_is_folded_from_the_log_before_and_after_a_restart(
    open_store: Opener,
) -> None:
    store = await open_store()
    seq = await begin(store, PromptQueued("p2", "then", "ana"))
    diff = Diff("a.py", "", added=3, removed=1)
    events: list[AnyEvent] = [
        ToolStarted("t", "Edit", "Edit a.py", "edit"),
        ToolChanged("t", "done", diffs=(diff,)),
        UsageChanged(used=70, size=100),
    ]
    for n, event in enumerate(events):
        await store.append(step(seq + n, event, out_offset=100 + n, err_offset=n))
    assert await written(store) == (seq - 1, seq + 2)
    before = await store.resume_point("s1")
    await store.close()
    store = await open_store()
    assert await written(store) == (seq - 1, seq + 2)
    point = await store.resume_point("s1")
    assert point == before
    assert point is not None
    assert (point.out_offset, point.err_offset) == (102, 2)
    assert point.pending.queue == [PromptQueued("p2", "then", "ana")]
    record = point.record
    assert (record.seq, record.added, record.removed, record.context_used) == (seq + 2, 3, 1, 70)
    assert (record.queued, record.context_size) == (1, 100)
    assert [record] == await store.sessions() == (await store.list_sessions()).sessions
    assert [record] == await store.live_sessions()
    assert (await store.page("s1")).seq == seq + 2
    await store.append(step(seq + 3, UsageChanged(used=80), out_offset=103))
    assert (await store.session("s1")) == replace(record, seq=seq + 3, context_used=80, turn_tokens=80)


async def test_a_tool_that_confirms_an_answer_is_written_with_it(store: SqliteStore) -> None:
    seq = await begin(store, ToolStarted("t1", "Bash", "ls", "execute"), asked())
    answered = [PermissionAnswered("r1", "allow", "ana"), AnswerDelivered("r1")]
    await store.append(step(seq, *answered))
    await store.append(step(seq + 2, text()))
    await store.append(step(seq + 3, ToolChanged("t1", "running")))
    assert await written(store) == (seq + 3, seq + 3)
    request = await store.request("s1", "r1")
    assert request is not None
    assert request.state == "confirmed"


@pytest.mark.row("F5", "REL-11")
async def test_a_changed_offset_in_the_log_is_named(open_store: Opener, database: Path) -> None:
    store = await open_store()
    seq = await begin(store)
    await store.append(step(seq, text(), out_offset=1234))
    await store.close()
    with closing(sqlite3.connect(database, isolation_level=None)) as spoiler:
        spoiler.execute("DROP TRIGGER events_are_never_changed")
        spoiler.execute("UPDATE events SET offsets = CAST('1235 0' AS BLOB) WHERE seq = ?", (seq,))
    store = await open_store()
    with pytest.raises(StoreDamaged, match=f"event {seq} does not match"):
        await store.resume_point("s1")
