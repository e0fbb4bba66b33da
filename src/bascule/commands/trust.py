"""`bascule trust …`: creates, lists and revokes links to the server, and the trust in web sites."""

import argparse
import sys

from bascule.api.grant_answers import GrantView
from bascule.commands import exits, trusted_browsers
from bascule.commands.console import Console
from bascule.commands.request_prompt import command_line, flat
from bascule.commands.server_address import connected


async def generate(args: argparse.Namespace) -> int:
    if args.browser is not None:
        return trusted_browsers.generate(args)
    if args.name is None:
        print("Name who the link is for: bascule trust generate NAME", file=sys.stderr)
        return exits.USAGE
    role = "session" if args.session else args.role
    async with await connected(args) as client:
        made = await client.create_grant(args.name, role, days=args.days, session_id=args.session)
    print(made.link)
    until = f"until {made.grant.expires_at}" if made.grant.expires_at else "forever"
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
    links, sites = _links(grants), _sites(grants)
    if not links:
        terminal.line("There are no links. Create one with: bascule trust generate NAME")
    for grant in links:
        where = f"  session {flat(grant.session_id)}" if grant.session_id else ""
        until = f"until {grant.expires_at}" if grant.expires_at else "forever"
        used = f"  last used {grant.last_used_at}" if grant.last_used_at else ""
        terminal.line(f"{flat(grant.id)}  {grant.role:<8}  {flat(grant.name)}  {until}{where}{used}")
    if sites:
        terminal.line("Websites that may launch agents without the launch window:")
    for grant in sites:
        terminal.line(f"{flat(grant.id)}  {flat(grant.name)}  trusted since {flat(grant.created_at)}")
    trusted_browsers.list_browsers(args, terminal)
    return exits.OK


def _sites(grants: list[GrantView]) -> list[GrantView]:
    return [grant for grant in grants if grant.role == "site"]


def _links(grants: list[GrantView]) -> list[GrantView]:
    return [grant for grant in grants if grant.role != "site"]


async def revoke(args: argparse.Namespace) -> int:
    """By id, or by a name that only one grant, or else one browser, has."""
    if trusted_browsers.revoke(args):
        return exits.OK
    async with await connected(args) as client:
        grants = await client.grants()
        found = [grant for grant in grants if grant.id == args.grant] or [
            grant for grant in grants if grant.name == args.grant
        ]
        if len(found) != 1:
            problem = "No link or site has" if not found else f"{len(found)} of them have"
            advice = "bascule trust list shows them" if not found else "name one by its id"
            print(f"{problem} the name or id {flat(args.grant)}; {advice}.", file=sys.stderr)
            return exits.REFUSED
        await client.revoke_grant(found[0].id)
    print(_revoked(found[0]))
    return exits.OK


def _revoked(grant: GrantView) -> str:
    if grant.role != "site":
        return f"{flat(grant.name)} can no longer get in."
    again = "Its pages get the launch window again, unless launch.origins lists it."
    return f"{flat(grant.name)} is no longer trusted. {again}"
