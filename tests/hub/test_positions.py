"""R05: a bad position is refused in words or answered by one `resync`, never by everything in silence."""

import contextlib
from collections.abc import AsyncIterator

import httpx
import msgspec
import pytest
from tests.hub.running_hub import RunningHub, answer, ask, until

from bascule.hub.feed.positions import Position, epoch_of, position_of, session_tag
from bascule.model.errors import InvalidInput

pytestmark = pytest.mark.anyio

GARBAGE = [
    "-5",
    "3.5",
    "abc",
    "0x10",
    "9" * 10_000,
    "1e3",
    "+1",
    "1-xyz",
    "1-",
    "½",
    "9" * 17,
    "1-" + "g" * 16,
]
OTHER = "0123456789abcdef"


@contextlib.asynccontextmanager
async def reading(
    hub: RunningHub, session: str = "s1", *, last: str | None = None, after: str | None = None
) -> AsyncIterator[httpx.Response]:
    headers = {} if last is None else {b"last-event-id": last.encode("latin-1")}
    query = {} if after is None else {"after": after}
    async with (
        hub.client(hub.tokens["viewer"]) as client,
        client.stream("GET", f"/api/sessions/{session}/stream", headers=headers, params=query) as stream,
    ):
        yield stream


async def lines_until(stream: httpx.Response, wanted: str) -> list[str]:
    lines: list[str] = []
    async for line in stream.aiter_lines():
        lines.append(line)
        if wanted in line:
            break
    return lines


# A header can't end with a space.
PLACES = [("last", text) for text in GARBAGE if text == text.strip()]
PLACES += [("after", text) for text in GARBAGE]


@pytest.mark.row("REL-05")
@pytest.mark.parametrize(("where", "text"), PLACES)
async def test_a_position_that_is_garbage_is_refused_with_an_explanation(
    hub: RunningHub, where: str, text: str
) -> None:
    await hub.session("s1")
    async with reading(hub, **{where: text}) as stream:
        await stream.aread()
        if where == "after" and len(text) > 1000:  # no address is so long
            assert stream.status_code == 431
            return
        assert stream.status_code == 400
        told = stream.json()["error"]
        assert told["code"] == "INVALID_INPUT"
        assert "is no place in a log. Give a number of 0 or more" in told["message"]
        assert len(told["message"]) < 300


@pytest.mark.row("REL-05")
@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("999", "ahead"),
        (f"1-{OTHER}", "replaced"),
        (f"999-{OTHER}", "replaced"),
        ("9007199254740992", "ahead"),
    ],
)
@pytest.mark.parametrize("where", ["last", "after"])
async def test_a_position_that_is_not_in_the_log_gets_one_resync_and_then_the_log(
    hub: RunningHub, place: str, reason: str, where: str
) -> None:
    await hub.session("s1")
    await hub.say("s1", "one", "two")
    async with reading(hub, **{where: place}) as stream:
        assert stream.status_code == 200
        lines = await lines_until(stream, "two")
    assert [line for line in lines if line.startswith("event: resync")] == ["event: resync"]
    at = lines.index("event: resync")
    tag = session_tag(hub.store.epoch, "s1")
    assert lines[at - 1] == f"id: 0-{tag}"
    told = msgspec.json.decode(lines[at + 1].removeprefix("data: "))
    assert (told["reason"], told["after"], told["epoch"]) == (reason, 0, hub.store.epoch)
    numbers = [line for line in lines if line.startswith("id:")][1:]
    assert numbers == [f"id: {n}-{tag}" for n in (1, 2, 3)]


@pytest.mark.row("REL-05")
async def test_what_a_browser_sends_after_a_resync_is_not_answered_by_another(hub: RunningHub) -> None:
    await hub.session("s1")
    await hub.say("s1", "one")
    async with reading(hub, last=f"0-{session_tag(hub.store.epoch, 's1')}") as stream:
        lines = await lines_until(stream, "one")
    assert not [line for line in lines if "resync" in line]


