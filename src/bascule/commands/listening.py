"""Prints what a session's agent listens on, for `bascule sessions show`."""

from bascule.client import Client
from bascule.commands.console import Console
from bascule.commands.transcript import one_line
from bascule.link.listening import Listener
from bascule.model.errors import BasculeError
from bascule.model.lifecycle import LIVE
from bascule.model.records import SessionRecord

MAX_NAME = 64
REACHABLE = "Reachable from the network: programs on other machines may connect to it."


async def print_listeners(client: Client, terminal: Console, session: SessionRecord) -> None:
    """Nothing when it has ended or listens on nothing. A machine that is away is named."""
    if session.phase not in LIVE:
        return
    try:
        answer = await client.listeners(session.session_id)
    except BasculeError as error:
        terminal.line(f"What it listens on is not known. {one_line(error.message)}", "dim")
        return
    for listener in answer.listeners:
        name = f" ({one_line(listener.process, MAX_NAME)})" if listener.process else ""
        terminal.line(f"Listens on {_address(listener)}{name}", "plain" if listener.loopback else "yellow")
        if not listener.loopback:
            terminal.line(f"  {REACHABLE}", "yellow")
    if answer.cut:
        terminal.line("It listens on more.", "dim")
    if answer.unseen:
        terminal.line(f"Not seen: what {answer.unseen} of its processes may listen on.", "dim")


def _address(one: Listener) -> str:
    return f"[{one.address}]:{one.port}" if ":" in one.address else f"{one.address}:{one.port}"
