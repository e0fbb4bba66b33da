"""What every engine of a hub's store must do with copies of another machine's log.

A test class inherits `ReplicaConformance` and brings the fixture `opener`, which opens the same data again.
"""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.store.copies import BEGUN, LAPTOP, as_rows
from tests.store.logs import STARTED, asked, begin, numbers, opened, step, text

from bascule.model.errors import Diverged, InvalidInput, OwnerMismatch, StoreConflict
from bascule.model.events import AnyEvent, EntryClosed, PromptSent, SessionStarted
from bascule.store import taking_in
from bascule.store.base import Committed
from bascule.store.protocols import HubStore

Open = Callable[[], Awaitable[HubStore]]
TURN = [BEGUN, PromptSent("p1", "find the heron", "ana"), opened(), text("a heron "), EntryClosed("e")]


async def copy(hub: HubStore, events: list[AnyEvent], session_id: str = "s1") -> None:
    await hub.take_in(LAPTOP, session_id, 1, as_rows(events))


def taken(*events: AnyEvent) -> list[AnyEvent]:
    return [BEGUN, *events]


class ReplicaConformance:
    @pytest.fixture
    async def store(self, opener: Open) -> HubStore:
        return await opener()

    async def test_rows_are_kept_as_they_came_and_told_like_our_own(self, store: HubStore) -> None:
        heard: list[Committed] = []
        store.listen(heard.append)
        rows = as_rows([*TURN, asked()])
        result = await store.take_in(LAPTOP, "s1", 1, rows)
        assert (result.head, result.new, result.rows) == (6, 6, 6)
        assert [row.body for row in await store.read("s1", 0)] == rows
        (commit,) = heard
        assert (numbers(commit.rows), commit.record.device, commit.taken_in) == (
            [1, 2, 3, 4, 5, 6],
            LAPTOP,
            True,
        )
        assert [one.request_id for one in commit.requests] == ["r1"]
        assert [one.request_id for one in await store.open_requests()] == ["r1"]

    @pytest.mark.row("R3", "R11")
    async def test_rows_that_are_there_already_are_skipped(self, store: HubStore) -> None:
        rows = as_rows(TURN)
        for first, last, new in ((1, 3, 3), (1, 3, 0), (2, 5, 2), (1, 5, 0), (5, 5, 0)):
            result = await store.take_in(LAPTOP, "s1", first, rows[first - 1 : last])
            assert result.new == new
        assert [row.body for row in await store.read("s1", 0)] == rows
        assert await store.rows_of(LAPTOP) == 5

    async def test_repeats_that_wait_in_one_group_are_skipped_too(self, store: HubStore) -> None:
        rows = as_rows(TURN)
        waiting = [store.take_in(LAPTOP, "s1", first, rows[first - 1 :]) for first in (1, 1, 3)]
        assert [one.new for one in await asyncio.gather(*waiting)] == [5, 0, 0]

    async def test_a_gap_is_refused_and_leaves_no_trace(self, store: HubStore) -> None:
        rows = as_rows(TURN)
        with pytest.raises(StoreConflict):
            await store.take_in(LAPTOP, "s1", 2, rows[1:])
        assert await store.session("s1") is None
        await store.take_in(LAPTOP, "s1", 1, rows[:2])
        with pytest.raises(StoreConflict) as caught:
            await store.take_in(LAPTOP, "s1", 4, rows[3:])
        assert caught.value.fields["head"] == 2
        assert (len(await store.read("s1", 0)), await store.rows_of(LAPTOP)) == (2, 2)

    async def test_a_row_that_differs_is_refused_and_the_copy_stays(self, store: HubStore) -> None:
        rows = as_rows(TURN)
        await store.take_in(LAPTOP, "s1", 1, rows[:4])
        with pytest.raises(Diverged) as caught:
            await store.take_in(LAPTOP, "s1", 3, as_rows([opened("x"), text("other "), text("more ")], 3))
        assert caught.value.fields["seq"] == 3
        same_group = [
            store.take_in(LAPTOP, "s1", 5, rows[4:]),
            store.take_in(LAPTOP, "s1", 5, as_rows([text()], 5)),
        ]
        results = await asyncio.gather(*same_group, return_exceptions=True)
        assert isinstance(results[1], Diverged)
        assert [row.body for row in await store.read("s1", 0)] == rows

    @pytest.mark.row("S39")
    async def test_nobody_writes_into_a_log_that_is_not_theirs(self, store: HubStore) -> None:
        await begin(store, "own")
        await copy(store, TURN)
        for session_id in ("own", "s1"):
            with pytest.raises(OwnerMismatch):
                await store.take_in("stranger", session_id, 1, as_rows([STARTED]))
        with pytest.raises(OwnerMismatch):
            await store.take_in(LAPTOP, "own", 2, as_rows([text()], 2))
        with pytest.raises(StoreConflict, match="another device"):
            await store.append(step(6, text()))
        assert (len(await store.read("own", 0)), len(await store.read("s1", 0))) == (1, 5)

    @pytest.mark.row("S39")
    async def test_a_log_can_not_name_another_machine_as_its_own(self, store: HubStore) -> None:
        lie = SessionStarted("demo", "stream_json", "/", "ana", device="stranger")
        await copy(store, [lie, text(), lie])
        record = await store.session("s1")
        assert record is not None
        assert record.device == LAPTOP
        with pytest.raises(OwnerMismatch):
            await store.take_in("stranger", "s1", 4, as_rows([text()], 4))

    @pytest.mark.row("S39")
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{}",
            b"[1]",
            b'{"seq":2,"at":"2027-01-15T08:00:00.000Z","event":{"type":"bell"}}',
            b'{"seq":1,"at":"tomorrow","event":{"type":"bell"}}',
            b'{"seq":1,"at":"2027-01-15T08:00:00.000Z","event":{"type":"bell"}',
            b'{"seq":1,"at":"2027-01-15T08:00:00.000Z","event":{"type":"sung","x":"\xff"}}',
        ],
    )
    async def test_what_is_no_row_of_a_log_is_refused(self, body: bytes, store: HubStore) -> None:
        with pytest.raises(InvalidInput):
            await store.take_in(LAPTOP, "s1", 1, [body])
        assert await store.session("s1") is None

    @pytest.mark.row("S39")
    async def test_a_batch_or_a_name_beyond_all_measure_is_refused(
        self, store: HubStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(taking_in, "MAX_BATCH_BYTES", 500)
        with pytest.raises(InvalidInput, match="Too many"):
            await store.take_in(LAPTOP, "s1", 1, as_rows(taken(text("x" * 500))))
        for name in ("", "@audit", "a/b", "x" * 141):
            with pytest.raises(InvalidInput):
                await store.take_in(LAPTOP, name, 1, as_rows([BEGUN]))
        with pytest.raises(InvalidInput):
            await store.take_in(LAPTOP, "s1", 0, as_rows([BEGUN], 0))

    async def test_nothing_of_it_is_to_be_delivered_or_resumed(self, store: HubStore) -> None:
        await copy(store, [*TURN, asked()])
        point = await store.resume_point("s1")
        assert point is not None
        assert (point.outbox, point.driver_state, point.out_offset) == ([], None, 0)

    async def test_a_found_session_is_listed_as_found_and_its_copy_may_go(self, store: HubStore) -> None:
        found = SessionStarted("demo", "stream_json", "/", "ana", device=LAPTOP, found=True)
        await copy(store, [found, text("heron")])
        assert [one.record.session_id for one in await store.found()] == ["s1"]
        assert await store.sessions() == []
        with pytest.raises(OwnerMismatch):
            await store.forget_copy("stranger", "s1")
        assert await store.forget_copy(LAPTOP, "s1")
        assert (await store.found(), await store.replica("s1")) == ([], None)
        assert await store.read("s1", 0) == []

    async def test_a_copy_that_its_machine_no_longer_has_is_kept_and_marked(self, store: HubStore) -> None:
        await copy(store, TURN)
        assert not await store.forget_copy(LAPTOP, "s1")
        assert await store.gone_sessions(LAPTOP) == ["s1"]
        assert len(await store.read("s1", 0)) == 5
        await store.take_in(LAPTOP, "s1", 6, as_rows([text()], 6))
        assert await store.gone_sessions(LAPTOP) == []
        await store.forget_copy(LAPTOP, "s1")
        await store.found_again(LAPTOP)
        assert await store.gone_sessions(LAPTOP) == []
