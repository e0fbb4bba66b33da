"""`bascule agents` and `bascule daemon …`: what this machine can run, and whether it takes new sessions."""

import argparse

from bascule.commands import exits
from bascule.commands.asking import flat
from bascule.commands.server import connected
from bascule.commands.terminal import Terminal


async def agents(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        found = await client.agents()
    terminal = Terminal()
    for agent in found:
        mark = terminal.style("ok  ", "green") if agent.available else terminal.style("no  ", "dim")
        facts = " ".join(part for part in (agent.version, agent.path) if part)
        label = f"{flat(agent.title or agent.name)}{' (demo)' if agent.demo else ''}"
        detail = facts if agent.available else agent.problem or "not found"
        terminal.line(f"{mark}{agent.name:<14}  {label:<20}  {flat(detail)}")
    return exits.OK


async def pause(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        await client.pause(args.paused)
    print("No new sessions start here." if args.paused else "New sessions may start again.")
    return exits.OK
