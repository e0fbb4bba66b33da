"""`bascule launch "prompt"` and `bascule sessions open-terminal`: an agent in a terminal window."""

import argparse
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from bascule.commands import exits
from bascule.config import load
from bascule.model.errors import InvalidInput

MAX_BYTES = 8 * 1024 * 1024
KNOWN_SESSIONS = 500  # in whose folders a link's repository is looked for

if TYPE_CHECKING:
    from bascule.launch.launches import Folders, Launches
    from bascule.launch.record import LaunchRecord


async def launch(args: argparse.Namespace) -> int:
    from bascule.launch.request import request_of

    prompt = _from_stdin() if args.prompt == "-" else args.prompt
    fields: dict[str, Any] = {"prompt": prompt, "mode": args.mode, "agent": args.agent}
    request = request_of({**fields, "workingDirectory": os.path.abspath(args.cwd or os.getcwd())})
    launches = _launches(args)
    try:
        return await _report(await launches.launch(request, "the command line"))
    finally:
        await launches.close()


async def open_link(args: argparse.Namespace) -> int:
    """For the desktop, which starts it without a terminal: what goes wrong is shown on the screen."""
    from bascule.launch.errors import LaunchError
    from bascule.launch.link import parse_link

    launches = _launches(args, partial(_session_folders, args))
    try:
        record = await launches.launch(parse_link(args.link), "a bascule:// link")
        await record.settled.wait()
        if record.error is not None:
            raise record.error
    except LaunchError as error:
        _notify(error.message)
        raise
    finally:
        await launches.close()
    return exits.OK


async def _session_folders(args: argparse.Namespace) -> list[str]:
    """Where sessions of this machine's server work, the latest first; none while no server runs."""
    from bascule.client import Client
    from bascule.client.address import Unreachable
    from bascule.commands.server_address import data_dir_of

    try:
        async with await Client.local(data_dir_of(args)) as client:
            return [session.cwd for session in await client.sessions(limit=KNOWN_SESSIONS)]
    except Unreachable:
        return []


def _notify(message: str) -> None:
    """A desktop without notifications has only our stderr."""
    from bascule.service.programs import run_program

    run_program(["notify-send", "--app-name=Bascule", "--", "The link was not opened", message])


def _from_stdin() -> str:
    """As bytes: a text stream would change the ends of lines."""
    try:
        return sys.stdin.buffer.read(MAX_BYTES).decode()
    except UnicodeDecodeError:
        raise InvalidInput("The prompt is not UTF-8.") from None


async def open_terminal(args: argparse.Namespace) -> int:
    """Go on with a session's conversation in a terminal, or print the command that does."""
    from bascule.commands.server_address import connected, data_dir_of
    from bascule.launch.conversation import resume_command, start_of

    async with await connected(args) as client:
        session = await client.session(args.session)
        open_in = (await client.follow_found(args.session)).terminal if session.found else None
    launches = _launches(args)
    try:
        start = start_of(session, launches.conversation, data_dir_of(args), open_in)
        if args.print:
            print(resume_command(start, session.cwd))
            return exits.OK
        return await _report(await launches.run(start, session.cwd, "the command line"))
    finally:
        await launches.close()


def _launches(args: argparse.Namespace, folders: "Folders | None" = None) -> "Launches":
    from bascule.launch_setup import launches_of

    flags = {"data_dir": args.data, "launch.terminal": getattr(args, "terminal", None)}
    return launches_of(load(flags), folders=folders).launches


async def _report(record: "LaunchRecord") -> int:
    await record.settled.wait()  # bounded by launch.window_seconds
    if record.error is not None:
        print(record.error.message, file=sys.stderr)
        return exits.FAILED
    print(f"Opened in {record.terminal} (chosen by {record.rule}).")
    return exits.OK
