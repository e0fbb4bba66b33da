"""`bascule starts …`: lists and answers the starts from elsewhere that wait on this machine."""

import argparse
import time

from bascule.client import Client
from bascule.commands import exits
from bascule.commands.console import Console
from bascule.commands.request_prompt import flat
from bascule.commands.server_address import data_dir_of
from bascule.link.starts import StartList
from bascule.model.starts import WaitingStart


async def list_starts(args: argparse.Namespace) -> int:
    async with await Client.local(data_dir_of(args)) as client:
        found = await client.starts()
    terminal = Console()
    waiting = [start for start in found.starts if start.state == "waiting"]
    if found.blocked_until is not None:
        terminal.line(f"Starts from elsewhere are blocked until {_at(found.blocked_until)}.")
    if not waiting:
        terminal.line(f"No start is waiting for approval (starts.approval is {flat(found.approval)}).")
    for one in waiting:
        for line in _lines(one):
            terminal.line(line)
    return exits.OK


def _lines(start: WaitingStart) -> list[str]:
    left = max(0, round(start.expires_at - time.time()))
    via = f", by {flat(start.via)}" if start.via else ""
    where = f" in {flat(start.folder)}" if start.folder else ""
    lines = [f"{flat(start.id)}  {flat(start.what)}{where}  {left // 60}:{left % 60:02d} left"]
    lines += [f"          {flat(start.words)}"] if start.words else []
    lines.append(f"          {flat(start.by)}, {flat(start.browser)} ({flat(start.address)}{via})")
    lines += [f"          Unusual: {flat('; '.join(start.reasons))}"] if start.reasons else []
    return lines


async def decide(args: argparse.Namespace) -> int:
    async with await Client.local(data_dir_of(args)) as client:
        await client.decide_start(args.start, args.decision)
    print("Started." if args.decision == "approve" else "Denied.")
    return exits.OK


async def block(args: argparse.Namespace) -> int:
    async with await Client.local(data_dir_of(args)) as client:
        await client.block_starts(blocked=args.blocked)
        found: StartList = await client.starts()
    until = found.blocked_until
    print("Starts from elsewhere are accepted again." if until is None else f"Blocked until {_at(until)}.")
    return exits.OK


def _at(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))
