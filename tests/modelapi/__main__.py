"""Runs the scripted model API as a program: prints its URL on one line and serves until stopped."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys

from tests.modelapi.server import ScriptedModel, serve


async def main(port: int) -> None:
    """Serve until the task is cancelled."""
    async with serve(ScriptedModel(), port) as url:
        sys.stdout.write(url + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(parser.parse_args().port))
