"""`bascule prompts …`: lists, shows, imports and exports the prompts of the library."""

import argparse
import os
import sys

from bascule.api.prompts import FilesOutcome, PromptView
from bascule.client.client import Client
from bascule.commands import exits
from bascule.commands.console import Console
from bascule.commands.request_prompt import flat
from bascule.commands.screen import print_json
from bascule.commands.server_address import connected
from bascule.model.codec import encode
from bascule.model.errors import InvalidInput
from bascule.model.prompts import markdown_of


async def list_prompts(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        found = await client.prompts.all(args.words or "")
    terminal = Console()
    for prompt in found:
        if args.json:
            print_json(encode(prompt))
            continue
        tags = "".join(f"  #{flat(tag)}" for tag in prompt.tags)
        kind = "" if prompt.kind == "prompt" else f"  ({prompt.kind})"
        terminal.line(f"{prompt.id}  {flat(prompt.title)}{kind}{tags}")
    if not found and not args.json:
        terminal.line("There is no such prompt." if args.words else "The library is empty.")
    return exits.OK


async def show(args: argparse.Namespace) -> int:
    """Its text as Markdown, as it is: a template's fields stay `{{name}}`."""
    async with await connected(args) as client:
        shown = await client.prompts.show((await _named(client, args.prompt)).id)
    sys.stdout.write(markdown_of(shown.content.delta))
    return exits.OK


async def import_files(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        return _print(await client.prompts.import_files(_absolute(args.folder), shared=not args.private))


async def export_files(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        return _print(await client.prompts.export_files(_absolute(args.folder)))


async def _named(client: Client, wanted: str) -> PromptView:
    """By its id, or by its title where only one has it."""
    prompts = await client.prompts.all()
    found = [prompt for prompt in prompts if prompt.id == wanted] or [
        prompt for prompt in prompts if prompt.title == wanted
    ]
    if len(found) != 1:
        words = "There is no prompt" if not found else "Several prompts are called"
        raise InvalidInput(f"{words} {wanted!r}. `bascule prompts list` shows their ids.")
    return found[0]


def _print(outcome: FilesOutcome) -> int:
    terminal = Console()
    for kind in ("added", "changed", "skipped"):
        for file in getattr(outcome, kind):
            why = f": {flat(file.problem)}" if file.problem else ""
            terminal.line(f"{kind}  {flat(file.path)}{why}")
    terminal.line(f"{len(outcome.unchanged)} unchanged in {flat(outcome.folder)}")
    if outcome.cut:
        print("There are more files than are read at once; choose a smaller folder.", file=sys.stderr)
    return exits.OK


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))
