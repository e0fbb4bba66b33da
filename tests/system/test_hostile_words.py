"""Hostile strings in every field a person can fill: they arrive as data, or they do not arrive."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.live import LiveServer
from tests.system.corpus import hostile_strings
from tests.waiting import PATIENCE

import bascule.agents
from bascule.model.events import PromptSent, SessionStarted, TurnEnded

AGENT_FILES = Path(bascule.agents.__file__).parent

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    made = LiveServer(module_dir)
    made.add_agent("records", "records.py", str(module_dir / "ledger"))
    async with made:
        yield made


@pytest.fixture
def corpus(server: LiveServer) -> list[str]:
    strings = hostile_strings(str(server.folder / "canary"))
    assert len(strings) >= 200
    return strings


def no_canary(server: LiveServer) -> None:
    places = [server.folder, server.work, server.data, server.home, Path("/"), Path.cwd()]
    assert not [place for place in places if (place / "canary").exists()]


def notes(server: LiveServer) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (server.folder / "ledger").read_text().splitlines()]


@pytest.mark.row("S20", "S37")
async def test_hostile_models_ids_and_titles_reach_the_agent_as_one_word_or_not_at_all(
    server: LiveServer, corpus: list[str]
):
    before = len(notes(server)) if (server.folder / "ledger").exists() else 0
    gate = asyncio.Semaphore(8)
    started: dict[str, str] = {}

    async def start(text: str) -> None:
        async with gate:
            body = {"agent": "records", "cwd": str(server.work), "model": text, "resume": text}
            body["title"] = text[:200]
            answer = await server.http.post("/api/sessions", json=body)
            assert answer.status_code in (200, 400), (text, answer.text)
            if answer.status_code == 200:
                session = answer.json()["id"]
                await server.send(session, "hello")
                await server.wait_for(session, TurnEnded)
                view = (await server.http.get(f"/api/sessions/{session}")).json()
                assert view["title"] == " ".join(text[:200].split()), text
                await server.http.delete(f"/api/sessions/{session}")
                started[session] = text

    await asyncio.gather(*(start(text) for text in corpus))
    assert len(started) > 50
    seen = sorted([one["argv"] for one in notes(server)[before:] if "argv" in one])
    assert seen == sorted([[f"--model={text}", f"--resume={text}"] for text in started.values()])
    assert not [text for text in started.values() if text.startswith("-") or not text.isprintable()]
    listed = await server.sessions()
    assert {one["id"] for one in listed} >= set(started)
    no_canary(server)


@pytest.mark.row("S20")
async def test_hostile_prompts_arrive_exactly_as_they_were_sent(server: LiveServer, corpus: list[str]):
    before = len(notes(server)) if (server.folder / "ledger").exists() else 0
    session = await server.create(agent="records")
    sent: list[str] = []
    for text in corpus:
        answer = await server.post(f"/api/sessions/{session}/send", text=text)
        assert answer.status_code in (200, 400, 429), (text, answer.text)
        async with asyncio.timeout(PATIENCE):
            while answer.status_code == 429:  # the queue is full: let it drain, then go on
                await asyncio.sleep(0.02)
                answer = await server.post(f"/api/sessions/{session}/send", text=text)
        if answer.status_code == 200:
            sent.append(text)
    refused = set(corpus) - set(sent)
    assert all("\x00" in text or not text for text in refused), refused
    await server.wait_for(session, _nth(len(sent)))
    heard = [one["heard"] for one in notes(server)[before:] if one.get("heard", {}).get("type") == "user"]
    assert [one["message"]["content"][0]["text"] for one in heard] == sent
    logged = [row.event.text for row in await server.log(session) if isinstance(row.event, PromptSent)]
    assert logged == sent
    no_canary(server)


def _nth(count: int) -> Any:
    seen = 0

    def last(event: object) -> bool:
        nonlocal seen
        seen += isinstance(event, TurnEnded)
        return seen == count

    return last


@pytest.mark.row("S20", "S21", "S22")
async def test_hostile_folders_agents_modes_and_session_ids_are_refused(
    server: LiveServer, corpus: list[str]
):
    for text in corpus:
        bodies = [{"agent": text}, {"mode": text}, {"permissionMode": text}]
        if text not in ("", "~"):  # those name a folder: the default one, and one's own home
            bodies.append({"cwd": text})
        for body in bodies:
            whole = {"agent": "records", "cwd": str(server.work)} | body
            answer = await server.http.post("/api/sessions", json=whole)
            assert answer.status_code == 400, (body, answer.text)
        if text and text not in (".", ".."):
            path = f"/api/sessions/{quote(text, safe='')}"
            assert (await server.http.get(path)).status_code in (400, 404, 405, 431), text
    no_canary(server)


@pytest.mark.row("S20", "S49")
async def test_hostile_titles_stay_on_one_line(server: LiveServer, corpus: list[str]):
    session = await server.create()
    for text in corpus:
        answer = await server.post(f"/api/sessions/{session}/title", title=text)
        tidy = " ".join(text.split())
        assert answer.status_code == (200 if 0 < len(tidy) <= 200 else 400), text
    assert (await server.http.get(f"/api/sessions/{session}")).json()["title"]
    body = {"agent": "demo", "cwd": str(server.work), "title": "two\nlines"}
    made = (await server.http.post("/api/sessions", json=body)).json()["id"]
    assert (await server.http.get(f"/api/sessions/{made}")).json()["title"] == "two lines"
    for line in (server.data / "server.log").read_text().splitlines():
        assert set(json.loads(line)) <= {"at", "level", "logger", "message", "error"}


@pytest.mark.row("S22")
async def test_the_program_and_its_words_cannot_be_set_from_outside(server: LiveServer):
    for field in (
        "command",
        "argv",
        "args",
        "binary",
        "path",
        "env",
        "environment",
        "search",
        "driver",
        "shell",
    ):
        body = {"agent": "records", "cwd": str(server.work), field: ["/bin/sh", "-c", "true"]}
        answer = await server.http.post("/api/sessions", json=body)
        assert answer.status_code == 400, field
        assert field in answer.json()["error"]["message"]
    spawn = {"prompt": "x", "cwd": str(server.work), "harness": "/bin/sh"}
    assert (await server.http.post("/api/sessions/spawn", json=spawn)).status_code == 400
    agents = (await server.http.get("/api/agents")).json()["agents"]
    shipped = {path.stem.replace("_", "-") for path in AGENT_FILES.glob("*.toml")}
    assert {one["name"] for one in agents} == shipped | {"records"}


@pytest.mark.row("S21", "R6")
async def test_a_session_runs_only_in_a_real_folder_below_a_root(server: LiveServer, module_dir: Path):
    (server.work / "out").symlink_to("/etc")
    (server.work / "file").write_text("")
    (server.work / "gone").mkdir()
    (server.work / "gone").rmdir()
    for text in (
        "..",
        "/",
        "/etc",
        "~root",
        f"{server.work}/../../..",
        f"{server.work}/out",
        f"{server.work}/out/ssl",
        f"{server.work}/file",
        f"{server.work}/gone",
        f"{server.work}\u2024",
        f"{server.folder}x",
        "/" + "a" * 4096,
        str(server.work).replace("/", "\u2215"),
        str(server.work).upper(),
    ):
        answer = await server.http.post("/api/sessions", json={"agent": "demo", "cwd": text})
        assert answer.status_code == 400, text
        looked = await server.http.get("/api/directories", params={"path": text})
        assert looked.status_code == 400, text
    inside = server.work / "in side; 'é"
    inside.mkdir()
    (server.work / "link").symlink_to(inside)
    session = await server.create(cwd=str(server.work / "link"))
    started = (await server.log(session))[0].event
    assert isinstance(started, SessionStarted)
    assert started.cwd == os.path.realpath(inside)
    assert module_dir in Path(started.cwd).parents
