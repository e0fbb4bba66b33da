"""Finds the server that a command talks to."""

import argparse
import os
from pathlib import Path

from bascule.client import Client
from bascule.config import load


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


async def connected(args: argparse.Namespace) -> Client:
    """The server named by --server or BASCULE_SERVER, else the one of this machine."""
    url = getattr(args, "server", None) or os.environ.get("BASCULE_SERVER")
    if url:
        # The token comes from the environment: arguments can be seen by other users of the machine.
        return await Client.connect(url, os.environ.get("BASCULE_TOKEN", ""))
    return await Client.local(data_dir_of(args))
