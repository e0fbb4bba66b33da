"""Copies of another machine's log: byte for byte, however its rows arrive, and folded as at home."""

import asyncio
import itertools
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.parts import Part
from tests.store.conftest import Clock, Opener
from tests.store.copies import LAPTOP, as_rows, log_hash
from tests.store.logs import (
    STARTED,
    append_all,
    asked,
    begin,
    numbers,
    random_log,
    rest_times,
    step,
    text,
)
from tests.store.power_cut import Machine
from tests.store.replica_conformance import TURN, Open, ReplicaConformance, copy, taken

from bascule.model import codec
from bascule.model.codec import decode_logged
from bascule.model.errors import (
    LimitReached,
    OwnerMismatch,
    StorageFull,
)
from bascule.model.events import (
    AnyEvent,
    EntryClosed,
    Note,
    TextAppended,
    TurnEnded,
)
from bascule.model.lifecycle import Phase
from bascule.store import taking_in, writer
from bascule.store.base import Committed
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio

NEWER = (
    b'{"seq":%d,"at":"2027-01-15T08:00:00.000Z","event":{"type":"title_sung","title":"a song",  "by":"ana"}}'
)


class TestSqliteCopies(ReplicaConformance):
    @pytest.fixture
    def opener(self, open_store: Opener) -> Open:
        return open_store


async def test_heads_come_in_pages_with_the_checksum_of_the_last_row(open_store: Opener) -> None:
    hub = await open_store()
    home = await open_store(hub.path.parent.parent / "home" / "bascule.db")
    for n in range(7):
        events = taken(*[text()] * n)
        await append_all(home, events, f"s{n}")
        await copy(hub, events, f"s{n}")
    await hub.take_in("other", "o1", 1, as_rows([STARTED]))
    await begin(hub, "own")
    first = await hub.heads_of(LAPTOP, limit=4)
    rest = await hub.heads_of(LAPTOP, after=max(first), limit=4)
    heads = {**first, **rest}
    assert {name: seq for name, (seq, _) in heads.items()} == {f"s{n}": n + 1 for n in range(7)}
    crcs = await home.checksums_at({name: seq for name, (seq, _) in heads.items()})
    assert crcs == {name: crc for name, (_, crc) in heads.items()}


