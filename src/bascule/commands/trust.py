"""`bascule trust …`: creates, lists and revokes links to the server."""

import argparse
import sys

from bascule.commands import exits
from bascule.commands.console import Console
from bascule.commands.request_prompt import command_line, flat
from bascule.commands.server_address import connected


async def generate(args: argparse.Namespace) -> int:
    role = "session" if args.session else args.role
    async with await connected(args) as client:
        made = await client.create_grant(args.name, role, days=args.days, session_id=args.session)
    print(made.link)
    until = f"until {made.grant.expires_at}" if made.grant.expires_at else "for ever"
    notice = f"{flat(made.grant.name)} may enter as {made.grant.role} {until}. Shown only once. Copy it now."
    print(f"{notice}\nTake it back with: {command_line('trust', 'revoke', made.grant.id)}", file=sys.stderr)
    if args.qr or (args.qr is None and sys.stdout.isatty()):
        _print_code(made.link)
    return exits.OK


def _print_code(link: str) -> None:
    import segno

    segno.make(link, micro=False).terminal(out=sys.stderr, compact=True)


async def list_grants(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        grants = await client.grants()
    terminal = Console()
    if not grants:
        terminal.line("Nobody has a link. Make one with: bascule trust generate NAME")
    for grant in grants:
        where = f"  session {flat(grant.session_id)}" if grant.session_id else ""
        until = f"until {grant.expires_at}" if grant.expires_at else "for ever"
        used = f"  last used {grant.last_used_at}" if grant.last_used_at else ""
        terminal.line(f"{flat(grant.id)}  {grant.role:<8}  {flat(grant.name)}  {until}{where}{used}")
    return exits.OK


async def revoke(args: argparse.Namespace) -> int:
    """By id, or by a name that only one grant has."""
    async with await connected(args) as client:
        grants = await client.grants()
        found = [one for one in grants if one.id == args.grant] or [
            one for one in grants if one.name == args.grant
        ]
        if len(found) != 1:
            problem = "No link has" if not found else f"{len(found)} links have"
            advice = "bascule trust list shows them" if not found else "name one by its id"
            print(f"{problem} the name or id {flat(args.grant)}; {advice}.", file=sys.stderr)
            return exits.REFUSED
        await client.revoke_grant(found[0].id)
    print(f"{flat(found[0].name)} can't enter any more.")
    return exits.OK
