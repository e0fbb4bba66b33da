"""`bascule pair`: a one-time link for a phone or another browser, and the addresses it can be opened by."""

import argparse
import asyncio
import sys

from bascule.api.grant_answers import ServerAddress
from bascule.client.address_check import Reach, try_address
from bascule.commands import exits
from bascule.commands.request_prompt import flat
from bascule.commands.server_address import connected

GUIDE = "docs/machines.md"


async def pair(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        made = await client.create_link(args.name or "", args.role)
    tried = await asyncio.gather(*(try_address(one.url) for one in made.addresses))
    found = list(zip(made.addresses, tried, strict=True))
    chosen = _best(found)
    link = f"{chosen.url}/#pair={made.secret}"
    if args.qr or (args.qr is None and sys.stdout.isatty()):
        _print_code(link)
    print(link, flush=True)
    who = f"{flat(args.name)} enters" if args.name else "The first to open it enters"
    print(f"{who} as {args.role}. It works once, within {made.expires_in / 60:.0f} minutes.", file=sys.stderr)
    print("Addresses:", file=sys.stderr)
    for address, (reach, why) in found:
        print(f"  {flat(address.url)}  {_words(address, reach, why)}", file=sys.stderr)
    if chosen.kind == "loopback":
        print(_only_here(args.role), file=sys.stderr)
    return exits.OK


def _best(found: "list[tuple[ServerAddress, tuple[Reach, str]]]") -> ServerAddress:
    """The first that answers. One that its owner named is believed: it may answer others alone."""
    for address, (reach, _) in found:
        if reach == "answers" or (address.kind == "public" and reach in ("silent", "untrusted")):
            return address
    return found[-1][0]


def _words(address: ServerAddress, reach: Reach, why: str) -> str:
    reason = f" ({flat(why)})" if why else ""
    match reach:
        case "answers" if address.kind == "loopback":
            return "only reachable from this machine"
        case "answers" if address.kind == "public":
            return "answers (public_url)"
        case "answers":
            return "answers; reachable from this network, unless a firewall is in between"
        case "refuses":
            host = address.url.partition("://")[2]
            return f'refuses this name; add it to config.toml: allowed_hosts = ["{flat(host)}"]'
        case "untrusted":
            return f"answers with a certificate that this machine does not trust{reason}"
        case "other":
            return f"something else answers there{reason}"
        case "silent":
            return f"does not answer from here{reason}"


def _only_here(role: str) -> str:
    again = "bascule pair" if role == "operator" else f"bascule pair --role {role}"
    return (
        "Only this machine can open the link, because the server listens on it alone. For a phone, do one of "
        "these, then run this again:\n"
        "  - a proxy or tunnel with https in front of it, named to the server: "
        "bascule up --public-url https://bascule.example\n"
        "  - listen on the network with a certificate: "
        "bascule up --host ADDRESS --tls-cert FILE --tls-key FILE\n"
        f"{GUIDE} has both in steps. Again: {again}"
    )


def _print_code(link: str) -> None:
    import segno

    segno.make(link, micro=False).terminal(out=sys.stderr, compact=True)
