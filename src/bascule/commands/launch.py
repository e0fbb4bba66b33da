"""`bascule launch "prompt"` and `bascule sessions open-terminal`: an agent in a terminal window."""

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from bascule.commands import exits
from bascule.config import load
from bascule.model.errors import InvalidInput

MAX_BYTES = 8 * 1024 * 1024

if TYPE_CHECKING:
    from bascule.launch.record import LaunchRecord
    from bascule.launch.service import Launches


async def launch(args: argparse.Namespace) -> int:
    from bascule.launch.request import request_of

    prompt = _from_stdin() if args.prompt == "-" else args.prompt
    fields: dict[str, Any] = {"prompt": prompt, "mode": args.mode, "agent": args.agent}
    request = request_of({**fields, "workingDirectory": os.path.abspath(args.cwd or os.getcwd())})
    launches = _launches(args)
    try:
        return await _told(await launches.launch(request, "the command line"))
    finally:
        await launches.close()


def _from_stdin() -> str:
    """As bytes: a text stream would change the ends of lines."""
    try:
        return sys.stdin.buffer.read(MAX_BYTES).decode()
    except UnicodeDecodeError:
        raise InvalidInput("The prompt is not UTF-8.") from None


async def open_terminal(args: argparse.Namespace) -> int:
    """Go on with a session's conversation in a terminal, or print the command that does."""
    from bascule.commands.server_address import connected
    from bascule.launch.conversation import conversation_of, resume_command

    async with await connected(args) as client:
        session = await client.session(args.session)
    launches = _launches(args)
    try:
        start = launches.conversation(*conversation_of(session), session.cwd)
        if args.print and start.missing:
            print(start.missing, file=sys.stderr)
            return exits.FAILED
        if args.print:
            print(resume_command(start, session.cwd))
            return exits.OK
        return await _told(await launches.run(start, session.cwd, "the command line"))
    finally:
        await launches.close()


def _launches(args: argparse.Namespace) -> "Launches":
    from bascule.launch_setup import launches_of

    flags = {"data_dir": args.data, "launch.terminal": getattr(args, "terminal", None)}
    return launches_of(load(flags)).launches


async def _told(record: "LaunchRecord") -> int:
    await record.settled.wait()  # bounded by launch.window_seconds
    if record.error is not None:
        print(record.error.message, file=sys.stderr)
        return exits.FAILED
    print(f"Opened in {record.terminal} (chosen by {record.rule}).")
    return exits.OK
