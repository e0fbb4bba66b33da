"""`bascule agents` and `bascule daemon …`: lists agents, pauses and resumes new sessions."""

import argparse

from bascule.commands import exits
from bascule.commands.console import Console
from bascule.commands.request_prompt import flat
from bascule.commands.server_address import connected, own_device
from bascule.link.machine import AgentInfo


async def agents(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        found = await client.agents()
    terminal = Console()
    for agent in found:
        mark = terminal.style("ok  ", "green") if agent.available else terminal.style("no  ", "dim")
        facts = " ".join(part for part in (agent.version, agent.path, signed_in(agent)) if part)
        label = f"{flat(agent.title or agent.name)}{' (demo)' if agent.demo else ''}"
        detail = facts if agent.available else agent.problem or "not found"
        terminal.line(f"{mark}{flat(agent.name):<14}  {label:<20}  {flat(detail)}")
        for said in agent.unasked.get(agent.drivers[0], ()) if agent.available and agent.drivers else ():
            terminal.line(terminal.style(f"{'':<20}{flat(said)}", "dim"))
    return exits.OK


def signed_in(agent: AgentInfo) -> str:
    """Whether it is signed in, in words, with what to do when it is not."""
    match agent.signed_in:
        case None:
            return ""
        case "no":
            return f"(signed in: no; sign in with: {agent.login})" if agent.login else "(signed in: no)"
        case _:
            return f"(signed in: {agent.signed_in})"


async def pause(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        outcome = await client.pause(args.paused, own_device(args))
    for device in outcome.devices:
        if device.message:
            print(flat(device.message))
    print("No new sessions start here." if args.paused else "New sessions may start again.")
    return exits.OK
