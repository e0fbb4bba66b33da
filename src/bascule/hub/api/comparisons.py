"""Operations on comparisons: start, diff, keep one result, remove work trees."""

import secrets

from bascule.api.bodies import CompareBody
from bascule.api.pushes import ComparisonsChanged
from bascule.hub.api.session_commands import take_spawn
from bascule.hub.api.sessions import folder_of
from bascule.hub.calls.call import Call
from bascule.hub.calls.forwarding import forwarding
from bascule.hub.calls.operation import Operation
from bascule.hub.wire.intake import LARGE
from bascule.link.comparisons import (
    Entrant,
    KeepContestant,
    ListComparisons,
    ReadComparison,
    ReadContestant,
    RemoveTrees,
    StartComparison,
)
from bascule.model.comparisons import Comparison
from bascule.model.session_ids import new_session_id

SECONDS = 300  # git writes out whole working copies
CHANGED = ComparisonsChanged()


async def start(call: Call[CompareBody]) -> Comparison:
    hub, body = call.hub, call.body
    folder, call = await folder_of(call, body.project_id, body.cwd)
    for _ in body.agents:
        take_spawn(hub, call.holder.id)
    command = StartComparison(
        comparison_id=secrets.token_hex(8),
        folder=folder,
        prompt=body.prompt,
        entrants=tuple(
            Entrant(new_session_id(hub.switchboard.clock()), entrant.agent, entrant.model)
            for entrant in body.agents
        ),
        permission_mode=body.permission_mode,
        images=body.images,
        title=body.title,
    )
    comparison = await call.ask(command, seconds=SECONDS)
    hub.push(CHANGED)
    return comparison


ONE = "/api/comparisons/{comparison_id}"
OPERATIONS = (
    forwarding(
        ListComparisons,
        name="compare:list",
        method="GET",
        path="/api/comparisons",
        need="viewer",
        summary="List comparisons, the newest first",
    ),
    Operation(
        name="compare:start",
        method="POST",
        path="/api/comparisons",
        need="operator",
        body=CompareBody,
        answer=Comparison,
        run=start,
        summary="Start a comparison: one prompt for 2 to 4 agents, each in its own git work tree",
        max_bytes=LARGE,
        for_device=True,
    ),
    forwarding(
        ReadComparison,
        name="compare:show",
        method="GET",
        path=ONE,
        need="viewer",
        summary="Get a comparison: its sessions, branches and work trees",
    ),
    forwarding(
        ReadContestant,
        seconds=SECONDS,
        name="compare:changes",
        method="GET",
        path=ONE + "/changes",
        need="viewer",
        summary="Get one agent's diff against the common base commit",
    ),
    forwarding(
        KeepContestant,
        seconds=SECONDS,
        changed=CHANGED,
        name="compare:keep",
        method="POST",
        path=ONE + "/keep",
        need="operator",
        summary="Apply one agent's changes to the working copy, if they apply cleanly",
    ),
    forwarding(
        RemoveTrees,
        seconds=SECONDS,
        changed=CHANGED,
        name="compare:remove",
        method="POST",
        path=ONE + "/remove",
        need="operator",
        summary="End sessions and remove their work trees; their branches keep the work",
    ),
)
