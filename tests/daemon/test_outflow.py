"""What a daemon sends of its logs to a hub with a store of its own: in which order, how much at once."""

import asyncio
import random
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.joined import LAPTOP, Joined, welcome
from tests.store.copies import BEGUN, as_rows, log_hash
from tests.store.logs import append_all, step, text
from tests.store.named_stores import OpenNamed, named_stores
from tests.waiting import PATIENCE

from bascule.daemon.hub_lines import outflow as module
from bascule.daemon.hub_lines.outflow import LIVE_PRIORITY, REPLAY_PRIORITY, STEP, Outflow
from bascule.link.frames import (
    Ack,
    Fetch,
    Resume,
    SessionDiverged,
    SessionForgotten,
    SessionHead,
    SessionOutput,
    Watching,
)
from bascule.model.errors import StorageFailed
from bascule.model.events import AnyEvent, SessionEnded, SessionStarted, TurnEnded
from bascule.store.sqlite import SqliteStore
from bascule.store.transaction import Transaction

pytestmark = pytest.mark.anyio

FOUND = SessionStarted("demo", "stream_json", "/", "ana", device=LAPTOP, found=True)


@pytest.fixture
async def open_store(tmp_path: Path) -> AsyncIterator[OpenNamed]:
    async with named_stores(tmp_path) as opener:
        yield opener


@pytest.fixture
async def home(open_store: OpenNamed) -> SqliteStore:
    return await open_store("home")


def ended(*events: AnyEvent) -> list[AnyEvent]:
    return [BEGUN, *events, SessionEnded("exited")]


