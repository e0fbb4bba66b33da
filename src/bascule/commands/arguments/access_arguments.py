"""The arguments of the commands that let people, browsers and starts from elsewhere in."""

import argparse

from bascule.commands.arguments.declare import Commands, add, group, lazily


def add_trust(commands: Commands) -> None:
    actions = group(commands, "trust", "manage links to the server, and websites that may launch agents")
    generate = add(actions, "generate", "create a link", lazily("trust", "generate"))
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
    add(actions, "list", "list links, trusted websites and browsers", lazily("trust", "list_grants"))
    revoke = add(
        actions, "revoke", "revoke a link, or the trust in a website or browser", lazily("trust", "revoke")
    )
    revoke.add_argument(
        "grant", metavar="NAME_OR_ID", help="a site's name is its address: https://tool.example"
    )


def add_starts(commands: Commands) -> None:
    actions = group(commands, "starts", "approve sessions that are started here from another machine")
    add(actions, "list", "list starts that are waiting", lazily("starts", "list_starts"))
    for decision, words in (("approve", "start it"), ("deny", "refuse it")):
        parser = add(actions, decision, words, lazily("starts", "decide"))
        parser.add_argument("start", metavar="ID")
        parser.set_defaults(decision=decision)
    for name, blocked in (("block", True), ("unblock", False)):
        words = (
            "refuse all starts from elsewhere for a day" if blocked else "accept starts from elsewhere again"
        )
        add(actions, name, words, lazily("starts", "block")).set_defaults(blocked=blocked)


def add_pair(commands: Commands) -> None:
    pair = add(
        commands, "pair", "let a phone or another browser in with a one-time link", lazily("pair", "pair")
    )
    pair.add_argument("name", nargs="?", help="name of its user; shown beside what they do")
    pair.add_argument("--role", choices=["owner", "operator", "viewer"], default="operator")
    pair.add_argument("--qr", action=argparse.BooleanOptionalAction, help="print it as a QR code, too")
