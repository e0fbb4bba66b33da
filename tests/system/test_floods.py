"""Floods from one socket with a token, at full size: nobody else waits, and the log stays short."""

import asyncio
import contextlib
import json
import re
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.hub.running_hub import ask
from tests.live import LiveServer
from tests.system.test_wire_abuse import frame, open_socket, port_of, upgrade
from tests.waiting import MUCH_PATIENCE, PATIENCE, stretched, within

from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio

MB = 1024 * 1024


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(module_dir) as made:
        yield made


async def waits(server: LiveServer, until: "asyncio.Future[Any] | None" = None) -> list[float]:
    """How long requests of somebody else take, one after another."""
    took: list[float] = []
    while len(took) < 30 or (until is not None and not until.done()):
        began = time.monotonic()
        assert (await server.http.get("/api/sessions")).status_code == 200
        took.append(time.monotonic() - began)
    return sorted(took)


async def flood(server: LiveServer, data: bytes) -> bytes:
    """Send it as fast as it is taken; the close frame the server answers with."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
    writer.write(upgrade(server))
    assert b"101" in await reader.readuntil(b"\r\n\r\n")

    async def send() -> None:
        with contextlib.suppress(ConnectionError):
            for start in range(0, len(data), 65536):
                writer.write(data[start : start + 65536])
                await writer.drain()

    sending = asyncio.create_task(send(), name="flood")
    said = b""
    with contextlib.suppress(ConnectionError):
        while chunk := await reader.read(65536):
            said = (said + chunk)[-65536:]
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    writer.close()
    return said


@pytest.mark.row("F11", "S56", "X6")
@pytest.mark.parametrize(
    ("name", "one", "count"),
    [
        ("pings", frame(b"", opcode=9), 200_000),
        ("pings of 125 bytes", frame(b"x" * 125, opcode=9), 200_000),
        ("tiny messages", frame(b"{}"), 1_000_000),
        ("tiny fragments", frame(b"x", opcode=1, fin=False) + frame(b"", opcode=0, fin=False) * 9, 100_000),
        ("pongs", frame(b"", opcode=10), 1_000_000),
    ],
)
async def test_a_flood_of_frames_delays_no_other_client(
    server: LiveServer, name: str, one: bytes, count: int
):
    quiet = await waits(server)
    before = server.memory()
    with stretched() as seen:
        flooding = asyncio.ensure_future(flood(server, one * count))
        took = await waits(server, flooding)
        said = await flooding
    busy = max(seen)
    usual = 20 * quiet[len(quiet) // 2] + 0.25 * busy
    assert took[int(len(took) * 0.99) - 1] < usual, (busy, quiet[-3:], took[-3:])
    assert took[-1] < 1.5 * busy, (busy, took[-3:])
    assert server.peak() - before < 64 * MB
    if name.startswith("pings"):
        assert b"too many pings" in said
    async with open_socket(server) as other:
        assert "ok" in await ask(other, "ping")


@pytest.mark.row("F11")
async def test_a_large_message_still_arrives_whole_and_soon(server: LiveServer):
    session = await server.create()
    async with open_socket(server) as socket:
        with within(5):
            sent = await ask(socket, "session:send", sessionId=session, text="x" * 1_048_576)
        assert "ok" in sent


@pytest.mark.row("F11")
async def test_text_that_is_not_utf_8_closes_with_1007_and_one_line_in_the_log(server: LiveServer):
    size = (server.front.data / "server.log").stat().st_size
    for _ in range(30):
        async with open_socket(server) as socket:
            socket.transport.write(frame(b"\xff\xfe"))
            await asyncio.wait_for(socket.wait_closed(), PATIENCE)
            assert socket.close_code == 1007
    lines = [json.loads(one) for one in (server.front.data / "server.log").read_text()[size:].splitlines()]
    assert not [one for one in lines if "error" in one]
    assert len([one for one in lines if "UTF-8" in one["message"]]) == 1


@pytest.mark.row("F10")
@pytest.mark.parametrize("path", ["/health", "/"])
async def test_500_requests_with_too_many_parameters_leave_the_log_as_it_was(server: LiveServer, path: str):
    """A page of anybody's can send them; as faults they would flush the real lines out of the log."""
    size = (server.front.data / "server.log").stat().st_size
    query = "&".join(f"a{n}" for n in range(51))
    request = f"GET {path}?{query} HTTP/1.1\r\nHost: 127.0.0.1:{port_of(server)}\r\n\r\n".encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
    for _ in range(500):
        writer.write(request)
        answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
        assert answer.startswith(b"HTTP/1.1 400 "), answer
        found = re.search(rb"content-length: (\d+)", answer)
        await reader.readexactly(int(found[1]) if found else 0)
    writer.close()
    grown = (server.front.data / "server.log").read_bytes()[size:]
    assert not [one for one in map(json.loads, grown.splitlines()) if one["level"] in ("warning", "error")]
    assert len(grown) < 5_000


