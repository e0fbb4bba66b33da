"""Abuse of the wire, against the real server: refused in bounded memory while others are served."""

import asyncio
import contextlib
import gzip
import json
import os
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.hub.running_hub import ask, raw_exchange, status_of
from tests.live import LiveServer
from tests.system.pulse import Pulse
from tests.waiting import PATIENCE, within
from websockets.asyncio.client import ClientConnection, connect

pytestmark = pytest.mark.anyio

MB = 1024 * 1024


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    made = LiveServer(module_dir)
    made.add_agent("well-behaved", "well_behaved.py")
    async with made:
        yield made


def port_of(server: LiveServer) -> int:
    return int(server.url.rsplit(":", 1)[1])


def head(server: LiveServer, first: str, *lines: str) -> bytes:
    fixed = [f"Host: 127.0.0.1:{port_of(server)}", f"Authorization: Bearer {server.token}"]
    return "\r\n".join([first, *fixed, *lines, "", ""]).encode()


def upgrade(server: LiveServer) -> bytes:
    return head(
        server,
        "GET /ws HTTP/1.1",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Version: 13",
    )


@contextlib.asynccontextmanager
async def open_socket(server: LiveServer) -> AsyncIterator[ClientConnection]:
    """A socket as a program opens it; what is written to its transport goes out as it is."""
    url = server.url.replace("http", "ws", 1) + "/ws"
    headers = {"authorization": f"Bearer {server.token}"}
    async with connect(
        url, additional_headers=headers, proxy=None, open_timeout=PATIENCE, close_timeout=1
    ) as socket:
        yield socket


def frame(payload: bytes, *, opcode: int = 1, fin: bool = True, rsv: int = 0, mask: bool = True) -> bytes:
    first = (0x80 if fin else 0) | rsv << 4 | opcode
    size = len(payload)
    bit = 0x80 if mask else 0
    if size < 126:
        start = struct.pack("!BB", first, bit | size)
    elif size < 65536:
        start = struct.pack("!BBH", first, bit | 126, size)
    else:
        start = struct.pack("!BBQ", first, bit | 127, size)
    return start + (bytes(4) if mask else b"") + payload


FRAMES = {
    "1 GB announced": (struct.pack("!BBQ", 0x81, 0x80 | 127, 1 << 30) + bytes(4) + b"x" * 1000, 1009),
    "63 bit length": (struct.pack("!BBQ", 0x81, 0x80 | 127, (1 << 63) - 1) + bytes(4), 1009),
    "fragments without end": (
        frame(b"x", fin=False) + b"".join(frame(b"x" * 50, opcode=0, fin=False) for _ in range(5000)),
        1009,
    ),
    "unmasked": (frame(b'{"id":1}', mask=False), 1002),
    "reserved bits": (frame(b"x", rsv=4), 1002),
    "reserved opcode": (frame(b"x", opcode=5), 1002),
    "bad utf-8": (frame(b"\xff\xfe"), 1007),
    "long control frame": (frame(b"x" * 200, opcode=9), 1002),
    "close with 1 byte": (frame(b"x", opcode=8), 1002),
}


@pytest.mark.row("S56")
@pytest.mark.parametrize("name", list(FRAMES))
async def test_a_broken_frame_closes_its_own_socket_and_no_other(server: LiveServer, name: str):
    data, code = FRAMES[name]
    before = server.memory()
    async with open_socket(server) as socket, open_socket(server) as other:
        assert "sec-websocket-extensions" not in socket.response.headers  # no deflate, so no bomb in it
        socket.transport.write(data)
        await asyncio.wait_for(socket.wait_closed(), PATIENCE)
        assert socket.close_code == code
        assert "ok" in await ask(other, "ping")
    assert server.peak() - before < 64 * MB
    assert (await server.http.get("/health")).status_code == 200


