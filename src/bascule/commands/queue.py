"""`bascule sessions queue`: lists the messages that wait in a session, and sends or discards held ones."""

import argparse

from bascule.commands import exits
from bascule.commands.console import Console
from bascule.commands.request_prompt import flat
from bascule.commands.server_address import connected
from bascule.commands.transcript import one_line


async def queue(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        held = [one for one in await client.queue(args.session) if one.held]
        if args.send_next and held:
            await client.release(args.session, held[0].prompt_id)
        elif args.send_all:
            await client.release(args.session)
        elif args.discard:
            await client.discard(args.session)
        waiting = await client.queue(args.session)
    terminal = Console()
    if not waiting:
        terminal.line("Nothing is waiting in this session.")
    for one in waiting:
        state = terminal.style("held  ", "yellow") if one.held else "queued"
        terminal.line(f"{state}  {one_line(one.by, 20):<12}  {one_line(one.text, 100)}")
    if any(one.held for one in waiting):
        terminal.line(
            "Held since the turn was stopped. Decide with: "
            f"bascule sessions queue {flat(args.session)} --send-next | --send-all | --discard",
            "dim",
        )
    return exits.OK
