"""Hostile bytes: floods, bombs, half requests, broken frames: each ends in a status or a close, cheaply."""

import asyncio
import contextlib
import os
import resource
import struct

import psutil
import pytest
from tests.hub.running_hub import RunningHub, ask, raw_exchange, running_hub, status_of, until
from tests.waiting import PATIENCE

from bascule.hub.wire.connection_limits import WireLimits

pytestmark = pytest.mark.anyio


def request(
    hub: RunningHub, *lines: str, method: str = "GET", target: str = "/healthz", body: bytes = b""
) -> bytes:
    head = "\r\n".join((f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{hub.port}", *lines, "", ""))
    return head.encode() + body


@pytest.mark.row("S56")
async def test_header_floods_are_431(hub: RunningHub) -> None:
    cases = {
        "a 1 MB header": request(hub, "X: " + "a" * 1_000_000),
        "a 1 MB header name": request(hub, "a" * 1_000_000 + ": x"),
        "100,000 headers": request(hub, *(f"X{n}: y" for n in range(100_000))),
        "101 small headers": request(hub, *(f"X{n}: y" for n in range(101))),
        "100,000 cookies": request(hub, *("Cookie: a=b" for _ in range(100_000))),
        "a 100 KB target": request(hub, target="/" + "a" * 100_000),
        "an endless header": request(hub)[:-4] + b"\r\nX: " + b"a" * 3_000_000,
    }
    for name, data in cases.items():
        assert status_of(await raw_exchange(hub.port, data)) == 431, name
    fine = request(hub, *(f"X{n}: {'y' * 500}" for n in range(90)), "Connection: close")
    assert status_of(await raw_exchange(hub.port, fine)) == 200


@pytest.mark.row("S56")
async def test_broken_requests_are_400(hub: RunningHub) -> None:
    cases = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"NONSENSE\r\n\r\n",
        request(hub, "Content-Length: 5", "Transfer-Encoding: chunked", method="POST", body=b"0\r\n\r\n"),
        request(hub, "Content-Length: 5", "Content-Length: 6", method="POST", body=b"hello!"),
        request(hub, "Content-Length: -1", method="POST"),
        request(hub, "Transfer-Encoding: chunked, gzip", method="POST", body=b"0\r\n\r\n"),
        request(hub, "Transfer-Encoding: chunked", method="POST", body=b"zz\r\n"),
        request(hub, "Bad Header: x"),
        request(hub, "X: a\x00b"),
        request(hub, target="/\x80"),
        request(hub, target="*", method="OPTIONS"),
        request(hub, target="evil.example:443", method="CONNECT"),
    ]
    for data in cases:
        assert status_of(await raw_exchange(hub.port, data)) in (400, 401), data[:80]


@pytest.mark.row("S56")
async def test_bodies_too_large_are_413_announced_or_not(hub: RunningHub) -> None:
    await hub.session("s1")
    auth = f"Authorization: Bearer {hub.tokens['owner']}"
    kind = "Content-Type: application/json"
    target = "/api/sessions/s1/interrupt"
    announced = request(hub, auth, kind, "Content-Length: 999999999999", method="POST", target=target)
    assert status_of(await raw_exchange(hub.port, announced)) == 413
    chunk = b"10000\r\n" + b"a" * 65536 + b"\r\n"
    chunked = request(hub, auth, kind, "Transfer-Encoding: chunked", method="POST", target=target)
    assert status_of(await raw_exchange(hub.port, chunked + chunk * 4 + b"0\r\n\r\n")) == 413
    extension = b"1;" + b"x" * 20_000_000 + b"\r\na\r\n"
    # Cut off while it is still pouring, so the status may not get through.
    assert status_of(await raw_exchange(hub.port, chunked + extension)) in (0, 400, 413)
    async with hub.client(hub.tokens["owner"]) as client:
        picture = {"mediaType": "image/png", "data": "AAAA" * 1_000_000}
        fine = await client.post("/api/sessions/s1/send", json={"text": "see", "images": [picture]})
        assert fine.status_code == 200
        bomb = {"content-type": "application/json", "content-encoding": "gzip"}
        assert (
            await client.post("/api/sessions/s1/send", content=b"\x1f\x8b", headers=bomb)
        ).status_code == 415


JSON_BOMBS = [
    b'{"text":' + b"[" * 100_000,
    b"[" * 100_000 + b"]" * 100_000,
    b'{"text":"a","x":' + b'{"a":' * 100_000,
    b'{"text":NaN}',
    b'{"text":Infinity}',
    b'{"text":' + b"9" * 5000 + b"}",
    b'{"text":1e999999}',
    b'{"text":"\\ud800"}',
    b'{"text":"\xff"}',
    b'{"text":"a",}',
    b'\xef\xbb\xbf{"text":"a"}',
    b'{"text":"a"} trailing',
    b'{"text":"a"',
    b"'text'",
    b'{"text":null}',
]


@pytest.mark.row("S56")
@pytest.mark.parametrize("body", JSON_BOMBS, ids=lambda body: repr(body[:20]))
async def test_json_that_is_not_plain_is_400(hub: RunningHub, body: bytes) -> None:
    await hub.session("s1")
    async with hub.client(hub.tokens["owner"]) as client:
        headers = {"content-type": "application/json"}
        answer = await client.post("/api/sessions/s1/send", content=body, headers=headers)
    assert answer.status_code == 400
    assert hub.device.commands == []


@pytest.mark.row("S56")
async def test_of_a_repeated_key_the_last_value_counts(hub: RunningHub) -> None:
    await hub.session("s1")
    async with hub.client(hub.tokens["owner"]) as client:
        headers = {"content-type": "application/json"}
        await client.post("/api/sessions/s1/send", content=b'{"text":"a","text":"b"}', headers=headers)
    assert hub.device.commands[0].text == "b"


def frame(
    opcode: int, payload: bytes, *, fin: bool = True, rsv: int = 0, mask: bool = True, size: int | None = None
) -> bytes:
    length = len(payload) if size is None else size
    head = bytes([(0x80 if fin else 0) | rsv | opcode])
    flag = 0x80 if mask else 0
    if length < 126:
        head += bytes([flag | length])
    elif length < 65536:
        head += bytes([flag | 126]) + struct.pack("!H", length)
    else:
        head += bytes([flag | 127]) + struct.pack("!Q", length)
    return head + (b"\0\0\0\0" if mask else b"") + payload


class RawSocket:
    """A WebSocket client that says what it is told to."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            self.writer.write(data)
            await self.writer.drain()

    async def close_code(self) -> int | None:
        """The code the server closes with; 0 when it just cuts the line."""
        got = b""
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(PATIENCE):
                while chunk := await self.reader.read(65536):
                    got += chunk
        place = got.rfind(b"\x88")
        return struct.unpack("!H", got[place + 2 : place + 4])[0] if place >= 0 else 0


@contextlib.asynccontextmanager
async def raw_socket(hub: RunningHub, *lines: str):  # type: ignore[no-untyped-def]
    reader, writer = await asyncio.open_connection("127.0.0.1", hub.port)
    writer.write(
        request(
            hub,
            f"Authorization: Bearer {hub.tokens['owner']}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
            "Sec-WebSocket-Version: 13",
            *lines,
            target="/ws",
        )
    )
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 101 " in head
    assert b"permessage-deflate" not in head
    try:
        yield RawSocket(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


MEGA = 1024 * 1024
FRAMES = {
    "unmasked": (frame(1, b"{}", mask=False), 1002),
    "rsv1": (frame(1, b"{}", rsv=0x40), 1002),
    "rsv2": (frame(1, b"{}", rsv=0x20), 1002),
    "rsv3": (frame(1, b"{}", rsv=0x10), 1002),
    "reserved opcode": (frame(3, b"{}"), 1002),
    "reserved control opcode": (frame(11, b""), 1002),
    "bad utf-8": (frame(1, b"\xff\xfe"), 1007),
    "a 1 GB frame": (frame(1, b"a", size=1 << 30), 1009),
    "a frame of 2^63": (frame(1, b"a", size=(1 << 63) - 1), 1009),
    "a long ping": (frame(9, b"a" * 126), 1002),
    "a split ping": (frame(9, b"a", fin=False), 1002),
    "a continuation of nothing": (frame(0, b"a"), 1002),
    "two beginnings": (frame(1, b"a", fin=False) + frame(1, b"a"), 1002),
    "a bad close": (frame(8, b"\x00"), 1002),
    # The last one only announces its size: the server must not wait for the bytes.
    "fragments over the limit": (
        frame(1, b"a" * MEGA, fin=False) + frame(0, b"a" * MEGA, fin=False) * 7 + frame(0, b"", size=MEGA),
        1009,
    ),
    "100,000 empty fragments": (frame(1, b"", fin=False) + frame(0, b"", fin=False) * 100_000, 1009),
}


@pytest.mark.row("S56")
@pytest.mark.parametrize("name", list(FRAMES))
async def test_broken_frames_close_with_their_code(hub: RunningHub, name: str) -> None:
    data, code = FRAMES[name]
    async with raw_socket(hub) as socket:
        await socket.send(data)
        assert await socket.close_code() == code
    async with hub.socket() as healthy:
        assert "ok" in await ask(healthy, "ping")


@pytest.mark.row("S56")
async def test_deflate_is_not_offered_so_there_is_no_bomb(hub: RunningHub) -> None:
    async with raw_socket(
        hub, "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"
    ) as socket:
        await socket.send(frame(1, b"\x00" * 100, rsv=0x40))
        assert await socket.close_code() == 1002


@pytest.mark.row("S56")
async def test_a_ping_flood_that_never_reads_is_cut_off(hub: RunningHub) -> None:
    async with raw_socket(hub) as socket:
        socket.writer.transport.pause_reading()  # type: ignore[attr-defined]
        flood = frame(9, b"p" * 125) * 1000

        async def pour() -> None:
            while not socket.writer.transport.is_closing():
                socket.writer.write(flood)
                await socket.writer.drain()

        with contextlib.suppress(ConnectionError):
            await asyncio.wait_for(pour(), PATIENCE)
        await until(lambda: len(hub.server.connections) == 0)


@pytest.mark.row("S56")
async def test_all_of_it_together_costs_little_memory(hub: RunningHub) -> None:
    process = psutil.Process(os.getpid())
    async with hub.client(hub.tokens["viewer"]) as client:
        await client.get("/api/sessions")
        before = process.memory_info().rss
        flood = request(hub, *(f"X{n}: y" for n in range(20_000)))
        await asyncio.gather(*(raw_exchange(hub.port, flood) for _ in range(30)))
        for name in ("a 1 GB frame", "100,000 empty fragments", "fragments over the limit"):
            async with raw_socket(hub) as socket:
                await socket.send(FRAMES[name][0])
                await socket.close_code()
        assert (await client.get("/api/sessions")).status_code == 200
    assert process.memory_info().rss - before < 64 * MEGA + len(FRAMES["fragments over the limit"][0])


async def closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True


QUICK = WireLimits(
    header_seconds=1, body_seconds=1, keep_alive_seconds=3, strangers_per_address=40, connections=60
)


@pytest.mark.row("S57")
async def test_half_requests_are_cut_off_in_time_and_others_are_served(tmp_path) -> None:  # type: ignore[no-untyped-def]
    async with running_hub(tmp_path, limits=QUICK) as hub:
        auth = f"Authorization: Bearer {hub.tokens['owner']}"
        slow = {
            "nothing at all": b"",
            "half a head": request(hub)[:20],
            "an empty line": b"\r\n",
            "a head without end": request(hub)[:-2],
            "half a body": request(
                hub, auth, "Content-Type: application/json", "Content-Length: 10", method="POST",
                target="/api/kill-all", body=b"{",
            ),
        }  # fmt: skip
        answers = await asyncio.gather(*(raw_exchange(hub.port, data) for data in slow.values()))
        assert dict(zip(slow, map(status_of, answers), strict=True)) == dict.fromkeys(slow, 408)
        async with hub.client(hub.tokens["viewer"]) as client:
            assert (await client.get("/api/sessions")).status_code == 200
        assert hub.device.commands == []


@pytest.mark.row("S57")
async def test_a_drip_of_header_bytes_does_not_move_the_deadline(tmp_path) -> None:  # type: ignore[no-untyped-def]
    async with running_hub(tmp_path, limits=QUICK) as hub:
        reader, writer = await asyncio.open_connection("127.0.0.1", hub.port)
        answering = asyncio.create_task(reader.read())
        drip = request(hub, "X: " + "y" * 500)
        sent = 0
        while sent < len(drip) and not answering.done():
            with contextlib.suppress(ConnectionError):
                writer.write(drip[sent : sent + 1])
                await writer.drain()
            sent += 1
            await asyncio.wait([answering], timeout=0.02)
        # A drop that meets the closed door resets the connection, and may take the answer with it.
        with contextlib.suppress(ConnectionResetError):
            assert status_of(await asyncio.wait_for(answering, PATIENCE)) == 408
        assert sent < len(drip)
        writer.close()


@pytest.mark.row("S57")
async def test_unauthenticated_connections_use_up_only_their_own_limit(tmp_path) -> None:  # type: ignore[no-untyped-def]
    limits = WireLimits(header_seconds=20, strangers_per_address=40, connections=60)
    async with running_hub(tmp_path, limits=limits) as hub, hub.client(hub.tokens["viewer"]) as client:
        # This connection has shown a grant, so it is no stranger any more and stays open.
        assert (await client.get("/api/sessions")).status_code == 200
        idle = [await asyncio.open_connection("127.0.0.1", hub.port) for _ in range(40)]
        await until(lambda: len(hub.server.connections) == 41)
        # A newcomer is served, and whoever was silent for longest goes.
        for _ in range(5):
            assert status_of(await raw_exchange(hub.port, request(hub, "Connection: close"))) == 200
        idle += [await asyncio.open_connection("127.0.0.1", hub.port) for _ in range(3)]
        dropped = [asyncio.create_task(closed(reader)) for reader, _ in idle]
        done, _ = await asyncio.wait(dropped, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        assert all(one.result() for one in done)
        assert done
        await until(lambda: len(hub.server.connections) <= 41)
        assert (await client.get("/api/sessions")).status_code == 200
        for _, writer in idle:
            writer.close()
        await asyncio.gather(*dropped)
        await until(lambda: len(hub.server.connections) == 1)
        assert status_of(await raw_exchange(hub.port, request(hub, "Connection: close"))) == 200


@pytest.mark.row("S57")
async def test_hundreds_of_idle_connections_give_their_descriptors_back(tmp_path) -> None:  # type: ignore[no-untyped-def]
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(500, soft // 4)
    limits = WireLimits(header_seconds=1, strangers_per_address=count)
    async with running_hub(tmp_path, limits=limits) as hub:
        before = psutil.Process().num_fds()
        idle = [await asyncio.open_connection("127.0.0.1", hub.port) for _ in range(count)]
        await asyncio.gather(*(reader.read() for reader, _ in idle))
        for _, writer in idle:
            writer.close()
        await until(lambda: len(hub.server.connections) == 0)
        await until(lambda: psutil.Process().num_fds() <= before + 5)


@pytest.mark.row("S57")
async def test_a_socket_that_answers_no_ping_is_closed(tmp_path) -> None:  # type: ignore[no-untyped-def]
    limits = WireLimits(ping_seconds=1, linger_seconds=0.2, body_seconds=0.1)
    async with running_hub(tmp_path, limits=limits) as hub, raw_socket(hub):
        await until(lambda: len(hub.services.open_streams) == 1)
        await until(lambda: len(hub.services.open_streams) == 0)


@pytest.mark.row("S57")
async def test_the_deadlines_of_requests_do_not_touch_an_open_socket(tmp_path) -> None:  # type: ignore[no-untyped-def]
    async with running_hub(tmp_path, limits=QUICK) as hub, hub.socket() as socket:
        for _ in range(5):
            await asyncio.sleep(0.3)  # the passing of time is what is tested
            assert "ok" in await ask(socket, "ping")
