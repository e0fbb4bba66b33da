"""Declares commands to argparse; each is imported when it runs, so that the command line starts fast."""

import argparse
import gc
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

Result = int | Coroutine[Any, Any, int]
Command = Callable[[argparse.Namespace], Result]


class Commands(Protocol):
    """Where commands are added: argparse has no public name for it."""

    def add_parser(self, name: str, *, help: str, description: str) -> argparse.ArgumentParser: ...


def lazily(module: str, name: str) -> Command:
    """A function of a module of `bascule.commands`."""

    def command(args: argparse.Namespace) -> Result:
        from importlib import import_module

        gc.disable()  # what is imported stays; looking through it for garbage takes a tenth of the time
        try:
            imported = import_module(f"bascule.commands.{module}")
        finally:
            gc.enable()
        return getattr(imported, name)(args)

    return command


def add(
    commands: Commands, name: str, help: str, command: Command, *, talks: bool = True
) -> argparse.ArgumentParser:
    """`talks`: it asks a server, which may be named."""
    parser = commands.add_parser(name, help=help, description=help)
    parser.set_defaults(command=command)
    parser.add_argument("--data", metavar="DIR", help="state folder")
    if talks:
        parser.add_argument("--server", metavar="URL", help="server to use; its token is in BASCULE_TOKEN")
    return parser


def group(commands: Commands, name: str, help: str) -> Commands:
    return commands.add_parser(name, help=help, description=help).add_subparsers(
        metavar="ACTION", required=True
    )
