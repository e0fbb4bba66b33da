"""`bascule bridge`, `launch` and `doctor`, and the bridge beside the server, as people run them."""

import asyncio
import contextlib
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.launch.desk import Desk, digest
from tests.launch.ports import unused_ports
from tests.live import LiveServer
from tests.waiting import PATIENCE

from bascule.model.events import SessionEnded, TurnEnded

pytestmark = pytest.mark.anyio
PAGE = "http://localhost:8080"


def environment(desk: Desk, **more: str) -> dict[str, str]:
    own = {"BASCULE_DATA_DIR": str(desk.folder / "own"), "BASCULE_CONFIG_DIR": str(desk.folder / "own")}
    patient = {"BASCULE_LAUNCH_ANSWER_MS": "120000", "BASCULE_LAUNCH_WINDOW_SECONDS": "120"}
    return {**desk.environ, **own, **patient, "BASCULE_ROOTS": str(desk.folder), **more}


async def run(desk: Desk, *words: str, stdin: bytes = b"", **more: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bascule", *words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(desk, **more),
        cwd=desk.home,
    )
    out, err = await asyncio.wait_for(process.communicate(stdin), PATIENCE)
    return process.returncode or 0, out.decode(), err.decode()


@contextlib.asynccontextmanager
async def bridge(
    desk: Desk, **more: str
) -> AsyncIterator[tuple[httpx.AsyncClient, asyncio.subprocess.Process]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bascule", "bridge"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(desk, CLAUDE_BRIDGE_PORT="0", **more),
    )
    assert process.stdout is not None
    try:
        line = (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).decode()
        found = re.fullmatch(r"Listening on 127\.0\.0\.1:(\d+)\n", line)
        assert found, line
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{found[1]}", timeout=PATIENCE, trust_env=False
        ) as client:
            yield client, process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.communicate(), PATIENCE)


@pytest.mark.row("L3", "L4", "L7", "L13", "LV-1", "LV-22")
async def test_the_bridge_alone_serves_the_first_origins_and_logs_errors_only(desk: Desk) -> None:
    leftover = desk.bridge_folder / "prompt-1-old.txt"
    desk.bridge_folder.mkdir(mode=0o700)
    leftover.write_text("left by a bridge that was killed")
    os.utime(leftover, (1, 1))
    async with bridge(desk) as (client, process):
        assert not leftover.exists()
        good = await client.post("/launch", json={"prompt": "a private prompt"}, headers={"origin": PAGE})
        assert (good.status_code, good.json()["data"]["launched"]) == (200, True)
        for origin in ("http://localhost:8081", "https://evil.example"):
            answer = await client.post("/launch", json={"prompt": "x"}, headers={"origin": origin})
            assert answer.status_code == 403
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        said = (await asyncio.wait_for(process.stderr.read(), PATIENCE)).decode()
    assert await process.wait() == 0
    lines = said.splitlines()
    assert len(lines) == 2
    for line, origin in zip(lines, ("http://localhost:8081", "https://evil.example"), strict=True):
        form = r"\[\d{4}-\d\d-\d\dT[\d:.]+Z\] \[ERROR\] origin_forbidden: .* \(origin: " + re.escape(origin)
        assert re.match(form, line), line
    assert os.listdir(desk.bridge_folder) == []


@pytest.mark.row("L3", "L13", "LV-11")
async def test_a_port_in_use_names_three_ways_out(desk: Desk) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, said = await run(desk, "bridge", CLAUDE_BRIDGE_PORT=str(port))
    assert code == 1
    assert said.splitlines() == [
        f"Port {port} is already in use.",
        "Options:",
        f"  1. Stop the other process using port {port}",
        f"  2. Use a different port: CLAUDE_BRIDGE_PORT={port + 1} bascule bridge",
        f"  3. Find process: lsof -i :{port} (Linux/macOS)",
    ]


