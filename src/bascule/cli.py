"""The command line's parser. Commands are imported when they run, so that it starts fast."""

import argparse
import gc
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from bascule import __version__
from bascule.commands import exits

if TYPE_CHECKING:
    from bascule.model.errors import BasculeError

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
    named = [add for names, add in _GROUPS if word in names]
    for add in named or [add for _, add in _GROUPS]:
        add(commands)
    return parser


class Commands(Protocol):
    """Where commands are added: argparse has no public name for it."""

    def add_parser(self, name: str, *, help: str, description: str) -> argparse.ArgumentParser: ...


def _lazily(module: str, name: str) -> Command:
    def command(args: argparse.Namespace) -> Result:
        from importlib import import_module

        gc.disable()  # what is imported stays; looking through it for garbage takes a tenth of the time
        try:
            imported = import_module(f"bascule.commands.{module}")
        finally:
            gc.enable()
        return getattr(imported, name)(args)

    return command


def _add(
    commands: Commands, name: str, help: str, command: Command, *, talks: bool = True
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=help, description=help)
    parser.set_defaults(command=command)
    parser.add_argument("--data", metavar="DIR", help="state folder")
    if talks:
        parser.add_argument("--server", metavar="URL", help="server to use; its token is in BASCULE_TOKEN")
    return parser


def _group(commands: Commands, name: str, help: str) -> Commands:
    return commands.add_parser(name, help=help, description=help).add_subparsers(
        metavar="ACTION", required=True
    )


def _add_up(commands: Commands) -> None:
    up = _add(commands, "up", "start the server (the default)", _lazily("up", "up"), talks=False)
    _add(
        commands,
        "down",
        "end every session, and the server if one runs",
        _lazily("down", "down"),
        talks=False,
    )
    hub = _add(
        commands,
        "hub",
        "start a server for other machines that runs no agents itself",
        _lazily("up", "hub"),
        talks=False,
    )
    for parser in (up, hub):
        parser.add_argument("--host", help="address to listen on (127.0.0.1)")
        parser.add_argument("--port", type=int, help="port (3333); 0 picks a free one")
        parser.add_argument("--no-open", action="store_true", help="do not open the browser")
        parser.add_argument(
            "--insecure-bind", action="store_true", help="listen beyond this machine without TLS"
        )
        parser.add_argument("--tls-cert", metavar="FILE")
        parser.add_argument("--tls-key", metavar="FILE")
        parser.add_argument("--public-url", metavar="URL", help="address by which others reach it")
    hub.add_argument("--store", metavar="URL", help="PostgreSQL database to keep everything in (a file)")


def _add_run(commands: Commands) -> None:
    run = _add(commands, "run", "send a prompt and print its turn", _lazily("run", "run"))
    run.add_argument("prompt", nargs="?", help="the prompt; - reads it from stdin")
    run.add_argument(
        "--terminal", metavar="AGENT", help="run this agent in a terminal instead, attached here"
    )
    run.add_argument(
        "--skip-permissions",
        action="store_true",
        help="with --terminal: run the agent without permission prompts",
    )
    run.add_argument("--agent", help="agent to use (default: the server's default agent)")
    run.add_argument("--cwd", metavar="DIR", help="working folder (default: this one)")
    run.add_argument("--model")
    run.add_argument("--mode", help="the agent's own mode, such as plan")
    run.add_argument("--resume", metavar="ID", help="resume a session, by its id or the agent's own id")
    run.add_argument(
        "--permission-mode",
        choices=["relay", "auto-read", "auto", "deny"],
        default="relay",
        help="ask you (relay), allow reading in the folder, allow all, or deny all",
    )
    run.add_argument(
        "--capability",
        choices=["read_only", "sandboxed", "project_scoped", "full"],
        help="how much of the machine the agent may reach (default: what its owner allows)",
    )
    run.add_argument(
        "--json", action="store_true", help="print events as JSON lines; do not ask for answers here"
    )
    run.add_argument("--detach", action="store_true", help="print the session's id and return at once")
    run.add_argument("--keep", action="store_true", help="leave the session open after the turn")