async def test_a_full_disk_refuses_rows_and_takes_the_same_ones_later(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = as_rows(TURN)

    def full(self: writer.Writer, steps: list[writer.Step]) -> list[Committed]:
        raise StorageFull("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(writer.Writer, "_commit", full)
        patch.setattr(writer.Writer, "_probe", lambda self: None)
        with pytest.raises(StorageFull):
            await store.take_in(LAPTOP, "s1", 1, rows[:2])
        with pytest.raises(StorageFull):
            await store.take_in(LAPTOP, "s1", 3, rows[2:])
    await store.writable()
    assert (await store.take_in(LAPTOP, "s1", 1, rows)).new == 5


async def test_a_hub_that_is_behind_adds_no_note_of_its_own_to_a_copy(
    open_store: Opener, database: Path, tmp_path: Path
) -> None:
    hub = await open_store()
    await begin(hub, "own")
    await copy(hub, TURN)
    await hub.close()
    older = database.read_bytes()
    hub = await open_store()
    await hub.append(step(2, text(), session_id="own"))
    await hub.take_in(LAPTOP, "s1", 6, as_rows([text()], 6))
    await hub.close()
    database.write_bytes(older)
    hub = await open_store()
    assert hub.behind == {"own": 2}
    assert [row.body for row in await hub.read("s1", 0)] == as_rows(TURN)
    assert (await hub.take_in(LAPTOP, "s1", 6, as_rows([text()], 6))).head == 6


# However the rows arrive --------------------------------------------------------------------------------


async def test_any_way_of_sending_a_log_gives_the_same_copy(
    open_store: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest_times(monkeypatch, 0)
    home, hub = await open_store(tmp_path / "home.db"), await open_store(tmp_path / "hub.db")
    names = (f"s{n}" for n in itertools.count())
    loop = asyncio.get_running_loop()
    examples: list[tuple[list[AnyEvent], list[tuple[int, int]]]] = []

    @given(
        log=random_log,
        sends=st.lists(st.tuples(st.integers(0, 20), st.integers(1, 25)), min_size=1, max_size=8),
    )
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    def collect(log: list[AnyEvent], sends: list[tuple[int, int]]) -> None:
        examples.append((log, sends))

    await loop.run_in_executor(None, collect)
    for log, sends in examples:
        await _compare(home, hub, next(names), log, sends)


async def _compare(
    home: SqliteStore, hub: SqliteStore, name: str, log: list[AnyEvent], sends: list[tuple[int, int]]
) -> None:
    """Send a log in pieces, each beginning some rows before the head and of some length."""
    await append_all(home, log, name)
    rows = [row.body for row in await home.read(name, 0)]
    head, waiting = 0, []
    for back, size in itertools.cycle(sends):
        first = max(1, head + 1 - back)
        waiting.append(hub.take_in(LAPTOP, name, first, rows[first - 1 : max(head + 1, first + size)]))
        head = max(head, min(len(rows), max(head + 1, first + size)))
        if head == len(rows):
            break
    await asyncio.gather(*waiting)
    assert await log_hash(home, name) == await log_hash(hub, name)
    assert await _folded(home, name, log) == await _folded(hub, name, log)


async def _folded(store: SqliteStore, name: str, log: list[AnyEvent]) -> dict[str, Any]:
    await store.searchable()
    record = await store.session(name)
    assert record is not None
    requests = "SELECT request_id, seq, state, body FROM requests WHERE session_id = ? ORDER BY 1"
    pending = "SELECT body FROM pending WHERE session_id = ?"
    said = " ".join(event.text for event in log if isinstance(event, TextAppended))
    words = re.findall(r"[a-z0-9]{2,}", said)[:2]
    return {
        "record": structs.replace(record, device=LAPTOP),
        "page": await store.page(name, 100),
        "some": await store.page(name, 2, 9),
        "edited": await store.edited(name),
        "requests": await store.query(lambda one: one.execute(requests, (name,)).fetchall()),
        "pending": await store.query(lambda one: one.execute(pending, (name,)).fetchall()),
        "hits": [(await store.search(word, session_id=name)).hits for word in words],
    }


# Another version ----------------------------------------------------------------------------------------


@pytest.mark.row("REL-34")
async def test_an_event_of_a_newer_version_is_kept_and_folded_once_it_is_known(
    open_store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = await open_store()
    rows = [*as_rows(TURN), NEWER % 6, *as_rows([TurnEnded("end_turn")], 7)]
    await hub.take_in(LAPTOP, "s1", 1, rows)
    await copy(hub, TURN, "s2")
    record = await hub.session("s1")
    assert record is not None
    assert (record.seq, record.title) == (7, "find the heron")
    assert b"title_sung" in (await hub.page("s1")).entries[-1] + (await hub.page("s1")).entries[-2]
    assert await hub.refold() == []  # nothing new is known
    await hub.close()

    hub = await open_store()
    assert [row.body for row in await hub.read("s1", 0)] == rows
    upgrade(monkeypatch)
    assert await hub.refold() == ["s1"]
    assert [row.body for row in await hub.read("s1", 0)] == rows
    record = await hub.session("s1")
    assert record is not None
    assert (record.title, record.turns, record.device) == ("a song", 1, LAPTOP)
    assert not any(b"title_sung" in one for one in (await hub.page("s1")).entries)
    await hub.searchable()
    assert [hit.session_id for hit in (await hub.search("song")).hits] == ["s1"]
    assert await hub.refold() == []
    assert (await hub.take_in(LAPTOP, "s1", 8, as_rows([text()], 8))).head == 8


def upgrade(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that knows `title_sung`: it means what `title_changed` does."""

    def decode(data: bytes) -> codec.Logged:
        return decode_logged(data.replace(b"title_sung", b"title_changed"))

    monkeypatch.setattr(taking_in, "decode_leniently", decode)
    monkeypatch.setattr("bascule.store.reader.decode_leniently", decode)
    for module in ("database", "taking_in"):
        monkeypatch.setattr(f"bascule.store.{module}.vocabulary", lambda: "newer")


# Divergence ---------------------------------------------------------------------------------------------


@pytest.mark.row("R11")
async def test_a_copy_that_is_another_log_is_set_aside_and_both_can_be_read(
    open_store: Opener, part: Part
) -> None:
    hub = await open_store()
    await copy(hub, [*TURN, asked()])
    before = [row.body for row in await hub.read("s1", 0)]
    aside = await hub.set_aside(LAPTOP, "s1")
    assert aside is not None
    assert await hub.session("s1") is None
    other = [*TURN[:3], text("a stork "), EntryClosed("e"), TurnEnded("end_turn"), text()]
    await copy(hub, other)

    with part("both can be read"):
        assert [row.body for row in await hub.read("s1", 0)] == as_rows(other)
        assert [row.body for row in await hub.read(aside, 0, 6)] == before
    record = await hub.session(aside)
    assert record is not None
    with part("the earlier copy is archived, ended, and asks nothing"):
        assert (record.title, record.archived, record.open_requests) == (
            "find the heron (earlier copy)",
            True,
            0,
        )
        assert record.phase is Phase.ENDED
        assert await hub.open_requests() == []
    with part("the session goes on under its own title"):
        living = await hub.session("s1")
        assert living is not None
        assert (living.title, living.archived) == ("find the heron", False)
        assert (living.generation, record.generation) == (1, 0)
    with part("the earlier copy says what it is of, and is not reported to its machine"):
        kept = await hub.replica(aside)
        assert kept is not None
        assert (kept.copy_of, kept.device) == ("s1", LAPTOP)
        assert list(await hub.heads_of(LAPTOP)) == ["s1"]
    with part("both are found"):
        await hub.searchable()
        assert {hit.session_id for hit in (await hub.search("heron", limit=50)).hits if hit.first_seq} == {
            aside,
            "s1",
        }
    with part("the earlier copy takes nothing in"), pytest.raises(OwnerMismatch):
        await hub.take_in(LAPTOP, aside, record.seq + 1, as_rows([text()], record.seq + 1))
    await hub.close()
    hub = await open_store()
    assert await log_hash(hub, "s1")
    assert [row.body for row in await hub.read(aside, 0, 6)] == before


async def test_rows_that_were_just_taken_in_are_set_aside_with_the_others(store: SqliteStore) -> None:
    heard: list[Committed] = []
    store.listen(heard.append)
    rows = as_rows(TURN)
    taking = store.take_in(LAPTOP, "s1", 1, rows)
    aside = await store.set_aside(LAPTOP, "s1")
    await taking
    assert aside is not None
    assert [row.body for row in await store.read(aside, 0, 5)] == rows
    assert numbers(heard[0].rows) == [1, 2, 3, 4, 5]


async def test_setting_aside_what_is_not_there_or_not_theirs_changes_nothing(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await store.set_aside(LAPTOP, "s1") is None
    await begin(store, "own")
    await copy(store, TURN)
    for device, name in ((LAPTOP, "own"), ("stranger", "s1")):
        with pytest.raises(OwnerMismatch):
            await store.set_aside(device, name)
    monkeypatch.setattr(taking_in, "MAX_COPIES", 1)
    await store.set_aside(LAPTOP, "s1")
    await copy(store, TURN)
    with pytest.raises(LimitReached):
        await store.set_aside(LAPTOP, "s1")
    assert [row.body for row in await store.read("s1", 0)] == as_rows(TURN)


async def test_a_long_log_is_set_aside_whole(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taking_in, "PART", 64)
    events = taken(*[text(f"{n} ") for n in range(500)], TurnEnded("end_turn"))
    await copy(store, events)
    page = await store.page("s1", 10)
    aside = await store.set_aside(LAPTOP, "s1")
    assert aside is not None
    assert [row.body for row in await store.read(aside, 0, len(events))] == as_rows(events)
    assert (await store.page(aside, 20)).entries[: len(page.entries)] == page.entries


@pytest.mark.row("R11")
async def test_the_log_still_refuses_to_lose_a_row(store: SqliteStore) -> None:
    await copy(store, TURN)
    await store.set_aside(LAPTOP, "s1")
    await copy(store, [*TURN[:4], text("new")])
    await begin(store, "own")
    for statement in (
        "DELETE FROM events WHERE session_id = 's1' AND seq = 5",
        "DELETE FROM events WHERE session_id = 'own'",
        "DELETE FROM events WHERE session_id IN (SELECT session_id FROM replicas WHERE copy_of = 's1')",
        "UPDATE events SET body = x'00' WHERE session_id = 's1'",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            await store.transact(lambda group, sql=statement: group.connection.execute(sql) and None)


# The disk -----------------------------------------------------------------------------------------------


@pytest.mark.row("R3")
async def test_what_was_taken_in_before_a_barrier_survives_a_power_cut_and_so_does_what_was_told(
    open_store: Opener, database: Path, tmp_path: Path, clock: Clock
) -> None:
    machine = Machine(tmp_path)
    await (await open_store()).close()
    program = Path(__file__).with_name("copying.py")
    disk = await asyncio.to_thread(machine.run_until, database, program, "end")
    store = await open_store(disk)
    copied = [row.seq for row in await store.read("copied", 0)]
    own = [row.seq for row in await store.read("own", 0)]
    assert copied == list(range(1, 81))  # and none of those that nobody waited for
    assert own == [1, 2, 3]
    assert await store.rows_of("laptop") == 80


async def test_own_rows_wait_for_the_disk_only_while_somebody_relies_on_it(store: SqliteStore) -> None:
    modes: list[int] = []

    def look(commit: Committed) -> None:
        modes.append(store.engine.full_sync or 0)

    store.listen(look)
    await begin(store)
    release = await store.need_synced_rows()
    again = await store.need_synced_rows()
    await store.append(step(2, text()))
    release()
    release()
    await store.append(step(3, text()))
    again()
    await store.append(step(4, text()))
    await store.take_in(LAPTOP, "s9", 1, as_rows(TURN))
    assert modes == [0, 1, 1, 0, 0]


async def test_what_a_hub_acknowledged_is_kept(open_store: Opener) -> None:
    store = await open_store()
    assert await store.acknowledged("hub") == 0
    await store.note_acknowledged("hub", 7)
    await store.note_acknowledged("hub", 5)
    await store.close()
    assert await (await open_store()).acknowledged("hub") == 5


async def test_two_stores_never_have_one_name_even_when_one_is_a_copy(
    open_store: Opener, database: Path, tmp_path: Path
) -> None:
    store = await open_store()
    await begin(store)
    await store.close()
    clone = tmp_path / "clone"
    clone.mkdir()
    for file in (database, database.with_name("bascule.db.heads")):
        (clone / file.name).write_bytes(file.read_bytes())
    one, other = await open_store(), await open_store(clone / database.name)
    assert one.epoch == other.epoch  # so the epoch alone would say that they share the store
    assert one.link_name != other.link_name


async def test_rows_are_read_by_size_and_a_large_one_comes_alone(store: SqliteStore) -> None:
    await append_all(store, [STARTED, text("x" * 300), text("y" * 5000), text(), text()])
    assert numbers(await store.read_some("s1", 0, 1000)) == [1, 2]
    assert numbers(await store.read_some("s1", 2, 1000)) == [3]
    assert numbers(await store.read_some("s1", 3, 1000)) == [4, 5]
    assert await store.read_some("s1", 5, 1000) == []


async def test_making_entries_again_keeps_rows_that_were_just_appended(store: SqliteStore) -> None:
    await begin(store)
    appended = store.append(step(2, Note("n", "kept")))
    await store.rebuild("s1")
    await appended
    assert numbers(await store.read("s1", 0)) == [1, 2]
