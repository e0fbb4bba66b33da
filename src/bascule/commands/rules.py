"""`bascule rules …`: lists, adds, tries and removes lasting rules."""

import argparse
import os
import sys
from datetime import UTC, datetime, timedelta

from bascule.api.request_answers import RuleTrial
from bascule.commands import exits
from bascule.commands.console import Console
from bascule.commands.request_prompt import command_line, flat
from bascule.commands.screen import print_json
from bascule.commands.server_address import connected
from bascule.model.codec import encode
from bascule.model.errors import InvalidInput
from bascule.model.rules import RuleSpec

MORE = " …"


async def list_rules(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        found = await client.rules.all()
    terminal = Console()
    if args.json:
        for rule in found.rules:
            print_json(encode(rule))
        return exits.OK
    if found.problem:
        print(flat(found.problem), file=sys.stderr)
    if not found.rules:
        terminal.line("There are no rules: every request asks, or follows its session's mode.")
    for rule in found.rules:
        where = f"  ({flat(rule.folder)})" if rule.folder else ""
        over = "  over" if rule.expired else ""
        terminal.line(f"{flat(rule.id)}  {flat(rule.words)}{where}  used {rule.used}×{over}")
    return exits.OK


async def add(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        made = await client.rules.add(_spec(args))
    print(f"{flat(made.words)}\nTake it back with: {command_line('rules', 'remove', made.id)}")
    return exits.OK


async def remove(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        await client.rules.remove(args.rule)
    print("The rule was removed; what it answered asks again.")
    return exits.OK


async def try_out(args: argparse.Namespace) -> int:
    """A rule on what was asked before, or with --request how the rules answer that."""
    async with await connected(args) as client:
        if args.request is not None:
            tool_class = args.tool_class or "command"
            tried = await client.rules.try_request(tool_class, args.request, _folder(args), args.agent)
        else:
            tried = await client.rules.try_rule(_spec(args))
    return _show(tried)


def _show(tried: RuleTrial) -> int:
    if tried.tried is not None:
        print(flat(tried.tried.why))
    run = tried.dry_run
    if run is not None:
        print(f"{flat(run.words)}: would have answered {run.fits} of the last {run.looked} requests.")
        if run.differs:
            print(f"{run.differs} of them were answered differently then.")
        for request in run.requests:
            by = f" by {flat(request.by)}" if request.by else ""
            print(f"  {flat(request.at)}  {flat(request.text)}  now {request.now}, then {request.then}{by}")
    return exits.OK


def _spec(args: argparse.Namespace) -> RuleSpec:
    if args.answer is None or args.tool_class is None:
        raise InvalidInput("Say what to answer and to which class, as in `allow command`.")
    command: str | None = args.run
    more = command is not None and command.endswith(MORE)
    if command is not None and more:
        command = command.removesuffix(MORE)
    until = None
    if args.days is not None:
        until = (datetime.now(UTC) + timedelta(days=args.days)).isoformat()
    return RuleSpec(
        answer=args.answer,
        tool_class=args.tool_class,
        argv=None if command is None else tuple(command.split(" ")),
        more=more,
        path=args.path,
        tool=args.tool,
        host=args.host,
        folder=_folder(args),
        session_id=args.session,
        agent=args.agent,
        expires_at=until,
    )


def _folder(args: argparse.Namespace) -> str | None:
    return None if args.folder is None else os.path.abspath(os.path.expanduser(args.folder))
