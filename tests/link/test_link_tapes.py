"""Terminals over a link: both ends joined in memory, and a tape that a test writes."""

import asyncio
import random
import time
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from bascule.daemon.terminals.arbiter import Arbiter
from bascule.daemon.terminals.size_policy import SmallestClientSize
from bascule.daemon.terminals.tape_streams import TAPE_FRAMES, TapeStreams
from bascule.hub.terminal.link_tapes import LinkTape, LinkTapes
from bascule.hub.terminal.mirror import CREDIT, FROM_TAPE, MIRROR
from bascule.link.frames import AnyFrame
from bascule.link.tape import Arrangement, Delivered, Participant, ParticipantEvents, TapeCut, TapeTail
from bascule.link.tape_frames import TapePiece
from bascule.model.commands import Actor
from bascule.model.errors import BasculeError, DeviceOffline, SessionNotFound

pytestmark = pytest.mark.anyio

ANA = Actor("ana")


class WrittenTape:
    """A terminal's output as the test writes it, and what viewers asked of it."""

    def __init__(self) -> None:
        self.data, self.base, self.over = b"", 0, False
        self.typed: list[bytes] = []
        self.typists: list[Actor] = []
        self.sizes: list[tuple[int, int, str]] = []
        self.redrawn = 0
        self.fresh = True
        self.arbiter = Arbiter("s1", (80, 24), SmallestClientSize(), time.monotonic, lambda: None)
        self.watchers: list[Callable[[], None]] = []

    @property
    def end(self) -> int:
        return len(self.data)

    def write(self, data: bytes, *, over: bool = False) -> None:
        self.data += data
        self.over = over
        for grew in list(self.watchers):
            grew()


class Reading:
    """One reader of it, as the daemon's own tapes would be."""

    def __init__(self, tape: WrittenTape, grew: Callable[[], None], delivered: Delivered) -> None:
        self._tape, self._grew, self._delivered = tape, grew, delivered
        tape.watchers.append(grew)

    @property
    def base(self) -> int:
        return self._tape.base

    @property
    def end(self) -> int:
        return self._tape.end

    @property
    def over(self) -> bool:
        return self._tape.over

    def read(self, offset: int, limit: int) -> bytes:
        if offset < self._tape.base:
            raise TapeCut
        return self._tape.data[offset : offset + limit]

    async def tail(self, limit: int) -> TapeTail:
        return TapeTail(max(self.base, self.end - limit), b"\x1b[m")

    def type(self, data: bytes, by: Actor, *, reply: bool = False) -> None:
        self._tape.typed.append(data)
        self._tape.typists.append(by)
        self._delivered(len(data), None)

    async def first_to_answer(self) -> bool:
        first, self._tape.fresh = self._tape.fresh, False
        return first

    def join(self, by: Actor, may_write: bool, events: ParticipantEvents) -> Participant:
        return self._tape.arbiter.join(by, may_write, events, self)

    def resize(self, cols: int, rows: int, by: Actor) -> None:
        self._tape.sizes.append((cols, rows, by.name))

    def redraw(self) -> None:
        self._tape.redrawn += 1

    def close(self) -> None:
        self._tape.watchers.remove(self._grew)


class WrittenTapes:
    def __init__(self) -> None:
        self.tape = WrittenTape()

    async def open(
        self,
        session_id: str,
        run: int,
        grew: Callable[[], None],
        delivered: Delivered,
        after: int | None = None,
        *,
        skips: bool = True,
    ) -> Reading:
        if session_id != "s1":
            raise SessionNotFound(session_id)
        return Reading(self.tape, grew, delivered)


class Connection:
    """One connection of the machine to the hub."""

    def __init__(self, send: Callable[[AnyFrame], None]) -> None:
        self._send = send

    def send(self, frame: AnyFrame) -> None:
        self._send(frame)


