"""`bascule sessions …`: what runs, what it said, what waits, and how to stop it."""

import argparse
import sys

import msgspec

from bascule.client import Client, replies
from bascule.commands import exits
from bascule.commands.answering import Answerer
from bascule.commands.asking import elsewhere, flat, permission_text, question_text
from bascule.commands.server import connected
from bascule.commands.terminal import Keyboard, Style, Terminal
from bascule.commands.transcript import Transcript, one_line
from bascule.model.codec import decode_event, encode
from bascule.model.events import PermissionRequested, QuestionAsked

_PHASE_STYLES: dict[str, Style] = {"running": "green", "failed": "red", "ended": "dim"}


async def list_sessions(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        sessions = await client.sessions(archived=args.archived)
    if args.json:
        print(encode(sessions).decode())
        return exits.OK
    terminal = Terminal()
    if not sessions:
        terminal.line('No sessions. Start one with: bascule run "your prompt"')
    for one in sessions:
        waiting = (
            terminal.style(f"  {one.open_requests} waiting for you", "yellow") if one.open_requests else ""
        )
        phase = terminal.style(f"{one.phase.value:<11}", _PHASE_STYLES.get(one.phase.value, "plain"))
        terminal.line(
            f"{one.session_id}  {phase}  {one_line(one.agent, 16):<12}  {one_line(one.title, 60)}{waiting}"
        )
    return exits.OK


async def show(args: argparse.Namespace) -> int:
    """The whole log of a session as a transcript, then, with --follow, what comes."""
    async with await connected(args) as client:
        session = await client.session(args.session)
        terminal = Terminal()
        transcript = Transcript(terminal)
        if session.seq == 0 and not args.follow:
            return exits.OK
        async for logged in client.events(args.session):
            transcript.show(logged)
            if logged.seq >= session.seq and not args.follow:
                break
        for request in await client.requests():
            if request.session_id == args.session:
                _print_request(terminal, request)
    return exits.OK


async def end(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        await client.end(args.session)
    print(f"Ending {args.session}.")
    return exits.OK


async def kill_all(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        ended = await client.kill_all()
    print(f"Stopped {ended} session{'' if ended == 1 else 's'}.")
    return exits.OK


async def answer(args: argparse.Namespace) -> int:
    """Answer one request, asked here or given in words; without a request, list what waits."""
    async with await connected(args) as client:
        requests = await client.requests()
        if args.request is None:
            return _list_requests(requests, args.session)
        found = next(
            (one for one in requests if (one.session_id, one.request_id) == (args.session, args.request)),
            None,
        )
        if found is None:
            print(f"No open request {flat(args.request)} in {flat(args.session)}.", file=sys.stderr)
            return exits.REFUSED
        if args.decision is None and not args.answer:
            return await _ask_here(client, found)
        return await _answer_by_words(client, found, args)


def _list_requests(requests: list[replies.Request], session_id: str | None) -> int:
    terminal = Terminal()
    wanted = [one for one in requests if session_id in (None, one.session_id)]
    if not wanted:
        terminal.line("Nothing waits for you.")
    for request in wanted:
        _print_request(terminal, request)
    return exits.OK


def _print_request(terminal: Terminal, request: replies.Request) -> None:
    asked = _asked(request)
    if isinstance(asked, PermissionRequested):
        terminal.write(permission_text(asked, terminal, whole=True))
    else:
        for question in asked.questions:
            terminal.write(question_text(question, terminal))
    terminal.write(elsewhere(request.session_id, asked), "dim")


async def _ask_here(client: Client, request: replies.Request) -> int:
    terminal = Terminal()
    if not terminal.interactive:
        _print_request(terminal, request)
        return exits.USAGE
    await Answerer(client, terminal, Keyboard()).ask(request.session_id, _asked(request))
    return exits.OK


async def _answer_by_words(client: Client, request: replies.Request, args: argparse.Namespace) -> int:
    asked = _asked(request)
    if isinstance(asked, QuestionAsked):
        if len(args.answer) != len(asked.questions):
            print(f"Give --answer {len(asked.questions)} times, once a question.", file=sys.stderr)
            return exits.USAGE
        answers = {one.question: text for one, text in zip(asked.questions, args.answer, strict=True)}
        await client.answer_question(
            request.session_id, request.request_id, answers, input_sha256=request.input_sha256
        )
        return exits.OK
    # Allowing by words names the input that was seen, so that nothing else can be allowed by mistake.
    if args.decision == "allow" and not _names_input(args.sha, request.input_sha256):
        terminal = Terminal(sys.stderr)
        sys.stderr.write(permission_text(asked, terminal, whole=True))
        print(f"To allow exactly this, add: --sha {request.input_sha256[:12]}", file=sys.stderr)
        return exits.USAGE
    await client.answer(
        request.session_id,
        request.request_id,
        args.decision,
        input_sha256=request.input_sha256,
        remember=args.remember,
        message=args.message,
    )
    return exits.OK


def _names_input(given: str | None, actual: str) -> bool:
    return given is not None and len(given) >= 12 and actual.startswith(given.lower())


def _asked(request: replies.Request) -> PermissionRequested | QuestionAsked:
    event = decode_event(bytes(request.asked))
    if not isinstance(event, PermissionRequested | QuestionAsked):
        raise msgspec.ValidationError(f"a request can't be a {type(event).__name__}")
    return event
