"""`bascule sessions unlogged`: lists processes without a log, recovers or ends one."""

import argparse
import shlex

from bascule.client import Client
from bascule.commands import exits
from bascule.commands.console import Console
from bascule.commands.server_address import connected
from bascule.commands.transcript import one_line
from bascule.link.unlogged import UnloggedProcess
from bascule.model.codec import encode
from bascule.model.errors import Refused


async def unlogged(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        if args.take_up:
            for session_id in await client.unlogged.take_up(args.take_up):
                Console().line(f"Recovered as {session_id}.")
            return exits.OK
        if args.end:
            folder = await client.unlogged.end(args.end)
            Console().line(f"Ended. What it wrote is in {one_line(folder, 400)}")
            return exits.OK
        found = await client.unlogged.list()
    terminal = Console()
    if args.json:
        terminal.line(encode(found).decode())
        return exits.OK
    if not found:
        terminal.line("Every running process is in the log.")
    for one in found:
        describe(terminal, one)
    return exits.OK


async def mention(client: Client, terminal: Console) -> None:
    """Below a list of sessions: what is missing from it."""
    for damage in await client.damaged():
        terminal.line(terminal.style(f"{one_line(damage.session_id, 40)}  damaged", "red"))
        terminal.line(f"  {one_line(damage.message, 200)}")
    try:
        found = await client.unlogged.list()
    except Refused:  # not for those who may only look
        return
    if found:
        terminal.line(terminal.style(f"{len(found)} running, not in the log:", "yellow"))
    for one in found:
        describe(terminal, one)


def describe(terminal: Console, one: UnloggedProcess) -> None:
    state = "running" if one.running else "ended"
    what = one_line(one.title or " ".join(one.argv) or one.name, 60)
    terminal.line(f"{one_line(one.name, 60)}  {state}, not in the log  {one_line(one.agent, 16)}  {what}")
    facts = [f"pid {one.pid}" if one.pid else "", one.started_at, one.cwd, f"{one.kept_bytes} bytes kept"]
    terminal.line("  " + one_line("  ".join(fact for fact in facts if fact), 300))
    terminal.line("  " + one_line(one.problem, 300))
    name = shlex.quote(one_line(one.name, 200))
    if one.can_take_up:
        terminal.line(f"  bascule sessions unlogged --take-up {name}")
    terminal.line(f"  bascule sessions unlogged --end {name}")
