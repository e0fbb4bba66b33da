"""Runs a throw-away server to try an agent on, apart from the person's own state."""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from msgspec import Struct

from bascule.client import Client
from bascule.model.errors import HostError
from bascule.model.settings import Settings
from bascule.transport.errors import KeeperError
from bascule.transport.keeper import KeeperConnection

START_SECONDS = 30.0
STOP_SECONDS = 20.0
LIMITS = "[limits]\nsessions = 10\nspawns_per_minute = 60\ninputs_per_minute = 600\n"
OURS = ("HOST", "PORT")  # beside BASCULE_*: settings of the person's own server


class Trial(Struct, frozen=True):
    client: Client
    work: Path  # the only folder in which anything is started


@asynccontextmanager
async def trial(settings: Settings) -> AsyncGenerator[Trial, None]:
    """Start it, and end it with everything it started, whatever happened."""
    folder = Path(tempfile.mkdtemp(prefix="bascule-trial-"))
    # A terminal that is closed, or a polite kill, ends a trial as Ctrl-C does.
    for number in (signal.SIGHUP, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, signal.raise_signal, signal.SIGINT)
    try:
        environment = _prepare(folder, settings)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bascule", "up", "--data", str(folder / "data")),
            *("--port", "0", "--no-open"),
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await _started(process)
            async with await Client.local(folder / "data", patience=START_SECONDS) as client:
                yield Trial(client, folder / "work")
                await client.kill_all()
        finally:
            await _stop(process)
            await _end_keeper(folder / "data" / "keeper")
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _prepare(folder: Path, settings: Settings) -> dict[str, str]:
    """Its own settings, in which only its own folder may be worked in; and the person's own agents."""
    config = folder / "config"
    for made in (config, folder / "work"):
        made.mkdir(mode=0o700)
    file = config / "config.toml"
    roots = f"roots = [{json.dumps(str(folder / 'work'))}]\n"
    passed = [f"{json.dumps(agent)} = {json.dumps(names)}\n" for agent, names in settings.pass_on.items()]
    file.write_text("".join([roots, LIMITS, "[pass_on]\n", *passed]), encoding="utf-8")
    file.chmod(0o600)
    own = Path(settings.config_dir) / "agents"
    if own.is_dir():
        shutil.copytree(own, config / "agents")
    return {**_without_ours(os.environ), "BASCULE_CONFIG_DIR": str(config), **_claude(settings)}


def _without_ours(environ: Mapping[str, str]) -> dict[str, str]:
    kept = (name for name in environ if not name.startswith("BASCULE_") and name not in OURS)
    return {name: environ[name] for name in kept}


def _claude(settings: Settings) -> dict[str, str]:
    return {"CLAUDE_BIN": settings.claude_bin} if settings.claude_bin else {}


async def _started(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), START_SECONDS)
    except TimeoutError:
        line = b""
    if b"#token=" not in line:
        raise HostError("A server for the trial could not be started. Try `bascule doctor` first.")


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()


async def _end_keeper(folder: Path) -> None:
    """It outlives its server by design; a trial leaves nothing behind. Its agents go with it."""
    with suppress(KeeperError, OSError, TimeoutError):  # it never ran, or is gone
        async with asyncio.timeout(STOP_SECONDS):
            connection = await KeeperConnection.connect(folder)
            pid = (await connection.hello()).pid
            os.kill(pid, signal.SIGTERM)
            await connection.wait_closed()