@pytest.mark.row("REL-05")
async def test_the_id_of_another_session_skips_nothing(hub: RunningHub) -> None:
    for session in ("s1", "s2"):
        await hub.session(session)
        await hub.say(session, "one", "two")
    async with reading(hub) as stream:
        lines = await lines_until(stream, "two")
    ids = [line.removeprefix("id: ") for line in lines if line.startswith("id: ")]
    async with reading(hub, last=ids[1]) as stream:
        assert "resync" not in " ".join(await lines_until(stream, "two"))
    async with reading(hub, "s2", last=ids[1]) as stream:
        lines = await lines_until(stream, "two")
    assert lines.count("event: resync") == 1
    assert [line for line in lines if "one" in line]
    async with hub.socket() as socket:
        place = {"sessionId": "s2", "after": ids[1]}
        await socket.send(msgspec.json.encode({"id": 1, "type": "session:subscribe", **place}).decode())
        push = msgspec.json.decode(await socket.recv())
        assert (push["type"], push["reason"]) == ("resync", "replaced")
        assert "of another session" in push["message"]


@pytest.mark.row("REL-05")
@pytest.mark.parametrize("place", ["2", "2-EPOCH", "2-TAG", None])
async def test_a_valid_position_or_none_is_served_without_a_resync(
    hub: RunningHub, place: str | None
) -> None:
    await hub.session("s1")
    await hub.say("s1", "one", "two")
    epoch = hub.store.epoch
    last = place.replace("EPOCH", epoch).replace("TAG", session_tag(epoch, "s1")) if place else None
    async with reading(hub, last=last) as stream:
        lines = await lines_until(stream, "two")
    numbers = [int(line[4:].partition("-")[0]) for line in lines if line.startswith("id: ")]
    assert numbers == ([3] if place else [1, 2, 3])


@pytest.mark.row("REL-05")
async def test_the_socket_applies_the_same_rules_to_positions(hub: RunningHub) -> None:
    await hub.session("s1")
    await hub.say("s1", "one")
    async with hub.socket() as socket:
        told = await ask(socket, "hello", 1)
        assert told["ok"]["epoch"] == hub.store.epoch
        for number, bad in enumerate([-5, "abc", "0x10", "3.5", "-5", 3.5, "9" * 10_000], 2):
            refused = await ask(socket, "session:subscribe", number, sessionId="s1", after=bad)
            assert "error" in refused, bad
        for number, place in enumerate(
            [{"after": 99}, {"after": 1, "epoch": OTHER}, {"after": f"1-{OTHER}"}], 50
        ):
            await socket.send(
                msgspec.json.encode(
                    {"id": number, "type": "session:subscribe", "sessionId": "s1", **place}
                ).decode()
            )
            push = msgspec.json.decode(await socket.recv())
            assert (push["type"], push["sessionId"], push["after"]) == ("resync", "s1", 0)
            assert push["reason"] == ("ahead" if place == {"after": 99} else "replaced")
            assert "load this view again" in push["message"]
            assert (await answer(socket, number))["ok"]["epoch"] == hub.store.epoch
        assert not hub.services.feed._channels  # nothing is watched until it starts over
        good = {"after": 1, "epoch": hub.store.epoch}
        await ask(socket, "session:subscribe", 99, sessionId="s1", **good)
        await until(lambda: bool(hub.services.feed._channels))


def test_each_beginning_of_a_log_is_an_epoch_of_its_own_that_a_position_can_name() -> None:
    epochs = [epoch_of(OTHER, generation) for generation in range(3)]
    assert epochs[0] == OTHER
    assert len(set(epochs)) == 3
    for epoch in epochs:
        assert position_of(f"7-{epoch}", "after") == Position(7, epoch)
        assert Position(7, epoch).lost(epochs[1], "s1", 9) == (None if epoch == epochs[1] else "replaced")


def test_a_tag_is_of_one_session_in_one_epoch() -> None:
    tag = session_tag(OTHER, "s1")
    assert position_of(f"7-{tag}", "after") == Position(7, tag)
    assert Position(7, tag).lost(OTHER, "s1", 9) is None
    assert Position(7, tag).lost(OTHER, "s2", 9) == "replaced"
    assert Position(7, tag).lost(epoch_of(OTHER, 1), "s1", 9) == "replaced"
    assert Position(7, tag).lost(OTHER, "s1", 6) == "ahead"


def test_positions_are_read_strictly() -> None:
    assert position_of("0", "after") == Position(0)
    assert position_of(f"7-{OTHER}", "after") == Position(7, OTHER)
    for text in [*GARBAGE, "", " 1", "1\n", "٣"]:
        with pytest.raises(InvalidInput):
            position_of(text, "after")
