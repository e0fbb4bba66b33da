"""The permission of a hub to let agents here do more without asking: asked when joining, changed later."""

import argparse
import sys
from pathlib import Path

from bascule.client import Client
from bascule.commands import exits
from bascule.commands.console import Keyboard
from bascule.commands.request_prompt import command_line, flat
from bascule.commands.server_address import running_server
from bascule.config import load
from bascule.model.errors import InvalidInput
from bascule.model.settings import Settings
from bascule.state_folder import HubNote, read_hub_note, write_hub_note

QUESTION = """\
May {url} let agents on this machine do more without asking? That is: rules that allow, trusted
folders, modes that allow by themselves, "allow in this session", higher limits. Say yes only if that
hub is as much yours as this machine is. With no, it still starts sessions and answers one request at a time.
[y yes, n no (default)] """


async def chosen(args: argparse.Namespace, settings: Settings, url: str) -> bool:
    """What the flag says, else the config file, else what was said of this hub before, else a person."""
    if args.hub_may_widen is not None:
        return bool(args.hub_may_widen)
    if settings.starts.hub_may_widen is not None:
        return settings.starts.hub_may_widen
    before = read_hub_note(Path(settings.data_dir))
    if before is not None and before.url == url:
        return before.may_widen
    if args.token_stdin or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return await _asked(url)


async def _asked(url: str) -> bool:
    """An answer that is neither is asked for again; a closed stdin is a no."""
    keyboard = Keyboard()
    keyboard.forget_typed_ahead()
    while True:
        print(QUESTION.format(url=flat(url)), end="", flush=True)
        typed = await keyboard.line()
        if typed is None or typed.strip().lower() in ("", "n", "no"):
            return False
        if typed.strip().lower() in ("y", "yes"):
            return True
        print(f"{flat(typed)!r} is neither yes nor no.")


async def change(args: argparse.Namespace) -> int:
    settings = load({"data_dir": args.data})
    folder = Path(settings.data_dir)
    note = read_hub_note(folder)
    if note is None:
        print("This machine has joined no hub.", file=sys.stderr)
        return exits.REFUSED
    wanted = args.answer == "yes"
    if running_server(settings.data_dir) is not None:
        async with await Client.local(settings.data_dir) as client:
            await client.let_hub_widen(wanted)
    else:
        _store(settings, HubNote(note.url, note.token, wanted))
    print(words(note.url, may_widen=wanted, configured=settings.starts.hub_may_widen is not None))
    return exits.OK


def _store(settings: Settings, note: HubNote) -> None:
    configured = settings.starts.hub_may_widen
    if configured is not None and configured != note.may_widen:
        raise InvalidInput(
            f"The config file says `hub_may_widen = {str(configured).lower()}` under [starts], "
            "and that decides. Change it there, or remove it."
        )
    write_hub_note(Path(settings.data_dir), note)


def words(url: str, *, may_widen: bool, configured: bool) -> str:
    """How it stands, and how to change it."""
    may = "may" if may_widen else "may not"
    other = command_line("daemon", "hub-may-widen", "no" if may_widen else "yes")
    how = "config.toml says so" if configured else f"change it with: {other}"
    return f"{flat(url)} {may} let agents here do more without asking ({how})."


def stands(settings: Settings, note: HubNote) -> str:
    """Of a server that does not run."""
    configured = settings.starts.hub_may_widen
    may_widen = note.may_widen if configured is None else configured
    return words(note.url, may_widen=may_widen, configured=configured is not None)