@pytest.mark.row("L6")
async def test_a_prompt_is_launched_from_the_command_line(desk: Desk) -> None:
    code, said, wrong = await run(desk, "launch", "explain this", "--mode", "normal")
    assert (code, wrong) == (0, "")
    assert said == "Opened in xterm (chosen by $TERMINAL).\n"
    assert (await desk.note("sha256"))["sha256"] == digest("explain this")
    assert (await desk.note("argv"))["argv"] == ["--permission-mode=manual"]
    code, _, wrong = await run(desk, "launch", "-", stdin=b"from stdin\r\n\n")
    assert (code, wrong) == (0, "")
    assert (await desk.note("sha256", 2))["sha256"] == digest("from stdin\r\n\n")
    code, _, wrong = await run(desk, "launch", "-", stdin=b"not utf-8 \xff")
    assert (code, wrong) == (2, "The prompt is not UTF-8.\n")
    desk.terminal("exits")
    code, said, wrong = await run(desk, "launch", "x")
    assert (code, said) == (1, "")
    assert "xterm ended with code 3" in wrong


@pytest.mark.row("L5")
async def test_the_doctor_names_the_terminal_and_the_rule(desk: Desk) -> None:
    _, said, _ = await run(desk, "doctor")
    assert f"terminal for launches: xterm ({desk.bin}/xterm), by $TERMINAL" in said
    _, said, _ = await run(desk, "doctor", TERMINAL="nothing-here")
    assert "terminal for launches: $TERMINAL names no program that can be run" in said


@pytest.mark.row("L1", "L3")
async def test_beside_the_server_pages_are_not_trusted_until_they_are_listed(desk: Desk) -> None:
    port, own = unused_ports(2)
    folder = desk.folder / "s"
    folder.mkdir()
    env = {**environment(desk), "BASCULE_LAUNCH_ENABLED": "true", "CLAUDE_BRIDGE_PORT": str(port)}
    for name in ("HOME", "BASCULE_DATA_DIR", "BASCULE_CONFIG_DIR", "BASCULE_ROOTS"):
        del env[name]
    server = LiveServer(folder, env={**env, "HOME": str(desk.home)})
    server.first_port = "0"
    async with server:
        # A server on any free port has no second listener.
        async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as page:
            with pytest.raises(httpx.ConnectError):
                await page.get(f"http://127.0.0.1:{port}/health")
        answer = await server.post("/launch", prompt="by a grant", workingDirectory=str(server.work))
        assert (answer.status_code, answer.headers["x-bridge-version"]) == (200, "1.0")
        assert answer.json()["data"]["launched"] is True
        assert (await desk.note("sha256"))["sha256"] == digest("by a grant")
        outcome = await server.http.get(f"/launch/{answer.json()['data']['id']}")
        assert outcome.json() == answer.json()
        wrong = await server.post("/launch", prompt="")
        assert (wrong.status_code, wrong.json()["error"]) == (400, "prompt_required")
        async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE, trust_env=False) as stranger:
            nobody = await stranger.post("/launch", json={"prompt": "x"}, headers={"origin": server.url})
            assert nobody.status_code == 401
        await server.stop()
        server.front.url = f"http://127.0.0.1:{own}"  # whoever asks for any port may have its last one now
        with socket.socket() as taken:  # it starts all the same, and says what can be done
            taken.bind(("127.0.0.1", port))
            taken.listen()
            await server.start()
            assert f"Port {port} is already in use." in server.stderr()
            await server.stop()
        await server.start()
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, trust_env=False
        ) as page:
            assert (await page.get("/health")).json() == {"status": "ok", "version": "1.0"}
            refused = await page.post("/launch", json={"prompt": "x"}, headers={"origin": PAGE})
            assert (refused.status_code, refused.json()["error"]) == (403, "origin_forbidden")
    assert len(desk.terminals()) == 1


AGENT = """
name = "both"
title = "Both"
search = ["both"]
[[drivers]]
name = "stream_json"
resume = ["--resume={value}"]
[[drivers]]
name = "terminal"
resume = ["--resume={value}"]
"""