@pytest.mark.row("S56")
async def test_a_hundred_thousand_tiny_frames_and_pings_slow_nobody(server: LiveServer):
    pulse = await Pulse.of(server)
    before = server.memory()

    async def flood() -> None:
        """By hand, because a client that understands what it sends would be the slow one of the two."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
        writer.write(upgrade(server))
        assert b"101" in await reader.readuntil(b"\r\n\r\n")
        writer.write((frame(b"{}") + frame(b"", opcode=9)) * 50_000)
        last = b""
        with contextlib.suppress(ConnectionError):
            while b"\x88" not in last and (last := await reader.read(65536)):
                pass
        writer.close()

    await pulse.undisturbed_by(flood())
    assert server.peak() - before < 64 * MB


DEEP = b'{"text":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
BODIES = {
    "deep": (DEEP, 400),
    "nan": (b'{"text":NaN}', 400),
    "huge number": (b'{"text":' + b"9" * 5000 + b"}", 400),
    "lone surrogate": (b'{"text":"\\ud800"}', 400),
    "invalid utf-8": (b'{"text":"\xff"}', 400),
    "not an object": (b"[1]", 400),
    "9 MB": (b'{"text":"' + b"x" * 9 * MB + b'"}', 413),
    "too long a text": (b'{"text":"' + b"x" * 1_048_577 + b'"}', 413),
}


@pytest.mark.row("S56")
@pytest.mark.parametrize("name", list(BODIES))
async def test_a_broken_body_is_refused_in_words(server: LiveServer, name: str):
    body, status = BODIES[name]
    session = await server.create()
    before = server.memory()
    answer = await server.http.post(
        f"/api/sessions/{session}/send", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
    assert len(answer.content) < 2000
    assert server.peak() - before < 64 * MB


@pytest.mark.row("S56")
async def test_a_gzip_bomb_is_not_opened(server: LiveServer):
    bomb = gzip.compress(bytes(100 * MB))
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    before = server.memory()
    answer = await server.http.post("/api/sessions", content=bomb, headers=headers)
    assert answer.status_code == 415
    assert server.peak() - before < 64 * MB


@pytest.mark.row("S56")
@pytest.mark.parametrize(
    ("lines", "statuses"),
    [
        ([f"X-{n}: x" for n in range(100_000)], {431}),
        (["X: " + "x" * MB], {431}),
        (["Cookie: " + "; ".join(f"a{n}=b" for n in range(100_000))], {431}),
        (["Transfer-Encoding: chunked", "Content-Length: 5"], {400}),
        (["Content-Length: 5", "Content-Length: 6"], {400}),
        (["Content-Length: -1"], {400}),
        (["X : y"], {400}),
        ([" folded: y"], {400}),
        (["X: a\x00b"], {400}),
    ],
    ids=["count", "one large", "cookies", "te+cl", "two lengths", "negative", "space", "folded", "nul"],
)
async def test_strange_headers_are_refused(server: LiveServer, lines: list[str], statuses: set[int]):
    before = server.memory()
    got = await raw_exchange(port_of(server), head(server, "GET /api/sessions HTTP/1.1", *lines))
    assert status_of(got) in statuses, got[:200]
    assert server.peak() - before < 64 * MB


@pytest.mark.row("S56")
async def test_endless_chunk_extensions_and_chunks_are_cut_off(server: LiveServer):
    start = head(
        server, "POST /api/sessions HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked"
    )
    before = server.memory()
    for rest in (b"1;" + b"a" * (20 * MB), b"1\r\nx\r\n" * 4_000_000):
        got = await raw_exchange(port_of(server), start + rest)
        assert status_of(got) in (0, 400, 413), got[:100]  # 0: cut off before it could be told
    assert server.peak() - before < 64 * MB
    assert (await server.http.get("/health")).status_code == 200


@pytest.mark.row("S57")
async def test_slow_and_idle_connections_do_not_block_those_with_a_token(server: LiveServer):
    port = port_of(server)
    fds = len(os.listdir(f"/proc/{server.front.pid}/fd"))
    async with contextlib.AsyncExitStack() as closing:
        for _ in range(400):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            closing.callback(writer.close)
            writer.write(b"GET /api/sessions HTTP/1.1\r\nHo")
        # The first of them were dropped for the last, which are dropped when their headers do not come.
        with within(5):
            answer = await server.http.get("/api/sessions")  # a connection that was known before
        assert answer.status_code == 200
        with contextlib.suppress(ConnectionError):
            last = await asyncio.wait_for(reader.read(100), PATIENCE)
            assert last.startswith(b"HTTP/1.1 408") or last == b""
    await _fds_below(server, fds + 20)


async def _fds_below(server: LiveServer, most: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            if len(os.listdir(f"/proc/{server.front.pid}/fd")) < most:
                return
            await asyncio.sleep(0.05)


@pytest.mark.row("S58", "X6")
async def test_wrong_tokens_are_throttled_while_right_ones_work(server: LiveServer):
    size = (server.front.data / "server.log").stat().st_size
    limits = httpx.Limits(max_connections=10)
    async with httpx.AsyncClient(
        base_url=server.url, limits=limits, trust_env=False, timeout=PATIENCE
    ) as client:
        seen: set[int] = set()

        async def guess(n: int) -> None:
            for k in range(20):
                headers = {"authorization": f"Bearer guess-{n}-{k}"}
                seen.add((await client.get("/api/sessions", headers=headers)).status_code)

        guessing = asyncio.gather(*(guess(n) for n in range(10)))
        while not guessing.done():
            assert (await server.http.get("/api/sessions")).status_code == 200
        await guessing
    assert seen == {401, 429}
    lines = (server.front.data / "server.log").read_text()[size:].splitlines()
    assert len([line for line in lines if "token" in json.loads(line)["message"]]) <= 3
    async with open_socket(server) as socket:
        assert "ok" in await ask(socket, "ping")
