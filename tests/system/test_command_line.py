"""The command line against the running server: found by its note, without a token typed anywhere."""

import asyncio
import contextlib
import json
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests.live import LiveServer
from tests.waiting import PATIENCE

from bascule.client.client import Client
from bascule.model.events import PermissionRequested, SessionEnded, TextAppended, TurnEnded

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(module_dir) as made:
        yield made


async def bascule(server: LiveServer, *words: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bascule", *words, "--data", str(server.data)),
        cwd=server.work,
        env={"PATH": "/usr/bin:/bin", "HOME": str(server.home), "BASCULE_CONFIG_DIR": str(server.config)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    return process.returncode or 0, said.decode()


@pytest.mark.row("X12")
async def test_a_prompt_is_run_listed_shown_and_audited_from_the_command_line(server: LiveServer):
    code, said = await bascule(server, "run", "count 5 1", "--agent", "demo", "--keep")
    assert code == 0, said
    assert "1 2 3 4 5" in said
    code, listed = await bascule(server, "sessions", "list", "--json")
    assert code == 0
    session = next(one["session_id"] for one in json.loads(listed) if one["title"] == "count 5 1")
    code, shown = await bascule(server, "sessions", "show", session)
    assert code == 0
    assert "1 2 3 4 5" in shown
    code, verdict = await bascule(server, "audit", "verify")
    assert code == 0, verdict
    code, agents = await bascule(server, "agents")
    assert code == 0
    assert "demo" in agents
    code, ended = await bascule(server, "sessions", "end", session)
    assert code == 0, ended


@pytest.mark.row("X12")
async def test_a_folder_that_is_not_allowed_is_refused_with_the_line_that_allows_it(
    short_dir: Path, tmp_path: Path
):
    elsewhere = tmp_path / 'wo"rk'
    elsewhere.mkdir()
    config = short_dir / "config" / "config.toml"
    run = ("run", "count 5 1", "--agent", "demo", "--cwd", str(elsewhere))
    async with LiveServer(short_dir) as server:
        code, said = await bascule(server, *run)
        assert code == 4, said
        assert f"outside the folders sessions may run in ({short_dir})" in said
        code, found = await bascule(server, "doctor")
        assert f"settings: {config}" in found
        line = re.search(r"write (roots = \[.*\]) in config.toml .* and start the server again", said)
        assert line, said
        config.write_text(re.sub("roots = .*", lambda _: line[1], config.read_text(), count=1))
        await server.stop()
        await server.start()
        code, said = await bascule(server, *run)
        assert code == 0, said
        assert "1 2 3 4 5" in said


@pytest.mark.row("X12", "X2")
async def test_a_waiting_request_is_answered_from_the_command_line(server: LiveServer):
    session = await server.create("run 12")
    asked = (await server.wait_for(session, PermissionRequested)).event
    assert isinstance(asked, PermissionRequested)
    code, waiting = await bascule(server, "sessions", "answer")
    assert code == 0
    assert "echo demo 12" in waiting
    words = ("sessions", "answer", session, asked.request_id, "allow")
    code, said = await bascule(server, *words)
    assert code != 0, "allowing needs the input one saw"
    code, said = await bascule(server, *words, "--sha", asked.input_sha256)
    assert code == 0, said
    await server.wait_for(session, TurnEnded)


@pytest.mark.row("R20", "X12")
async def test_every_agent_is_stopped_and_the_machine_paused_from_the_command_line(server: LiveServer):
    sessions = [await server.create("slow 100000") for _ in range(2)]
    for session in sessions:
        await server.wait_for(session, TextAppended)
    code, said = await bascule(server, "sessions", "kill-all")
    assert (code, "Stopped" in said) == (0, True), said
    for session in sessions:
        ended = (await server.wait_for(session, SessionEnded)).event
        assert isinstance(ended, SessionEnded)
        assert ended.reason == "killed"
    code, said = await bascule(server, "daemon", "pause")
    assert code == 0, said
    refused = await server.post("/api/sessions", agent="demo", cwd=str(server.work))
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "LIMIT_REACHED")
    assert "paused" in refused.json()["error"]["message"]
    code, said = await bascule(server, "daemon", "resume")
    assert code == 0, said
    assert await server.create("count 1")


@pytest.mark.row("X12")
async def test_the_python_client_follows_a_session_of_the_running_server(server: LiveServer):
    session = await server.create("count 50 1")
    await server.wait_for(session, TurnEnded)
    seen: list[int] = []
    async with (
        await Client.connect(server.url, server.token) as client,
        contextlib.aclosing(client.events(session)) as rows,
    ):
        async for row in rows:
            seen.append(row.seq)
            if isinstance(row.event, TurnEnded):
                break
    assert seen == list(range(1, len(seen) + 1))


@pytest.mark.row("B5")
async def test_doctor_right_after_a_start_does_not_wait_for_an_agent_that_is_slow_to_tell_its_version(
    make_server: Callable[..., LiveServer],
):
    server = make_server()
    slow = server.folder / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o700)
    server.add_agent("slow", "", argv0=str(slow))
    await server.start()
    code, said = await bascule(server, "doctor")
    assert code == 0, said
    assert f"ok    server: running at {server.own_url}" in said
    assert "fail" not in said
    assert "slow (still looking for its version)" in said


@pytest.mark.row("B5")
async def test_doctor_says_why_when_a_server_does_not_answer(make_server: Callable[..., LiveServer]):
    server = make_server()
    await server.start()
    assert server.process is not None
    server.process.send_signal(signal.SIGSTOP)
    try:
        code, said = await bascule(server, "doctor")
    finally:
        server.process.send_signal(signal.SIGCONT)
    assert code == 1
    assert re.search(r"fail  server: \S", said), said
