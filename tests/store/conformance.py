"""What every engine of the store must do: for a hub and a daemon (`LogConformance`), for a daemon besides.

A test class inherits one of them and brings the fixture `opener`, which opens the same data again.
"""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from msgspec import Raw
from tests.store.following import follow
from tests.store.logs import (
    STARTED,
    append_all,
    asked,
    begin,
    encoded,
    folded,
    numbers,
    opened,
    step,
    text,
)
from tests.waiting import MUCH_PATIENCE, PATIENCE

from bascule.model.codec import decode_logged
from bascule.model.errors import SessionNotFound, StoreConflict
from bascule.model.events import (
    AnswerDelivered,
    ArchivedChanged,
    EntryClosed,
    PermissionAnswered,
    PermissionWithdrawn,
    PromptQueued,
    PromptSent,
    RuleAdded,
    SessionReady,
    TitleChanged,
    ToolChanged,
    TurnEnded,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import Write
from bascule.store.base import AuditRecord, Committed, Row, StoredReply
from bascule.store.protocols import DaemonStore, Log

Open = Callable[[], Awaitable[DaemonStore]]
OpenLog = Callable[[], Awaitable[Log]]


async def follow_until(store: Log, last: int, after: int = 0, session_id: str = "s1") -> list[Row]:
    rows: list[Row] = []
    stream = follow(store, session_id, after)
    try:
        async with asyncio.timeout(MUCH_PATIENCE):
            async for some in stream:
                assert some
                rows += some
                if rows[-1].seq >= last:
                    break
    finally:
        await stream.aclose()
    return rows


class LogConformance:
    @pytest.fixture
    async def store(self, opener: OpenLog) -> Log:
        return await opener()

    # The log

    async def test_what_was_appended_is_read_back_byte_for_byte(self, store: Log) -> None:
        await store.append(step(1, STARTED, asked()))
        rows = await store.read("s1", 0)
        assert numbers(rows) == [1, 2]
        assert rows[1].body.startswith(b'{"seq":2,"at":"2027-01-15T08:00:00.000Z","event":{"type":')
        assert b'"input":{ "command":  "ls \\u00e9" }' in rows[1].body
        assert decode_logged(rows[1].body).event == asked()

    async def test_reading_begins_after_the_number_given_and_stops_at_the_limit(self, store: Log) -> None:
        await append_all(store, [STARTED, *[text()] * 99])
        assert numbers(await store.read("s1", 40, 10)) == list(range(41, 51))
        assert numbers(await store.read("s1", 95)) == [96, 97, 98, 99, 100]
        assert await store.read("s1", 100) == []
        assert await store.read("nobody", 0) == []

    async def test_a_refused_step_does_not_take_its_neighbours_with_it(self, store: Log) -> None:
        mixed = [
            store.append(step(1, STARTED)),
            store.append(step(9, text())),
            store.append(step(1, STARTED, session_id="s2")),
            store.append(step(2, text())),
        ]
        results = await asyncio.gather(*mixed, return_exceptions=True)
        assert [type(one) for one in results] == [type(None), StoreConflict, type(None), type(None)]
        assert numbers(await store.read("s1", 0)) == [1, 2]
        assert numbers(await store.read("s2", 0)) == [1]

    async def test_steps_of_a_session_commit_in_the_order_they_were_queued(self, store: Log) -> None:
        waiting = [store.append(step(seq, STARTED if seq == 1 else text(f"{seq} "))) for seq in range(1, 400)]
        await asyncio.gather(*waiting)
        assert numbers(await store.read("s1", 0)) == list(range(1, 400))

    async def test_everything_is_there_after_opening_again(self, opener: OpenLog) -> None:
        store = await opener()
        await append_all(store, [STARTED, opened(), *[text()] * 30])
        rows, page, record = await store.read("s1", 0), await store.page("s1"), await store.session("s1")
        await store.close()
        again = await opener()
        assert await again.read("s1", 0) == rows
        assert await again.page("s1") == page
        assert await again.session("s1") == record
        await again.append(step(33, text()))
        assert (await again.page("s1")).seq == 33

    async def test_a_step_after_closing_fails_instead_of_being_lost(self, store: Log) -> None:
        await store.close()
        with pytest.raises(Exception, match="closed"):
            await store.append(step(1, STARTED))

    # Listening

    async def test_nobody_hears_of_a_row_before_it_is_committed(self, store: Log) -> None:
        heard: list[Committed] = []
        store.listen(heard.append)
        promise = store.append(step(1, STARTED, text()))
        assert heard == []
        assert not promise.done()
        await promise
        assert [numbers(one.rows) for one in heard] == [[1, 2]]
        assert heard[0].rows == await store.read("s1", 0)

    async def test_listeners_hear_each_row_once_in_order_with_a_record_of_their_own(self, store: Log) -> None:
        heard: list[Committed] = []
        stop = store.listen(heard.append)
        await append_all(store, [STARTED, *[text()] * 200])
        assert [seq for one in heard for seq in numbers(one.rows)] == list(range(1, 202))
        assert all(one.record.seq == one.rows[-1].seq for one in heard)
        stop()
        count, last = len(heard), heard[-1].record.seq
        await store.append(step(202, TitleChanged("later")))
        assert (len(heard), heard[-1].record.seq, heard[-1].record.title) == (count, last, "")

    async def test_a_failing_listener_does_not_keep_the_others_from_hearing(self, store: Log) -> None:
        faults: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
        heard: list[Committed] = []

        def fail(_: Committed) -> None:
            raise RuntimeError("a listener's own fault")

        store.listen(fail)
        store.listen(heard.append)
        await begin(store)
        asyncio.get_running_loop().set_exception_handler(None)
        assert (len(heard), len(faults)) == (1, 1)

    # Listening and reading together

    async def test_following_gives_past_and_live_as_one(self, store: Log) -> None:
        await append_all(store, [STARTED, *[text()] * 49])
        following = asyncio.create_task(follow_until(store, 100, after=20))
        for seq in range(51, 101):
            await store.append(step(seq, text()))
        assert numbers(await following) == list(range(21, 101))

    async def test_a_session_can_be_followed_before_it_exists(self, store: Log) -> None:
        following = asyncio.create_task(follow_until(store, 2))
        await asyncio.sleep(0)
        await begin(store)
        await store.append(step(2, text()))
        assert numbers(await following) == [1, 2]

    async def test_a_viewer_that_drops_anywhere_goes_on_exactly_there(self, store: Log) -> None:
        await begin(store)
        seen: list[int] = []

        async def write() -> None:
            for seq in range(2, 601, 3):
                await store.append(step(seq, *[text()] * 3))

        writing = asyncio.create_task(write())
        drops = 0
        async with asyncio.timeout(PATIENCE):
            while not seen or seen[-1] < 601:
                stream = follow(store, "s1", seen[-1] if seen else 0)
                async for rows in stream:
                    seen += numbers(rows)
                    drops += 1
                    break
                await stream.aclose()
        await writing
        assert drops > 1
        assert seen == list(range(1, 602))

    # The transcript

    async def test_a_page_holds_the_newest_entries_and_the_way_to_those_above(self, store: Log) -> None:
        events = [STARTED, *[TurnEnded("end_turn", duration_ms=n) for n in range(99)]]
        await append_all(store, events)
        whole = encoded(folded(events))
        newest = await store.page("s1", 30)
        assert (newest.seq, newest.entries, newest.before) == (100, whole[-30:], 71)
        above = await store.page("s1", 30, newest.before)
        assert (above.entries, above.before) == (whole[40:70], 41)
        assert (await store.page("s1", 40, 41)).before is None
        assert (await store.page("s1", 41, 41)).entries == whole[:40]
        assert (await store.page("s1", 10, 1)).entries == []

    async def test_a_page_is_true_in_the_middle_of_a_sentence(self, store: Log) -> None:
        events = [STARTED, opened(), *[text(f"{n} ") for n in range(1500)]]
        for count in (1, 2, 3, 500, 515, 1200, len(events)):
            head = await store.session("s1")
            done = head.seq if head else 0
            await store.append(step(done + 1, *events[done:count]))
            page = await store.page("s1")
            assert (page.seq, page.entries) == (count, encoded(folded(events[:count])))

    async def test_a_page_of_nobody_is_refused(self, store: Log) -> None:
        with pytest.raises(SessionNotFound):
            await store.page("nobody")

    # Sessions

    async def test_a_session_is_what_its_events_made_it(self, store: Log) -> None:
        events = [
            STARTED,
            SessionReady("agent-1", "model-1"),
            PromptSent("p1", "Do  it\nnow", "ana"),
            asked(),
        ]
        await store.append(step(1, *events))
        record = await store.session("s1")
        assert record is not None
        assert (record.title, record.phase, record.model) == ("Do it now", Phase.RUNNING, "model-1")
        assert (record.open_requests, record.turns, record.seq) == (1, 1, 4)

    async def test_sessions_are_listed_by_newest_activity_without_the_archived(self, store: Log) -> None:
        for n, name in enumerate(["old", "new", "middle"]):
            at = f"2027-01-15T08:00:0{(0, 9, 5)[n]}.000Z"
            await store.append(step(1, STARTED, session_id=name, at=at))
        await store.append(step(1, STARTED, ArchivedChanged(True, "ana"), session_id="gone"))
        assert [one.session_id for one in await store.sessions()] == ["new", "middle", "old"]
        assert [one.session_id for one in await store.sessions(archived=True)] == ["gone"]

    @pytest.mark.row("S37")
    async def test_hostile_titles_and_ids_are_only_text(self, store: Log) -> None:
        hostile = ["'; DROP TABLE sessions; --", "%_*?[a]", '" OR 1=1 --', "a\x00b", "\u202e𝄞\n"]
        for name in hostile:
            await store.append(step(1, STARTED, TitleChanged(name), session_id=name))
        assert sorted(one.title for one in await store.sessions()) == sorted(hostile)
        for name in hostile:
            assert numbers(await store.read(name, 0)) == [1, 2]
            assert len((await store.page(name)).entries) == 1
        assert await store.session("%") is None
        assert await store.stored_reply("%") is None
        assert await store.request("%", "%") is None

    # Going on after a restart

    async def test_a_request_goes_from_open_to_confirmed(self, opener: OpenLog) -> None:
        store = await opener()
        await store.append(step(1, STARTED, asked()))
        request = await store.request("s1", "r1")
        assert request is not None
        assert (request.state, request.seq, request.input_sha256) == ("open", 2, asked().input_sha256)
        assert b'{ "command":  "ls \\u00e9" }' in bytes(request.asked)
        changes = [
            (PermissionAnswered("r1", "allow", "ana"), "answered"),
            (AnswerDelivered("r1"), "delivered"),
            (ToolChanged("t1", "running"), "confirmed"),
        ]
        for seq, (event, state) in enumerate(changes, 3):
            await store.close()  # each change finds what the one before left on disk
            store = await opener()
            await store.append(step(seq, event))
            request = await store.request("s1", "r1")
            assert request is not None
            assert request.state == state
        assert request.answered_by == "ana"

    async def test_open_requests_of_all_sessions_come_oldest_first(self, store: Log) -> None:
        for n, name in enumerate(["b", "a"]):
            at = f"2027-01-15T08:00:0{n}.000Z"
            await store.append(step(1, STARTED, asked(f"{name}1"), asked(f"{name}2"), session_id=name, at=at))
        await store.append(step(4, PermissionWithdrawn("b1", "agent"), session_id="b"))
        assert [one.request_id for one in await store.open_requests()] == ["b2", "a1", "a2"]

    async def test_audit_records_are_chained_with_the_step_they_belong_to(self, store: Log) -> None:
        record = AuditRecord("permission", "ana\n\x1b[31m", session_id="s1", decision="allow")
        await store.append(step(1, STARTED, audit=[record]))
        with pytest.raises(StoreConflict):
            await store.append(step(9, text(), audit=[record]))
        await store.audit([AuditRecord("grant", "ana"), AuditRecord("refused", "bob")])
        lines = await store.audit_lines()
        assert len(lines) == 3
        assert all(b"\n" not in line and b"\x1b" not in line for line in lines)
        assert lines[1:] == await store.audit_lines(after=1)
        check = await store.verify_audit()
        assert (check.checked, check.bad) == (3, None)

    async def test_a_store_that_works_has_no_storage_problem(self, store: Log) -> None:
        await begin(store)
        assert store.storage_problem is None
        async with asyncio.timeout(PATIENCE):
            await store.writable()

    async def test_closed_entries_stay_as_they_were(self, store: Log) -> None:
        events = [STARTED, opened("a"), text("one", "a"), EntryClosed("a"), TurnEnded("end_turn")]
        await append_all(store, events, size=1)
        before = (await store.page("s1")).entries
        await store.append(step(6, text("too late", "a")))
        assert (await store.page("s1")).entries == before


class DaemonConformance(LogConformance):
    @pytest.fixture
    async def store(self, opener: Open) -> DaemonStore:
        return await opener()

    async def test_a_step_that_does_not_follow_the_head_is_refused_and_leaves_no_trace(
        self, store: DaemonStore
    ) -> None:
        await begin(store)
        for wrong in (1, 3, 0):
            with pytest.raises(StoreConflict):
                await store.append(step(wrong, text(), writes=[Write("w", b"x")]))
        with pytest.raises(StoreConflict):
            await store.append(step(2, STARTED, session_id="s2"))
        with pytest.raises(StoreConflict):
            await store.append(step(1, session_id="s3"))
        point = await store.resume_point("s1")
        assert point is not None
        assert (point.record.seq, point.outbox) == (1, [])
        assert await store.session("s2") is None

    async def test_a_resume_point_holds_offsets_driver_state_queue_rules_and_outbox(
        self, opener: Open
    ) -> None:
        store = await opener()
        rule = RuleAdded(Raw(b'{"tool": "Read"}'), "read anything", "ana")
        queued = PromptQueued("p2", "then this", "ana")
        await store.append(
            step(
                1,
                STARTED,
                queued,
                rule,
                out_offset=120,
                err_offset=7,
                driver_state=b"\x00state",
                writes=[Write("start:1", b"a\n"), Write("prompt:p1", b"\xff\n")],
            )
        )
        await store.append(step(4, out_offset=150, delivered=["start:1"], writes=[Write("mode:1", b"c\n")]))
        await store.close()
        point = await (await opener()).resume_point("s1")
        assert point is not None
        assert (point.out_offset, point.err_offset, point.driver_state) == (150, 7, b"\x00state")
        assert point.outbox == [Write("prompt:p1", b"\xff\n"), Write("mode:1", b"c\n")]
        assert (point.pending.queue, point.pending.rules) == ([queued], [rule])
        assert point.record.queued == 1

    async def test_a_write_queued_twice_is_in_the_outbox_once(self, store: DaemonStore) -> None:
        for seq, event in ((1, STARTED), (2, text())):
            await store.append(step(seq, event, writes=[Write("prompt:p1", b"once\n")]))
        point = await store.resume_point("s1")
        assert point is not None
        assert point.outbox == [Write("prompt:p1", b"once\n")]

    async def test_nobody_has_no_resume_point(self, store: DaemonStore) -> None:
        assert await store.resume_point("nobody") is None
        assert await store.session("nobody") is None

    async def test_a_resume_point_names_requests_that_are_open_or_not_yet_delivered(
        self, store: DaemonStore
    ) -> None:
        answers = [PermissionAnswered(name, "allow", "ana") for name in ("r2", "r3", "r4")]
        tail = [AnswerDelivered("r3"), PermissionWithdrawn("r4", "agent")]
        await store.append(step(1, STARTED, *[asked(f"r{n}") for n in range(1, 5)], *answers, *tail))
        point = await store.resume_point("s1")
        assert point is not None
        assert [(one.request_id, one.state) for one in point.requests] == [("r1", "open"), ("r2", "answered")]

    async def test_a_stored_reply_is_found_again_and_its_key_is_taken(self, opener: Open) -> None:
        store = await opener()
        reply = StoredReply("key-1", "body-hash", b'{"seq":1}')
        await store.append(step(1, STARTED, reply=reply, sync=True))
        await store.close()
        store = await opener()
        assert await store.stored_reply("key-1") == reply
        assert await store.stored_reply("key-2") is None
        with pytest.raises(StoreConflict):
            await store.append(step(2, text(), reply=StoredReply("key-1", "other", b"{}")))
        assert numbers(await store.read("s1", 0)) == [1]

    async def test_of_two_steps_with_one_key_in_flight_only_one_is_kept(self, store: DaemonStore) -> None:
        await begin(store)
        both = [store.append(step(2, text(), reply=StoredReply("k", "h", b"%d" % n))) for n in range(2)]
        results = await asyncio.gather(*both, return_exceptions=True)
        assert [type(one) for one in results] == [type(None), StoreConflict]