def _add_launch(commands: Commands) -> None:
    launch = _add(
        commands,
        "launch",
        "open a terminal window with an agent and a prompt",
        _lazily("launch", "launch"),
        talks=False,
    )
    launch.add_argument("prompt", help="the prompt; - reads it from stdin")
    launch.add_argument("--agent", help="agent to launch (claude-code)")
    launch.add_argument("--cwd", metavar="DIR", help="working folder (default: this one)")
    launch.add_argument(
        "--mode",
        choices=["plan", "normal", "prefill"],
        help="plan, where the agent has it; normal, in which it asks; or only type the prompt",
    )
    bridge = _add(
        commands,
        "bridge",
        "let web pages open terminals with an agent",
        _lazily("bridge", "bridge"),
        talks=False,
    )
    bridge.add_argument(
        "what",
        nargs="?",
        choices=["serve", "element"],
        default="serve",
        help="element: print the file of <bascule-launch>, for a site to host, and its integrity on stderr",
    )
    bridge.add_argument("--port", type=int, help="port on 127.0.0.1 (9872)")
    bridge.add_argument("--integrity", action="store_true", help="with element: print its integrity only")
    for parser in (launch, bridge):
        parser.add_argument("--terminal", metavar="NAME", help="terminal to open")
    link = _add(
        commands,
        "open-link",
        "open a terminal with the prompt of a bascule:// link typed in",
        _lazily("launch", "open_link"),
        talks=False,
    )
    link.add_argument("link")


def _add_service(commands: Commands) -> None:
    actions = _group(commands, "service", "run the server as a service of this user")
    for name, help in (
        ("install", "start the server now and by itself from now on; open bascule:// links"),
        ("status", "tell whether the service is installed and runs"),
        ("uninstall", "stop the service and remove it; agents go on"),
    ):
        action = _add(actions, name, help, _lazily("service", name), talks=False)
        if name == "install":
            action.add_argument("--restart", action="store_true", help="restart a service that runs already")


def _add_sessions(commands: Commands) -> None:
    actions = _group(commands, "sessions", "list, show, answer and end sessions")
    listing = _add(actions, "list", "list sessions", _lazily("sessions", "list_sessions"))
    listing.add_argument("--archived", action="store_true")
    listing.add_argument("--limit", type=int, metavar="N", help="the newest N (50 unless said)")
    listing.add_argument("--all", action="store_true", help="every session")
    listing.add_argument("--json", action="store_true", help="every session, unless --limit says how many")
    show = _add(actions, "show", "print a session's transcript", _lazily("sessions", "show"))
    show.add_argument("session")
    show.add_argument("--follow", action="store_true", help="keep printing as it continues")
    opening = _add(
        actions,
        "open-terminal",
        "go on with a session's conversation in a terminal window",
        _lazily("launch", "open_terminal"),
    )
    opening.add_argument("session")
    opening.add_argument("--print", action="store_true", help="only print the command that resumes it")
    opening.add_argument("--terminal", metavar="NAME", help="terminal to open")
    queue = _add(
        actions,
        "queue",
        "list the messages that wait in a session; send or discard what a stop held back",
        _lazily("queue", "queue"),
    )
    queue.add_argument("session")
    deciding = queue.add_mutually_exclusive_group()
    deciding.add_argument("--send-next", action="store_true", help="send the first held message")
    deciding.add_argument("--send-all", action="store_true", help="send every held message, in order")
    deciding.add_argument("--discard", action="store_true", help="withdraw every held message")
    end = _add(actions, "end", "end a session", _lazily("sessions", "end"))
    end.add_argument("session")
    unlogged = _add(
        actions, "unlogged", "list processes that run without a log", _lazily("unlogged", "unlogged")
    )
    unlogged.add_argument("--take-up", metavar="NAME", help="rebuild its log from its output")
    unlogged.add_argument("--end", metavar="NAME", help="end it; its output is kept in a file")
    unlogged.add_argument("--json", action="store_true")
    _add(actions, "kill-all", "stop every agent now", _lazily("sessions", "kill_all"))
    answer = _add(
        actions,
        "answer",
        "answer an open request; without arguments, list them",
        _lazily("sessions", "answer"),
    )
    answer.add_argument("session", nargs="?")
    answer.add_argument("request", nargs="?")
    answer.add_argument("decision", nargs="?", choices=["allow", "deny"])
    answer.add_argument("--sha", metavar="HEX", help="hash of the input you saw; required to allow")
    answer.add_argument(
        "--remember", action="store_true", help="allow the same request for the rest of this session"
    )
    answer.add_argument("--message", help="reason for the agent, with deny")
    answer.add_argument(
        "--answer",
        action="append",
        default=[],
        metavar="TEXT",
        help="answer to a question; repeat for several",
    )


