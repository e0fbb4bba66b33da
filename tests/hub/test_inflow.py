"""What a hub does with the rows of a device: stores, syncs, acknowledges; and refuses what is not its own."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.daemon.joined import LAPTOP, Joined
from tests.store.copies import BEGUN, as_rows, log_hash
from tests.store.logs import append_all, begin, step, text
from tests.store.named_stores import OpenNamed, named_stores
from tests.waiting import PATIENCE

from bascule.hub.devices import inflow as module
from bascule.hub.devices.inflow import Inflow
from bascule.link.frames import Ack, Resume, SessionDiverged, SessionForgotten, SessionOutput
from bascule.model.errors import DeviceOffline, StorageFull
from bascule.model.events import AnyEvent
from bascule.store import writer
from bascule.store.base import Committed
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


@pytest.fixture
async def open_store(tmp_path: Path) -> AsyncIterator[OpenNamed]:
    async with named_stores(tmp_path) as opener:
        yield opener


@pytest.fixture
async def hub(open_store: OpenNamed) -> SqliteStore:
    return await open_store("hub")


class Line:
    def __init__(self, hub: SqliteStore) -> None:
        self.frames: list[Any] = []
        self.closed: list[str] = []
        self._more = asyncio.Event()
        self.inflow = Inflow(hub, LAPTOP, self._take, self._close, set_aside=lambda *_: self._more.set())

    def _take(self, frame: Any, priority: int) -> None:
        self.frames.append(frame)
        self._more.set()

    def _close(self, reason: str) -> None:
        self.closed.append(reason)
        self._more.set()

    def acks(self) -> list[Ack]:
        return [frame for frame in self.frames if isinstance(frame, Ack)]

    def send(self, session_id: str, first: int, *events: AnyEvent) -> None:
        self.inflow.receive(output(session_id, first, *events))

    async def until(self, condition: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._more.clear()
                await self._more.wait()


def output(session_id: str, first: int, *events: AnyEvent) -> SessionOutput:
    return SessionOutput(session_id, first, tuple(map(Raw, as_rows(events, first))))


async def test_the_device_is_told_where_the_copies_end(
    hub: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAGE", 2)
    for n in range(3):
        await hub.take_in(LAPTOP, f"s{n}", 1, as_rows([BEGUN, *[text()] * n]))
    await hub.forget_copy(LAPTOP, "s1")
    line = Line(hub)
    await line.inflow.start()
    assert [(sorted(frame.heads), frame.last) for frame in line.frames] == [
        (["s0", "s1"], False),
        (["s2"], True),
    ]
    assert line.frames[1].heads["s2"][0] == 3
    assert await hub.gone_sessions(LAPTOP) == []
    await line.inflow.stop()


async def test_an_empty_hub_says_so(hub: SqliteStore) -> None:
    line = Line(hub)
    await line.inflow.start()
    assert line.frames == [Resume({}, last=True)]
    await line.inflow.stop()


async def test_rows_are_visible_at_once_and_acknowledged_together_once_they_would_last(
    hub: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, asked = Line(hub), asyncio.Event()
    held: list[asyncio.Future[None]] = []

    def barrier() -> "asyncio.Future[None]":
        held.append(asyncio.get_running_loop().create_future())
        asked.set()
        return held[-1]

    monkeypatch.setattr(hub, "barrier", barrier)
    line.send("s1", 1, BEGUN, text())
    line.send("s2", 1, BEGUN)
    await line.inflow.waits_for("s1", 2)
    await asked.wait()
    assert (line.acks(), len(await hub.read("s1", 0))) == ([], 2)
    line.send("s1", 3, text())
    await line.inflow.waits_for("s1", 3)
    held[0].set_result(None)
    await line.until(line.acks)
    assert line.acks()[0].rows == 4
    assert line.acks()[0].heads.keys() == {"s1", "s2"}
    await line.inflow.stop()


async def test_an_answer_waits_for_the_rows_of_a_copy_a_little_while(
    hub: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CATCH_UP_SECONDS", 3600)
    line = Line(hub)
    line.send("s1", 1, BEGUN)
    await line.inflow.waits_for("s1", 1)
    waiting = asyncio.create_task(line.inflow.catches_up("s1", 2))
    await line.inflow.catches_up("s1", 1)
    await line.inflow.catches_up("found and not copied", 7)
    assert not waiting.done()
    line.send("s1", 2, text())
    await waiting
    assert len(await hub.read("s1", 0)) == 2
    monkeypatch.setattr(module, "CATCH_UP_SECONDS", 0)
    await line.inflow.catches_up("s1", 1000)
    await line.inflow.stop()


async def test_a_megabyte_does_not_wait_for_the_clock(
    hub: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BARRIER_SECONDS", 3600)
    line = Line(hub)
    line.send("s1", 1, BEGUN)
    for n in range(17):
        line.send("s1", 2 + n, text("x" * 65_000))
    await line.until(line.acks)
    assert line.acks()[0].heads == {"s1": 18}
    await line.inflow.stop()


@pytest.mark.row("S39")
async def test_three_violations_close_the_line_and_change_nothing(hub: SqliteStore) -> None:
    await begin(hub, "own")
    await hub.take_in("other", "theirs", 1, as_rows([BEGUN]))
    line = Line(hub)
    line.send("own", 2, text())
    line.send("theirs", 2, text())
    line.send("mine", 1, BEGUN)
    await line.inflow.waits_for("mine", 1)
    assert line.closed == []
    line.inflow.receive(SessionForgotten("theirs"))
    await line.until(lambda: line.closed)
    line.send("mine", 2, text())
    await hub.barrier()
    assert [len(await hub.read(name, 0)) for name in ("own", "theirs", "mine")] == [1, 1, 1]
    await line.inflow.stop()


@pytest.mark.row("S39")
async def test_more_than_a_window_without_an_acknowledgement_closes_the_line(
    hub: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_BATCH_BYTES", 1000)
    line = Line(hub)
    line.inflow = Inflow(hub, LAPTOP, line._take, line._close, window=5000)  # pyright: ignore[reportPrivateUsage]
    for n in range(4):
        line.send(f"s{n}", 1, BEGUN, text("x" * 2000))
    assert len(line.closed) == 1
    await line.inflow.stop()


async def test_rows_that_do_not_follow_are_asked_for_again(hub: SqliteStore) -> None:
    line = Line(hub)
    line.send("s1", 1, BEGUN, text())
    line.send("s1", 5, text())
    line.send("s1", 6, text())
    await line.until(lambda: any(isinstance(one, Resume) for one in line.frames))
    (again,) = [one for one in line.frames if isinstance(one, Resume)]
    assert again.heads["s1"] == await hub.head_of("s1")
    line.send("s1", 3, *[text()] * 4)
    await line.inflow.waits_for("s1", 6)
    assert line.closed == []
    await line.inflow.stop()


@pytest.mark.row("R11")
async def test_a_log_that_differs_is_set_aside_and_asked_for_from_its_first_row(hub: SqliteStore) -> None:
    await hub.take_in(LAPTOP, "s1", 1, as_rows([BEGUN, text("one "), text("two ")]))
    line = Line(hub)
    line.send("s1", 3, text("other "), text())
    line.send("s1", 5, text())
    await line.until(lambda: any(isinstance(one, Resume) for one in line.frames))
    assert line.frames[-1] == Resume({"s1": (0, 0)})
    line.send("s1", 1, BEGUN, text("one "), text("other "), text())
    await line.inflow.waits_for("s1", 4)
    aside = [one.session_id for one in await hub.sessions(archived=True)]
    assert len(await hub.read(aside[0], 0)) > 3
    assert line.closed == []
    await line.inflow.stop()


async def test_who_waits_for_a_log_that_was_begun_again_is_not_given_the_copy_of_the_one_before(
    hub: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CATCH_UP_SECONDS", 3600)
    await hub.take_in(LAPTOP, "s1", 1, as_rows([BEGUN, text("one "), text("two ")]))
    line = Line(hub)
    await line.inflow.start()
    line.inflow.receive(SessionForgotten("s1"))
    await hub.barrier()
    waiting = [
        asyncio.create_task(waits("s1", 1)) for waits in (line.inflow.waits_for, line.inflow.catches_up)
    ]
    line.send("s1", 1, text("other "))
    await line.until(lambda: line.frames[-1] == Resume({"s1": (0, 0)}))
    await line.inflow.catches_up("found and not copied", 7)
    assert not any(one.done() for one in waiting)
    line.send("s1", 1, BEGUN, text("other "))
    await asyncio.gather(*waiting)
    assert len(await hub.read("s1", 0)) == 2
    await line.inflow.stop()


async def test_a_device_may_begin_a_log_again_once_in_a_connection(hub: SqliteStore) -> None:
    line = Line(hub)
    line.send("s1", 1, BEGUN)
    for _ in range(4):
        line.inflow.receive(SessionDiverged("s1", 1))
    await line.until(lambda: line.closed)
    await hub.barrier()
    assert len(await hub.sessions(archived=True)) == 1
    await line.inflow.stop()


async def test_whoever_waits_for_a_row_is_told_when_the_line_goes(hub: SqliteStore) -> None:
    line = Line(hub)
    waiting = asyncio.ensure_future(line.inflow.waits_for("s1", 1))
    await hub.session("s1")  # it has looked for it by then
    await asyncio.sleep(0)
    await hub.session("s1")
    await line.inflow.stop()
    with pytest.raises(DeviceOffline):
        await waiting


@pytest.mark.row("R3")
async def test_a_full_hub_acknowledges_nothing_and_goes_on_by_itself(
    hub: SqliteStore, open_store: OpenNamed, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = await open_store("home")
    await append_all(home, [BEGUN, text()], "s1")
    joined = await Joined(home, hub).connect()
    await joined.level(["s1"])
    hub_writer = hub._writer  # pyright: ignore[reportPrivateUsage]
    commit, failed = writer.Writer._commit, asyncio.Event()  # pyright: ignore[reportPrivateUsage]
    full, loop = True, asyncio.get_running_loop()

    def refuse(self: writer.Writer, steps: list[writer.Step]) -> list[Committed]:
        if self is hub_writer and full:
            loop.call_soon_threadsafe(failed.set)
            raise StorageFull("The disk is full.")
        return commit(self, steps)

    monkeypatch.setattr(writer.Writer, "_commit", refuse)
    for seq in range(3, 40):
        await home.append(step(seq, text(f"{seq} ")))
    await append_all(home, [BEGUN, text()], "s2")
    await failed.wait()
    assert len(await hub.read("s1", 0)) == 2
    full = False
    await joined.level(["s1", "s2"])
    for name in ("s1", "s2"):
        assert await log_hash(home, name) == await log_hash(hub, name)
    assert joined.closed == []
    await joined.cut()
