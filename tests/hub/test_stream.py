"""The session as server-sent events: past and live, resumed by number, bounded, ended by shutdown."""

import asyncio
import contextlib
import random
import socket
from collections.abc import AsyncIterator

import httpx
import pytest
from tests.hub.running_hub import RunningHub, rest_of, running_hub, until
from tests.waiting import PATIENCE, within

from bascule.hub.feed.positions import session_tag
from bascule.hub.live import sse
from bascule.hub.wire.connection_limits import WireLimits

pytestmark = pytest.mark.anyio


async def ids(client: httpx.AsyncClient, after: int, how_many: int) -> list[int]:
    got: list[int] = []
    headers = {"last-event-id": str(after)}
    async with client.stream("GET", "/api/sessions/s1/stream", headers=headers) as stream:
        async for line in stream.aiter_lines():
            if line.startswith("id: "):
                got.append(int(line[4:].partition("-")[0]))
            if len(got) >= how_many:
                break
    return got


@pytest.mark.row("C3")
async def test_a_stream_begins_with_the_status_then_sends_past_and_live_events(hub: RunningHub) -> None:
    await hub.session("s1")
    await hub.say("s1", "old")
    lines: list[str] = []
    async with (
        hub.client(hub.tokens["viewer"]) as client,
        client.stream("GET", "/api/sessions/s1/stream") as stream,
    ):
        assert stream.headers["content-type"].startswith("text/event-stream")
        async for line in stream.aiter_lines():
            lines.append(line)
            if "old" in line:
                await hub.say("s1", "new")
            if "new" in line:
                break
    assert lines[:2] == ["retry: 1000", ""]
    assert lines[2:4] == ["event: session_status", 'data: {"status":"starting"}']
    tag = session_tag(hub.store.epoch, "s1")
    assert [line for line in lines if line.startswith("id:")] == [f"id: {n}-{tag}" for n in (1, 2, 3)]
    assert lines[-2:] == ["event: assistant_text", 'data: {"text":"new"}']


@pytest.mark.row("REL-04")
async def test_a_reader_dropped_at_200_random_points_goes_on_exactly(hub: RunningHub) -> None:
    await hub.session("s1")
    rng = random.Random(4)
    total, seen, last = 600, list[int](), 0

    async def talk() -> None:
        for n in range(0, total, 3):
            await hub.say("s1", *(str(n + k) for k in range(3)))
            await asyncio.sleep(0)

    talking = asyncio.create_task(talk())
    drops = 0
    async with hub.client(hub.tokens["viewer"]) as client:
        while last < total + 1:
            seen += await ids(client, last, min(rng.randint(1, 4), total + 1 - last))
            last = seen[-1]
            drops += 1
    await talking
    assert drops >= 200
    assert seen == list(range(1, total + 2))


@contextlib.asynccontextmanager
async def deaf_reader(hub: RunningHub, path: str) -> AsyncIterator[socket.socket]:
    """A connection that asks and never reads, with the smallest buffer the system allows."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(sock, ("127.0.0.1", hub.port))
    request = (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{hub.port}\r\n"
        f"Authorization: Bearer {hub.tokens['viewer']}\r\n\r\n"
    )
    await loop.sock_sendall(sock, request.encode())
    try:
        yield sock
    finally:
        sock.close()


@pytest.mark.row("REL-09")
async def test_a_stream_reader_that_never_reads_is_dropped_and_others_get_every_event(
    hub: RunningHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "BEHIND_SECONDS", 0.2)
    await hub.session("s1")
    async with deaf_reader(hub, "/api/sessions/s1/stream"), hub.client(hub.tokens["viewer"]) as client:
        await until(lambda: len(hub.services.open_streams) == 1)
        listening = asyncio.create_task(ids(client, 0, 201))
        await until(lambda: len(hub.services.open_streams) == 2)
        for _ in range(200):
            await hub.say("s1", "x" * 60_000)
        assert await asyncio.wait_for(listening, PATIENCE) == list(range(1, 202))
        await until(lambda: len(hub.services.open_streams) == 0)


@pytest.mark.row("C3")
async def test_a_quiet_stream_sends_keep_alives(hub: RunningHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "KEEP_ALIVE_SECONDS", 0.05)
    await hub.session("s1")
    async with (
        hub.client(hub.tokens["viewer"]) as client,
        client.stream("GET", "/api/sessions/s1/stream?after=1") as stream,
    ):
        async for line in stream.aiter_lines():
            if line.startswith(":"):
                break


async def test_a_stream_of_no_session_is_404_and_bad_numbers_are_400(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["viewer"]) as client:
        assert (await client.get("/api/sessions/nope/stream")).status_code == 404
        await hub.session("s1")
        assert (await client.get("/api/sessions/s1/stream?after=-1")).status_code == 400
        assert (await client.get("/api/sessions/s1/stream?after=x")).status_code == 400


@pytest.mark.row("REL-35")
async def test_shutdown_ends_every_stream_and_socket_at_once(tmp_path) -> None:  # type: ignore[no-untyped-def]
    async with running_hub(tmp_path, limits=WireLimits(linger_seconds=0.2)) as hub:
        await hub.session("s1")
        lines: list[str] = []

        async def read() -> None:
            async with (
                hub.client(hub.tokens["viewer"]) as client,
                client.stream("GET", "/api/sessions/s1/stream") as stream,
            ):
                async for line in stream.aiter_lines():
                    lines.append(line)

        reading = asyncio.create_task(read())
        async with hub.socket() as watching, deaf_reader(hub, "/api/sessions/s1/stream"):
            await until(lambda: len(hub.services.open_streams) == 3)
            with within(5):
                hub.server.stop()
                said = await rest_of(watching)
                await reading
                await asyncio.wait_for(asyncio.shield(hub.running), PATIENCE)
        assert said[-1] == '{"type":"shutdown"}'
        assert watching.close_code == 1012
        assert "event: shutdown" in lines
