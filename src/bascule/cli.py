"""The command line's parser. Commands are imported when they run, so that it starts fast."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from bascule import __version__
from bascule.commands import exits
from bascule.commands.arguments.declare import Result

if TYPE_CHECKING:
    from bascule.model.errors import BasculeError

EPILOG = """exit status:
  0  the turn or command went well
  1  the turn ended in an error, or a check found something
  2  wrong usage or settings
  3  no server runs, or it can't be reached
  4  the server refused
  130  interrupted

environment:
  BASCULE_SERVER, BASCULE_TOKEN  the server to talk to, and its token (default: the server on this machine)

settings: ~/.config/bascule/config.toml, BASCULE_* variables and flags; docs/settings.md lists them all
"""

# The first words of commands, and the module and function of `bascule.commands.arguments` that declare them.
_GROUPS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("up", "hub", "down"), "machine_arguments", "add_up"),
    (("run",), "session_arguments", "add_run"),
    (("launch", "bridge", "open-link"), "session_arguments", "add_launch"),
    (("service",), "machine_arguments", "add_service"),
    (("sessions",), "session_arguments", "add_sessions"),
    (("attach", "projects"), "session_arguments", "add_terminals"),
    (("trust",), "access_arguments", "add_trust"),
    (("starts",), "access_arguments", "add_starts"),
    (("pair",), "access_arguments", "add_pair"),
    (("prompts",), "record_arguments", "add_prompts"),
    (("rules",), "record_arguments", "add_rules"),
    (("feedback",), "record_arguments", "add_feedback"),
    (("agents", "doctor", "daemon"), "machine_arguments", "add_machine"),
    (("audit",), "record_arguments", "add_audit"),
    (("store",), "machine_arguments", "add_store"),
    (("backup", "restore"), "machine_arguments", "add_backup"),
)


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help", "--version")):
        words.insert(0, "up")  # `bascule` alone, or with flags of its own, starts the server
    args = build_parser(words[0]).parse_args(words)
    try:
        _guard_terminals()
        return _run(args)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:
        # Nobody reads our output any more: nothing may be written there, not even by the interpreter.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.FAILED


def _guard_terminals() -> None:
    if not (sys.stdout.isatty() or sys.stderr.isatty()):
        return
    from bascule.commands.screen import guard_terminals

    guard_terminals()


def _run(args: argparse.Namespace) -> int:
    from bascule.model.errors import BasculeError

    try:
        result: Result = args.command(args)
        if isinstance(result, int):
            return result
        import asyncio

        return asyncio.run(result)
    except BasculeError as error:
        return _tell(error)
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - a person gets a sentence, the file gets the rest
        from bascule.commands.fault import tell

        return tell(args, error)


def _tell(error: "BasculeError") -> int:
    """Say what went wrong; the exit status says whose fault it was."""
    from bascule.client.address import Unreachable
    from bascule.config import ConfigError
    from bascule.model.errors import InvalidInput, Refused
    from bascule.policy.redact import redact
    from bascule.policy.visible import sanitize

    print(sanitize(redact(error.message)), file=sys.stderr)
    match error:
        case Unreachable():
            return exits.UNREACHABLE
        case Refused():
            return exits.REFUSED
        case ConfigError() | InvalidInput():
            return exits.USAGE
        case _:
            return exits.FAILED


def build_parser(word: str = "") -> argparse.ArgumentParser:
    """The parser for a command line that begins with this word, or for all of them.

    All forty parsers take 30 ms to build, a tenth of the server's start.
    """
    parser = argparse.ArgumentParser(
        prog="bascule",
        description="Start, watch, answer and stop the coding agents on your machines.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"bascule {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    named = [group for group in _GROUPS if word in group[0]]
    for _, module, add in named or _GROUPS:
        getattr(import_module(f"bascule.commands.arguments.{module}"), add)(commands)
    return parser