def _add_terminals(commands: Commands) -> None:
    attach = _add(commands, "attach", "show a session's terminal in this one", _lazily("attach", "attach"))
    attach.add_argument("session")
    attach.add_argument(
        "--detach-key",
        default="ctrl-]",
        metavar="KEY",
        help="key that detaches and leaves it running (ctrl-])",
    )
    export = _add(commands, "export", "write a session to a file", _lazily("export", "export"))
    export.add_argument("session")
    export.add_argument(
        "--cast",
        action="store_true",
        required=True,
        help="a terminal as an asciinema recording, as it happened",
    )
    export.add_argument("--output", "-o", metavar="FILE", help="file to write (standard output)")
    actions = _group(commands, "projects", "manage folders that agents may trust")
    trust = _add(
        actions,
        "trust",
        "answer agents' trust prompts in this folder with yes, and use the project's own settings",
        _lazily("projects", "trust"),
    )
    trust.add_argument("path")
    trust.set_defaults(trusted=True)
    distrust = _add(
        actions,
        "distrust",
        "stop trusting a folder: a person answers trust prompts",
        _lazily("projects", "trust"),
    )
    distrust.add_argument("path")
    distrust.set_defaults(trusted=False)
    _add(actions, "list", "list trusted folders", _lazily("projects", "list_trusted"))


def _add_trust(commands: Commands) -> None:
    actions = _group(commands, "trust", "manage links to the server, and web sites that may launch agents")
    generate = _add(actions, "generate", "create a link", _lazily("trust", "generate"))
    generate.add_argument("name", nargs="?", help="name of its user; shown beside what they do")
    generate.add_argument(
        "--browser",
        metavar="NAME",
        help="instead of a link: a code with which this browser signs starts on this machine",
    )
    generate.add_argument("--role", choices=["owner", "operator", "viewer"], default="operator")
    generate.add_argument("--session", metavar="ID", help="limit the link to this session")
    generate.add_argument("--days", type=int, default=30)
    generate.add_argument("--qr", action=argparse.BooleanOptionalAction, help="also print it as a QR code")
    _add(actions, "list", "list links, trusted web sites and browsers", _lazily("trust", "list_grants"))
    revoke = _add(
        actions, "revoke", "revoke a link, or the trust in a web site or browser", _lazily("trust", "revoke")
    )
    revoke.add_argument(
        "grant", metavar="NAME_OR_ID", help="a site's name is its address: https://tool.example"
    )


def _add_starts(commands: Commands) -> None:
    actions = _group(commands, "starts", "approve sessions that are started here from another machine")
    _add(actions, "list", "list starts that wait", _lazily("starts", "list_starts"))
    for decision, words in (("approve", "start it"), ("deny", "refuse it")):
        one = _add(actions, decision, words, _lazily("starts", "decide"))
        one.add_argument("start", metavar="ID")
        one.set_defaults(decision=decision)
    for name, blocked in (("block", True), ("unblock", False)):
        words = (
            "refuse all starts from elsewhere for a day" if blocked else "take starts from elsewhere again"
        )
        _add(actions, name, words, _lazily("starts", "block")).set_defaults(blocked=blocked)


def _add_pair(commands: Commands) -> None:
    pair = _add(
        commands, "pair", "let a phone or another browser in by a one-time link", _lazily("pair", "pair")
    )
    pair.add_argument("name", nargs="?", help="name of its user; shown beside what they do")
    pair.add_argument("--role", choices=["owner", "operator", "viewer"], default="operator")
    pair.add_argument("--qr", action=argparse.BooleanOptionalAction, help="print it as a QR code, too")


