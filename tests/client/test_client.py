"""The client against a scripted server: replies, refusals, and a feed that survives what befalls it."""

import asyncio
import json
import os
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from tests.client.scripted import TOKEN, Denied, ScriptedServer, Seat, logged, scripted_server
from tests.waiting import PATIENCE

from bascule.client import Client, NotRunning, Unreachable, address, log_follower
from bascule.model.errors import BasculeError, InvalidInput, Refused
from bascule.model.events import Note, Unrecognised

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_follower, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(log_follower, "LAST_DELAY", 0.05)


async def take(client: Client, count: int, after: int = 0) -> list[int]:
    seen: list[int] = []
    async with asyncio.timeout(PATIENCE), aclosing(client.events("s1", after)) as events:
        async for entry in events:
            seen.append(entry.seq)
            if len(seen) == count:
                break
    return seen


async def test_a_request_gets_the_reply_of_its_number():
    async with scripted_server() as server:
        release = asyncio.Event()

        @server.on("session:send")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            if frame["text"] == "slow":
                await release.wait()
            else:
                release.set()
            return {"promptId": frame["text"], "state": "sent"}

        async with await Client.connect(server.url, TOKEN) as client:
            slow, quick = await asyncio.gather(client.send("s1", "slow"), client.send("s1", "quick"))
        assert (slow.prompt_id, quick.prompt_id) == ("slow", "quick")


async def test_no_origin_is_sent_and_the_secret_goes_in_the_header():
    async with scripted_server() as server:
        async with await Client.connect(f"{server.url}/#token={TOKEN}") as client:
            await client.ping()
        assert server.origins == [None]


async def test_a_refusal_is_raised_with_its_code_message_and_fields():
    async with scripted_server() as server:

        @server.on("session:permission")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            raise Denied("ALREADY_ANSWERED", "ana already answered.", by="ana", at="now", requestId="r1")

        async with await Client.connect(server.url, TOKEN) as client:
            with pytest.raises(Refused) as caught:
                await client.answer("s1", "r1", "allow", input_sha256="ab")
        refusal = caught.value.refusal()
        assert (refusal.code, refusal.message) == ("ALREADY_ANSWERED", "ana already answered.")
        assert refusal.fields["by"] == "ana"
        assert server.asked[0] == {
            "id": 1,
            "type": "session:permission",
            "sessionId": "s1",
            "requestId": "r1",
            "decision": "allow",
            "inputSha256": "ab",
        }


async def test_a_wrong_token_is_a_refusal_and_not_tried_again():
    async with scripted_server() as server:
        with pytest.raises(Refused) as caught:
            await Client.connect(server.url, "wrong")
        assert caught.value.refusal().code == "UNAUTHENTICATED"
        assert len(server.origins) == 1


async def test_nobody_at_the_address_is_said():
    async with scripted_server() as server:
        url = server.url
    with pytest.raises(Unreachable, match="No server answers"):
        await Client.connect(url, TOKEN)


async def test_an_answer_of_another_shape_is_an_error_with_a_name():
    async with scripted_server() as server:

        @server.on("session:list")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            return {"sessions": 3}

        async with await Client.connect(server.url, TOKEN) as client:
            with pytest.raises(BasculeError, match="session:list was not understood"):
                await client.sessions()


# Following


async def test_past_and_live_come_in_order_and_once():
    async with scripted_server() as server:

        @server.on("session:subscribe")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            await seat.events("s1", logged(1), logged(2))
            await seat.events("s1", logged(2), logged(3))
            await seat.events("other", logged(4))
            await seat.events("s1", logged(4))

        async with await Client.connect(server.url, TOKEN) as client:
            assert await take(client, 4) == [1, 2, 3, 4]
            await server.wait_for(lambda: "session:unsubscribe" in server.kinds())


async def test_a_lost_connection_is_made_again_after_the_last_entry():
    async with scripted_server() as server:

        @server.on("session:subscribe")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            after = frame["after"]
            await seat.events("s1", logged(after + 1), logged(after + 2))
            await seat.socket.close(1012)

        async with await Client.connect(server.url, TOKEN) as client:
            assert await take(client, 8) == list(range(1, 9))
        afters = [frame["after"] for frame in server.asked if frame["type"] == "session:subscribe"]
        assert afters == [0, 2, 4, 6]


