"""Finds the server that a command talks to."""

import argparse
import asyncio
import os
import signal
from pathlib import Path

from bascule.client import Client
from bascule.client.address import ServerFile, read_server_file
from bascule.config import load
from bascule.model.process_ids import pid_exists

STOP_SECONDS = 30.0


def data_dir_of(args: argparse.Namespace) -> str:
    return load({"data_dir": getattr(args, "data", None)}).data_dir


def own_device(args: argparse.Namespace) -> str | None:
    """The id of this machine, when the server is the one of this machine."""
    if getattr(args, "server", None) or os.environ.get("BASCULE_SERVER"):
        return None
    return device_in(data_dir_of(args))


def device_in(folder: str | Path) -> str | None:
    """The id of the machine that this state folder is of."""
    try:
        return (Path(folder) / "device").read_text().strip() or None
    except OSError:
        return None


def running_server(data_dir: str | Path) -> ServerFile | None:
    """The server that runs now with this state folder."""
    server = read_server_file(data_dir)
    return server if server is not None and pid_exists(server.pid) else None


async def stop_server(pid: int) -> bool:
    """Ask the server to stop; False if it does not."""
    os.kill(pid, signal.SIGTERM)
    deadline = asyncio.get_running_loop().time() + STOP_SECONDS
    while pid_exists(pid):
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(0.05)
    return True


async def connected(args: argparse.Namespace) -> Client:
    """The server named by --server or BASCULE_SERVER, else the one of this machine."""
    url = getattr(args, "server", None) or os.environ.get("BASCULE_SERVER")
    if url:
        # The token comes from the environment: arguments can be seen by other users of the machine.
        return await Client.connect(url, os.environ.get("BASCULE_TOKEN", ""))
    return await Client.local(data_dir_of(args))
