"""The writer: groups, what it forgets and reads again, and what one bad step may not do to others."""

import asyncio
import sqlite3

import pytest
from tests.store.conftest import Clock, Opener
from tests.store.logs import STARTED, asked, begin, encoded, folded, numbers, opened, step, text

from bascule.model.errors import StoreConflict
from bascule.model.events import AnyEvent, PermissionAnswered, TurnEnded
from bascule.store import transaction
from bascule.store.base import Committed, StoredReply
from bascule.store.sqlite import SqliteStore
from bascule.store.transaction import REPLY_SECONDS, SWEEP_SECONDS

pytestmark = pytest.mark.anyio


async def test_what_is_queued_together_is_committed_together(store: SqliteStore) -> None:
    heard: list[Committed] = []
    store.listen(heard.append)
    await asyncio.gather(*[store.append(step(seq, STARTED if seq == 1 else text())) for seq in range(1, 501)])
    assert len(heard) < 100
    assert [seq for one in heard for seq in numbers(one.rows)] == list(range(1, 501))


async def test_sessions_that_left_the_writers_memory_go_on_as_if_they_had_not(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "MAX_SESSIONS", 2)
    log: list[AnyEvent] = [
        STARTED,
        opened(),
        *[text(f"{n} ") for n in range(5)],
        asked(),
        PermissionAnswered("r1", "allow", "ana"),
        text("more"),
        TurnEnded("end_turn"),
    ]
    names = [f"s{n}" for n in range(6)]
    for seq, event in enumerate(log, 1):
        for name in names:
            await store.append(step(seq, event, session_id=name))
    for name in names:
        assert (await store.page(name)).entries == encoded(folded(log))
        request = await store.request(name, "r1")
        assert request is not None
        assert request.answer == PermissionAnswered("r1", "allow", "ana")
    assert len(store._writer._transaction._sessions) == 2  # pyright: ignore[reportPrivateUsage]


async def test_a_step_that_breaks_the_database_s_rules_fails_alone(store: SqliteStore) -> None:
    await begin(store)

    def break_a_rule(group: transaction.Transaction) -> None:
        group.connection.execute("INSERT INTO meta (name, value) VALUES ('half', x'00')")
        group.connection.execute("INSERT INTO meta (name, value) VALUES ('half', x'00')")

    group = [
        store.append(step(2, text())),
        store.transact(break_a_rule),
        store.append(step(3, text())),
        store.append(step(1, STARTED, session_id="s2")),
    ]
    results = await asyncio.gather(*group, return_exceptions=True)
    assert [type(one) for one in results] == [type(None), sqlite3.IntegrityError, type(None), type(None)]
    assert numbers(await store.read("s1", 0)) == [1, 2, 3]
    assert (
        await store.query(lambda one: one.execute("SELECT 1 FROM meta WHERE name = 'half'").fetchone())
        is None
    )


async def test_an_event_that_can_not_be_encoded_fails_alone(store: SqliteStore) -> None:
    await begin(store)
    bad = store.append(step(2, text("\ud800")))
    good = store.append(step(1, STARTED, session_id="s2"))
    with pytest.raises(UnicodeEncodeError):
        await bad
    await good
    assert numbers(await store.read("s1", 0)) == [1]


async def test_a_promise_that_was_given_up_is_still_kept(store: SqliteStore) -> None:
    store.append(step(1, STARTED)).cancel()
    await store.append(step(2, text()))
    assert numbers(await store.read("s1", 0)) == [1, 2]


async def test_only_groups_somebody_relies_on_wait_for_the_disk(store: SqliteStore) -> None:
    seen: list[int] = []

    def look(group: transaction.Transaction) -> None:
        seen.append(group.connection.execute("PRAGMA synchronous").fetchone()[0])

    for sync in (False, True, False, True):
        await store.transact(look, sync=sync)
    normal, full = 1, 2
    assert seen == [normal, full, normal, full]


@pytest.mark.row("REL-28")
async def test_replies_are_kept_for_a_week_and_then_swept(open_store: Opener, clock: Clock) -> None:
    store = await open_store()
    reply = StoredReply("old", "hash", b"{}")
    await store.append(step(1, STARTED, reply=reply))
    clock.now += REPLY_SECONDS - 1
    assert await store.stored_reply("old") == reply
    clock.now += SWEEP_SECONDS
    assert await store.stored_reply("old") is None
    await store.append(step(2, text(), reply=StoredReply("new", "hash", b"{}")))
    kept = await store.query(lambda one: one.execute("SELECT key FROM replies").fetchall())
    assert kept == [("new",)]
    await store.append(step(3, text(), reply=reply))


async def test_closing_commits_what_is_queued(open_store: Opener) -> None:
    store = await open_store()
    promises = [store.append(step(seq, STARTED if seq == 1 else text())) for seq in range(1, 101)]
    await asyncio.gather(store.close(), store.close())
    assert all(promise.done() and promise.exception() is None for promise in promises)
    assert len(await (await open_store()).read("s1", 0)) == 100
    assert not any("store writer" in str(task) for task in asyncio.all_tasks())


async def test_a_conflict_names_the_head(store: SqliteStore) -> None:
    await begin(store)
    with pytest.raises(StoreConflict) as caught:
        await store.append(step(5, text()))
    assert (caught.value.fields["head"], caught.value.fields["first_seq"]) == (1, 5)
