"""The arguments of the commands that start the server and look after this machine."""

from argparse import BooleanOptionalAction

from bascule.commands.arguments.declare import Commands, add, group, lazily


def add_up(commands: Commands) -> None:
    up = add(commands, "up", "start the server (the default)", lazily("up", "up"), talks=False)
    add(
        commands,
        "down",
        "end every session, and the server if one runs",
        lazily("down", "down"),
        talks=False,
    )
    hub = add(
        commands,
        "hub",
        "start a server for other machines that runs no agents itself",
        lazily("up", "hub"),
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
        parser.add_argument("--public-url", metavar="URL", help="address at which others reach it")
    hub.add_argument("--store", metavar="URL", help="PostgreSQL database to keep everything in (a file)")


def add_service(commands: Commands) -> None:
    actions = group(commands, "service", "run the server as a service of this user")
    for name, help in (
        ("install", "start the server now and at every login or boot; open bascule:// links"),
        ("status", "show whether the service is installed and running"),
        ("uninstall", "stop the service and remove it; agents keep running"),
    ):
        action = add(actions, name, help, lazily("service", name), talks=False)
        if name == "install":
            action.add_argument("--restart", action="store_true", help="restart a service that runs already")


def add_machine(commands: Commands) -> None:
    add(commands, "agents", "list this machine's agents", lazily("machine", "agents"))
    doctor = add(commands, "doctor", "check this machine", lazily("doctor", "doctor"), talks=False)
    doctor.add_argument(
        "--conformance", metavar="AGENT", help="test this agent, with its own model, in short scenes"
    )
    doctor.add_argument("--driver", choices=["stream_json", "acp", "codex", "plain"], help="driver to use")
    doctor.add_argument("--model", help="model to use")
    doctor.add_argument("--yes", action="store_true", help="do not ask before using its model")
    actions = group(commands, "daemon", "run this machine's server in the background, and join it to a hub")
    add(actions, "start", "start the server in the background", lazily("daemon", "start"), talks=False)
    add(actions, "stop", "stop the server; agents keep running", lazily("daemon", "stop"), talks=False)
    status = add(
        actions,
        "status",
        "show whether it is running, and whether it is connected to its hub",
        lazily("daemon", "status"),
        talks=False,
    )
    status.add_argument("--json", action="store_true")
    _add_joining(actions)
    _add_other_machines(actions)
    pause = add(actions, "pause", "accept no new sessions", lazily("machine", "pause"))
    pause.set_defaults(paused=True)
    resume = add(actions, "resume", "accept new sessions again", lazily("machine", "pause"))
    resume.set_defaults(paused=False)


def _add_joining(actions: Commands) -> None:
    join = add(
        actions,
        "join",
        "join a hub: its owner lets this machine in by a code",
        lazily("daemon", "join"),
        talks=False,
    )
    join.add_argument("url", metavar="URL", help="address of the hub, such as https://hub.example")
    join.add_argument("--token-stdin", action="store_true", help="read a token from stdin, instead of a code")
    join.add_argument("--no-start", action="store_true", help="do not start the server now")
    join.add_argument(
        "--hub-may-widen",
        action=BooleanOptionalAction,
        help="whether the hub may let agents here do more without asking (a person at a terminal is asked)",
    )
    widen = add(
        actions,
        "hub-may-widen",
        "say whether the hub may let agents here do more without asking",
        lazily("hub_permission", "change"),
        talks=False,
    )
    widen.add_argument("answer", choices=["yes", "no"])
    add(actions, "leave", "leave the hub", lazily("daemon", "leave"), talks=False)


def _add_other_machines(actions: Commands) -> None:
    install = add(
        actions, "install", "set up another machine over ssh, and let it join", lazily("remote", "install")
    )
    install.add_argument("host", metavar="USER@HOST")
    install.add_argument(
        "--hub-url", metavar="URL", help="address at which that machine reaches this hub (public_url)"
    )
    install.add_argument(
        "--hub-may-widen",
        action="store_true",
        help="let this hub allow agents there to do more without asking",
    )
    install.add_argument(
        "--through-ssh", action="store_true", help="it can't reach this hub: keep a tunnel over ssh"
    )
    remove = add(
        actions, "remove", "remove what `install` put on another machine", lazily("remote", "remove")
    )
    remove.add_argument("host", metavar="USER@HOST")


def add_store(commands: Commands) -> None:
    actions = group(commands, "store", "move a hub to PostgreSQL")
    copy = add(
        actions,
        "copy",
        "copy a stopped hub's database to an empty PostgreSQL database, and compare both",
        lazily("store", "copy"),
        talks=False,
    )
    copy.add_argument("--from", dest="source", metavar="DIR", help="state folder of the hub (the usual one)")
    copy.add_argument("--to", required=True, metavar="URL", help="postgresql://user@host/database")


def add_backup(commands: Commands) -> None:
    backup = add(
        commands,
        "backup",
        "copy the server's database to a file, also while it runs",
        lazily("backup", "backup"),
        talks=False,
    )
    backup.add_argument("file", nargs="?", metavar="FILE", help="new file (bascule-backup-TIME.db)")
    restore = add(
        commands,
        "restore",
        "restore a backup into an empty state folder; links have to be created, and machines joined, again",
        lazily("backup", "restore"),
        talks=False,
    )
    restore.add_argument("file", metavar="FILE", help="made by `bascule backup`")
    restore.add_argument(
        "--replace", action="store_true", help="set the database of a used state folder aside"
    )
