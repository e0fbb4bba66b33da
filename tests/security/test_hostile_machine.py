"""A machine with a valid grant that lies: it gets nothing but its own, and nobody else is disturbed."""

import contextlib
import zlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from tests.hub.running_hub import RunningHub, rest_of
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from bascule.link.frames import AgentsChanged, DaemonConnected, SessionOutput, Versions
from bascule.link.machine import AgentInfo
from bascule.link.wire import HEADER, Kind
from bascule.model.codec import encode_logged
from bascule.model.events import SessionStarted

pytestmark = [pytest.mark.anyio, pytest.mark.row("S39")]

STARTED = SessionStarted(agent="demo", driver="stream_json", cwd="/tmp", by="ana", device="d-evil")


def row(seq: int, started: SessionStarted = STARTED) -> msgspec.Raw:
    return msgspec.Raw(encode_logged(seq, "2026-01-01T00:00:00.000Z", started))


def text(frame: Any) -> str:
    return msgspec.json.encode(frame).decode()


@contextlib.asynccontextmanager
async def line(hub: RunningHub, device: str = "d-evil", **more: Any) -> AsyncIterator[ClientConnection]:
    if device not in hub.tokens:
        await hub.trust(device, "daemon", device=device)
    headers = {"Authorization": f"Bearer {hub.tokens[device]}", "X-Bascule-Client-ID": device, **more}
    async with connect(
        f"ws://127.0.0.1:{hub.port}/ws/daemon",
        additional_headers=headers,
        subprotocols=["bascule.link.1"],  # type: ignore[list-item]
        compression=None,
        proxy=None,
        max_size=None,
    ) as socket:
        yield socket


async def greet(socket: ClientConnection, device: str = "d-evil", **more: Any) -> dict[str, Any]:
    await socket.send(text(DaemonConnected(device, "evil", "1", boot="b", attempt=1, store="theirs", **more)))
    return msgspec.json.decode(await socket.recv())


async def heard(socket: ClientConnection, kind: str) -> dict[str, Any]:
    while True:
        message = msgspec.json.decode(await socket.recv())
        if message["type"] == kind:
            return message


async def still_serves(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["owner"]) as owner:
        assert (await owner.get("/api/sessions")).status_code == 200


@pytest.mark.row("R1", "S38")
async def test_a_grant_is_for_its_own_machine_alone(hub: RunningHub) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with line(hub, **{"X-Bascule-Client-ID": "d-other"}):
            pass
    assert refused.value.response.status_code == 403
    async with line(hub) as socket:
        answer = await greet(socket, "d-other")
        assert (answer["type"], answer["code"]) == ("refused", "WRONG_DEVICE")
        await rest_of(socket)
    for role in ("owner", "viewer"):
        headers = {"Authorization": f"Bearer {hub.tokens[role]}", "X-Bascule-Client-ID": "d-evil"}
        url = f"ws://127.0.0.1:{hub.port}/ws/daemon"
        with pytest.raises(InvalidStatus) as refused:
            async with connect(url, additional_headers=headers, compression=None, proxy=None):
                pass
        assert refused.value.response.status_code == 403


async def test_rows_for_another_machines_session_change_nothing_and_end_the_line(hub: RunningHub) -> None:
    await hub.session("s1")
    before = await hub.store.read("s1", 0)
    async with line(hub) as socket:
        assert (await greet(socket))["type"] == "welcome"
        for first in (2, 2, 2, 2):
            await socket.send(text(SessionOutput("s1", first, (row(first),))))
        await rest_of(socket)
    assert await hub.store.read("s1", 0) == before
    await still_serves(hub)


async def test_a_log_with_a_gap_is_not_taken_in(hub: RunningHub) -> None:
    async with line(hub) as socket:
        await greet(socket)
        await socket.send(text(SessionOutput("mine", 1, (row(1), row(2)))))
        acked = await heard(socket, "ack")
        assert acked["heads"] == {"mine": 2}
        await socket.send(text(SessionOutput("mine", 5, (row(5),))))
        asked = await heard(socket, "resume")
        assert asked["heads"]["mine"][0] == 2
    assert [one.seq for one in await hub.store.read("mine", 0)] == [1, 2]


async def test_what_a_row_says_of_its_machine_does_not_count(hub: RunningHub) -> None:
    foreign = SessionStarted(agent="demo", driver="stream_json", cwd="/tmp", by="ana", device="device-1")
    async with line(hub) as socket:
        await greet(socket)
        await socket.send(text(SessionOutput("mine", 1, (row(1, foreign),))))
        await heard(socket, "ack")
    record = await hub.store.session("mine")
    assert record is not None
    assert record.device == "d-evil"


@pytest.mark.parametrize(
    "message",
    [
        "not json",
        '{"type":"ask","ask":1,"command":{"type":"end_all"},"by":{"name":"me"}}',
        b"\x09" + bytes(12),
        HEADER.pack(Kind.PART, 1, 1 << 40) + b"x",
        HEADER.pack(Kind.DEFLATED, 1, 10) + zlib.compress(b"x" * 10)[:5],
        HEADER.pack(Kind.DEFLATED, 1, 1 << 40) + b"x",
    ],
    ids=["not json", "an ask", "unknown kind", "a part far away", "broken deflate", "a bomb's size"],
)
async def test_a_machine_that_breaks_the_rules_is_let_go(hub: RunningHub, message: str | bytes) -> None:
    async with line(hub) as socket:
        await greet(socket)
        await socket.send(message)
        await rest_of(socket)
        assert socket.close_code == 4002
    await still_serves(hub)


