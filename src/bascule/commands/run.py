"""`bascule run "prompt"`: sends one prompt, prints its turn, and answers its requests here."""

import argparse
import asyncio
import contextlib
import os
import secrets
import shutil
import signal
import sys

from bascule.api.bodies import CreateBody
from bascule.api.session_answers import Created
from bascule.client import Client
from bascule.commands import exits
from bascule.commands.console import Console
from bascule.commands.follow_turn import Conversation
from bascule.commands.request_prompt import command_line, flat
from bascule.commands.server_address import connected
from bascule.model.errors import ApprovalPending, BasculeError, Refused
from bascule.model.lifecycle import LIVE
from bascule.model.records import SessionRecord

MAX_PROMPT = 1_048_576


async def run(args: argparse.Namespace) -> int:
    if args.terminal:
        return await _in_terminal(args)
    prompt = args.prompt or ""
    if args.skip_permissions:
        print("--skip-permissions goes with --terminal.", file=sys.stderr)
        return exits.USAGE
    if prompt == "-":
        prompt = sys.stdin.read(MAX_PROMPT + 1)
    if not prompt.strip():
        print("The prompt is empty.", file=sys.stderr)
        return exits.USAGE
    async with await connected(args) as client:
        return await _run(client, args, prompt)


async def _in_terminal(args: argparse.Namespace) -> int:
    """Start the agent in a terminal and attach this one to it."""
    from bascule.commands.attach import attach_to

    if args.prompt:
        print("A terminal takes keys, not a prompt: leave the prompt out.", file=sys.stderr)
        return exits.USAGE
    size = shutil.get_terminal_size()
    async with await connected(args) as client:
        wanted = CreateBody(
            agent=args.terminal,
            cwd=os.path.abspath(args.cwd or os.getcwd()),
            model=args.model,
            mode=args.mode,
            resume=args.resume,
            driver="terminal",
            cols=size.columns,
            rows=size.lines,
            skip_permissions=args.skip_permissions,
        )
        created = begun(await client.start(wanted))
        if args.detach:
            print(flat(created.id))
            return exits.OK
        return await attach_to(client, created.id)


async def _run(client: Client, args: argparse.Namespace, prompt: str) -> int:
    message_id = secrets.token_hex(8)
    known = await _known_session(client, args.resume) if args.resume else None
    if known is None:
        created = await _start(client, args, prompt, message_id)
        session_id, after = created.id, 0
    else:
        session_id, after = known.session_id, known.seq
        if known.phase not in LIVE:
            await client.reconnect(session_id)
        await client.send(session_id, prompt, client_message_id=message_id)
    if args.detach:
        print(flat(session_id))
        follow = command_line("sessions", "show", session_id)
        print(f"Running in the background; follow it with: {follow}", file=sys.stderr)
        return exits.OK
    terminal = Console(interactive=False if args.json else None)
    conversation = Conversation(client, session_id, terminal, message_id, as_json=args.json)
    code = await _until_done(conversation, after)
    if known is None and not args.keep and not conversation.detached:
        await _end(client, session_id)
    return code


async def _start(client: Client, args: argparse.Namespace, prompt: str, message_id: str) -> Created:
    wanted = CreateBody(
        agent=args.agent or None,
        cwd=os.path.abspath(args.cwd or os.getcwd()),
        prompt=prompt,
        model=args.model,
        mode=args.mode,
        permission_mode=args.permission_mode.replace("-", "_"),
        capability=args.capability,
        resume=args.resume,
        client_message_id=message_id,
    )
    return begun(await client.start(wanted))


def begun(created: Created) -> Created:
    """Raises while the start waits for approval: there is nothing to follow yet."""
    if created.waiting is not None:
        follow = command_line("sessions", "show", created.id)
        raise ApprovalPending(
            f"It is waiting for approval on its machine: bascule starts approve {flat(created.waiting.id)}. "
            f"It runs once it is approved; follow it then with: {follow}"
        )
    return created


async def _known_session(client: Client, name: str) -> SessionRecord | None:
    """A session of this server by its id; any other name is the agent's own and goes to the agent."""
    try:
        record = await client.session(name)
    except Refused as refused:
        if refused.refusal().code != "SESSION_NOT_FOUND":
            raise
        return None
    return None if record.found else record


async def _until_done(conversation: Conversation, after: int) -> int:
    """Ctrl-C interrupts the turn; a second one leaves the session running."""
    loop = asyncio.get_running_loop()
    following = asyncio.create_task(conversation.follow(after), name="follow")

    def pressed() -> None:
        if not conversation.interrupt():
            following.cancel()

    loop.add_signal_handler(signal.SIGINT, pressed)
    try:
        return await following
    except asyncio.CancelledError:
        if not following.cancelled():
            raise
        conversation.say_detached()
        return exits.INTERRUPTED
    finally:
        loop.remove_signal_handler(signal.SIGINT)


async def _end(client: Client, session_id: str) -> None:
    # It may have ended by itself in the meantime; then there is nothing to do.
    with contextlib.suppress(BasculeError):
        await client.end(session_id)