def _add_prompts(commands: Commands) -> None:
    actions = _group(commands, "prompts", "read, import and export the prompt library")
    listing = _add(
        actions, "list", "list prompts, or those with some words", _lazily("prompts", "list_prompts")
    )
    listing.add_argument("words", nargs="?")
    listing.add_argument("--json", action="store_true")
    show = _add(actions, "show", "print a prompt as Markdown", _lazily("prompts", "show"))
    show.add_argument("prompt", metavar="ID_OR_TITLE")
    importing = _add(
        actions,
        "import",
        "import Markdown files, or an agent's command files, from a folder",
        _lazily("prompts", "import_files"),
    )
    importing.add_argument("folder")
    importing.add_argument("--private", action="store_true", help="keep what is new to this grant")
    exporting = _add(
        actions,
        "export",
        "export prompts as Markdown files into a folder",
        _lazily("prompts", "export_files"),
    )
    exporting.add_argument("folder")


def _add_rules(commands: Commands) -> None:
    actions = _group(commands, "rules", "manage rules that answer requests without asking you")
    listing = _add(actions, "list", "list rules, oldest first", _lazily("rules", "list_rules"))
    listing.add_argument("--json", action="store_true")
    add = _add(actions, "add", "add a rule", _lazily("rules", "add"))
    trying = _add(
        actions,
        "try",
        "try a rule on earlier requests, or all rules on one request",
        _lazily("rules", "try_out"),
    )
    trying.add_argument("--request", metavar="TEXT", help="try the rules on this request instead")
    for parser in (add, trying):
        parser.add_argument("answer", nargs="?", choices=["allow", "deny", "ask"])
        classes = ["read", "edit", "command", "fetch", "mcp", "other"]
        parser.add_argument(
            "tool_class", nargs="?", metavar="CLASS", choices=classes, help=", ".join(classes)
        )
        parser.add_argument(
            "--command", dest="run", metavar="TEXT", help="exact command; a trailing ' …' allows more words"
        )
        parser.add_argument("--path", metavar="PATTERN", help="file pattern with * and **; relative to --in")
        parser.add_argument("--host", help="host of a fetched URL")
        parser.add_argument("--tool", help="tool name, or mcp__server for all tools of one server")
        parser.add_argument("--in", dest="folder", metavar="DIR", help="only in this folder's sessions")
        parser.add_argument("--agent", help="only for this agent")
        parser.add_argument("--session", metavar="ID", help="only in this session")
        parser.add_argument("--days", type=float, help="expire after this many days (default: never)")
    remove = _add(actions, "remove", "remove a rule", _lazily("rules", "remove"))
    remove.add_argument("rule", metavar="ID")


def _add_feedback(commands: Commands) -> None:
    actions = _group(
        commands, "feedback", "deliver messages to Claude Code in a plain terminal when it is idle"
    )
    on = _add(
        actions, "on", "add the hooks to Claude Code's settings", _lazily("feedback", "on"), talks=False
    )
    on.add_argument("--dry-run", action="store_true", help="only show what would be written")
    _add(actions, "off", "remove the hooks", _lazily("feedback", "off"), talks=False)
    _add(
        actions, "status", "show whether the hooks are installed", _lazily("feedback", "status"), talks=False
    )