async def test_a_session_goes_on_in_a_terminal_once_it_has_ended(desk: Desk) -> None:
    folder = desk.folder / "s"
    folder.mkdir()
    more = {"BASCULE_LAUNCH_ENABLED": "true", "BASCULE_LAUNCH_ANSWER_MS": "120000"}
    server = LiveServer(folder, env={**desk.environ, **more})
    server.add_agent_file("both", AGENT)
    desk.program("both", "well_behaved.py")
    where = {"BASCULE_DATA_DIR": str(server.data), "BASCULE_CONFIG_DIR": str(server.config)}
    async with server:
        session = await server.create("hello there", agent="both")
        await server.wait_for(session, TurnEnded)
        code, _, wrong = await run(desk, "sessions", "open-terminal", session, **where)
        assert code == 2
        assert "is running in Bascule. End it first" in wrong
        assert (await server.post(f"/api/sessions/{session}/open-terminal")).status_code == 400
        await server.http.delete(f"/api/sessions/{session}")
        await server.wait_for(session, SessionEnded)
        own = (await server.http.get(f"/api/sessions/{session}")).json()["agent_session_id"]
        code, said, wrong = await run(desk, "sessions", "open-terminal", session, "--print", **where)
        assert (code, wrong) == (0, "")
        typed = f"cd {server.work} && {desk.bin}/both --resume={own}"
        assert said == f"{typed}\n"
        told = (await server.http.get(f"/api/sessions/{session}/resume-command")).json()
        assert told == {"command": typed, "argv": [f"{desk.bin}/both", f"--resume={own}"]}
        desk.program("both", "terminal_agent.py", str(desk.notes), "--fail")
        desk.terminal("opens", types=("Press Enter", "\n"))
        code, said, wrong = await run(desk, "sessions", "open-terminal", session, **where)
        assert (code, said, wrong) == (0, "Opened in xterm (chosen by $TERMINAL).\n", "")
        given = await desk.note("argv")
        assert (given["argv"], given["cwd"]) == (["--fail", f"--resume={own}"], str(server.work))
        opened = (await server.post(f"/api/sessions/{session}/open-terminal")).json()
        assert (opened["launched"], opened["terminal"], opened["rule"]) == (True, "xterm", "$TERMINAL")
        assert (await desk.note("argv", 2))["argv"] == ["--fail", f"--resume={own}"]


@pytest.mark.row("S25")
@pytest.mark.parametrize("planted", ["folder", "link"])
async def test_a_folder_that_somebody_else_planted_is_not_used(desk: Desk, planted: str) -> None:
    """In the system's temporary folder anybody may have taken the name before us."""
    shared = desk.folder / "tmp"
    shared.mkdir(mode=0o1777)
    place, victim = shared / f"claude-bridge-{os.getuid()}", desk.folder / "victim"
    victim.mkdir()
    if planted == "link":
        place.symlink_to(victim)
    else:
        place.mkdir(mode=0o777)
        if os.getuid() == 0:
            os.chown(place, 12345, 12345)
        else:
            pytest.skip("only root can plant another user's folder")
    code, _, wrong = await run(desk, "launch", "x", XDG_RUNTIME_DIR="", TMPDIR=str(shared))
    assert (code, wrong) == (0, "")
    assert (await desk.note("sha256"))["sha256"] == digest("x")
    assert list(victim.iterdir()) == []
    if planted == "folder":
        assert list(place.iterdir()) == []
    own = [one for one in shared.iterdir() if one != place]
    assert len(own) == 1
    assert own[0].stat().st_mode & 0o777 == 0o700


def test_files_of_launches_are_never_written_through_a_link_or_a_fifo(short_dir: Path) -> None:
    from bascule.launch.errors import LaunchError
    from bascule.launch.launcher.plan_files import take_up
    from bascule.launch.private_folder import LaunchFolder

    folder = LaunchFolder.open(str(short_dir), {})
    victim = short_dir / "victim"
    victim.write_text("untouched")
    (folder.path / "prompt-1.txt").symlink_to(victim)
    os.mkfifo(folder.path / "plan-1.json")
    for name in ("prompt-1.txt", "plan-1.json"):
        with pytest.raises(LaunchError, match="Failed to prepare prompt file"):
            folder.write(name, b"secret")
        with pytest.raises(OSError):
            take_up(str(folder.path), name)
    assert victim.read_text() == "untouched"
    folder.close()