async def test_a_server_that_restarts_is_found_again():
    server = ScriptedServer()
    await server.start()
    port = int(server.url.rpartition(":")[2])

    async def serve_one(seat: Seat, frame: dict[str, Any]) -> None:
        await seat.events("s1", logged(frame["after"] + 1))

    server.handlers["session:subscribe"] = serve_one
    again = ScriptedServer()
    again.handlers["session:subscribe"] = serve_one
    client = await Client.connect(server.url, TOKEN)
    async with client, asyncio.timeout(PATIENCE), aclosing(client.events("s1")) as events:
        assert (await anext(events)).seq == 1
        await server.stop()
        pending = asyncio.create_task(anext(events))
        await again.start(port)
        assert (await pending).seq == 2
    await again.stop()


async def test_resync_subscribes_again_from_where_the_reader_is():
    async with scripted_server() as server:
        rounds = iter(range(10))

        @server.on("session:subscribe")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            after = frame["after"]
            await seat.events("s1", logged(after + 1))
            if next(rounds) < 2:
                await seat.push(type="resync", sessionId="s1", after=after + 1)

        async with await Client.connect(server.url, TOKEN) as client:
            assert await take(client, 3) == [1, 2, 3]


@pytest.mark.row("F5", "REL-11")
async def test_a_log_that_was_replaced_is_read_again_from_the_start_and_said():
    async with scripted_server() as server:
        asked: list[dict[str, Any]] = []

        @server.on("session:subscribe")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            asked.append({"after": frame["after"], "epoch": frame.get("epoch")})
            if len(asked) == 1:  # the log of before; then the connection is cut
                await seat.events("s1", logged(1), logged(2))
                await seat.push(type="resync", sessionId="s1", after=2, epoch="old", reason="slow")
                return {"seq": 2, "epoch": "old"}
            if frame.get("epoch") != "new":
                await seat.push(type="resync", sessionId="s1", after=0, epoch="new", reason="replaced")
            else:
                await seat.events("s1", logged(1))
            return {"seq": 1, "epoch": "new"}

        said: list[str] = []
        seen: list[int] = []
        async with (
            await Client.connect(server.url, TOKEN) as client,
            asyncio.timeout(PATIENCE),
            aclosing(client.events("s1", on_resync=said.append)) as events,
        ):
            async for entry in events:
                seen.append(entry.seq)
                if len(seen) == 3:
                    break
        assert seen == [1, 2, 1]
        assert said == ["The log on this machine was replaced; this view was loaded again."]
        assert asked == [
            {"after": 0, "epoch": None},
            {"after": 2, "epoch": "old"},
            {"after": 0, "epoch": "new"},
        ]


async def test_a_gap_is_asked_for_again_and_a_lasting_one_is_an_error():
    async with scripted_server() as server:
        rounds = iter(range(10))

        @server.on("session:subscribe")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            if next(rounds) == 0:
                await seat.events("s1", logged(1), logged(3))
            else:
                await seat.events("s1", logged(2), logged(3), logged(9))

        async with await Client.connect(server.url, TOKEN) as client:
            seen: list[int] = []
            with pytest.raises(BasculeError, match="skips entries after 3"):  # noqa: PT012
                async for entry in client.events("s1"):
                    seen.append(entry.seq)
            assert seen == [1, 2, 3]


async def test_a_slow_reader_keeps_getting_replies_and_loses_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("bascule.client.event_stream.MAX_WAITING", 10)
    async with scripted_server() as server:

        @server.on("session:subscribe")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            for seq in range(frame["after"] + 1, 101):
                await seat.events("s1", logged(seq))

        async with await Client.connect(server.url, TOKEN) as client:
            seen: list[int] = []
            async with asyncio.timeout(PATIENCE), aclosing(client.events("s1")) as events:
                async for entry in events:
                    await client.ping()
                    seen.append(entry.seq)
                    if entry.seq == 100:
                        break
        assert seen == list(range(1, 101))


