"""Launches on Bascule's own app, for who holds a grant; web pages without one use the bridge's port."""

from bascule.api.bodies import LaunchBody, LaunchedBody
from bascule.hub.api.call import Call
from bascule.hub.api.intake import LARGE
from bascule.hub.api.operation import Operation
from bascule.hub.api.responses import JsonAnswer
from bascule.hub.services import Hub
from bascule.launch.errors import LaunchError
from bascule.launch.gate import API_VERSION
from bascule.launch.idempotent import IdempotentLaunches
from bascule.launch.record import error_answer, launch_answer
from bascule.launch.request import request_of

HEADERS = {"X-Bridge-Version": API_VERSION}


async def launch(call: Call[LaunchBody]) -> JsonAnswer:
    """Answers and errors have the bridge's own shape, so that one client can talk to both."""
    try:
        body = call.body
        fields = {"prompt": body.prompt, "mode": body.mode, "agent": body.agent}
        request = request_of({**fields, "workingDirectory": body.working_directory})
        record = await _launches(call.hub).launch(request, who=call.by.name, key=call.key)
        status, told = launch_answer(record)
    except LaunchError as error:
        status, told = error_answer(error)
    return JsonAnswer(told, status, HEADERS)


async def outcome(call: Call[LaunchedBody]) -> JsonAnswer:
    try:
        status, told = launch_answer(_launches(call.hub).launches.get(call.body.launch_id))
    except LaunchError as error:
        status, told = error_answer(error)
    return JsonAnswer(told, status, HEADERS)


def _launches(hub: Hub) -> IdempotentLaunches:
    if hub.launches is None:
        raise LaunchError("not_found", "Launching is switched off here (launch.enabled).")
    return hub.launches


OPERATIONS = (
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
        summary="What became of a launch",
    ),
)
