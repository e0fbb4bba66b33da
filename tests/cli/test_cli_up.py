"""`bascule` with no words: the real server, its one line on stdout, and what it says when it can't start."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.cli.program import bascule, environment
from tests.keepers import end_keeper
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio

# The command line, and what a server that has run holds.
AT_THE_END = """
import gc, json, sys
from bascule.cli import main
main()
print(json.dumps({"modules": list(sys.modules), "frozen": gc.get_freeze_count(), "collects": gc.isenabled()}))
"""


@asynccontextmanager
async def running_server(
    data: Path, *words: str, program: tuple[str, ...] = ("-m", "bascule")
) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A server of its own; its keeper is ended too, since a keeper outlives its server."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *program, "--port", "0", "--no-open", *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(data),
    )
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
        yield process, line.decode()
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
        end_keeper(data)


async def test_the_link_is_the_one_line_on_stdout_and_a_signal_ends_it_cleanly(short_dir: Path):
    async with running_server(short_dir / "d") as (process, line):
        assert line.startswith("http://127.0.0.1:")
        link, _, token = line.strip().partition("/#token=")
        assert len(token) >= 43
        process.send_signal(signal.SIGTERM)
        out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0
    assert out == b""
    assert b"Ctrl-C stops the server" in err
    assert token.encode() not in err
    log = (short_dir / "d" / "server.log").read_text()
    assert token not in log
    assert link.startswith("http://")


async def test_a_start_imports_neither_the_client_nor_drivers_that_nothing_uses_yet(short_dir: Path):
    async with running_server(short_dir / "d", program=("-c", AT_THE_END)) as (process, _):
        process.send_signal(signal.SIGTERM)
        out, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    noted = json.loads(out)
    assert "bascule.app" in noted["modules"]
    drivers = ("bascule.drivers.acp.driver", "bascule.drivers.codex", "bascule.drivers.plain")
    machines = ("bascule.daemon.hub_lines.far_line", "bascule.hub.daemon_socket", "websockets.asyncio.client")
    unused = ("click", "multiprocessing", "starlette", "anyio", "urllib.request", "html.entities", "plistlib")
    late = ("bascule.client", "psutil", "bascule.policy.secret_forms", *unused, *drivers, *machines)
    assert set(late) & set(noted["modules"]) == set()
    # What the start built is no part of a collection in the middle of a turn.
    assert noted["frozen"] > 10_000
    assert noted["collects"]  # it is switched off during the start, and on again


@pytest.mark.row("X11")
async def test_a_hub_without_agents_imports_neither_what_runs_them_nor_a_database_driver(short_dir: Path):
    async with running_server(short_dir / "d", program=("-c", AT_THE_END, "hub")) as (process, _):
        process.send_signal(signal.SIGTERM)
        out, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    modules = json.loads(out)["modules"]
    assert "bascule.hub.app" in modules
    runs_agents = ("bascule.daemon.host", "bascule.session.", "bascule.drivers.", "bascule.transport.")
    postgres = ("asyncpg", "bascule.store.postgres")
    assert [name for name in modules if name.startswith((*runs_agents, *postgres))] == []


async def test_a_second_server_on_the_same_folder_or_port_says_what_to_do(short_dir: Path):
    async with running_server(short_dir / "d") as (_, line):
        second = await bascule(short_dir / "d", "--port", "0", "--no-open")
        port = line.partition("/#")[0].rpartition(":")[2]
        other = await bascule(short_dir / "e", "--port", port, "--no-open")
    assert (second.code, second.out) == (1, "")
    assert "already runs" in second.err
    assert (other.code, other.out) == (1, "")
    assert "is in use" in other.err
    assert "--port 0" in other.err


@pytest.mark.row("X12")
async def test_the_demo_agent_is_run_from_the_command_line(short_dir: Path):
    work, config = short_dir / "work", short_dir / "d" / "config"
    work.mkdir()
    config.mkdir(parents=True, mode=0o700)
    config.parent.chmod(0o700)
    (config / "config.toml").write_text(f'roots = ["{work}"]\n')
    (config / "config.toml").chmod(0o600)
    async with running_server(short_dir / "d"):
        words = ("--agent", "demo", "--cwd", str(work), "--permission-mode", "auto")
        done = await bascule(short_dir / "d", "run", "think", *words)
        listed = await bascule(short_dir / "d", "sessions", "list")
        verdict = await bascule(short_dir / "d", "audit", "verify")
        doctor = await bascule(short_dir / "d", "doctor")
    assert done.code == 0, done.err
    assert "demo: no model behind it" in done.out
    assert "think" in listed.out
    assert verdict.out.startswith("ok: ")
    assert "server: running at http://127.0.0.1:" in doctor.out
    assert "keeper: running" in doctor.out
