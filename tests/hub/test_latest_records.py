"""The hub's newest records: never older than what their readers have been shown."""

import pytest
from msgspec import structs
from tests.hub.running_hub import RunningHub

from bascule.hub.live.latest_records import SessionRecords

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
