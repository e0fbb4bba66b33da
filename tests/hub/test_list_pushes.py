"""Lists are pushed what they show at once; that a session is active, at most every few seconds."""

import msgspec
import pytest
from tests.hub.running_hub import RunningHub, ask, until
from tests.hub.scripted_device import append

from bascule.hub.feed import list_pushes
from bascule.model.events import TitleChanged, UsageChanged
from bascule.model.records import SessionRecord
from bascule.store.base import Committed, Row

pytestmark = pytest.mark.anyio


class Ear:
    def __init__(self) -> None:
        self.heard: list[dict[str, object]] = []

    def notify(self, session_id: str | None, message: bytes) -> None:
        self.heard.append(msgspec.json.decode(message))

    def kinds(self) -> list[object]:
        return [one["type"] for one in self.heard]


async def test_text_that_streams_is_one_push_in_a_few_seconds(
    hub: RunningHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_pushes, "EVERY_SECONDS", 3600)
    await hub.session("s1")
    ear = Ear()
    hub.services.feed.listeners.add(ear)
    await append(hub.store, "s1", TitleChanged("first"))
    await until(lambda: len(ear.heard) > 0)
    told = len(ear.heard)
    for n in range(50):
        await hub.say("s1", str(n))
    await append(hub.store, "s1", UsageChanged(10, 100))
    assert len(ear.heard) == told
    await append(hub.store, "s1", TitleChanged("second"))
    await until(lambda: "session:title-updated" in ear.kinds())
    newest = await hub.store.session("s1")
    assert newest is not None
    assert ear.heard[told]["session"]["seq"] == newest.seq  # type: ignore[index]


async def test_the_last_activity_is_told_when_its_time_has_come(
    hub: RunningHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_pushes, "EVERY_SECONDS", 0.05)
    await hub.session("s1")
    ear = Ear()
    hub.services.feed.listeners.add(ear)
    for n in range(20):
        await hub.say("s1", str(n))
    newest = await hub.store.session("s1")
    assert newest is not None
    await until(lambda: bool(ear.heard) and ear.heard[-1]["session"]["seq"] == newest.seq)  # type: ignore[index]


async def test_a_log_that_was_begun_again_is_told_as_a_new_session() -> None:
    heard: list[bytes] = []
    pushes = list_pushes.ListPushes(lambda _, message: heard.append(message))
    record = SessionRecord("s1")
    begun = Committed(record, [Row(1, b"{}")], changed=True)
    for _ in range(2):
        pushes.committed(begun)
    assert len(heard) == 1
    pushes.begun_again("s1")
    pushes.committed(begun)
    assert [msgspec.json.decode(one)["type"] for one in heard] == ["session:created"] * 2


async def test_the_first_commit_of_a_turn_goes_out_before_the_next_turn(hub: RunningHub) -> None:
    await hub.session("s1")
    async with hub.socket() as socket:
        await ask(socket, "session:subscribe", sessionId="s1", after=1)
        feed = hub.services.feed
        await until(lambda: any(v.live for c in feed._channels.values() for v in c.viewers))
        viewer = next(v for c in feed._channels.values() for v in c.viewers)
        await hub.say("s1", "now")  # settled in the same call that tells the feed
        assert viewer.position == 2


async def test_sessions_come_in_pages_that_a_cursor_joins(hub: RunningHub) -> None:
    for n in range(5):
        await hub.session(f"s{n}")
    async with hub.socket() as socket:
        first = (await ask(socket, "session:list", limit=3))["ok"]
        second = (await ask(socket, "session:list", limit=3, cursor=first["next"]))["ok"]
        listed = [one["session_id"] for one in first["sessions"] + second["sessions"]]
        assert (sorted(listed), second["next"]) == ([f"s{n}" for n in range(5)], None)
        live = (await ask(socket, "session:list", live=True))["ok"]["sessions"]
        assert len(live) == 5
        assert (await ask(socket, "session:count"))["ok"]["total"] == 5
        refused = await ask(socket, "session:list", cursor="nothing like it")
        assert refused["error"]["code"] == "INVALID_INPUT"
        assert "error" in await ask(socket, "session:list", limit=201)
        assert (await ask(socket, "usage:show"))["ok"]["sessions"] == 5