class Line:
    """Takes what is sent, and wakes whoever waits for it."""

    def __init__(self, home: SqliteStore) -> None:
        self.home = home
        self.frames: list[tuple[Any, int]] = []
        self._more = asyncio.Event()
        self.closed: list[str] = []
        self.outflow = Outflow(home, self._take, self._close)

    def _close(self, reason: str) -> None:
        self.closed.append(reason)
        self._more.set()

    def _take(self, frame: Any, priority: int) -> None:
        self.frames.append((frame, priority))
        self._more.set()

    def output(self, session_id: str | None = None) -> list[tuple[SessionOutput, int]]:
        sent = [(frame, priority) for frame, priority in self.frames if isinstance(frame, SessionOutput)]
        return [one for one in sent if session_id in (None, one[0].session_id)]

    def numbers(self, session_id: str) -> list[int]:
        return [frame.first + n for frame, _ in self.output(session_id) for n in range(len(frame.rows))]

    def first_of(self, kind: type) -> Any:
        return next((frame for frame, _ in self.frames if isinstance(frame, kind)), None)

    async def until(self, condition: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._more.clear()
                await self._more.wait()

    async def begin(self, heads: dict[str, tuple[int, int]] | None = None, **words: Any) -> "Line":
        await self.outflow.start(welcome(**words))
        self.outflow.receive(Resume(heads or {}))
        return self

    def ack(self, session_id: str, seq: int) -> None:
        self.outflow.receive(Ack({session_id: seq}, seq))

    def unacked(self, acked: dict[str, int]) -> int:
        return sum(
            sum(map(len, map(bytes, frame.rows)))
            for frame, _ in self.output()
            if frame.first + len(frame.rows) - 1 > acked.get(frame.session_id, 0)
        )


async def heads_at(home: SqliteStore, **positions: int) -> dict[str, tuple[int, int]]:
    crcs = await home.checksums_at(positions)
    return {name: (seq, crcs.get(name, 0)) for name, seq in positions.items()}


async def test_nothing_is_carried_when_the_hub_uses_the_same_store(home: SqliteStore) -> None:
    line = await Line(home).begin(store=home.link_name)
    await append_all(home, [BEGUN, text()])
    await home.barrier()
    assert line.frames == []
    await line.outflow.close()


async def test_each_log_is_sent_from_where_the_hub_has_it(home: SqliteStore) -> None:
    await append_all(home, [BEGUN, *[text()] * 9], "s1")
    await append_all(home, ended(text()), "s2")
    await append_all(home, ended(text()), "s3")
    line = await Line(home).begin(await heads_at(home, s1=6, s2=3))
    await line.until(lambda: line.numbers("s1") and line.numbers("s3"))
    assert line.numbers("s1") == [7, 8, 9, 10]
    assert line.numbers("s2") == []
    assert line.numbers("s3") == [1, 2, 3]
    rows = [row.body for row in await home.read("s3", 0)]
    assert [bytes(row) for row in line.output("s3")[0][0].rows] == rows
    await home.append(step(11, text()))
    await line.until(lambda: 11 in line.numbers("s1"))
    await line.outflow.close()


@pytest.mark.row("R11")
@pytest.mark.parametrize("seq", [2, 9])
async def test_a_log_that_the_hub_has_otherwise_is_sent_from_its_first_row(
    seq: int, home: SqliteStore
) -> None:
    await append_all(home, ended(text()), "s1")
    line = await Line(home).begin({"s1": (seq, 12345)})
    await line.until(lambda: line.numbers("s1"))
    assert line.first_of(SessionDiverged) == SessionDiverged("s1", 3)
    kinds = [type(frame) for frame, _ in line.frames]
    assert kinds.index(SessionDiverged) < kinds.index(SessionOutput)
    assert line.numbers("s1") == [1, 2, 3]
    await line.outflow.close()


async def test_the_hub_is_told_of_sessions_that_are_not_here(home: SqliteStore) -> None:
    line = await Line(home).begin({"old": (4, 1)})
    line.outflow.receive(Fetch("older"))
    await line.until(lambda: len(line.frames) == 2)
    assert [frame for frame, _ in line.frames] == [SessionForgotten("old"), SessionForgotten("older")]
    await line.outflow.close()


async def test_found_sessions_are_sent_only_when_somebody_opens_them(home: SqliteStore) -> None:
    await append_all(home, [FOUND, text()], "f1")
    await append_all(home, [FOUND, text()], "f2")
    await append_all(home, ended(), "s1")
    line = await Line(home).begin()
    await line.until(lambda: line.numbers("s1"))
    await home.append(step(3, text(), session_id="f1"))
    line.outflow.receive(Fetch("f2"))
    await line.until(lambda: line.numbers("f2"))
    await home.append(step(3, text(), session_id="f2"))
    await line.until(lambda: line.numbers("f2") == [1, 2, 3])
    assert line.numbers("f1") == []
    line.outflow.forgotten("f1")
    line.outflow.forgotten("f2")
    assert [frame for frame, _ in line.frames if isinstance(frame, SessionForgotten)] == [
        SessionForgotten("f2")
    ]
    await line.outflow.close()


async def test_a_found_session_that_the_hub_has_is_named_again_when_it_is_asked_for_again(
    home: SqliteStore,
) -> None:
    await append_all(home, [FOUND, text()], "f1")
    await append_all(home, ended(), "s1")
    line = await Line(home).begin(await heads_at(home, f1=2))
    await line.until(lambda: line.numbers("s1"))
    line.outflow.receive(Fetch("f1"))
    await line.until(lambda: SessionHead("f1", 2) in [frame for frame, _ in line.frames])
    assert line.numbers("f1") == []
    await line.outflow.close()


async def test_a_found_session_whose_file_was_written_anew_is_sent_anew(home: SqliteStore) -> None:
    await append_all(home, [FOUND, text("old ")], "f1")
    await append_all(home, ended(), "s1")
    line = await Line(home).begin(await heads_at(home, f1=2))
    await line.until(lambda: line.numbers("s1"))
    await home.forget("f1")
    await home.append(step(1, FOUND, text("new "), session_id="f1"))
    await line.until(lambda: line.numbers("f1"))
    assert line.numbers("f1") == [1, 2]
    assert line.first_of(SessionDiverged) is not None
    await line.outflow.close()


async def test_copies_of_other_machines_are_not_sent_on(home: SqliteStore) -> None:
    await home.take_in("other", "theirs", 1, as_rows([BEGUN]))
    await append_all(home, ended(), "s1")
    line = await Line(home).begin()
    await home.take_in("other", "theirs", 2, as_rows([text()], 2))
    await home.append(step(3, text()))
    await line.until(lambda: 3 in line.numbers("s1"))
    assert {frame.session_id for frame, _ in line.output()} == {"s1"}
    await line.outflow.close()


async def test_at_most_a_window_is_on_its_way_and_each_ack_is_progress(home: SqliteStore) -> None:
    await append_all(home, ended(*[text("x" * 3000)] * 300), "s1", 50)
    window = 4 * STEP
    line = await Line(home).begin(window=window)
    acked = 0
    for frame in range(20):  # of about 21 rows each
        await line.until(lambda n=frame: len(line.output()) > n or 302 in line.numbers("s1"))
        await home.barrier()  # time to send more than it may
        assert line.unacked({"s1": acked}) <= window
        if frame < len(line.output()):
            output, _ = line.output()[frame]
            acked = output.first + len(output.rows) - 1
            line.ack("s1", acked)
    assert line.numbers("s1") == list(range(1, 303))
    await line.outflow.close()


async def test_a_row_larger_than_a_window_is_sent_alone(home: SqliteStore) -> None:
    await append_all(home, ended(text(), text("x" * (3 * STEP)), text()), "s1", 1)
    line = await Line(home).begin(window=2 * STEP)
    await line.until(lambda: 3 in line.numbers("s1"))
    assert [len(frame.rows) for frame, _ in line.output()] == [2, 1]
    line.ack("s1", 3)
    await line.until(lambda: 5 in line.numbers("s1"))
    await line.outflow.close()


async def test_watched_and_live_sessions_come_first_and_of_the_others_the_newest(
    home: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 1)
    for n in range(4):
        at = f"2027-01-15T08:00:0{n}.000Z"
        await home.append(step(1, *ended(), session_id=f"old{n}", at=at))
    await append_all(home, [BEGUN, text()], "live")
    line = Line(home)
    await line.outflow.start(welcome())
    line.outflow.receive(Watching(("old0",)))
    line.outflow.receive(Resume({}))
    await line.until(lambda: len(line.output()) == 5)
    order = [frame.session_id for frame, _ in line.output()]
    assert set(order[:2]) <= {"old0", "live", "old3"}
    assert [name for name in order if name.startswith("old") and name != "old0"] == ["old3", "old2", "old1"]
    assert max(order.index("old0"), order.index("live")) <= 2
    await line.outflow.close()


@pytest.mark.row("R3")
async def test_a_live_session_is_not_starved_by_a_replay_of_50000_rows(home: SqliteStore) -> None:
    rows = [text("word " * 20)] * 2500
    await home.append(step(1, BEGUN, session_id="long"))
    for n in range(20):
        await home.append(step(2 + 2500 * n, *rows, session_id="long"))
    await home.append(step(50_002, SessionEnded("exited"), session_id="long"))
    await append_all(home, [BEGUN], "live")
    line = await Line(home).begin(await heads_at(home, live=1))
    await line.until(lambda: line.unacked({}) >= 2 * 1024 * 1024)  # and nothing is acknowledged
    for seq in range(2, 12):
        await home.append(step(seq, text("live "), session_id="live"))
    await line.until(lambda: 11 in line.numbers("live"))
    assert {priority for _, priority in line.output("live")} == {LIVE_PRIORITY}
    assert {priority for _, priority in line.output("long")} == {REPLAY_PRIORITY}
    assert line.unacked({}) <= 4 * 1024 * 1024
    assert line.first_of(SessionHead) == SessionHead("long", 50_002)
    await line.outflow.close()


async def test_a_replay_is_not_starved_by_a_session_that_never_stops(home: SqliteStore) -> None:
    await append_all(home, ended(*[text("x" * 3000)] * 100), "old", 50)
    await append_all(home, [BEGUN], "live")
    line = await Line(home).begin(await heads_at(home, live=1), window=8 * STEP)
    seq = 1
    while line.numbers("old")[-1:] != [102]:
        await home.append(step(seq + 1, *[text("y" * 3000)] * 30, session_id="live"))
        seq += 30
        heads = {name: (line.numbers(name) or [first])[-1] for name, first in (("live", 1), ("old", 0))}
        line.outflow.receive(Ack(heads, 1))
    assert line.numbers("old") == list(range(1, 103))
    await line.outflow.close()


async def test_live_rows_never_overtake_older_rows_of_their_own_log(home: SqliteStore) -> None:
    await append_all(home, [BEGUN, *[text("x" * 2000)] * 600], "s1", 100)
    line = await Line(home).begin()
    await line.until(lambda: 601 in line.numbers("s1"))
    await home.append(step(602, text()))
    await line.until(lambda: 602 in line.numbers("s1"))
    assert line.output("s1")[-1][1] == REPLAY_PRIORITY  # the replay is still on its way
    line.ack("s1", 602)
    await home.append(step(603, text()))
    await line.until(lambda: 603 in line.numbers("s1"))
    assert line.output("s1")[-1][1] == LIVE_PRIORITY
    await line.outflow.close()


async def test_a_hub_that_has_less_than_it_acknowledged_was_restored(home: SqliteStore) -> None:
    await append_all(home, ended(), "s1")
    line = await Line(home).begin()
    await line.until(lambda: line.numbers("s1"))
    line.outflow.receive(Ack({"s1": 2}, 214))
    await line.outflow.close()
    again = Line(home)
    assert await again.outflow.start(welcome(rows=200)) == 14
    await again.outflow.close()


async def test_a_log_that_can_not_be_read_is_left_out_and_the_others_are_sent(home: SqliteStore) -> None:
    await append_all(home, ended(text()), "s1")
    await append_all(home, ended(text()), "s2")
    spoil = "UPDATE events SET crc = crc + 1 WHERE session_id = 's1' AND seq = 2"

    def damage(group: Transaction) -> None:
        group.connection.execute("DROP TRIGGER events_are_never_changed")
        group.connection.execute(spoil)

    await home.transact(damage)
    line = await Line(home).begin()
    await line.until(lambda: line.numbers("s2"))
    await home.append(step(4, text(), session_id="s2"))
    await line.until(lambda: 4 in line.numbers("s2"))
    assert (line.numbers("s1"), line.closed) == ([], [])
    await line.outflow.close()


async def test_a_store_that_can_not_be_read_at_all_closes_the_line(
    home: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(positions: dict[str, int]) -> dict[str, int]:
        raise StorageFailed("The database file can't be used right now.")

    monkeypatch.setattr(home, "checksums_at", fail)
    line = await Line(home).begin({"s1": (1, 1)})
    await line.until(lambda: line.closed)
    await line.outflow.close()


# With a hub ---------------------------------------------------------------------------------------------


@pytest.mark.row("R2", "REL-40")
@pytest.mark.parametrize("seed", range(4))
async def test_however_often_it_is_cut_both_have_the_same_bytes_in_the_end(
    seed: int, open_store: OpenNamed, home: SqliteStore
) -> None:
    chance, hub = random.Random(seed), await open_store("hub")
    names = [f"s{n}" for n in range(5)]
    heads = dict.fromkeys(names, 0)

    async def write(most: int) -> None:
        name = chance.choice(names)
        events: list[AnyEvent] = [] if heads[name] else [BEGUN]
        events += [text("w" * chance.randrange(1, 4000)) for _ in range(chance.randrange(1, most))]
        events += [TurnEnded("end_turn")] if chance.random() < 0.2 else []
        await home.append(step(heads[name] + 1, *events, session_id=name))
        heads[name] += len(events)

    for name in names:
        heads[name] = 1
        await home.append(step(1, BEGUN, session_id=name))
    carried = 0
    for _ in range(12):
        joined = Joined(home, hub, window=4 * STEP)
        limit, over = chance.randrange(1, 25), asyncio.Event()

        def count(joined: Joined = joined, limit: int = limit, over: asyncio.Event = over) -> None:
            if joined.up.carried >= limit:
                joined.up.cut = joined.down.cut = True
                over.set()

        joined.up.before_each = count
        await joined.connect()
        while not over.is_set():
            await write(30)
        await joined.cut()
        assert (joined.closed, joined.set_aside) == ([], [])
        carried += joined.up.carried
    last = await Joined(home, hub).connect()
    await write(30)
    await last.level(names)
    for name in names:
        assert await log_hash(home, name) == await log_hash(hub, name)
        assert (await home.page(name)).entries == (await hub.page(name)).entries
        assert await home.session(name) == await hub.session(name)
    assert last.set_aside == []
    assert await hub.rows_of(LAPTOP) == sum(heads.values())
    await last.cut()


@pytest.mark.row("R11")
async def test_a_daemon_restored_from_an_older_copy_keeps_both_histories_readable(
    open_store: OpenNamed, tmp_path: Path
) -> None:
    home, hub = await open_store("home"), await open_store("hub")
    await append_all(home, ended(text("shared ")), "s1")
    await home.close()
    older = tmp_path / "older"
    shutil.copytree(tmp_path / "home", older)
    home = await open_store("home")
    await append_all(home, ended(), "s2")
    await home.append(step(4, text("lost "), text("lost ")))
    joined = await Joined(home, hub).connect()
    await joined.level(["s1", "s2"])
    before = [row.body for row in await hub.read("s1", 0)]
    await joined.cut()
    await home.close()
    (tmp_path / "home").rename(tmp_path / "gone")
    older.rename(tmp_path / "home")

    home = await open_store("home")
    await home.append(step(4, *[text("another ")] * 4))
    joined = await Joined(home, hub).connect()
    await joined.level(["s1"])
    assert await log_hash(home, "s1") == await log_hash(hub, "s1")
    ((name, aside),) = joined.set_aside
    assert (name, aside is not None) == ("s1", True)
    assert [row.body for row in await hub.read(str(aside), 0, len(before))] == before
    assert await hub.gone_sessions(LAPTOP) == ["s2"]
    await joined.cut()


async def test_a_hub_restored_from_an_older_copy_gets_everything_again(
    open_store: OpenNamed, home: SqliteStore, tmp_path: Path
) -> None:
    hub = await open_store("hub")
    await append_all(home, ended(text()), "s1")
    joined = await Joined(home, hub).connect()
    await joined.level(["s1"])
    await joined.cut()
    await hub.close()
    shutil.copytree(tmp_path / "hub", tmp_path / "older")
    hub = await open_store("hub")
    joined = await Joined(home, hub).connect()
    await append_all(home, ended(text()), "s2")
    await joined.acknowledged("s2", 3)
    await joined.cut()
    await hub.close()
    shutil.rmtree(tmp_path / "hub")
    (tmp_path / "older").rename(tmp_path / "hub")

    hub = await open_store("hub")
    joined = await Joined(home, hub).connect()
    assert joined.lost == 3
    await joined.level(["s1", "s2"])
    for name in ("s1", "s2"):
        assert await log_hash(home, name) == await log_hash(hub, name)
    assert joined.set_aside == []
    await joined.cut()