async def test_an_event_of_a_newer_server_is_kept_as_unrecognised():
    async with scripted_server() as server:

        @server.on("session:subscribe")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            await seat.events("s1", logged(1), logged(2, "from_the_future", x=1))

        client = await Client.connect(server.url, TOKEN)
        async with client, asyncio.timeout(PATIENCE), aclosing(client.events("s1")) as events:
            assert isinstance((await anext(events)).event, Note)
            event = (await anext(events)).event
        assert isinstance(event, Unrecognised)
        assert "from_the_future" in event.raw


async def test_a_refused_subscription_ends_the_iterator():
    async with scripted_server() as server:

        @server.on("session:subscribe")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            raise Denied("SESSION_NOT_FOUND", "There is no session 's1'.")

        async with await Client.connect(server.url, TOKEN) as client:
            with pytest.raises(Refused, match="no session"):
                await take(client, 1)


async def test_patience_ends_when_the_server_stays_away():
    async with scripted_server() as server:

        @server.on("session:subscribe")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            await seat.events("s1", logged(1))

        client = await Client.connect(server.url, TOKEN, patience=0.2)
        events = client.events("s1")
        assert (await anext(events)).seq == 1
    with pytest.raises(Unreachable):
        await asyncio.wait_for(anext(events), PATIENCE)
    await client.close()


async def test_one_client_follows_a_session_once():
    async with scripted_server() as server:

        @server.on("session:subscribe")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            await seat.events("s1", logged(1))

        client = await Client.connect(server.url, TOKEN)
        async with client, aclosing(client.events("s1")) as events:
            await anext(events)
            with pytest.raises(InvalidInput, match="already follows"):
                await anext(client.events("s1"))


def test_delays_grow_to_thirty_seconds_and_differ(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(log_follower, "FIRST_DELAY", 1.0)
    monkeypatch.setattr(log_follower, "LAST_DELAY", 30.0)
    waits = log_follower.delays()
    taken = [next(waits) for _ in range(8)]
    for got, meant in zip(taken, [1, 2, 4, 8, 16, 30, 30, 30], strict=True):
        assert 0.8 * meant <= got <= 1.2 * meant


# The local server


def write_server_file(folder: Path, **changes: Any) -> Path:
    path = folder / "server.json"
    facts = {"pid": os.getpid(), "started": 1, "boot": "b", "url": "http://127.0.0.1:1", "key": TOKEN}
    path.write_text(json.dumps(facts | changes))
    path.chmod(0o600)
    return path


async def test_the_local_server_is_found_by_its_file(tmp_path: Path):
    async with scripted_server() as server:
        write_server_file(tmp_path, url=server.url)
        async with await Client.local(tmp_path) as client:
            await client.ping()


def test_without_the_file_it_is_said_how_to_start_one(tmp_path: Path):
    with pytest.raises(NotRunning, match="start one with: bascule"):
        address.local(tmp_path)


def test_a_file_left_by_a_dead_server_counts_as_none(tmp_path: Path):
    write_server_file(tmp_path, pid=2**22 - 3)
    with pytest.raises(NotRunning):
        address.local(tmp_path)


def test_a_server_file_others_can_read_is_not_trusted(tmp_path: Path):
    write_server_file(tmp_path).chmod(0o644)
    with pytest.raises(Unreachable, match="not trusted"):
        address.local(tmp_path)


def test_a_damaged_server_file_is_named(tmp_path: Path):
    write_server_file(tmp_path).write_text("{")
    with pytest.raises(Unreachable, match="damaged"):
        address.local(tmp_path)


@pytest.mark.parametrize("link", ["ftp://x/#token=abc", "127.0.0.1:3333", "http://x:port/#token=abc", ""])
def test_a_wrong_address_is_refused_without_repeating_its_secret(link: str):
    with pytest.raises(InvalidInput) as caught:
        address.parse(link)
    assert "abc" not in caught.value.message


def test_a_link_is_an_address_and_a_token():
    assert address.parse("https://[::1]:8443/#token=abc") == address.Address("https://[::1]:8443", "abc")
    assert address.socket_url("https://[::1]:8443") == "wss://[::1]:8443/ws"
