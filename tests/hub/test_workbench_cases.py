"""The workbench's own test cases, as far as a socket can show them: projects and sessions."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.hub.running_hub import RunningHub, ask, running_hub
from tests.hub.scripted_device import ScriptedDevice
from tests.live import LiveServer
from tests.waiting import PATIENCE
from websockets.asyncio.client import ClientConnection

from bascule.link.frames import DaemonConnected
from bascule.link.machine import CheckDirectory
from bascule.model.commands import ArchiveSession, StartSession
from bascule.model.errors import AgentFailed, BadDirectory
from bascule.model.events import ArchivedChanged, PromptSent, TurnEnded
from bascule.store.base import Batch

pytestmark = pytest.mark.anyio


class Particular(ScriptedDevice):
    """Has no folder below /no, and an agent that does not come up for one task."""

    async def _carry_out(self, command: Any, by: str) -> object:
        match command:
            case CheckDirectory() if command.path.startswith("/no/"):
                raise BadDirectory(f"There is no folder {command.path}.")
            case StartSession() if command.prompt == "break":
                raise AgentFailed("The agent ended before it said a word.")
            case ArchiveSession():
                record = await self._store.session(command.session_id)
                assert record is not None
                event = ArchivedChanged(command.archived, by)
                await self._store.append(
                    Batch(command.session_id, record.seq + 1, record.updated_at, [event])
                )
                return {}
            case _:
                return await super()._carry_out(command, by)


def particular(hub: RunningHub) -> None:
    hub.device.line.closed()
    hub.device = Particular(hub.store, hub.services.switchboard)
    hub.device.line.receive(DaemonConnected("device-1", "laptop", "1.0", ()))


async def push(socket: ClientConnection, kind: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            message = msgspec.json.decode(await socket.recv())
            if message.get("type") == kind:
                return message


@pytest.mark.row("TC-1.1a", "TC-1.2a", "TC-1.2b", "TC-1.2d", "TC-1.3a", "TC-1.3b", "A4", "A11")
async def test_projects_are_added_listed_and_removed_over_the_socket(hub: RunningHub) -> None:
    particular(hub)
    async with hub.socket() as socket, hub.socket() as other:
        assert (await ask(socket, "project:list"))["ok"]["projects"] == []
        # TC-1.2a: a folder that is there is added, and everybody hears of it
        first = (await ask(socket, "project:add", path="/code/b"))["ok"]["project"]
        assert (await push(other, "project:added"))["project"] == first
        # TC-1.2b: one that is not there is refused, in words
        refused = (await ask(socket, "project:add", path="/no/where"))["error"]
        assert (refused["code"], refused["message"]) == (
            "PROJECT_PATH_INVALID",
            "There is no folder /no/where.",
        )
        # TC-1.2d: and the same one twice
        assert (await ask(socket, "project:add", path="/code/b"))["error"]["code"] == "PROJECT_DUPLICATE"
        # TC-1.1a: they stay in the order they came
        await ask(socket, "project:add", path="/code/a")
        listed = (await ask(socket, "project:list"))["ok"]["projects"]
        assert [one["path"] for one in listed] == ["/code/b", "/code/a"]
        # TC-1.3a, TC-1.3b: removing one keeps its sessions; pages are told and close its tabs
        made = (await ask(socket, "session:create", agent="scripted", projectId=first["id"]))["ok"][
            "sessionId"
        ]
        await ask(socket, "project:remove", projectId=first["id"])
        assert (await push(other, "project:removed"))["projectId"] == first["id"]
        again = (await ask(socket, "project:add", path="/code/b"))["ok"]["project"]
        kept = (await ask(socket, "session:list"))["ok"]["sessions"]
        assert [(one["session_id"], one["cwd"]) for one in kept] == [(made, again["path"])]


@pytest.mark.row(
    "TC-2.1a", "TC-2.1b", "TC-2.1c", "TC-2.2a", "TC-2.2f", "TC-2.3a", "TC-2.4a", "TC-2.4c", "A5", "A11"
)
async def test_sessions_are_created_listed_opened_and_archived_over_the_socket(hub: RunningHub) -> None:
    particular(hub)
    async with hub.socket() as socket:
        # TC-2.1c: nothing yet
        assert (await ask(socket, "session:list"))["ok"]["sessions"] == []
        # TC-2.2a: each made session is on record with its agent and its folder
        ids = [
            (await ask(socket, "session:create", agent="scripted", cwd=f"/code/{n}", prompt=f"Task {n}"))
            for n in range(3)
        ]
        names = [one["ok"]["sessionId"] for one in ids]
        for name, at in zip(names, ("2026-01-01", "2026-01-03", "2026-01-02"), strict=True):
            said = PromptSent("p1", f"Task for {at}", "ana")
            await hub.store.append(Batch(name, 2, f"{at}T00:00:00.000Z", [said, TurnEnded("end_turn")]))
        # TC-2.1a, TC-2.1b: listed with title, time and agent, the latest first
        listed = (await ask(socket, "session:list"))["ok"]["sessions"]
        assert [(one["title"], one["agent"], one["updated_at"][:10]) for one in listed] == [
            ("Task for 2026-01-03", "scripted", "2026-01-03"),
            ("Task for 2026-01-02", "scripted", "2026-01-02"),
            ("Task for 2026-01-01", "scripted", "2026-01-01"),
        ]
        # TC-2.2f: what goes wrong is said, and nothing is left behind
        broken = (await ask(socket, "session:create", agent="scripted", cwd="/code", prompt="break"))["error"]
        assert (broken["code"], broken["message"]) == (
            "AGENT_FAILED",
            "The agent ended before it said a word.",
        )
        assert len((await ask(socket, "session:list"))["ok"]["sessions"]) == 3
        # TC-2.3a: opening one gives what was said
        opened = (await ask(socket, "session:open", sessionId=names[0]))["ok"]
        assert [entry["kind"] for entry in opened["entries"]] == ["event", "prompt", "turn"]
        # TC-2.4a: an archived one leaves the list
        await ask(socket, "session:archive", sessionId=names[1], archived=True)
        listed = (await ask(socket, "session:list"))["ok"]["sessions"]
        assert [one["session_id"] for one in listed] == [names[2], names[0]]
        # TC-2.4c: a conversation that only the agent knows is neither listed nor opened
        stranger = await ask(socket, "session:open", sessionId="somebody-elses")
        assert stranger["error"]["code"] == "SESSION_NOT_FOUND"


@pytest.mark.row("TC-2.5a", "TC-2.5b", "A5", "A11")
async def test_sessions_and_what_they_said_survive_a_restart(short_dir: Path) -> None:
    async with LiveServer(short_dir) as server:
        kept, put_away = await server.create("think"), await server.create("think")
        before = await server.wait_for(kept, TurnEnded)
        await server.wait_for(put_away, TurnEnded)
        await server.post(f"/api/sessions/{put_away}/archive", archived=True)
        await server.kill()
        await server.start()
        listed = (await server.http.get("/api/sessions")).json()["sessions"]
        assert [one["id"] for one in listed] == [kept]
        page = (await server.http.get(f"/api/sessions/{kept}/entries")).json()
        assert page["seq"] >= before.seq
        assert any("I have thought about it" in entry.get("text", "") for entry in page["entries"])


async def test_a_session_starts_on_the_device_it_names(tmp_path: Path) -> None:
    async with running_hub(tmp_path) as hub:
        other = ScriptedDevice(hub.store, hub.services.switchboard, "device-2", "attic")
        async with hub.socket() as socket:
            await ask(socket, "session:create", agent="scripted", cwd="/code", device="device-2")
            gone = await ask(socket, "session:create", agent="scripted", cwd="/code", device="device-9")
        assert [type(command) for command in other.commands] == [StartSession]
        assert gone["error"]["code"] == "INVALID_INPUT"
