"""What every engine must answer to who lists sessions: pages in exact order, nothing twice, nothing missing,
also while sessions move.

A test class inherits `ListingConformance` and brings the fixtures `opener`, which opens the same data again,
and `damage`, which spoils the stored record of a session while nobody has the data open.
"""

import asyncio
import random
from collections.abc import Callable

import pytest
from tests.store.logs import STARTED, asked, step, text
from tests.store.postgres_store import Opener

from bascule.model.errors import InvalidInput
from bascule.model.events import (
    ArchivedChanged,
    SessionEnded,
    SessionFailed,
    SessionReady,
    SessionStarted,
    TurnEnded,
    UsageChanged,
)
from bascule.model.records import SessionRecord
from bascule.store.base import AgentUsage, Committed, FolderCount, SessionFilter
from bascule.store.connection import Connection
from bascule.store.database import DatabaseStore


def at(second: int) -> str:
    return f"2027-01-15T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"


def started(folder: str, device: str = "") -> SessionStarted:
    return SessionStarted("demo", "stream_json", folder, "ana", device=device)


def names(sessions: list[SessionRecord]) -> list[str]:
    return [one.session_id for one in sessions]


async def walk(store: DatabaseStore, where: SessionFilter, limit: int) -> list[str]:
    page = await store.list_sessions(where, limit=limit)
    found = names(page.sessions)
    while page.next is not None:
        page = await store.list_sessions(where, limit=limit, cursor=page.next)
        found += names(page.sessions)
    return found


