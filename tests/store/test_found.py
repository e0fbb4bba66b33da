"""Found sessions are listed apart, searched together with ours, and can be forgotten; ours never."""

import sqlite3
from pathlib import Path

import pytest
from tests.store.conftest import Opener
from tests.store.logs import STARTED, begin, opened, step, text

from bascule.model.events import (
    ArchivedChanged,
    EntryClosed,
    PromptSent,
    SessionStarted,
    TitleChanged,
    TurnEnded,
)
from bascule.store.base import Batch
from bascule.store.sqlite import SqliteStore

FOUND = SessionStarted("claude-code", "", "/code", "a terminal", found=True)


async def tell(store: SqliteStore, session_id: str, words: str, at: str = "2026-01-02T03:04:05.000Z") -> None:
    events = [FOUND, PromptSent("p", words, "a terminal"), opened("e"), text(f"{words} again", "e")]
    events += [EntryClosed("e"), TitleChanged(f"about {words}"), TurnEnded("end_turn")]
    await store.append(Batch(session_id, 1, at, events, driver_state=b"noted"))


@pytest.mark.row("R23")
async def test_found_sessions_are_listed_apart_from_ours(open_store: Opener) -> None:
    store = await open_store()
    await tell(store, "old", "herons", "2025-01-02T03:04:05.000Z")
    await tell(store, "new", "storks")
    await store.append(Batch("ours", 1, "2026-02-02T03:04:05.000Z", [STARTED]))
    assert [one.session_id for one in await store.sessions()] == ["ours"]
    assert [(one.record.session_id, one.state) for one in await store.found()] == [
        ("new", b"noted"),
        ("old", b"noted"),
    ]
    # Continued here, it is one of ours.
    await store.append(Batch("new", 8, "2026-03-02T03:04:05.000Z", [STARTED]))
    assert [one.session_id for one in await store.sessions()] == ["new", "ours"]
    assert [one.record.session_id for one in await store.found()] == ["old"]


@pytest.mark.row("X4")
@pytest.mark.parametrize("ours_first", [True, False])
async def test_found_sessions_are_searched_with_ours_and_stand_below_them(
    open_store: Opener, ours_first: bool
) -> None:
    store = await open_store()
    for ours in (ours_first, not ours_first):
        if ours:
            await begin(store)
            await store.append(step(2, PromptSent("p", "our herons", "ana"), TurnEnded("end_turn")))
        else:
            await tell(store, "older", "grey herons", "2025-01-02T03:04:05.000Z")
            await tell(store, "newer", "young herons", "2025-06-02T03:04:05.000Z")
        await store.searchable()
    hits = (await store.search("herons")).hits
    titles = [(hit.session_id, hit.found) for hit in hits if hit.first_seq == 0]
    assert titles == [("s1", False), ("newer", True), ("older", True)]
    messages = [hit.session_id for hit in hits if hit.first_seq]
    assert messages == ["s1", "newer", "newer", "older", "older"]
    assert (await store.search("grey", session_id="older")).hits[0].session_id == "older"


async def test_a_forgotten_session_is_nowhere_and_can_be_told_again(
    open_store: Opener, database: Path
) -> None:
    store = await open_store()
    await tell(store, "gone", "herons")
    await tell(store, "kept", "herons")
    await store.searchable()
    assert await store.forget("gone")
    assert not await store.forget("gone")
    assert await store.session("gone") is None
    assert await store.read("gone", 0) == []
    assert {hit.session_id for hit in (await store.search("herons")).hits} == {"kept"}
    await tell(store, "gone", "pelicans")
    await store.searchable()
    assert {hit.session_id for hit in (await store.search("pelicans")).hits} == {"gone"}
    assert {hit.session_id for hit in (await store.search("herons")).hits} == {"kept"}


async def test_forgetting_before_the_index_was_filled_leaves_it_sound(open_store: Opener) -> None:
    store = await open_store()
    for n in range(20):
        await tell(store, f"s-{n}", "herons")
        if n % 2:
            await store.forget(f"s-{n}")
    await store.searchable()
    found = {hit.session_id for hit in (await store.search("herons", limit=100)).hits}
    assert found == {f"s-{n}" for n in range(0, 20, 2)}


async def test_the_logs_of_our_own_sessions_can_not_be_deleted(open_store: Opener, database: Path) -> None:
    store = await open_store()
    await begin(store)
    await store.append(step(2, ArchivedChanged(True, "ana")))
    assert not await store.forget("s1")
    await store.close()
    connection = sqlite3.connect(database)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute("DELETE FROM events WHERE session_id = 's1'")
    connection.close()
