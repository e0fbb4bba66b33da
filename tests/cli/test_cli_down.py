"""`bascule down` ends everything, with a server and without; `bascule up` says what still runs."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.cli.program import bascule, environment
from tests.keepers import end_keeper
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio


@pytest.fixture
def data(short_dir: Path) -> Iterator[Path]:
    """A state folder whose settings let sessions run beside it; its keeper is ended at last."""
    config = short_dir / "d" / "config"
    (short_dir / "work").mkdir()
    config.mkdir(parents=True, mode=0o700)
    config.parent.chmod(0o700)
    (config / "config.toml").write_text(f'roots = ["{short_dir}/work"]\n')
    (config / "config.toml").chmod(0o600)
    yield short_dir / "d"
    end_keeper(short_dir / "d")


@asynccontextmanager
async def serving(data: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """A server that has said its link. Its agents outlive it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bascule", "--port", "0", "--no-open"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(data),
    )
    assert process.stdout is not None
    try:
        await asyncio.wait_for(process.stdout.readline(), PATIENCE)
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def stopped(process: asyncio.subprocess.Process) -> str:
    """Stop a server as Ctrl-C does; what it said on stderr."""
    process.send_signal(signal.SIGINT)
    _, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    return err.decode()


async def start_session(data: Path) -> None:
    words = ("--agent", "demo", "--cwd", str(data.parent / "work"), "--detach")
    begun = await bascule(data, "run", "slow 100000", *words)
    assert begun.code == 0, begun.err


@pytest.mark.row("R20")
async def test_without_a_server_the_keeper_ends_what_it_holds_and_up_names_it_before(data: Path):
    async with serving(data) as server:
        await start_session(data)
        await stopped(server)
    async with serving(data) as server:
        said = await stopped(server)
    assert "1 session still running: 'slow 100000'. `bascule down` ends everything." in said
    ended = await bascule(data, "down")
    assert (ended.code, ended.out) == (0, "Ended 1 session. No server was running.\n")
    again = await bascule(data, "down")
    assert (again.code, again.out) == (0, "Ended 0 sessions. No server was running.\n")
    async with serving(data) as server:
        assert "still running" not in await stopped(server)


@pytest.mark.row("R20")
async def test_a_running_server_is_stopped_with_its_sessions(data: Path):
    async with serving(data) as server:
        await start_session(data)
        ended = await bascule(data, "down")
        assert (ended.code, ended.out) == (0, "Ended 1 session. The server was stopped.\n")
        assert await asyncio.wait_for(server.wait(), PATIENCE) == 0
    async with serving(data) as server:
        listed = await bascule(data, "sessions", "list")
        said = await stopped(server)
    assert "slow 100000" in listed.out
    assert "still running" not in said
