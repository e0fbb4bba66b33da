"""`bascule sessions …`: lists, shows, answers and ends sessions."""

import argparse
import sys

import msgspec

from bascule.api.request_answers import RequestView
from bascule.client import Client
from bascule.commands import exits
from bascule.commands.answering import Answerer
from bascule.commands.console import Console, Keyboard, Style
from bascule.commands.listening import print_listeners
from bascule.commands.request_prompt import elsewhere, flat, permission_text, question_text
from bascule.commands.screen import print_json
from bascule.commands.server_address import connected
from bascule.commands.transcript import Transcript, one_line
from bascule.commands.unlogged import mention
from bascule.model.codec import decode_event, encode
from bascule.model.events import PermissionRequested, QuestionAsked
from bascule.model.records import SessionRecord

NEWEST = 50  # sessions that a list shows by default

_PHASE_STYLES: dict[str, Style] = {"running": "green", "failed": "red", "ended": "dim"}


async def list_sessions(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        everything = args.all or (args.json and args.limit is None)
        limit = None if everything else max(1, args.limit or NEWEST)
        sessions = await client.sessions(archived=args.archived, limit=None if limit is None else limit + 1)
        shown = sessions[:limit]
        if args.json:
            print_json(encode(shown))
            return exits.OK
        _print_sessions(shown)
        if len(shown) < len(sessions):
            Console().line(f"These are the newest {len(shown)}; --all lists every session.", "dim")
        await mention(client, Console())
    return exits.OK


def _print_sessions(sessions: list[SessionRecord]) -> None:
    terminal = Console()
    if not sessions:
        terminal.line('No sessions. Start one with: bascule run "your prompt"')
    for session in sessions:
        waiting = (
            terminal.style(f"  {session.open_requests} waiting for you", "yellow")
            if session.open_requests
            else ""
        )
        phase = terminal.style(f"{session.phase.value:<11}", _PHASE_STYLES.get(session.phase.value, "plain"))
        facts = f"{one_line(session.agent, 16):<12}  {one_line(session.title, 60)}"
        terminal.line(f"{flat(session.session_id)}  {phase}  {facts}{waiting}")


async def show(args: argparse.Namespace) -> int:
    """The whole log of a session as a transcript, then, with --follow, what comes."""
    async with await connected(args) as client:
        session = await client.session(args.session)
        terminal = Console()
        transcript = Transcript(terminal)
        if args.follow:
            await print_listeners(client, terminal, session)
        if session.seq == 0 and not args.follow:
            return exits.OK
        async for logged in client.events(args.session, on_resync=terminal.line):
            transcript.show(logged)
            if logged.seq >= session.seq and not args.follow:
                break
        if not args.follow:
            await print_listeners(client, terminal, session)
        for request in await client.requests():
            if request.session_id == args.session:
                _print_request(terminal, request)
    return exits.OK


async def end(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        await client.end(args.session)
    print(f"Ending {flat(args.session)}.")
    return exits.OK


async def kill_all(args: argparse.Namespace) -> int:
    async with await connected(args) as client:
        done = await client.kill_all()
    print(f"Stopped {done.ended} session{'' if done.ended == 1 else 's'}.")
    for device in done.devices:
        if device.message:
            print(flat(device.message))
    return exits.OK


async def answer(args: argparse.Namespace) -> int:
    """Answer one request, asked here or given in words; without a request, list what waits."""
    async with await connected(args) as client:
        requests = await client.requests()
        if args.request is None:
            return _list_requests(requests, args.session)
        found = _named(requests, args.session, args.request)
        if found is None:
            print(f"No open request {flat(args.request)} in {flat(args.session)}.", file=sys.stderr)
            return exits.REFUSED
        if args.decision is None and not args.answer:
            return await _ask_here(client, found)
        return await _answer_by_words(client, found, args)


def _named(requests: list[RequestView], session_id: str, name: str) -> RequestView | None:
    """The request of this id, or the only one whose id is shown like this."""
    own = [request for request in requests if request.session_id == session_id]
    exact = [one for one in own if one.request_id == name]
    shown = exact or [one for one in own if flat(one.request_id) == name]
    return shown[0] if len(shown) == 1 else None


def _list_requests(requests: list[RequestView], session_id: str | None) -> int:
    terminal = Console()
    wanted = [one for one in requests if session_id in (None, one.session_id)]
    if not wanted:
        terminal.line("Nothing is waiting for you.")
    for request in wanted:
        _print_request(terminal, request)
    return exits.OK


def _print_request(terminal: Console, request: RequestView) -> None:
    asked = _asked(request)
    if isinstance(asked, PermissionRequested):
        terminal.write(permission_text(asked, terminal, whole=True))
    else:
        for question in asked.questions:
            terminal.write(question_text(question, terminal))
    terminal.write(elsewhere(request.session_id, asked), "dim")


async def _ask_here(client: Client, request: RequestView) -> int:
    terminal = Console()
    if not terminal.interactive:
        _print_request(terminal, request)
        return exits.USAGE
    await Answerer(client, terminal, Keyboard()).ask(request.session_id, _asked(request))
    return exits.OK


async def _answer_by_words(client: Client, request: RequestView, args: argparse.Namespace) -> int:
    asked = _asked(request)
    if isinstance(asked, QuestionAsked):
        if len(args.answer) != len(asked.questions):
            print(f"Give --answer {len(asked.questions)} times, once per question.", file=sys.stderr)
            return exits.USAGE
        answers = {one.question: text for one, text in zip(asked.questions, args.answer, strict=True)}
        await client.answer_question(
            request.session_id, request.request_id, answers, input_sha256=request.input_sha256
        )
        return exits.OK
    # Allowing by words names the input that was seen, so that nothing else can be allowed by mistake.
    if args.decision == "allow" and not _names_input(args.sha, request.input_sha256):
        terminal = Console(sys.stderr)
        sys.stderr.write(permission_text(asked, terminal, whole=True))
        print(f"To allow exactly this, add: --sha {flat(request.input_sha256[:12])}", file=sys.stderr)
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


def _asked(request: RequestView) -> PermissionRequested | QuestionAsked:
    event = decode_event(bytes(request.asked))
    if not isinstance(event, PermissionRequested | QuestionAsked):
        raise msgspec.ValidationError(f"a request can't be a {type(event).__name__}")
    return event
