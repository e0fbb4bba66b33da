"""The remote API of a hub, carried out on a machine that joined it: status, spawn, the browser's socket."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.live import LIMITS
from tests.machines.machines import Hub, Machine
from tests.parts import Part
from tests.waiting import PATIENCE
from websockets.asyncio.client import ClientConnection, connect

from bascule.model.events import SessionStarted, TurnEnded

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def hub(module_dir: Path) -> AsyncIterator[Hub]:
    (module_dir / "h").mkdir(mode=0o700)
    async with Hub(module_dir / "h", config=LIMITS) as made:
        yield made


@pytest.fixture(scope="module")
async def running(module_dir: Path, hub: Hub) -> AsyncIterator[Machine]:
    (module_dir / "l").mkdir(mode=0o700)
    made = Machine(module_dir / "l", "d-laptop")
    made.add_agent("hears", "records.py", str(module_dir / "l" / "heard"))
    await made.join(hub)
    async with made:
        yield made


@pytest.fixture
async def laptop(hub: Hub, running: Machine) -> Machine:
    assert running.process is not None
    if running.process.returncode is not None:
        await running.start()
    await hub.until_device("d-laptop", online=True)
    return running


@pytest.mark.row("R1", "R4")
async def test_a_machine_is_described_and_spawns_what_the_remote_api_asks_for(
    hub: Hub, laptop: Machine, part: Part
) -> None:
    status = (await hub.http.get("/api/daemon/status")).json()
    with part("which machine is there, with its agents and their versions"):
        assert (status["connected"], status["client_id"]) == (True, "d-laptop")
        assert status["capabilities"]["can_spawn_sessions"] is True
        assert {"demo", "hears"} <= set(status["capabilities"]["supported_harnesses"])
        agents = await agents_with_versions(hub)
        assert agents["demo"]["available"] is True
        assert (agents["codex"]["available"], bool(agents["codex"]["problem"])) == (False, True)
    whole = {"prompt": "hello", "cwd": str(laptop.work), "harness": "hears", "device": "d-laptop"}
    before = {one["id"] for one in await hub.sessions()}
    with part("what is wrong is named, and nothing is started"):
        for change, words in (
            ({"prompt": None}, "prompt"),
            ({"cwd": None}, "cwd"),
            ({"cwd": "/etc"}, "/etc"),
            ({"cwd": str(laptop.work / "none")}, "none"),
            ({"harness": "nobody"}, "nobody"),
            ({"harness": "codex"}, "codex"),
            ({"permission_mode": "whatever"}, "permission_mode"),
            ({"model": 5}, "model"),
            ({"surprise": 1}, "surprise"),
            ({"device": "elsewhere"}, "elsewhere"),
        ):
            body = {name: value for name, value in {**whole, **change}.items() if value is not None}
            refused = await hub.http.post("/api/sessions/spawn", json=body)
            assert refused.status_code == (503 if "codex" in words else 400), (change, refused.text)
            assert words in refused.json()["error"]["message"].lower(), (change, refused.text)
        assert {one["id"] for one in await hub.sessions()} == before
    body = {**whole, "model": "swift", "permission_mode": "deny", "resume_session_id": "talk-1"}
    made = await hub.http.post("/api/sessions/spawn", json=body)
    session = made.json()["session_id"]
    with part("a session starts with its model, mode and conversation"):
        assert made.json() == {"session_id": session, "status": "starting", "harness": "hears"}
        await hub.wait_for(session, TurnEnded)
        rows = [row.event for row in await hub.log(session)]
        assert isinstance(rows[0], SessionStarted)
        assert (rows[0].agent, rows[0].cwd, rows[0].device) == ("hears", str(laptop.work), "d-laptop")
        assert (rows[0].permission_mode, rows[0].resumed_from) == ("deny", "talk-1")
        (started,) = [one["argv"] for one in ledger(laptop) if "argv" in one]
        assert {"--model=swift", "--resume=talk-1"} <= set(started)
    await laptop.kill()
    await hub.until_device("d-laptop", online=False)
    with part("without the machine it is said which one is missing"):
        assert (await hub.http.get("/api/daemon/status")).json()["connected"] is False
        away = await hub.http.post("/api/sessions/spawn", json=whole)
        assert (away.status_code, away.json()["error"]["code"]) == (503, "DEVICE_OFFLINE")


async def agents_with_versions(hub: Hub) -> dict[str, Any]:
    """What the machine says of its agents, once it has asked them for their versions."""
    async with asyncio.timeout(PATIENCE):
        while True:
            agents = {one["name"]: one for one in (await hub.devices())["d-laptop"]["agents"]}
            if agents["demo"].get("version"):
                return agents
            await asyncio.sleep(0.05)


def ledger(laptop: Machine) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (laptop.folder / "heard").read_text().splitlines()]


class Browser:
    """What a page keeps: every row it was sent, and the answer to each of its messages."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._asked = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self.rows: list[dict[str, Any]] = []

    async def ask(self, kind: str, **fields: Any) -> Any:
        self._asked += 1
        await self._socket.send(json.dumps({"id": self._asked, "type": kind, **fields}))
        while self._asked not in self._answers:
            await self._hear()
        answer = self._answers.pop(self._asked)
        assert "ok" in answer, answer
        return answer["ok"]

    async def row(self, kind: str, times: int = 1) -> dict[str, Any]:
        """The first, second … row of this type."""
        while len(found := [one for one in self.rows if one["event"]["type"] == kind]) < times:
            await self._hear()
        return found[times - 1]

    async def _hear(self) -> None:
        message = json.loads(await asyncio.wait_for(self._socket.recv(), PATIENCE))
        if message.get("type") == "session:events":
            self.rows += message["entries"]
        elif "id" in message:
            self._answers[message["id"]] = message


