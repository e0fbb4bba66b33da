"""Finds the server that a command talks to."""

import argparse
import os

from bascule.client import Client
from bascule.config import load


def data_dir_of(args: argparse.Namespace) -> str:
    return load({"data_dir": getattr(args, "data", None)}).data_dir


async def connected(args: argparse.Namespace) -> Client:
    """The server named by --server or BASCULE_SERVER, else the one of this machine."""
    url = getattr(args, "server", None) or os.environ.get("BASCULE_SERVER")
    if url:
        # The token comes from the environment: arguments can be seen by other users of the machine.
        return await Client.connect(url, os.environ.get("BASCULE_TOKEN", ""))
    return await Client.local(data_dir_of(args))