@pytest.mark.row("S58")
async def test_ten_thousand_wrong_tokens_lock_nobody_out_and_leave_few_log_lines(server: LiveServer):
    size = (server.front.data / "server.log").stat().st_size
    head = f"GET /api/sessions HTTP/1.1\r\nHost: 127.0.0.1:{port_of(server)}\r\nAuthorization: Bearer wrong-"
    seen: dict[bytes, int] = {}

    async def guess(first: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
        for n in range(first, first + 1000):
            writer.write(f"{head}{n}\r\n\r\n".encode())
            answer = await reader.readuntil(b"\r\n\r\n")
            found = re.search(rb"content-length: (\d+)", answer)
            await reader.readexactly(int(found[1]) if found else 0)
            status = answer.split(b" ", 2)[1]
            seen[status] = seen.get(status, 0) + 1
        writer.close()

    guessing = asyncio.gather(*(guess(n * 1000) for n in range(10)))
    while not guessing.done():
        assert (await server.http.get("/api/sessions")).status_code == 200
    await guessing
    assert sum(seen.values()) == 10_000
    assert set(seen) == {b"401", b"429"}
    assert seen[b"429"] > 9_000
    lines = (server.front.data / "server.log").read_text()[size:].splitlines()
    assert len([line for line in lines if "token" in json.loads(line)["message"]]) <= 3


async def narrow(server: LiveServer) -> socket.socket:
    """A connection whose own buffer is small, so that what is not read waits in the server on any machine."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    made.setblocking(False)
    await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", port_of(server)))
    return made


@pytest.mark.row("F11")
async def test_a_reader_that_stalls_for_eight_seconds_is_told_to_resync_when_it_reads_again(
    server: LiveServer,
):
    session = await server.create()
    path = f"/api/sessions/{session}/stream"
    reader, writer = await asyncio.open_connection(sock=await narrow(server), limit=4096)
    host = f"127.0.0.1:{port_of(server)}"
    key = f"Authorization: Bearer {server.token}"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{key}\r\n\r\n".encode())
    assert b"200" in await reader.readline()
    socket_reader, socket_writer = await asyncio.open_connection(sock=await narrow(server), limit=4096)
    socket_writer.write(upgrade(server))
    assert b"101" in await socket_reader.readline()
    wanted = {"id": 1, "type": "session:subscribe", "sessionId": session, "after": 0}
    socket_writer.write(frame(json.dumps(wanted).encode()))
    for one in (reader, socket_reader):
        one._transport.pause_reading()  # type: ignore[attr-defined]
    await server.send(session, "flood 3000 8000")  # 24 MB
    await asyncio.sleep(8)  # the passing of time is what is tested
    await server.wait_for(session, TurnEnded, seconds=MUCH_PATIENCE)
    for one in (reader, socket_reader):
        one._transport.resume_reading()  # type: ignore[attr-defined]

    async def reads(one: asyncio.StreamReader, words: bytes) -> bool:
        tail = b""
        with contextlib.suppress(ConnectionError):
            while words not in tail and (chunk := await one.read(65536)):
                tail = tail[-100:] + chunk
        return words in tail

    told = asyncio.gather(reads(reader, b"event: resync"), reads(socket_reader, b'"type":"resync"'))
    assert await asyncio.wait_for(told, MUCH_PATIENCE) == [True, True]
    for one in (writer, socket_writer):
        one.close()