@asynccontextmanager
async def browser(hub: Hub) -> AsyncGenerator[Browser]:
    url, headers = hub.url.replace("http", "ws", 1) + "/ws", {"authorization": f"Bearer {hub.token}"}
    async with connect(url, additional_headers=headers, proxy=None, max_size=None) as socket:
        yield Browser(socket)


@pytest.mark.row("R5")
async def test_a_browser_drives_a_session_of_another_machine_over_one_socket(
    hub: Hub, laptop: Machine, part: Part
) -> None:
    async with browser(hub) as page:
        fields = {"agent": "demo", "cwd": str(laptop.work), "prompt": "count 3", "device": "d-laptop"}
        session = {"sessionId": (await page.ask("session:create", **fields))["sessionId"]}
        await page.ask("session:subscribe", **session, after=0)
        first = await page.row("turn_ended")
        with part("it answers a ping"):
            await page.ask("ping")
        with part("a message, a permission and its answer"):
            await page.ask("session:send", **session, text="run")
            asked = (await page.row("permission_requested"))["event"]
            allow = {"requestId": asked["request_id"], "inputSha256": asked["input_sha256"]}
            await page.ask("session:permission", **session, **allow, decision="allow")
            assert (await page.row("permission_answered"))["event"]["decision"] == "allow"
            await page.row("turn_ended", 2)
        with part("a question and its answer"):
            await page.ask("session:send", **session, text="ask")
            asked = (await page.row("question_asked"))["event"]
            answers = {one["question"]: one["options"][0]["label"] for one in asked["questions"]}
            await page.ask("session:question", **session, requestId=asked["request_id"], answers=answers)
            assert (await page.row("question_answered"))["event"]["answers"] == answers
            await page.row("turn_ended", 3)
        with part("an interrupt stops the turn and keeps the agent"):
            await page.ask("session:send", **session, text="slow 100000")
            await page.row("prompt_sent", 4)
            await page.ask("session:interrupt", **session)
            await page.row("turn_ended", 4)
        with part("the end ends it"):
            await page.ask("session:end", **session)
            await page.row("session_ended")
        numbers = [one["seq"] for one in page.rows]
        assert numbers == list(range(1, len(numbers) + 1))
    async with browser(hub) as other:
        with part("another browser begins at the number it names"):
            await other.ask("session:subscribe", **session, after=first["seq"])
            await other.row("session_ended")
            assert other.rows == page.rows[first["seq"] :]
