"""Viewers that come, drop, stall and come back: each sees the log once, and none costs the others."""

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.live import LiveServer
from tests.system.pulse import Pulse
from tests.system.sse import stream, until
from tests.waiting import MUCH_PATIENCE, PATIENCE
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from bascule.model.events import TextAppended, TurnEnded

pytestmark = pytest.mark.anyio

MB = 1024 * 1024


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    made = LiveServer(module_dir)
    made.add_agent("well-behaved", "well_behaved.py")
    async with made:
        yield made


@contextlib.asynccontextmanager
async def subscribed(server: LiveServer, session: str, **options: int) -> AsyncIterator[ClientConnection]:
    url = server.url.replace("http", "ws", 1) + "/ws"
    headers = {"authorization": f"Bearer {server.token}"}
    async with connect(
        url,
        additional_headers=headers,
        max_size=None,
        proxy=None,
        open_timeout=PATIENCE,
        ping_interval=None,  # one that does not read would miss the answer, and leave by itself
        close_timeout=1,
        **options,
    ) as socket:
        await socket.send(json.dumps({"id": 1, "type": "session:subscribe", "sessionId": session}))
        yield socket


@pytest.mark.row("REL-04", "C3")
async def test_a_stream_dropped_anywhere_goes_on_exactly_there(server: LiveServer):
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")  # noqa: T201 - shown when it fails
    dice = random.Random(seed)
    session = await server.create("count 1500 1")
    seen: list[int] = []
    drops = 0
    async with asyncio.timeout(MUCH_PATIENCE):
        while True:
            last = seen[-1] if seen else None
            left = dice.randrange(0, 40)
            async with contextlib.aclosing(stream(server, session, last=last)) as events:
                async for event in events:
                    if event.id is None:
                        continue
                    seen.append(event.id)
                    if event.name == "turn_ended":
                        break
                    left -= 1
                    if left < 0:
                        drops += 1
                        break
            if event.name == "turn_ended":
                break
    assert drops >= 5
    assert seen == list(range(1, len(seen) + 1))


@pytest.mark.row("REL-06")
async def test_a_hundred_viewers_that_join_during_a_burst_have_no_gap_and_no_duplicate(server: LiveServer):
    session = await server.create("count 1500 1")
    dice = random.Random(6)

    async def view() -> list[int]:
        rows: list[int] = []
        begin = dice.randrange(1, 1400)
        await server.wait_for(session, lambda event: _counted_to(event, begin))
        async with contextlib.aclosing(server.follow(session)) as following:
            async for row in following:
                rows.append(row.seq)
                if isinstance(row.event, TurnEnded):
                    return rows
        raise AssertionError("the stream ended early")

    async with asyncio.timeout(MUCH_PATIENCE):
        views = await asyncio.gather(*(view() for _ in range(100)))
    whole = [row.seq for row in await server.log(session)]
    assert len(whole) > 20
    assert whole == list(range(1, len(whole) + 1))
    for seen in views:
        assert seen == whole[: len(seen)]


def _counted_to(event: object, n: int) -> bool:
    """Whether the demo has come so far: it counts, several numbers in one piece when it is fast."""
    return isinstance(event, TextAppended) and int(event.text.split()[-1]) >= n


@pytest.mark.row("REL-07")
async def test_a_slow_viewer_does_not_delay_the_other(server: LiveServer):
    session = await server.create("count 3000 1")
    fast = asyncio.create_task(until(server, session, "turn_ended"))
    slow: list[int] = []
    async with contextlib.aclosing(stream(server, session)) as events:
        async for event in events:
            if event.id is not None:
                slow.append(event.id)
            if event.name == "turn_ended":
                break
            if len(slow) % 50 == 0:
                await asyncio.sleep(0.02)  # slow on purpose: this is the case, not a wait
    quick = [event.id for event in await fast if event.id is not None]
    assert quick == slow == list(range(1, len(slow) + 1))


@pytest.mark.row("REL-09")
async def test_viewers_that_stop_reading_are_dropped_while_100_mb_stream(server: LiveServer):
    session = await server.create()
    pulse = await Pulse.of(server)
    async with contextlib.AsyncExitStack() as closing:
        stalled = [
            await closing.enter_async_context(subscribed(server, session, max_queue=1)) for _ in range(10)
        ]
        for socket in stalled:
            socket.transport.pause_reading()
        reading = [asyncio.create_task(_half_read(server, session)) for _ in range(5)]
        before = server.memory()

        async def flow() -> int:
            await server.send(session, "flood 1600 65536")
            ended = await server.wait_for(session, TurnEnded, seconds=MUCH_PATIENCE)
            return ended.seq

        last = await pulse.undisturbed_by(flow())
        assert server.peak() - before < 100 * MB
        for socket in stalled:
            socket.transport.resume_reading()
            frames: list[str] = []
            with contextlib.suppress(ConnectionClosed):
                while True:
                    frames.append(str(await asyncio.wait_for(socket.recv(), PATIENCE))[:200])
            assert socket.close_code in (4008, 1006)
            assert sum(len(one) for one in frames) < MB
            if socket.close_code == 4008:
                assert json.loads(frames[-1])["type"] == "resync"
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
    rows = await server.log(session)
    assert rows[-1].seq == last
    text = "".join(row.event.text for row in rows if isinstance(row.event, TextAppended))
    assert len(text) == 1600 * 65536
    numbers = [int(word.strip(".")) for word in text.split() if word.strip(".")]
    assert numbers == list(range(1, 1601))


async def _half_read(server: LiveServer, session: str) -> None:
    """An event stream that is opened and never read."""
    port = int(server.url.rsplit(":", 1)[1])
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
    head = f"GET /api/sessions/{session}/stream HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    writer.write(f"{head}Authorization: Bearer {server.token}\r\n\r\n".encode())
    try:
        await reader.read(10)
        await asyncio.Event().wait()
    finally:
        writer.close()