class Joined:
    """A hub's and a machine's end, joined by frames that arrive one turn of the loop later."""

    def __init__(self) -> None:
        self.machine, self.hub = WrittenTapes(), LinkTapes()
        self.pieces: list[TapePiece] = []
        self._line = 0
        self._connection: Connection
        self.streams: TapeStreams
        self.connect()

    def connect(self) -> None:
        self._line += 1
        line, loop = self._line, asyncio.get_running_loop()

        def up(frame: AnyFrame) -> None:
            assert isinstance(frame, FROM_TAPE)
            if isinstance(frame, TapePiece):
                self.pieces.append(frame)
            loop.call_soon(lambda: self.hub.receive(frame) if line == self._line else None)

        self.streams = streams = TapeStreams(self.machine, up, lambda: "office hub")

        def down(frame: AnyFrame) -> None:
            assert isinstance(frame, TAPE_FRAMES)
            loop.call_soon(lambda: streams.receive(frame) if line == self._line else None)

        self._connection = Connection(down)
        self.hub.connected(self._connection)

    def cut(self) -> None:
        self._line += 1
        self.streams.close()
        self.hub.disconnected(self._connection)


class Viewer:
    """Reads as a viewer does, and remembers what it was told."""

    def __init__(self) -> None:
        self.seen, self.place, self.skipped = b"", 0, 0
        self.delivered: list[tuple[int, BasculeError | None]] = []
        self.more = asyncio.Event()
        self.arrangements: list[Arrangement] = []
        self.elections = 0
        self.heard_typing: list[str] = []
        self.tape: LinkTape

    async def enter(self, joined: Joined, session_id: str = "s1", tail: int = 64 * 1024) -> "Viewer":
        self.tape = await joined.hub.open(session_id, 1, self.more.set, self._told)
        begin = await self.tape.tail(tail)
        self.place = begin.offset
        return self

    async def read_on(self, joined: Joined, after: int, *, skips: bool = True) -> "Viewer":
        """Come back with an offset."""
        self.tape = await joined.hub.open("s1", 1, self.more.set, self._told, after, skips=skips)
        self.place = after
        return self

    def _told(self, length: int, error: BasculeError | None) -> None:
        self.delivered.append((length, error))
        self.more.set()

    def arranged(self, arrangement: Arrangement) -> None:
        self.arrangements.append(arrangement)
        self.more.set()

    def elected(self) -> None:
        self.elections += 1

    def notify_typing(self, name: str) -> None:
        self.heard_typing.append(name)
        self.more.set()

    async def until(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not true():
                self.more.clear()
                await self.more.wait()

    async def read_to(self, end: int) -> bytes:
        async with asyncio.timeout(20):
            while self.place < end:
                self.more.clear()
                try:
                    data = self.tape.read(self.place, 256 * 1024)
                except TapeCut:
                    self.place, self.skipped = (await self.tape.tail(1000)).offset, self.skipped + 1
                    continue
                self.seen += data
                self.place += len(data)
                if not data:
                    await self.more.wait()
        return self.seen


async def test_a_viewer_sees_the_tail_and_everything_after_it() -> None:
    joined = Joined()
    joined.machine.tape.write(b"x" * 1000)
    viewer = await Viewer().enter(joined, tail=100)
    assert viewer.place == 900
    joined.machine.tape.write(b"hello")
    assert await viewer.read_to(1005) == b"x" * 100 + b"hello"


async def test_keys_sizes_and_redraws_reach_the_terminal() -> None:
    joined = Joined()
    viewer = await Viewer().enter(joined)
    participant = viewer.tape.join(ANA, True, viewer)
    participant.resize(120, 40)
    participant.redraw()
    viewer.tape.type(b"ls\r", ANA)
    await viewer.until(lambda: bool(viewer.delivered))
    tape = joined.machine.tape
    assert (tape.typed, tape.sizes, tape.redrawn) == ([b"ls\r"], [(120, 40, "ana")], 1)
    assert viewer.delivered == [(3, None)]


@pytest.mark.row("R16", "S39")
async def test_who_types_by_a_hub_is_known_to_come_by_it_whatever_the_hub_says() -> None:
    joined = Joined()
    viewer = await Viewer().enter(joined)
    viewer.tape.type(b"ls\r", ANA)
    viewer.tape.type(b"ls\r", replace(ANA, via="nobody"))
    await viewer.until(lambda: len(viewer.delivered) == 2)
    assert joined.machine.tape.typists == [replace(ANA, via="office hub")] * 2


async def test_the_machine_decides_between_viewers_at_two_hubs() -> None:
    near, far = Joined(), Joined()
    far.machine.tape = near.machine.tape
    ana, ben = await Viewer().enter(near), await Viewer().enter(far)
    assert (await ana.tape.first_to_answer(), await ben.tape.first_to_answer()) == (True, False)
    ana.tape.join(ANA, True, ana).resize(100, 50)
    participant = ben.tape.join(Actor("ben"), True, ben)
    participant.resize(120, 40)
    await ben.until(lambda: bool(ben.arrangements) and ben.arrangements[-1].rows == 40)
    await ana.until(lambda: ana.arrangements[-1].rows == 40)
    assert [(one.cols, one.owner, one.replies) for one in (ana.arrangements[-1], ben.arrangements[-1])] == [
        (100, False, True),
        (100, True, False),
    ]
    ben.tape.type(b"x", Actor("ben"))
    await ana.until(lambda: ana.heard_typing == ["ben"])
    participant.claim()
    await ben.until(lambda: ben.arrangements[-1].replies)
    assert ben.elections == 1
    participant.leave()
    await ana.until(lambda: ana.arrangements[-1].rows == 50)


async def test_a_viewer_keeps_its_seat_and_window_across_a_cut() -> None:
    joined = Joined()
    viewer = await Viewer().enter(joined)
    viewer.tape.join(ANA, True, viewer).resize(90, 30)
    await viewer.until(lambda: bool(viewer.arrangements) and viewer.arrangements[-1].cols == 90)
    joined.cut()
    viewer.arrangements.clear()
    joined.connect()
    await viewer.until(lambda: bool(viewer.arrangements) and viewer.arrangements[-1].owner)
    assert viewer.arrangements[-1].cols == 90


async def test_a_terminal_that_has_ended_is_over_once_all_its_output_has_come() -> None:
    joined = Joined()
    joined.machine.tape.write(b"bye", over=True)
    viewer = await Viewer().enter(joined)
    assert await viewer.read_to(3) == b"bye"
    async with asyncio.timeout(5):
        while not viewer.tape.over:
            viewer.more.clear()
            await viewer.more.wait()
    viewer.tape.type(b"late", ANA)
    assert viewer.delivered[0][1] is not None


async def test_a_terminal_that_is_not_there_is_refused_in_the_machines_words() -> None:
    joined = Joined()
    with pytest.raises(BasculeError) as refused:
        await Viewer().enter(joined, "nowhere")
    assert refused.value.refusal().code == "SESSION_NOT_FOUND"


async def test_output_waits_for_the_fastest_viewer_and_a_stalled_one_costs_nothing() -> None:
    joined = Joined()
    fast, stalled = await Viewer().enter(joined), await Viewer().enter(joined)
    size = CREDIT + MIRROR * 2
    joined.machine.tape.write(b"y" * size)
    await asyncio.sleep(0)
    assert len(await fast.read_to(size)) == size
    assert sum(len(piece.data) for piece in joined.pieces) == size  # once for both
    await stalled.read_to(size)
    assert stalled.skipped == 1
    joined.machine.tape.write(b"z" * size)
    for _ in range(20):
        await asyncio.sleep(0)
    assert sum(len(piece.data) for piece in joined.pieces) <= size + CREDIT  # nobody reads: it stops


async def test_viewers_go_on_after_a_cut_where_they_were() -> None:
    joined = Joined()
    viewer = await Viewer().enter(joined)
    written, chance = b"", random.Random(7)
    for n in range(200):
        data = f"{n} ".encode() * chance.randint(1, 400)
        written += data
        joined.machine.tape.write(data)
        if chance.random() < 0.2:
            joined.cut()
            joined.machine.tape.write(b"meanwhile ")
            written += b"meanwhile "
            joined.connect()
        for _ in range(chance.randint(0, 4)):
            await asyncio.sleep(0)
    assert await viewer.read_to(len(written)) == written
    assert viewer.skipped == 0


async def test_a_viewer_reads_on_at_an_offset_that_nobody_else_here_has_and_then_shares_one_stream() -> None:
    joined, size = Joined(), MIRROR * 2
    written = b"".join(b"%08d" % n for n in range(size // 8))
    joined.machine.tape.write(written)
    live = await Viewer().enter(joined)
    begun = live.place
    back = await Viewer().read_on(joined, 800)
    assert back.tape.base == 800
    assert await back.read_to(size) == written[800:]
    assert back.skipped == 0
    assert await live.read_to(size) == written[begun:]
    joined.pieces.clear()
    for viewer in (live, back):  # both have caught up: from now on the output is sent for both at once
        await viewer.read_to(size)
    for number in range(1, 5):
        joined.machine.tape.write(b"y" * CREDIT)
        for viewer in (live, back):
            await viewer.read_to(size + number * CREDIT)
    assert (live.seen[-4 * CREDIT :], back.seen[-4 * CREDIT :]) == (b"y" * 4 * CREDIT,) * 2
    assert sum(len(piece.data) for piece in joined.pieces) <= 5 * CREDIT
    back.tape.close()
    live.tape.close()
    await asyncio.sleep(0)
    assert joined.machine.tape.watchers == []


async def test_those_who_come_back_to_a_hub_that_has_nothing_share_a_stream_once_they_caught_up() -> None:
    joined = Joined()
    joined.machine.tape.write(b"x" * 1000)
    viewers = [await Viewer().read_on(joined, after) for after in (100, 500, 900)]
    for viewer, after in zip(viewers, (100, 500, 900), strict=True):
        assert len(await viewer.read_to(1000)) == 1000 - after
    joined.pieces.clear()
    for number in range(1, 9):
        joined.machine.tape.write(b"y" * CREDIT)
        for viewer in viewers:
            await viewer.read_to(1000 + number * CREDIT)
    assert [viewer.skipped for viewer in viewers] == [0, 0, 0]
    assert sum(len(piece.data) for piece in joined.pieces) <= 10 * CREDIT


async def test_a_viewer_that_never_skips_has_everything_however_slow_it_is() -> None:
    joined, size = Joined(), CREDIT + MIRROR * 2
    fast, slow = await Viewer().enter(joined), await Viewer().read_on(joined, 0, skips=False)
    written = b"".join(b"%08d" % n for n in range(size // 8))
    joined.machine.tape.write(written)
    assert await fast.read_to(len(written)) == written
    assert await slow.read_to(len(written)) == written
    assert slow.skipped == 0


async def test_a_viewer_whose_machine_is_cut_off_while_it_comes_back_begins_at_its_offset() -> None:
    joined = Joined()
    joined.machine.tape.write(b"x" * MIRROR)
    viewer = Viewer()
    coming = asyncio.create_task(viewer.read_on(joined, 10))
    await asyncio.sleep(0)
    joined.cut()
    joined.connect()
    async with asyncio.timeout(20):
        await coming
    assert viewer.tape.base == 10
    assert len(await viewer.read_to(MIRROR)) == MIRROR - 10


async def test_keys_that_were_under_way_at_a_cut_are_said_to_be_unsure() -> None:
    joined = Joined()
    viewer = await Viewer().enter(joined)
    viewer.tape.type(b"rm x\r", ANA)
    joined.cut()
    (length, error), *more = viewer.delivered
    assert (length, more) == (5, [])
    assert isinstance(error, DeviceOffline)
    viewer.tape.type(b"y", ANA)
    assert isinstance(viewer.delivered[-1][1], DeviceOffline)


async def test_a_viewer_behind_what_was_trimmed_on_the_machine_skips_ahead() -> None:
    joined = Joined()
    viewer = await Viewer().enter(joined)
    joined.machine.tape.write(b"a" * 5000)
    await viewer.read_to(5000)
    joined.cut()
    joined.machine.tape.write(b"b" * 5000)
    joined.machine.tape.base = 8000
    joined.connect()
    await viewer.read_to(10_000)
    assert viewer.seen.endswith(b"b" * 1000)
    assert viewer.place == 10_000


async def test_the_last_viewer_who_leaves_closes_the_stream() -> None:
    joined = Joined()
    one, two = await Viewer().enter(joined), await Viewer().enter(joined)
    one.tape.close()
    await asyncio.sleep(0)
    assert len(joined.machine.tape.watchers) == 1
    two.tape.close()
    await asyncio.sleep(0)
    assert joined.machine.tape.watchers == []
