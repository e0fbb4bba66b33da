"""One identity twice, and a machine that was put back from an older copy: real processes."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.machines.machines import Hub, Machine, equal_logs, rows_of
from tests.machines.test_joined_machine import start
from tests.system.sse import Event, stream, until
from tests.waiting import PATIENCE
from websockets.asyncio.client import connect

from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio


async def uplink_says(machine: Machine, words: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while words not in (await machine.http.get("/api/uplink")).text:  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(0.05)


async def epoch_of(hub: Hub, session: str) -> str:
    return (await hub.http.get(f"/api/sessions/{session}/entries")).json()["epoch"]


async def everything(hub: Hub, session: str) -> list[Event]:
    return [event async for event in stream(hub, session)]


async def resubscribed(hub: Hub, session: str, epoch: str) -> dict[str, Any]:
    """What a page that was away hears first when it goes on from row 2."""
    url, headers = hub.url.replace("http", "ws", 1) + "/ws", {"authorization": f"Bearer {hub.token}"}
    async with connect(url, additional_headers=headers, proxy=None) as socket:
        message = {"id": 1, "type": "session:subscribe", "sessionId": session, "after": 2, "epoch": epoch}
        await socket.send(json.dumps(message))
        async with asyncio.timeout(PATIENCE):
            return json.loads(await socket.recv())


@pytest.mark.row("S38")
async def test_a_copied_machine_is_refused_while_the_first_is_there_and_takes_over_when_it_is_gone(
    hub: Hub, laptop: Machine, short_dir: Path
) -> None:
    folder = short_dir / "c"
    folder.mkdir(mode=0o700)
    copy = Machine(folder, "d-laptop", env={"SHELL": "/bin/sh"})
    shutil.copy(laptop.data / "hub.json", copy.data / "hub.json")
    epoch = (await hub.devices())["d-laptop"]["epoch"]
    async with copy:
        await uplink_says(copy, "Another machine is connected with this identity")
        status = (await hub.devices())["d-laptop"]
        assert (status["online"], status["epoch"]) == (True, epoch)  # the first one never lost its place
        session = await start(hub, laptop, "count 2")
        await hub.wait_for(session, TurnEnded)
        assert [one["id"] for one in await laptop.sessions()] == [session]
        await laptop.kill()
        await hub.until_device("d-laptop", online=False)
        note = (copy.data / "hub.json").read_text()
        assert (await copy.http.get("/api/uplink")).status_code == 200
        await copy.stop()
        assert (copy.data / "hub.json").read_text() == note
        await copy.start()
        assert (await hub.until_device("d-laptop", online=True))["epoch"] > epoch


@pytest.mark.row("REL-11")
async def test_a_machine_put_back_from_an_older_copy_keeps_both_histories_and_links_lead_to_the_living_one(
    hub: Hub, laptop: Machine
) -> None:
    session = await start(hub, laptop, "count 2")
    first = await hub.wait_for(session, TurnEnded)
    await equal_logs(hub, laptop, session)
    await laptop.stop()
    await laptop.end_keeper()
    saved = laptop.folder / "saved"
    shutil.copytree(laptop.data, saved)
    await laptop.start()
    await hub.until_device("d-laptop", online=True)
    resumed = await hub.post(f"/api/sessions/{session}/resume")
    assert resumed.status_code == 200, resumed.text
    await hub.send(session, "count 3")
    await hub.wait_for(session, TurnEnded, first.seq)
    lost = await equal_logs(hub, laptop, session)
    epoch = await epoch_of(hub, session)
    reading = asyncio.create_task(everything(hub, session))
    await laptop.stop()
    await laptop.end_keeper()
    shutil.rmtree(laptop.data)
    shutil.copytree(saved, laptop.data)
    await laptop.start()
    await hub.until_device("d-laptop", online=True)
    await laptop.http.post(f"/api/sessions/{session}/title", json={"title": "another history"})
    async with asyncio.timeout(PATIENCE):
        while True:
            own, living = await rows_of(laptop, session), await rows_of(hub, session)
            if own == living:
                break
            await asyncio.sleep(0.05)
    assert living != lost
    async with asyncio.timeout(PATIENCE):
        told = (await reading)[-1]  # the stream ended with it
    assert (told.name, told.data["reason"]) == ("resync", "replaced")
    # Both logs have a row 2, and so a number alone says nothing.
    for place, names in ((f"2-{epoch}", ["resync"]), (f"2-{await epoch_of(hub, session)}", [])):
        events = await until(hub, session, "session_status", last=place)
        assert [one.name for one in events if one.name == "resync"] == names, (place, events)
    subscribed = await resubscribed(hub, session, epoch)
    assert (subscribed["type"], subscribed["reason"]) == ("resync", "replaced")
    archived = (await hub.http.get("/api/sessions", params={"archived": True})).json()["sessions"]
    (earlier,) = [one for one in archived if one["id"] != session]
    assert "earlier copy" in earlier["title"]
    assert (await rows_of(hub, earlier["id"]))[: len(lost)] == lost  # and a note that says so