async def many(store: DatabaseStore, number: int) -> None:
    """Four sessions in every second, so that ids decide where times do not."""
    steps = [step(1, STARTED, session_id=f"s{n * 7919 % number:05}", at=at(n // 4)) for n in range(number)]
    for each in [store.append(one) for one in steps]:
        await each


def _newest(record: SessionRecord) -> list[int]:
    return [-ord(letter) for letter in record.updated_at]


class ListingConformance:
    sessions = 10_000

    @pytest.fixture
    async def store(self, opener: Opener) -> DatabaseStore:
        return await opener()

    async def test_thousands_of_sessions_come_in_pages_in_exact_order(self, store: DatabaseStore) -> None:
        await many(store, self.sessions)
        whole = names(await store.sessions())
        assert len(whole) == self.sessions
        assert await walk(store, SessionFilter(), 200) == whole
        first = await store.list_sessions()
        assert (names(first.sessions), first.next is None) == (whole[:50], False)

    async def test_a_page_that_holds_the_rest_exactly_is_the_last(self, store: DatabaseStore) -> None:
        await many(store, 20)
        first = await store.list_sessions(limit=10)
        assert first.next is not None
        second = await store.list_sessions(limit=10, cursor=first.next)
        assert (len(second.sessions), second.next) == (10, None)

    @pytest.mark.parametrize("seed", range(3))
    async def test_who_merges_commits_into_pages_ends_with_the_right_list(
        self, store: DatabaseStore, seed: int
    ) -> None:
        await many(store, 600)
        chance = random.Random(seed)
        heard: dict[str, SessionRecord] = {}

        def hear(commit: Committed) -> None:
            heard[commit.record.session_id] = commit.record

        store.listen(hear)
        listed: list[str] = []
        known: dict[str, SessionRecord] = {}
        cursor, second = None, 10_000
        while True:
            page = await store.list_sessions(limit=50, cursor=cursor)
            listed += names(page.sessions)
            known |= {one.session_id: one for one in page.sessions}
            if page.next is None:
                break
            cursor = page.next
            for _ in range(5):  # between two pages: some that were listed, some that were not, and a new one
                second += 1
                moved = await store.session(f"s{chance.randrange(600):05}")
                assert moved is not None
                await store.append(
                    step(moved.seq + 1, text("on"), session_id=moved.session_id, at=at(second))
                )
            await store.append(step(1, STARTED, session_id=f"new{second}", at=at(second)))
        assert len(listed) == len(set(listed))
        untouched = [name for name in names(await store.sessions()) if name not in heard]
        assert [name for name in listed if name not in heard] == untouched
        merged = {**known, **heard}
        assert sorted(merged, key=lambda name: (_newest(merged[name]), name)) == names(await store.sessions())

    async def test_a_list_is_of_a_folder_or_also_of_those_below_it(self, store: DatabaseStore) -> None:
        folders = ["/w", "/w/a", "/w/a/deep", "/w/a0", "/w/a-b", "/w/ab", "/w/b"]
        for n, folder in enumerate(folders):
            await store.append(step(1, started(folder), session_id=folder, at=at(n)))
        tree = SessionStarted("demo", "stream_json", "/trees/1", "ana", worktree_of="/w/a")
        await store.append(step(1, tree, session_id="tree", at=at(9)))
        assert await walk(store, SessionFilter(folder="/w/a"), 1) == ["tree", "/w/a"]
        assert await walk(store, SessionFilter(folder="/w/a", below=True), 1) == ["tree", "/w/a/deep", "/w/a"]
        assert await walk(store, SessionFilter(folder="/trees/1", below=True), 5) == []
        every = ["tree", *reversed(folders)]
        assert await walk(store, SessionFilter(folder="/", below=True), 3) == every
        assert await walk(store, SessionFilter(folder="/w", below=True), 3) == every

    async def test_live_sessions_are_listed_whatever_their_age(self, store: DatabaseStore) -> None:
        for n, ending in enumerate(["", "closed", "disconnected", "", "closed"]):
            events = [STARTED, SessionEnded(ending)] if ending else [STARTED]  # type: ignore[arg-type]
            await store.append(step(1, *events, session_id=f"s{n}", at=at(n)))
        await store.append(step(1, STARTED, SessionFailed("could_not_connect", "no"), session_id="failed"))
        assert await walk(store, SessionFilter(live=True), 1) == ["s3", "s2", "s0"]
        assert sorted(names(await store.live_sessions())) == ["s0", "s3"]
        assert sorted(names(await store.orphans())) == ["failed", "s2"]
        await store.append(step(3, SessionEnded("closed"), session_id="s2"))
        await store.append(step(2, ArchivedChanged(True, "ana"), session_id="s0"))
        assert await walk(store, SessionFilter(live=True), 5) == ["s3"]
        assert await walk(store, SessionFilter(live=True, archived=True), 5) == ["s0"]
        assert names(await store.orphans()) == ["failed"]

    async def test_sessions_are_counted_by_folder_and_in_all(self, store: DatabaseStore) -> None:
        for n in range(6):
            folder, device = ("/w/a", "d1") if n < 4 else ("/w/b", "d2")
            await store.append(step(1, started(folder, device), session_id=f"s{n}"))
        await store.append(step(2, ArchivedChanged(True, "ana"), session_id="s0"))
        counts = await store.session_counts()
        assert counts == ([FolderCount("/w/a", "d1", 3), FolderCount("/w/b", "d2", 2)], 5, 1)
        assert (await store.session_counts(archived=True)).folders == [FolderCount("/w/a", "d1", 1)]
        await store.append(step(3, ArchivedChanged(False, "ana"), session_id="s0"))
        assert (await store.session_counts())[1:] == (6, 0)

    @pytest.mark.row("R6")
    async def test_folders_are_listed_by_their_latest_session(self, store: DatabaseStore) -> None:
        for n, folder in enumerate(["/a", "/b", "/c", "/a", ""]):
            await store.append(step(1, started(folder), session_id=f"s{n}", at=at(n)))
        await store.append(step(2, ArchivedChanged(True, "ana"), session_id="s2", at=at(9)))
        assert [path for path, _ in await store.recent_folders(2)] == ["/c", "/a"]
        assert [path for path, _ in await store.recent_folders(9)] == ["/c", "/a", "/b"]

    async def test_folders_of_sessions_at_one_time_are_listed_by_their_names(
        self, store: DatabaseStore
    ) -> None:
        folders = [f"/{letter}" for letter in "jcahgibfde"]
        for folder in folders:
            for device in ("d2", "d1"):
                await store.append(step(1, started(folder, device), session_id=f"{folder[1]}{device}"))
        listed = [(folder, device) for folder in sorted(folders) for device in ("d1", "d2")]
        assert await store.recent_folders(20) == listed
        assert await store.recent_folders(3, ["d2"]) == [("/a", "d2"), ("/b", "d2"), ("/c", "d2")]

    async def test_sessions_of_an_agents_conversation_are_found(self, store: DatabaseStore) -> None:
        for n, conversation in enumerate(["c1", "c2", "c1"]):
            await store.append(step(1, STARTED, SessionReady(conversation, "m"), session_id=f"s{n}"))
        await store.append(step(1, STARTED, session_id="unnamed"))
        assert sorted(names(await store.sessions_of(("demo", "c1")))) == ["s0", "s2"]
        assert await store.sessions_of(("other", "c1")) == []
        assert await store.sessions_of(("demo", "")) == []
        assert set(await store.conversations()) == {("demo", "c1"), ("demo", "c2")}
        assert await store.conversations("other") == {}

    async def test_usage_sums_all_sessions_and_names_the_costliest(self, store: DatabaseStore) -> None:
        costs = [0.5, None, 2.0]
        for n, cost in enumerate(costs):
            spent = [UsageChanged(cost_usd=cost)] if cost is not None else []
            await store.append(step(1, STARTED, *spent, TurnEnded("end_turn"), session_id=f"s{n}"))
        await store.append(step(1, SessionStarted("quiet", "stream_json", "/w", "ana"), session_id="q"))
        usage = await store.usage(1)
        turns = sum([one.turns for one in await store.sessions() if one.agent == "demo"])
        assert usage.agents == [AgentUsage("demo", 3, turns, 2.5), AgentUsage("quiet", 1, 0, None)]
        assert names(usage.costliest) == ["s2"]

    @pytest.mark.parametrize("cursor", ["", "x", "====", "é", "bm9zcGFjZQ", "IGE"])
    async def test_what_is_no_cursor_is_refused_in_words(self, store: DatabaseStore, cursor: str) -> None:
        with pytest.raises(InvalidInput, match="no cursor"):
            await store.list_sessions(cursor=cursor)

    async def test_a_damaged_session_is_left_out_of_its_page_and_told(
        self, opener: Opener, damage: Callable[[str], None]
    ) -> None:
        store = await opener()
        await many(store, 12)
        whole = names(await store.sessions())
        await store.close()
        await asyncio.to_thread(damage, whole[3])
        again = await opener()
        assert await walk(again, SessionFilter(), 4) == [one for one in whole if one != whole[3]]
        assert list(again.damaged_sessions) == [whole[3]]
        assert (await again.usage(5)).agents == [AgentUsage("demo", 12, 0, None)]

    async def test_text_that_streams_leaves_the_index_alone(self, store: DatabaseStore) -> None:
        await store.append(step(1, STARTED, asked()))

        def indexed(connection: Connection) -> int:
            return connection.execute("SELECT count(*) FROM session_index").fetchone()[0]

        assert await store.query(indexed) == 1
        await store.transact(lambda writing: writing.connection.execute("DELETE FROM session_index") and None)
        await store.append(step(3, text()))
        assert await store.query(indexed) == 0
