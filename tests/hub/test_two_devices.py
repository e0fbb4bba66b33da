"""Two machines on one hub: what is asked of one never reaches the other, and their paths never mix."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.hub.running_hub import RunningHub, ask, running_hub
from tests.hub.scripted_device import ScriptedDevice, append
from tests.waiting import PATIENCE

from bascule.hub.devices import orders
from bascule.link.found import ShowResumeCommand
from bascule.link.frames import AgentsChanged, DeviceState, DeviceStateChanged
from bascule.link.listening import FindListeners
from bascule.link.machine import AgentInfo, EndAll, PauseDevice, ReadSettings
from bascule.link.rules import ListRules
from bascule.model.commands import RenameSession, StartSession
from bascule.model.events import SessionStarted

pytestmark = pytest.mark.anyio


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[RunningHub]:
    async with running_hub(tmp_path) as made:
        yield made


@pytest.fixture
async def attic(hub: RunningHub) -> ScriptedDevice:
    """The second machine, behind a connection that can break."""
    return ScriptedDevice(hub.store, hub.services.switchboard, "device-2", "attic", lambda _: None)


async def session_on(hub: RunningHub, session_id: str, device: str, cwd: str = "/srv/app") -> None:
    begun = SessionStarted(agent="scripted", driver="stream_json", cwd=cwd, by="ana", device=device)
    await append(hub.store, session_id, begun)


async def get(hub: RunningHub, path: str, **params: Any) -> Any:
    async with hub.client(hub.tokens["owner"]) as http:
        answer = await http.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def kinds(device: ScriptedDevice) -> list[type]:
    return [type(command) for command in device.commands]


async def test_questions_for_a_machine_reach_that_one_and_must_name_it(
    hub: RunningHub, attic: ScriptedDevice
) -> None:
    async with hub.client(hub.tokens["owner"]) as http:
        paths = ("/api/rules", "/api/comparisons", "/api/projects/trusted")
        for path in paths:
            assert (await http.get(path)).status_code == 400
            assert (await http.get(path, params={"device": "device-2"})).status_code == 200
    assert len(attic.commands) == len(paths)
    assert ListRules in kinds(attic)
    assert hub.device.commands == []


async def test_the_same_path_on_two_machines_is_two_folders(hub: RunningHub, attic: ScriptedDevice) -> None:
    await session_on(hub, "here", "device-1")
    await session_on(hub, "older", "")  # a log from before sessions named their machine
    await session_on(hub, "there", "device-2")
    async with hub.client(hub.tokens["owner"]) as http:
        made = {}
        for device in ("device-1", "device-2"):
            answer = await http.post("/api/projects", json={"path": "/srv/app", "device": device})
            made[device] = answer.json()["id"]
    one = await get(hub, "/api/sessions", projectId=made["device-1"])
    other = await get(hub, "/api/sessions", projectId=made["device-2"])
    assert {each["session_id"] for each in one["sessions"]} == {"here", "older"}
    assert [each["session_id"] for each in other["sessions"]] == ["there"]
    filtered = await get(hub, "/api/sessions", device="device-2", folder="/srv/app")
    assert [each["session_id"] for each in filtered["sessions"]] == ["there"]
    recent = await get(hub, "/api/directories/recent")
    assert recent["directories"] == ["/srv/app"]
    assert {each["device"] for each in recent["folders"]} == {"device-1", "device-2"}
    there = await get(hub, "/api/directories/recent", device="device-2")
    assert there["folders"] == [{"path": "/srv/app", "device": "device-2"}]


async def test_a_command_for_a_session_goes_to_its_own_machine(
    hub: RunningHub, attic: ScriptedDevice
) -> None:
    await session_on(hub, "there", "device-2")
    await session_on(hub, "older", "")
    async with hub.socket() as socket:
        await ask(socket, "session:title", sessionId="there", title="t")
        await ask(socket, "session:title", sessionId="older", title="t")
    assert [one.session_id for one in attic.commands if isinstance(one, RenameSession)] == ["there"]
    assert [one.session_id for one in hub.device.commands if isinstance(one, RenameSession)] == ["older"]


async def test_the_agent_and_the_folder_that_nobody_named_are_those_of_the_machine(
    hub: RunningHub, attic: ScriptedDevice
) -> None:
    attic.line.receive(AgentsChanged((AgentInfo("codex", "Codex", True),)))
    attic.line.receive(DeviceStateChanged(DeviceState(roots=("/srv/attic",))))
    async with hub.socket() as socket:
        await ask(socket, "session:create", device="device-2")
        await ask(socket, "session:create", device="device-1", cwd="/code")
    (there,) = [one for one in attic.commands if isinstance(one, StartSession)]
    (here,) = [one for one in hub.device.commands if isinstance(one, StartSession)]
    assert (there.agent, there.cwd) == ("codex", "/srv/attic")
    assert (here.agent, here.cwd) == ("scripted", "/code")


async def test_limits_of_another_machine_are_asked_of_it_and_not_changed_from_here(
    hub: RunningHub, attic: ScriptedDevice
) -> None:
    limits = await get(hub, "/api/limits", device="device-2")
    assert limits["limits"]["sessions"] == 5
    settings = await get(hub, "/api/settings", device="device-2")
    assert settings["roots"] == ["/srv/attic"]
    assert kinds(attic) == [ReadSettings, ReadSettings]
    assert (await get(hub, "/api/limits"))["limits"]["sessions"] != 5
    async with hub.client(hub.tokens["owner"]) as http:
        answer = await http.post("/api/limits", json={"limits": {"sessions": 0}, "device": "device-2"})
    assert answer.json()["error"]["code"] == "NOT_SUPPORTED"


@pytest.mark.row("R20")
async def test_a_machine_that_does_not_answer_delays_nobodys_panic_and_stops_when_it_is_back(
    hub: RunningHub, attic: ScriptedDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orders, "ANSWER_SECONDS", 0.05)
    attic.mute = True
    begun = time.monotonic()
    async with hub.client(hub.tokens["owner"]) as http:
        told = (await http.post("/api/kill-all", json={})).json()
    assert time.monotonic() - begun < PATIENCE
    assert told["ended"] == 2
    assert {one["device"]: one["outcome"] for one in told["devices"]} == {
        "device-1": "done",
        "device-2": "waiting",
    }
    assert "attic does not answer: it stops its agents when it is back" in told["devices"][1]["message"]
    attic.line.closed()
    attic.mute = False
    attic.connect()
    assert kinds(attic) == [EndAll, EndAll]
    assert attic.asks[-1].by.grant_id == hub.grant["owner"].id
    assert attic.asks[-1].by.address == "127.0.0.1"


@pytest.mark.row("R20")
async def test_a_pause_without_a_name_is_for_all_machines_and_with_one_for_that_one(
    hub: RunningHub, attic: ScriptedDevice
) -> None:
    async with hub.client(hub.tokens["owner"]) as http:
        told = (await http.post("/api/daemon/pause", json={"device": "device-2"})).json()
        assert [one["name"] for one in told["devices"]] == ["attic"]
        assert kinds(hub.device) == []
        attic.line.closed()
        told = (await http.post("/api/daemon/resume", json={})).json()
    assert [one["outcome"] for one in told["devices"]] == ["done", "waiting"]
    assert hub.device.commands == [PauseDevice(paused=False)]


async def test_a_half_open_machine_does_not_hide_the_agents_of_the_others(
    hub: RunningHub, attic: ScriptedDevice
) -> None:
    attic.mute = True
    asking = asyncio.create_task(get(hub, "/api/agents"))
    while not attic.commands:  # noqa: ASYNC110 - the device tells nobody that it was asked
        await asyncio.sleep(0)
    attic.line.closed()
    assert [one["name"] for one in (await asking)["agents"]] == ["scripted"]


async def test_a_device_is_renamed_and_forgotten_and_the_pages_hear_of_it(
    hub: RunningHub, attic: ScriptedDevice
) -> None:
    async with hub.socket() as socket:
        renamed = (await ask(socket, "device:rename", deviceId="device-2", name="the attic"))["ok"]
        assert renamed["device"]["name"] == "the attic"
        refused = await ask(socket, "device:forget", deviceId="device-2")
        assert "is connected" in refused["error"]["message"]
        attic.line.closed()
        assert (await ask(socket, "device:forget", deviceId="device-2"))["ok"] == {}
        listed = (await ask(socket, "device:list"))["ok"]["devices"]
    assert [one["device"] for one in listed] == ["device-1"]
    async with hub.client(hub.tokens["owner"]) as http:
        assert (await http.delete("/api/devices/device-2")).status_code == 404


async def test_a_session_of_another_machine_is_not_opened_on_this_desktop(
    hub: RunningHub, attic: ScriptedDevice
) -> None:
    await session_on(hub, "there", "device-2")
    await session_on(hub, "here", "device-1")
    async with hub.client(hub.tokens["owner"]) as http:
        answer = await http.post("/api/sessions/there/open-terminal", json={})
        assert answer.json()["error"]["code"] == "NOT_SUPPORTED"
        told = await http.get("/api/sessions/there/resume-command")
        assert told.json() == {"command": "cd /tmp && own", "argv": ["own"]}
        assert attic.commands[-1] == ShowResumeCommand(session_id="there")
        hub.services.switchboard.this = ""  # a hub that runs no agents
        for session in ("there", "here"):
            answer = await http.post(f"/api/sessions/{session}/open-terminal", json={})
            assert answer.json()["error"]["message"].startswith("This session is on another machine")


@pytest.mark.row("R11")
async def test_found_sessions_of_all_machines_are_one_list_that_names_who_did_not_answer(
    hub: RunningHub, attic: ScriptedDevice
) -> None:
    everywhere = await get(hub, "/api/found-sessions")
    assert [one["device"] for one in everywhere["sessions"]] == ["device-1", "device-2"]
    assert (everywhere["total"], everywhere["missing"]) == (2, [])
    assert everywhere["looking"] == {"running": False, "done": 2, "total": 2, "problems": 0}
    assert len((await get(hub, "/api/found-sessions", limit=1))["sessions"]) == 1

    attic.mute = True
    since = time.monotonic()
    fewer = await get(hub, "/api/found-sessions")
    assert time.monotonic() - since < PATIENCE / 2
    assert [one["device"] for one in fewer["sessions"]] == ["device-1"]
    assert [(one["device"], one["name"]) for one in fewer["missing"]] == [("device-2", "attic")]

    attic.line.closed()
    without = await get(hub, "/api/found-sessions")
    assert [one["device"] for one in without["sessions"]] == ["device-1"]
    assert without["missing"][0]["lastHeard"]


async def test_found_sessions_of_one_machine_are_those_of_that_one(
    hub: RunningHub, attic: ScriptedDevice
) -> None:
    there = await get(hub, "/api/found-sessions", device="device-2")
    assert [one["device"] for one in there["sessions"]] == ["device-2"]
    assert (there["total"], there["missing"]) == (1, [])
    assert hub.device.commands == []
    attic.line.closed()
    async with hub.client(hub.tokens["owner"]) as http:
        away = await http.get("/api/found-sessions", params={"device": "device-2"})
    assert away.status_code == 503
    assert away.json()["error"]["lastHeard"]


@pytest.mark.row("S11")
async def test_what_an_agent_listens_on_is_asked_of_its_machine_and_one_that_is_away_is_named(
    hub: RunningHub, attic: ScriptedDevice
) -> None:
    await session_on(hub, "there", "device-2")
    async with hub.client(hub.tokens["viewer"]) as http:
        await http.get("/api/sessions/there/listeners")
        assert (kinds(attic), hub.device.commands) == ([FindListeners], [])
        attic.line.closed()
        away = await http.get("/api/sessions/there/listeners")
    assert away.status_code == 503
    assert "attic" in away.json()["error"]["message"]
