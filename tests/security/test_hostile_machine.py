"""A machine with a valid grant that lies: it gets nothing but its own, and nobody else is disturbed."""

import contextlib
import zlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from tests.hub.running_hub import RunningHub, rest_of
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from bascule.link.frames import DaemonConnected, SessionOutput, Versions
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


@pytest.mark.row("R1")
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