async def test_a_version_that_cannot_be_spoken_is_refused_in_words(hub: RunningHub) -> None:
    async with line(hub) as socket:
        answer = await greet(socket, protocol=Versions(7, 9))
        assert (answer["type"], answer["code"]) == ("refused", "UPDATE_HUB")


async def test_a_machines_name_is_shown_as_text_and_its_frames_of_tomorrow_are_ignored(
    hub: RunningHub,
) -> None:
    async with line(hub) as socket:
        name = '<img src=x onerror="alert(1)">'
        await socket.send(text(DaemonConnected("d-evil", name, "1", boot="b", attempt=1, store="theirs")))
        await heard(socket, "welcome")
        await socket.send('{"type":"frame_of_tomorrow","x":1}')
        await socket.send(text(SessionOutput("mine", 1, (row(1),))))
        await heard(socket, "ack")
        async with hub.client(hub.tokens["owner"]) as owner:
            devices = (await owner.get("/api/daemon/status")).json()["devices"]
    assert name in {one["name"] for one in devices}


async def test_a_log_that_is_rewound_is_kept_beside_the_new_one_and_only_once(hub: RunningHub) -> None:
    other = SessionStarted(agent="demo", driver="stream_json", cwd="/other", by="ana", device="d-evil")
    async with line(hub) as socket:
        await greet(socket)
        await socket.send(text(SessionOutput("mine", 1, (row(1), row(2)))))
        await heard(socket, "ack")
        await socket.send(text(SessionOutput("mine", 1, (row(1, other),))))
        asked = await heard(socket, "resume")
        while "mine" not in asked["heads"]:
            asked = await heard(socket, "resume")
        assert asked["heads"]["mine"] == [0, 0]
        await socket.send(text(SessionOutput("mine", 1, (row(1, other),))))
        await heard(socket, "ack")
        for _ in range(4):  # and back again, and again: that is no restored machine
            await socket.send(text(SessionOutput("mine", 1, (row(1),))))
        await rest_of(socket)
    assert [one.body for one in await hub.store.read("mine", 0)] == [bytes(row(1, other))]
    copies = [one for one in await hub.store.sessions(archived=True) if "earlier copy" in one.title]
    assert len(copies) == 1
    await still_serves(hub)


async def test_a_frame_of_a_gigabyte_is_not_collected_and_a_bomb_not_inflated(
    hub: RunningHub,
) -> None:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = deflate.compress(bytes(32 * 1024 * 1024)) + deflate.flush()
    # One says that it is a gigabyte, one that it is small.
    for name, size in (("d-large", 1 << 30), ("d-small", 1000)):
        message = HEADER.pack(Kind.DEFLATED, 0, size) + bomb[:60_000]
        async with line(hub, name) as socket:
            await greet(socket, name)
            await socket.send(message)
            await rest_of(socket)
            assert socket.close_code == 4002
    async with line(hub) as socket:
        await greet(socket)
        part, offset = bytes(60_000), 0
        with contextlib.suppress(ConnectionClosed):
            while offset < 1 << 30:
                await socket.send(HEADER.pack(Kind.PART, 1, offset) + part)
                offset += len(part)
        assert offset < 256 * 1024 * 1024  # what the sockets hold, too
    await still_serves(hub)


async def test_answers_that_nobody_asked_for_and_a_hub_s_words_change_nothing(hub: RunningHub) -> None:
    async with line(hub) as socket:
        await greet(socket)
        await socket.send('{"type":"reply","ask":77,"result":{"ended":9}}')
        await socket.send(text(SessionOutput("mine", 1, (row(1),))))
        await heard(socket, "ack")
        await socket.send('{"type":"ack","heads":{"s1":999999},"rows":999999}')
        await rest_of(socket)
        assert socket.close_code == 4002
    await still_serves(hub)


async def test_ten_thousand_agents_are_refused_and_none_of_them_is_shown(hub: RunningHub) -> None:
    agents = tuple(AgentInfo(f"agent-{n}", f"Agent {n}", True) for n in range(10_000))
    async with line(hub) as socket:
        await greet(socket)
        for part in cut(text(AgentsChanged(agents)).encode()):
            await socket.send(part)
        await rest_of(socket)
        assert socket.close_code == 4002
    async with hub.client(hub.tokens["owner"]) as owner:
        devices = (await owner.get("/api/daemon/status")).json()["devices"]
    (evil,) = [one for one in devices if one["device"] == "d-evil"]
    assert evil["agents"] == []


def cut(message: bytes) -> list[bytes]:
    """A large message in parts, as the link sends it."""
    size = 60_000
    pieces = [(n, message[n : n + size]) for n in range(0, len(message), size)]
    return [
        HEADER.pack(Kind.LAST_PART if n + size >= len(message) else Kind.PART, 1, n) + piece
        for n, piece in pieces
    ]
