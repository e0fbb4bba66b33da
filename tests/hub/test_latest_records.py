"""The hub's newest records: never older than what their readers have been shown."""

import asyncio

import pytest
from msgspec import structs
from tests.hub.running_hub import RunningHub

from bascule.hub.feed.latest_records import SessionRecords
from bascule.model.records import SessionRecord

pytestmark = pytest.mark.anyio


async def test_a_reader_ahead_of_the_last_report_is_judged_by_the_store(hub: RunningHub) -> None:
    await hub.session("s1")
    old = await hub.store.session("s1")
    assert old is not None
    await hub.say("s1", "one", "two")
    records = SessionRecords(hub.store)
    records.committed(old)
    kept = await records.get("s1")
    assert kept is old
    assert await records.reaching(old, 1) is old
    assert (await records.reaching(old, 3)).seq == 3
    assert (await records.reaching(old, 99)).seq == 3


async def test_what_is_no_longer_stored_keeps_its_last_record(hub: RunningHub) -> None:
    await hub.session("s1")
    record = await hub.store.session("s1")
    assert record is not None
    gone = structs.replace(record, session_id="x")
    assert await SessionRecords(hub.store).reaching(gone, 9) is gone


class Gone:
    """A store in which a log was set aside: the session is not there until its first row is."""

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def session(self, session_id: str) -> SessionRecord | None:
        await self.go.wait()
        return None


@pytest.mark.parametrize("came", [True, False])
async def test_a_log_that_is_begun_again_counts_once_whether_its_first_row_came_meanwhile_or_not(
    came: bool,
) -> None:
    store = Gone()
    records = SessionRecords(store)  # pyright: ignore[reportArgumentType] - all it needs of a store
    records.committed(SessionRecord("s1", title="t", seq=7, generation=2))
    beginning = asyncio.create_task(records.begun_again("s1"))
    await asyncio.sleep(0)
    if came:
        records.committed(SessionRecord("s1", title="t", seq=1, generation=3))
    store.go.set()
    expected = SessionRecord("s1", title="t", seq=1 if came else 0, generation=3)
    assert await beginning == await records.get("s1") == expected
