"""`bascule export`: writes a session to a file; a terminal as an asciinema recording."""

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path

from bascule.commands import exits
from bascule.commands.server_address import connected

HIDDEN = (
    "What looks like a key is overwritten. One that a program drew in pieces is not recognised: "
    "look at the recording before you pass it on."
)
KEPT = "The recording is exact: keys that were shown are in it."


async def export(args: argparse.Namespace) -> int:
    to_file = args.output and args.output != "-"
    # Nothing else goes on in this program while it writes.
    target = Path(args.output).open("w", encoding="utf-8") if to_file else nullcontext(sys.stdout)  # noqa: ASYNC230, SIM115
    with target as file:
        async with await connected(args) as client:
            async for piece in client.cast(args.session, keep_secrets=args.keep_secrets):
                file.write(piece)
    print(KEPT if args.keep_secrets else HIDDEN, file=sys.stderr)
    return exits.OK
