"""The arguments of the commands for prompts, rules, feedback and the audit log."""

from bascule.commands.arguments.declare import Commands, add, group, lazily


def add_prompts(commands: Commands) -> None:
    actions = group(commands, "prompts", "read, import and export the prompt library")
    listing = add(
        actions, "list", "list prompts, or those that contain some words", lazily("prompts", "list_prompts")
    )
    listing.add_argument("words", nargs="?")
    listing.add_argument("--json", action="store_true")
    show = add(actions, "show", "print a prompt as Markdown", lazily("prompts", "show"))
    show.add_argument("prompt", metavar="ID_OR_TITLE")
    importing = add(
        actions,
        "import",
        "import Markdown files, or an agent's command files, from a folder",
        lazily("prompts", "import_files"),
    )
    importing.add_argument("folder")
    importing.add_argument(
        "--private", action="store_true", help="let nobody else see the prompts that are new"
    )
    exporting = add(
        actions,
        "export",
        "export prompts as Markdown files into a folder",
        lazily("prompts", "export_files"),
    )
    exporting.add_argument("folder")


def add_rules(commands: Commands) -> None:
    actions = group(commands, "rules", "manage rules that answer requests without asking you")
    listing = add(actions, "list", "list rules, oldest first", lazily("rules", "list_rules"))
    listing.add_argument("--json", action="store_true")
    adding = add(actions, "add", "add a rule", lazily("rules", "add"))
    trying = add(
        actions,
        "try",
        "try a rule on earlier requests, or all rules on one request",
        lazily("rules", "try_out"),
    )
    trying.add_argument("--request", metavar="TEXT", help="try the rules on this request instead")
    for parser in (adding, trying):
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
    remove = add(actions, "remove", "remove a rule", lazily("rules", "remove"))
    remove.add_argument("rule", metavar="ID")


def add_feedback(commands: Commands) -> None:
    actions = group(
        commands, "feedback", "deliver messages to Claude Code in a plain terminal when it is idle"
    )
    on = add(actions, "on", "add the hooks to Claude Code's settings", lazily("feedback", "on"), talks=False)
    on.add_argument("--dry-run", action="store_true", help="only show what would be written")
    add(actions, "off", "remove the hooks", lazily("feedback", "off"), talks=False)
    add(actions, "status", "show whether the hooks are installed", lazily("feedback", "status"), talks=False)


def add_audit(commands: Commands) -> None:
    actions = group(commands, "audit", "show and verify the audit log")
    listing = add(actions, "list", "list audit records, oldest first", lazily("audit", "list_records"))
    listing.add_argument("--after", type=int, default=0, metavar="N")
    verify = add(
        actions,
        "verify",
        "verify that no record was changed; works without a server",
        lazily("audit", "verify"),
    )
    export = add(
        actions, "export", "print the records as JSON lines with their hashes", lazily("audit", "export")
    )
    export.add_argument("--csv", action="store_true", help="as a table, without the hashes")
    for parser in (listing, export):
        parser.add_argument(
            "--action", metavar="NAME", help="only these records, such as input or permission"
        )
        parser.add_argument("--actor", metavar="NAME", help="only what this person or program did")
        parser.add_argument("--session", metavar="ID", help="only records of this session")
    for parser in (listing, verify, export):
        parser.add_argument(
            "--device", metavar="NAME_OR_ID", help="the server's copy of the audit log of this machine"
        )
    for parser in (listing, export):
        parser.add_argument(
            "--chain",
            type=int,
            metavar="N",
            help="which one, of a machine that has several (default: the last)",
        )
