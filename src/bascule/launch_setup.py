"""Builds launches from the settings, and serves the launch bridge alone."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from bascule.agents.catalogue import Catalogue
from bascule.daemon.trusted import TrustedFolders
from bascule.hub.launch.bridge_server import bind_bridge, serving_bridge
from bascule.launch.agent_start import AgentStarts
from bascule.launch.idempotent import IdempotentLaunches
from bascule.launch.launches import Folders, Launches
from bascule.model.settings import Settings


def launches_of(
    settings: Settings, catalogue: Catalogue | None = None, folders: Folders | None = None
) -> IdempotentLaunches:
    """Launches of this machine, in the environment of this process; `folders` for finding a repo's clone."""
    if catalogue is None:
        catalogue = Catalogue.load(settings.config_dir).passing(settings.pass_on)
    environ = dict(os.environ)
    if settings.claude_bin:
        environ["CLAUDE_BIN"] = settings.claude_bin
    starts = AgentStarts(catalogue, environ, TrustedFolders(Path(settings.data_dir)).trusts)
    launches = Launches(settings, starts, environ, folders=folders)
    return IdempotentLaunches(launches, settings.launch.per_minute, time.monotonic)


async def serve_bridge(settings: Settings, origins: tuple[str, ...], ready: Callable[[int], None]) -> None:
    """Serve until a signal says stop. Raises `OSError` when the port is taken."""
    listening = bind_bridge(settings.launch.port)
    launches = launches_of(settings)
    stop = asyncio.Event()
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(sign, stop.set)
    try:
        await launches.launches.sweep()
        async with serving_bridge(listening, launches, origins) as port:
            ready(port)
            await stop.wait()
    finally:
        await launches.close()
        listening.close()
