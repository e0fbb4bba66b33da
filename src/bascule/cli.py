"""The command line's parser. Commands are imported when they run, so that it starts fast."""

import argparse
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from bascule import __version__
from bascule.commands import exits

Result = int | Coroutine[Any, Any, int]
Command = Callable[[argparse.Namespace], Result]

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


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    parser = build_parser()
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help", "--version")):
        words.insert(0, "up")  # `bascule` alone, or with flags of its own, starts the server
    args = parser.parse_args(words)
    try:
        _guard_terminals()
        return _run(args)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:
        # Whoever read us has gone; nothing more can be said there, not even by the interpreter at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.FAILED


def _guard_terminals() -> None:
    if not (sys.stdout.isatty() or sys.stderr.isatty()):
        return
    from bascule.commands.screen import guard_terminals

    guard_terminals()


def _run(args: argparse.Namespace) -> int:
    from bascule.client.address import Unreachable
    from bascule.config import ConfigError
    from bascule.model.errors import BasculeError, InvalidInput, Refused

    try:
        result: Result = args.command(args)
        if isinstance(result, int):
            return result
        import asyncio

        return asyncio.run(result)
    except BasculeError as error:
        from bascule.policy.redact import redact
        from bascule.policy.visible import tame

        print(tame(redact(error.message)), file=sys.stderr)
        match error:
            case Unreachable():
                return exits.UNREACHABLE
            case Refused():
                return exits.REFUSED
            case ConfigError() | InvalidInput():
                return exits.USAGE
            case _:
                return exits.FAILED
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - a person gets a sentence, the file gets the rest
        from bascule.commands.fault import tell

        return tell(args, error)


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bascule",
        description="Start, watch, answer and stop the coding agents on your machines.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"bascule {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_up(commands)
    _add_run(commands)
    _add_sessions(commands)
    _add_terminals(commands)
    _add_trust(commands)
    _add_rules(commands)
    _add_feedback(commands)
    _add_machine(commands)
    _add_audit(commands)
    return parser


class Commands(Protocol):
    """Where commands are added: argparse has no public name for it."""

    def add_parser(self, name: str, *, help: str, description: str) -> argparse.ArgumentParser: ...


def _lazily(module: str, name: str) -> Command:
    def command(args: argparse.Namespace) -> Result:
        from importlib import import_module

        return getattr(import_module(f"bascule.commands.{module}"), name)(args)

    return command


def _add(
    commands: Commands, name: str, help: str, command: Command, *, talks: bool = True
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=help, description=help)
    parser.set_defaults(command=command)
    parser.add_argument("--data", metavar="DIR", help="state folder")
    if talks:
        parser.add_argument("--server", metavar="URL", help="another server; its token is in BASCULE_TOKEN")
    return parser


def _group(commands: Commands, name: str, help: str) -> Commands:
    return commands.add_parser(name, help=help, description=help).add_subparsers(
        metavar="ACTION", required=True
    )


def _add_up(commands: Commands) -> None:
    up = _add(commands, "up", "start the server (the default)", _lazily("up", "up"), talks=False)
    up.add_argument("--host", help="address to listen on (127.0.0.1)")
    up.add_argument("--port", type=int, help="port (3333); 0 takes any free one")
    up.add_argument("--no-open", action="store_true", help="do not open the browser")
    up.add_argument("--insecure-bind", action="store_true", help="listen beyond this machine without TLS")
    up.add_argument("--tls-cert", metavar="FILE")
    up.add_argument("--tls-key", metavar="FILE")


def _add_run(commands: Commands) -> None:
    run = _add(commands, "run", "send a prompt and watch its turn", _lazily("run", "run"))
    run.add_argument("prompt", nargs="?", help="what to ask; - reads it from stdin")
    run.add_argument("--terminal", metavar="AGENT", help="run this agent in a terminal instead, here")
    run.add_argument(
        "--skip-permissions", action="store_true", help="with --terminal: the agent asks nothing this time"
    )
    run.add_argument("--agent", help="which agent (the default one)")
    run.add_argument("--cwd", metavar="DIR", help="where it works (here)")
    run.add_argument("--model")
    run.add_argument("--mode", help="the agent's own mode, such as plan")
    run.add_argument("--resume", metavar="ID", help="go on with a session, or with the agent's own id of one")
    run.add_argument(
        "--permission-mode",
        choices=["relay", "auto-read", "auto", "deny"],
        default="relay",
        help="ask you (relay), allow reading in the folder, allow all, or deny all",
    )
    run.add_argument("--json", action="store_true", help="print the events as JSON lines; asks nothing here")
    run.add_argument("--detach", action="store_true", help="print the session's id and return at once")
    run.add_argument("--keep", action="store_true", help="leave the session open after the turn")


def _add_sessions(commands: Commands) -> None:
    actions = _group(commands, "sessions", "list, show, answer and end sessions")
    listing = _add(actions, "list", "what runs and what ran", _lazily("sessions", "list_sessions"))
    listing.add_argument("--archived", action="store_true")
    listing.add_argument("--json", action="store_true")
    show = _add(actions, "show", "what a session said", _lazily("sessions", "show"))
    show.add_argument("session")
    show.add_argument("--follow", action="store_true", help="and what it goes on to say")
    end = _add(actions, "end", "end a session", _lazily("sessions", "end"))
    end.add_argument("session")
    unlogged = _add(actions, "unlogged", "what runs and is not in the log", _lazily("unlogged", "unlogged"))
    unlogged.add_argument("--take-up", metavar="NAME", help="begin a log for it from what it wrote")
    unlogged.add_argument("--end", metavar="NAME", help="end it; what it wrote is put aside")
    unlogged.add_argument("--json", action="store_true")
    _add(actions, "kill-all", "stop every agent now", _lazily("sessions", "kill_all"))
    answer = _add(actions, "answer", "answer what waits; alone it lists that", _lazily("sessions", "answer"))
    answer.add_argument("session", nargs="?")
    answer.add_argument("request", nargs="?")
    answer.add_argument("decision", nargs="?", choices=["allow", "deny"])
    answer.add_argument("--sha", metavar="HEX", help="the input you saw; needed to allow")
    answer.add_argument("--remember", action="store_true", help="allow the same for this session")
    answer.add_argument("--message", help="why not, for the agent")
    answer.add_argument("--answer", action="append", default=[], metavar="TEXT", help="to a question")


def _add_terminals(commands: Commands) -> None:
    attach = _add(commands, "attach", "a session's terminal, in this one", _lazily("attach", "attach"))
    attach.add_argument("session")
    attach.add_argument("--detach-key", default="ctrl-]", metavar="KEY", help="leaves it running (ctrl-])")
    actions = _group(commands, "projects", "folders that agents may trust")
    trust = _add(
        actions,
        "trust",
        "answer trust questions here with yes, and let the project's own settings count",
        _lazily("projects", "trust"),
    )
    trust.add_argument("path")
    trust.set_defaults(trusted=True)
    distrust = _add(actions, "distrust", "leave trust questions to people", _lazily("projects", "trust"))
    distrust.add_argument("path")
    distrust.set_defaults(trusted=False)
    _add(actions, "list", "the trusted folders", _lazily("projects", "list_trusted"))


def _add_trust(commands: Commands) -> None:
    actions = _group(commands, "trust", "links that let a browser in")
    generate = _add(actions, "generate", "make a link", _lazily("trust", "generate"))
    generate.add_argument("name", help="whose it is; appears beside what they do")
    generate.add_argument("--role", choices=["owner", "operator", "viewer"], default="operator")
    generate.add_argument("--session", metavar="ID", help="opens this session only")
    generate.add_argument("--days", type=int, default=30)
    generate.add_argument("--qr", action=argparse.BooleanOptionalAction, help="show it as a QR code too")
    _add(actions, "list", "who has a link", _lazily("trust", "list_grants"))
    revoke = _add(actions, "revoke", "take a link back", _lazily("trust", "revoke"))
    revoke.add_argument("grant", metavar="NAME_OR_ID")


def _add_rules(commands: Commands) -> None:
    actions = _group(commands, "rules", "what is answered without asking you")
    listing = _add(actions, "list", "the rules, oldest first", _lazily("rules", "list_rules"))
    listing.add_argument("--json", action="store_true")
    add = _add(actions, "add", "make a rule", _lazily("rules", "add"))
    trying = _add(
        actions, "try", "what a rule would have answered, or how a request is", _lazily("rules", "try_out")
    )
    trying.add_argument("--request", metavar="TEXT", help="how the rules would answer this instead")
    for parser in (add, trying):
        parser.add_argument("answer", nargs="?", choices=["allow", "deny", "ask"])
        classes = ["read", "edit", "command", "fetch", "mcp", "other"]
        parser.add_argument(
            "tool_class", nargs="?", metavar="CLASS", choices=classes, help=", ".join(classes)
        )
        parser.add_argument(
            "--command", dest="run", metavar="TEXT", help="exactly this; ' …' at its end: and more"
        )
        parser.add_argument("--path", metavar="PATTERN", help="files, with * and **; relative to --in")
        parser.add_argument("--host", help="of an address that is fetched")
        parser.add_argument("--tool", help="by its name, or mcp__server for all of one server")
        parser.add_argument("--in", dest="folder", metavar="DIR", help="only in this folder's sessions")
        parser.add_argument("--agent", help="only for this agent")
        parser.add_argument("--session", metavar="ID", help="only in this session")
        parser.add_argument("--days", type=float, help="expire after this many days (default: never)")
    remove = _add(actions, "remove", "take a rule back", _lazily("rules", "remove"))
    remove.add_argument("rule", metavar="ID")


def _add_feedback(commands: Commands) -> None:
    actions = _group(
        commands, "feedback", "messages for Claude Code in a plain terminal, at its idle moments"
    )
    on = _add(actions, "on", "put the hooks into Claude's settings", _lazily("feedback", "on"), talks=False)
    on.add_argument("--dry-run", action="store_true", help="only show what would be written")
    _add(actions, "off", "take them out", _lazily("feedback", "off"), talks=False)
    _add(actions, "status", "whether they are there", _lazily("feedback", "status"), talks=False)


def _add_machine(commands: Commands) -> None:
    _add(commands, "agents", "which agents this machine has", _lazily("machine", "agents"))
    doctor = _add(commands, "doctor", "check this machine", _lazily("doctor", "doctor"), talks=False)
    doctor.add_argument(
        "--conformance", metavar="AGENT", help="play this agent, with its own model, through short scenes"
    )
    doctor.add_argument(
        "--driver", choices=["stream_json", "acp", "codex", "plain"], help="which of its ways to talk to it"
    )
    doctor.add_argument("--model", help="which model it is to use for that")
    doctor.add_argument("--yes", action="store_true", help="do not ask before its model is used")
    actions = _group(commands, "daemon", "whether this machine takes new sessions")
    pause = _add(actions, "pause", "take no new sessions", _lazily("machine", "pause"))
    pause.set_defaults(paused=True)
    resume = _add(actions, "resume", "take new sessions again", _lazily("machine", "pause"))
    resume.set_defaults(paused=False)


def _add_audit(commands: Commands) -> None:
    actions = _group(commands, "audit", "who did what")
    listing = _add(actions, "list", "the records, oldest first", _lazily("audit", "list_records"))
    listing.add_argument("--after", type=int, default=0, metavar="N")
    _add(
        actions,
        "verify",
        "check that no record was changed; works without a server",
        _lazily("audit", "verify"),
    )
    _add(actions, "export", "the records as JSON lines with their hashes", _lazily("audit", "export"))
