"""Records the real CLI in every scenario: `python -m tests.conformance.record [NAME...]`."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.conformance import record_ends, record_requests, record_turns
from tests.conformance.direct import Line, Place
from tests.conformance.install import install, scratch
from tests.conformance.recording import save
from tests.modelapi.server import ScriptedModel, serve

FOLDER = Path(__file__).parent.parent / "recordings" / "claude"
Recorder = Callable[[Place, list[Line]], Awaitable[None]]
RECORDERS: dict[str, Recorder] = {
    recorder.__name__: recorder
    for module in (record_turns, record_requests, record_ends)
    for recorder in module.RECORDINGS
}


async def record(names: list[str]) -> int:
    """Record the named scenarios and return how many went wrong."""
    installed = install()
    failures = 0
    async with serve(ScriptedModel()) as url:
        for name in names:
            root = scratch() / "recordings" / name
            shutil.rmtree(root, ignore_errors=True)
            place = Place(root, installed, url)
            lines: list[Line] = []
            try:
                await RECORDERS[name](place, lines)
            except (TimeoutError, EOFError) as error:
                failures += 1
                sys.stderr.write(f"{name}: {type(error).__name__} {error}\n")
            save(FOLDER / f"{name}.ndjson", place, lines)
            sys.stdout.write(f"{name}: {len(lines)} lines\n")
    return failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*", choices=[*RECORDERS, []])
    sys.exit(asyncio.run(record(parser.parse_args().name or list(RECORDERS))))
