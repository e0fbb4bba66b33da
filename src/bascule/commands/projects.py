"""`bascule projects …`: the folders whose agents' trust questions Bascule answers with yes."""

import argparse
import os

from bascule.commands import exits
from bascule.commands.request_prompt import flat
from bascule.commands.server_address import connected


async def trust(args: argparse.Namespace) -> int:
    path = os.path.abspath(os.path.expanduser(args.path))
    async with await connected(args) as client:
        real = await client.trust_folder(path, trusted=args.trusted)
    print(f"Trusted: {flat(real)}" if args.trusted else f"No longer trusted: {flat(real)}")
    return exits.OK


async def list_trusted(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        for folder in await client.trusted_folders():
            print(flat(folder))
    return exits.OK
