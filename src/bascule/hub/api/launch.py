"""Launches on Bascule's own app, for who holds a grant; web pages without one use the bridge's port."""

import asyncio

from bascule.api.bodies import LaunchBody, LaunchedBody, OfferNamed, SessionBody
from bascule.api.server_answers import OfferedPrompt
from bascule.api.session_answers import LaunchTerminal, TerminalOpened
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.forwarding import forwarding
from bascule.hub.calls.operation import Operation
from bascule.hub.services import Hub
from bascule.hub.wire.intake import LARGE
from bascule.hub.wire.json_answers import JsonAnswer
from bascule.launch.agent_start import AgentStart
from bascule.launch.conversation import start_of
from bascule.launch.errors import LaunchError
from bascule.launch.gate import API_VERSION
from bascule.launch.idempotent import IdempotentLaunches
from bascule.launch.record import error_answer, launch_answer
from bascule.launch.request import request_of
from bascule.link.found import FollowFound, ShowResumeCommand
from bascule.model.errors import NotSupported

HEADERS = {"X-Bridge-Version": API_VERSION}


async def launch(call: Call[LaunchBody]) -> JsonAnswer:
    """Answers and errors have the bridge's own shape, so that one client can talk to both."""
    try:
        body = call.body
        fields = {"prompt": body.prompt, "mode": body.mode, "agent": body.agent, "repo": body.repo}
        request = request_of({**fields, "workingDirectory": body.working_directory})
        record = await _launches(call.hub).launch(request, who=call.by.name, key=call.key)
        status, body = launch_answer(record)
    except LaunchError as error:
        status, body = error_answer(error)
    return JsonAnswer(body, status, HEADERS)


async def outcome(call: Call[LaunchedBody]) -> JsonAnswer:
    try:
        status, body = launch_answer(_launches(call.hub).launches.get(call.body.launch_id))
    except LaunchError as error:
        status, body = error_answer(error)
    return JsonAnswer(body, status, HEADERS)


def _launches(hub: Hub) -> IdempotentLaunches:
    if hub.launches is None:
        raise LaunchError("not_found", "Launching is switched off here (launch.enabled).")
    return hub.launches


async def offer(call: Call[OfferNamed]) -> OfferedPrompt:
    """What the launch window handed over. It starts nothing: a person does, on the start screen."""
    who, request = call.hub.offers.get(call.body.offer_id)
    return OfferedPrompt(
        origin=who,
        prompt=request.prompt,
        mode=request.mode,
        agent=request.agent,
        cwd=request.working_directory,
    )


async def terminal(call: AnyCall) -> LaunchTerminal:
    """Looked for anew each time: a desktop session comes and goes."""
    try:
        found = await asyncio.to_thread(_launches(call.hub).launches.terminal)
    except LaunchError as error:
        return LaunchTerminal(problem=error.message)
    return LaunchTerminal(terminal=found.name, rule=found.rule)


async def open_terminal(call: Call[SessionBody]) -> TerminalOpened:
    """On the server's own desktop."""
    board = call.hub.switchboard
    if board.device_of(call.record.device) != board.this:
        raise NotSupported("This session is on another machine, where its folder and its conversation are.")
    start = await _start(call)
    launches = _launches(call.hub).launches
    record = await launches.run(start, call.record.cwd, call.by.name)
    if record.error is not None:
        raise record.error
    launched = record.state == "launched"
    return TerminalOpened(id=record.id, launched=launched, terminal=record.terminal, rule=record.rule)


async def _start(call: Call[SessionBody]) -> AgentStart:
    launches, record = _launches(call.hub).launches, call.record
    open_in = None
    if record.found:
        open_in = (await call.ask(FollowFound(session_id=record.session_id))).terminal
    folder = call.hub.settings.data_dir
    return await asyncio.to_thread(start_of, record, launches.conversation, folder, open_in)


OPERATIONS = (
    Operation(
        name="launch:terminal",
        method="GET",
        path="/api/launch-terminal",
        need="operator",
        answer=LaunchTerminal,
        run=terminal,
        summary="Get the terminal that a launch would open on the server's desktop, or why there is none",
    ),
    Operation(
        name="session:open-terminal",
        method="POST",
        path="/api/sessions/{session_id}/open-terminal",
        need="operator",
        body=SessionBody,
        in_session=True,
        answer=TerminalOpened,
        run=open_terminal,
        summary="Continue a session in a terminal on the server's desktop",
    ),
    forwarding(
        ShowResumeCommand,
        name="session:resume-command",
        method="GET",
        path="/api/sessions/{session_id}/resume-command",
        need="operator",
        summary="Get the command that continues a session in a terminal of its machine",
    ),
    Operation(
        name="launch:offer",
        method="GET",
        path="/api/launch/offers/{offer_id}",
        need="operator",
        body=OfferNamed,
        answer=OfferedPrompt,
        run=offer,
        summary="Get a prompt that a web page handed over in the launch window",
    ),
    Operation(
        method="POST",
        path="/launch",
        need="operator",
        body=LaunchBody,
        described=False,  # its errors have the bridge's shape, which openapi.json does not have
        max_bytes=LARGE,
        run=launch,
        summary="Open a terminal on the server's desktop, with an agent and a prompt",
    ),
    Operation(
        method="GET",
        path="/launch/{launch_id}",
        need="operator",
        body=LaunchedBody,
        described=False,  # its errors have the bridge's shape, which openapi.json does not have
        run=outcome,
        summary="Get the outcome of a launch",
    ),
)
