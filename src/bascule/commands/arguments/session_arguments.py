"""The arguments of the commands that start agents and work with sessions."""

from bascule.commands.arguments.declare import Commands, add, group, lazily


def add_run(commands: Commands) -> None:
    run = add(commands, "run", "send a prompt and print its turn", lazily("run", "run"))
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


def add_launch(commands: Commands) -> None:
    launch = add(
        commands,
        "launch",
        "open a terminal window with an agent and a prompt",
        lazily("launch", "launch"),
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
    bridge = add(
        commands,
        "bridge",
        "let web pages open terminals with an agent",
        lazily("bridge", "bridge"),
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
    link = add(
        commands,
        "open-link",
        "open a terminal with the prompt of a bascule:// link typed in",
        lazily("launch", "open_link"),
        talks=False,
    )
    link.add_argument("link")


def add_sessions(commands: Commands) -> None:
    actions = group(commands, "sessions", "list, show, answer and end sessions")
    listing = add(actions, "list", "list sessions", lazily("sessions", "list_sessions"))
    listing.add_argument("--archived", action="store_true")
    listing.add_argument("--limit", type=int, metavar="N", help="the newest N (default: 50)")
    listing.add_argument("--all", action="store_true", help="every session")
    listing.add_argument("--json", action="store_true", help="every session, unless --limit says how many")
    show = add(actions, "show", "print a session's transcript", lazily("sessions", "show"))
    show.add_argument("session")
    show.add_argument("--follow", action="store_true", help="keep printing as it continues")
    opening = add(
        actions,
        "open-terminal",
        "continue a session's conversation in a terminal window",
        lazily("launch", "open_terminal"),
    )
    opening.add_argument("session")
    opening.add_argument("--print", action="store_true", help="only print the command that resumes it")
    opening.add_argument("--terminal", metavar="NAME", help="terminal to open")
    queue = add(
        actions,
        "queue",
        "list the messages waiting in a session; send or discard what a stop held back",
        lazily("queue", "queue"),
    )
    queue.add_argument("session")
    deciding = queue.add_mutually_exclusive_group()
    deciding.add_argument("--send-next", action="store_true", help="send the first held message")
    deciding.add_argument("--send-all", action="store_true", help="send every held message, in order")
    deciding.add_argument("--discard", action="store_true", help="withdraw every held message")
    end = add(actions, "end", "end a session", lazily("sessions", "end"))
    end.add_argument("session")
    unlogged = add(
        actions, "unlogged", "list processes that are running without a log", lazily("unlogged", "unlogged")
    )
    unlogged.add_argument("--take-up", metavar="NAME", help="rebuild its log from its output")
    unlogged.add_argument("--end", metavar="NAME", help="end it; its output is kept in a file")
    unlogged.add_argument("--json", action="store_true")
    add(actions, "kill-all", "stop every agent now", lazily("sessions", "kill_all"))
    answer = add(
        actions,
        "answer",
        "answer an open request; without arguments, list them",
        lazily("sessions", "answer"),
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


def add_terminals(commands: Commands) -> None:
    attach = add(commands, "attach", "show a session's terminal in this one", lazily("attach", "attach"))
    attach.add_argument("session")
    attach.add_argument(
        "--detach-key",
        default="ctrl-]",
        metavar="KEY",
        help="key that detaches and leaves it running (ctrl-])",
    )
    export = add(commands, "export", "write a session to a file", lazily("export", "export"))
    export.add_argument("session")
    export.add_argument(
        "--cast",
        action="store_true",
        required=True,
        help="a terminal as an asciinema recording, as it happened",
    )
    export.add_argument("--output", "-o", metavar="FILE", help="file to write (standard output)")
    export.add_argument(
        "--keep-secrets", action="store_true", help="every byte, also what looks like a key (owner only)"
    )
    actions = group(commands, "projects", "manage folders that agents may trust")
    trust = add(
        actions,
        "trust",
        "answer agents' trust prompts in this folder with yes, and use the project's own settings",
        lazily("projects", "trust"),
    )
    trust.add_argument("path")
    trust.set_defaults(trusted=True)
    distrust = add(
        actions,
        "distrust",
        "stop trusting a folder: a person answers trust prompts",
        lazily("projects", "trust"),
    )
    distrust.add_argument("path")
    distrust.set_defaults(trusted=False)
    add(actions, "list", "list trusted folders", lazily("projects", "list_trusted"))
