"""`bascule export`: writes a session to a file; a terminal as an asciinema recording."""

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path

from bascule.commands import exits
from bascule.commands.server_address import connected


async def export(args: argparse.Namespace) -> int:
    to_file = args.output and args.output != "-"
    # Nothing else goes on in this program while it writes.
    target = Path(args.output).open("w", encoding="utf-8") if to_file else nullcontext(sys.stdout)  # noqa: ASYNC230, SIM115
    with target as file:
        async with await connected(args) as client:
            async for piece in client.cast(args.session):
                file.write(piece)
    return exits.OK
