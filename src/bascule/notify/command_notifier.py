"""The command notifier: runs a program of the owner's, never by a shell, with the notice as JSON on stdin."""

import asyncio
import contextlib
from asyncio.subprocess import DEVNULL, PIPE, Process

from bascule.model.stdin_file import stdin_file
from bascule.notify.channel_queue import Failure

SECONDS = 30.0
MAX_WORDS = 200


async def run_command(argv: tuple[str, ...], data: bytes, seconds: float = SECONDS) -> None:
    """Raises `Failure` when it can't be started, ends with an error or takes too long."""
    try:
        with stdin_file(data) as given:
            process = await asyncio.create_subprocess_exec(*argv, stdin=given, stdout=DEVNULL, stderr=PIPE)
    except (OSError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) else str(error)
        raise Failure(f"{argv[0]} can't be started ({words}); correct notify.command.", final=True) from None
    try:
        async with asyncio.timeout(seconds):
            _, said = await process.communicate()
    except TimeoutError:
        raise Failure(f"{argv[0]} did not end within {seconds:g} seconds", final=True) from None
    finally:
        await _end(process)
    if process.returncode:
        words = " ".join(said.decode(errors="replace").split())[:MAX_WORDS]
        raise Failure(f"{argv[0]} ended with code {process.returncode}{': ' + words if words else ''}")


async def _end(process: Process) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
