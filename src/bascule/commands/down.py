"""`bascule down`: ends every agent and terminal of this machine, and the server if one runs."""

import argparse
import asyncio
import sys
from pathlib import Path

from bascule.commands import exits
from bascule.commands.server_address import data_dir_of, stop_server
from bascule.model.process_ids import pid_exists
from bascule.state_folder import read_note
from bascule.transport.errors import KeeperError, KeeperGone
from bascule.transport.keeper import KeeperConnection
from bascule.transport.keeper_messages import ExitNotice, Notice

KEEPER = "keeper"
# For a process: its stdin is closed, then come TERM and KILL, as when a server ends it.
GRACE_STDIN, GRACE_TERM = 2.0, 5.0
END_SECONDS = GRACE_STDIN + GRACE_TERM + 10


async def down(args: argparse.Namespace) -> int:
    """What is in the log stays there; the next server notes how each session ended."""
    folder = Path(data_dir_of(args))
    note = read_note(folder)
    stopped = note is not None and pid_exists(note.pid)
    ended = 0
    if note is not None and stopped:
        ended = await _end_by_server(folder)
        if not await stop_server(note.pid):
            print(f"The server (pid {note.pid}) did not stop.", file=sys.stderr)
            return exits.FAILED
    more, left = await _end_by_keeper(folder / KEEPER)
    # What the server has ended may still be on its way out when the keeper is asked: it counts once.
    words = f"Ended {_sessions(max(ended, more))}."
    print(f"{words} The server was stopped." if stopped else f"{words} No server was running.")
    if left:
        print(f"{_sessions(left)} did not end in time; try again.", file=sys.stderr)
        return exits.FAILED
    return exits.OK


def _sessions(number: int) -> str:
    return f"{number} session{'' if number == 1 else 's'}"


async def _end_by_server(folder: Path) -> int:
    """The server logs who ended them, and why."""
    from bascule.client import Client
    from bascule.commands.server_address import device_in
    from bascule.model.errors import BasculeError

    async with await Client.local(str(folder)) as client:
        try:
            return (await client.kill_all(device_in(folder))).ended
        except BasculeError as error:
            if error.refusal().code != "INVALID_MESSAGE":
                raise
            return (await client.kill_all()).ended  # an older server knows one machine only


async def _end_by_keeper(folder: Path) -> tuple[int, int]:
    """End what the keeper still holds. Returns how many ended, and how many did not."""
    try:
        keeper = await KeeperConnection.connect(folder)
    except KeeperGone:
        return 0, 0  # without a keeper there is nothing that it could hold
    try:
        running = {one.session for one in await keeper.list() if one.exit is None}
        asked = len(running)
        over = asyncio.Event()

        def heard(notice: Notice) -> None:
            if isinstance(notice, ExitNotice):
                running.discard(notice.session)
            if not running:
                over.set()

        for session in sorted(running):
            await _end(keeper, session)
        if running:
            await keeper.watch(heard)
            try:
                await asyncio.wait_for(over.wait(), END_SECONDS)
            except TimeoutError:
                return asked - len(running), len(running)
        return asked, 0
    except KeeperGone:
        return 0, 0  # it went away, and its agents with it
    finally:
        await keeper.aclose()


async def _end(keeper: KeeperConnection, session: str) -> None:
    try:
        await keeper.end(session, grace_stdin=GRACE_STDIN, grace_term=GRACE_TERM)
    except KeeperError as error:
        print(f"{session}: {error}", file=sys.stderr)