def _add_machine(commands: Commands) -> None:
    _add(commands, "agents", "list this machine's agents", _lazily("machine", "agents"))
    doctor = _add(commands, "doctor", "check this machine", _lazily("doctor", "doctor"), talks=False)
    doctor.add_argument(
        "--conformance", metavar="AGENT", help="test this agent, with its own model, in short scenes"
    )
    doctor.add_argument("--driver", choices=["stream_json", "acp", "codex", "plain"], help="driver to use")
    doctor.add_argument("--model", help="model to use")
    doctor.add_argument("--yes", action="store_true", help="do not ask before using its model")
    actions = _group(commands, "daemon", "run this machine's server in the background, and join it to a hub")
    _add(actions, "start", "start the server in the background", _lazily("daemon", "start"), talks=False)
    _add(actions, "stop", "stop the server; agents go on", _lazily("daemon", "stop"), talks=False)
    status = _add(
        actions,
        "status",
        "tell whether it runs, and whether it is connected to its hub",
        _lazily("daemon", "status"),
        talks=False,
    )
    status.add_argument("--json", action="store_true")
    join = _add(
        actions,
        "join",
        "join a hub: its owner lets this machine in by a code",
        _lazily("daemon", "join"),
        talks=False,
    )
    join.add_argument("url", metavar="URL", help="address of the hub, such as https://hub.example")
    join.add_argument("--token-stdin", action="store_true", help="read a token from stdin, instead of a code")
    join.add_argument("--no-start", action="store_true", help="do not start the server now")
    _add(actions, "leave", "leave the hub", _lazily("daemon", "leave"), talks=False)
    install = _add(
        actions, "install", "set another machine up over ssh, and let it in", _lazily("remote", "install")
    )
    install.add_argument("host", metavar="USER@HOST")
    install.add_argument(
        "--hub-url", metavar="URL", help="address by which that machine reaches this hub (public_url)"
    )
    install.add_argument(
        "--through-ssh", action="store_true", help="it can't reach this hub: keep a tunnel over ssh"
    )
    remove = _add(
        actions, "remove", "remove what install has put on another machine", _lazily("remote", "remove")
    )
    remove.add_argument("host", metavar="USER@HOST")
    pause = _add(actions, "pause", "take no new sessions", _lazily("machine", "pause"))
    pause.set_defaults(paused=True)
    resume = _add(actions, "resume", "take new sessions again", _lazily("machine", "pause"))
    resume.set_defaults(paused=False)


def _add_audit(commands: Commands) -> None:
    actions = _group(commands, "audit", "show and verify the audit log")
    listing = _add(actions, "list", "list audit records, oldest first", _lazily("audit", "list_records"))
    listing.add_argument("--after", type=int, default=0, metavar="N")
    verify = _add(
        actions,
        "verify",
        "verify that no record was changed; works without a server",
        _lazily("audit", "verify"),
    )
    export = _add(
        actions, "export", "print the records as JSON lines with their hashes", _lazily("audit", "export")
    )
    export.add_argument("--csv", action="store_true", help="as a table, without the hashes")
    for one in (listing, export):
        one.add_argument("--action", metavar="NAME", help="only these records, such as input or permission")
        one.add_argument("--actor", metavar="NAME", help="only what this one did")
        one.add_argument("--session", metavar="ID", help="only records of this session")
    for one in (listing, verify, export):
        one.add_argument(
            "--device", metavar="NAME_OR_ID", help="the server's copy of the audit log of this machine"
        )
    for one in (listing, export):
        one.add_argument(
            "--chain", type=int, metavar="N", help="of a machine that began another one: which (the last)"
        )


def _add_store(commands: Commands) -> None:
    actions = _group(commands, "store", "move a hub to PostgreSQL")
    copy = _add(
        actions,
        "copy",
        "copy a stopped hub's database to an empty PostgreSQL database, and compare both",
        _lazily("store", "copy"),
        talks=False,
    )
    copy.add_argument("--from", dest="source", metavar="DIR", help="state folder of the hub (the usual one)")
    copy.add_argument("--to", required=True, metavar="URL", help="postgresql://user@host/database")


_GROUPS: tuple[tuple[tuple[str, ...], Callable[[Commands], None]], ...] = (
    (("up", "hub", "down"), _add_up),
    (("run",), _add_run),
    (("launch", "bridge", "open-link"), _add_launch),
    (("service",), _add_service),
    (("sessions",), _add_sessions),
    (("attach", "projects"), _add_terminals),
    (("trust",), _add_trust),
    (("starts",), _add_starts),
    (("pair",), _add_pair),
    (("prompts",), _add_prompts),
    (("rules",), _add_rules),
    (("feedback",), _add_feedback),
    (("agents", "doctor", "daemon"), _add_machine),
    (("audit",), _add_audit),
    (("store",), _add_store),
)
