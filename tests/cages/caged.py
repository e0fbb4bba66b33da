"""A daemon whose agent tries everything, a folder it must not reach, and what it is told to try."""

import json
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.daemon.running_daemon import RunningDaemon
from tests.live import FAKES

from bascule.agents.catalogue import Catalogue, parse
from bascule.daemon.cages.detection import Cage
from bascule.daemon.cages.detection import look as look_here
from bascule.daemon.launching.launching import Launcher
from bascule.model.events import TextSaid
from bascule.model.settings import Limits, Settings, StartsSettings

AGENT = """
name = "tries"
title = "Tries"
search = ["{python}"]

[environment]
pass = ["MODEL_URL"]

[cage]
writes = ["~/.tries/"]

[[drivers]]
name = "stream_json"
args = ["-I", "SCRIPT"]
resume = ["--resume={value}"]
levels = {read_only = ["--reads-only"]}
"""


Look = Callable[[Mapping[str, str]], Cage]


class Caged:
    """One machine with the agent that tries; `told` is its prompt."""

    def __init__(self, daemon: RunningDaemon, folder: Path, told: dict[str, Any]) -> None:
        self.daemon = daemon
        self.folder = folder
        self.told = told

    @property
    def secret(self) -> Path:
        return self.folder / "outside" / "secret"

    async def tries(self, session_id: str, level: str | None) -> dict[str, dict[str, str]]:
        """What came of each attempt, of the agent, of its child and of its orphan."""
        await self.daemon.start(session_id, json.dumps(self.told), agent="tries", capability=level)
        said = await self.daemon.until(TextSaid, session_id)
        return json.loads(said.text)


def launcher_of(folder: Path, look: Look = look_here, **starts: Any) -> Launcher:
    settings = Settings(
        data_dir=str(folder / "data"),
        config_dir=str(folder / "config"),
        roots=(str(folder),),
        starts=StartsSettings(**starts),
    )
    spec = parse(AGENT.replace("SCRIPT", str(FAKES / "tries.py")).encode(), "tries.toml")
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(folder / "home"), "MODEL_URL": "http://127.0.0.1:9"}
    return Launcher(Catalogue([spec]), settings, environ, look_for_cage=look)


@asynccontextmanager
async def caged(folder: Path, look: Look = look_here, **starts: Any) -> AsyncIterator[Caged]:
    outside, home = folder / "outside", folder / "home"
    for made in (outside, home):
        made.mkdir()
    (outside / "secret").write_text("secret")
    daemon = RunningDaemon(folder, Limits(sessions=0), launcher_of(folder, look, **starts))
    (daemon.work / "inside.txt").write_text("inside")
    (daemon.work / "leads-out").symlink_to(outside / "secret")
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        told = {
            "outside": str(outside),
            "own": str(home / ".tries"),
            "socket": str(folder / "data" / "keeper" / "keeper.sock"),
            "port": listening.getsockname()[1],
            "pid": os.getpid(),
        }
        await daemon.open()
        try:
            yield Caged(daemon, folder, told)
        finally:
            for live in list(daemon.host.sessions.live):
                ending = daemon.host.sessions.live[live].end("killed", "test")
                if ending is not None:
                    await ending
            await daemon.close()
            await daemon.kill_keeper(signal.SIGTERM)  # and wait: its folder is removed next
