"""One prompt for several agents: started, compared, one kept, work trees removed."""

import secrets

import msgspec

from bascule.hub.api.bodies import CompareBody, ComparisonNamed, ContestantBody, RemoveTreesBody
from bascule.hub.api.call import AnyCall, Call
from bascule.hub.api.intake import LARGE
from bascule.hub.api.operation import Operation
from bascule.hub.api.session_commands import images_of, take_spawn
from bascule.hub.api.sessions import where
from bascule.link.comparisons import (
    Comparisons,
    ContestantChanges,
    Entrant,
    KeepContestant,
    Kept,
    ListComparisons,
    ReadComparison,
    ReadContestant,
    RemoveTrees,
    StartComparison,
    TreesRemoved,
)
from bascule.model.comparisons import Comparison
from bascule.model.errors import InvalidInput

# Git writes out whole working copies.
SECONDS = 300
CHANGED = {"type": "compare:changed"}


async def comparison_list(call: AnyCall) -> Comparisons:
    return msgspec.json.decode(await call.hub.switchboard.ask(ListComparisons()), type=Comparisons)


async def comparison(call: Call[ComparisonNamed]) -> Comparison:
    command = ReadComparison(call.body.comparison_id)
    return msgspec.json.decode(await call.hub.switchboard.ask(command), type=Comparison)


async def start(call: Call[CompareBody]) -> Comparison:
    hub, body = call.hub, call.body
    folder, device = await where(hub, body.project_id, body.cwd)
    for _ in body.agents:
        take_spawn(hub, call.holder.id)
    command = StartComparison(
        comparison_id=secrets.token_hex(8),
        folder=folder,
        prompt=body.prompt,
        entrants=tuple(
            Entrant(secrets.token_hex(8), entrant.agent, entrant.model) for entrant in body.agents
        ),
        by=call.by,
        permission_mode=body.permission_mode,
        images=images_of(body.images),
        title=body.title,
        key=call.key,
    )
    result = await hub.switchboard.ask(command, device=device, timeout=SECONDS)
    hub.push(CHANGED)
    return msgspec.json.decode(result, type=Comparison)


async def changes(call: Call[ContestantBody]) -> ContestantChanges:
    command = ReadContestant(call.body.comparison_id, call.body.session_id)
    answer = await call.hub.switchboard.ask(command, timeout=SECONDS)
    return msgspec.json.decode(answer, type=ContestantChanges)


async def keep(call: Call[ContestantBody]) -> Kept:
    command = KeepContestant(call.body.comparison_id, call.body.session_id, call.by)
    kept = msgspec.json.decode(await call.hub.switchboard.ask(command, timeout=SECONDS), type=Kept)
    call.hub.push(CHANGED)
    return kept


async def remove(call: Call[RemoveTreesBody]) -> TreesRemoved:
    body = call.body
    if not body.confirm:
        raise InvalidInput("Work trees are removed only when that is confirmed (`confirm`: true).")
    command = RemoveTrees(body.comparison_id, body.session_ids, call.by)
    removed = msgspec.json.decode(await call.hub.switchboard.ask(command, timeout=SECONDS), type=TreesRemoved)
    call.hub.push(CHANGED)
    return removed


ONE = "/api/comparisons/{comparison_id}"
OPERATIONS = (
    Operation(
        name="compare:list",
        method="GET",
        path="/api/comparisons",
        need="viewer",
        answer=Comparisons,
        run=comparison_list,
        summary="Prompts that several agents were given, the newest first",
    ),
    Operation(
        name="compare:start",
        method="POST",
        path="/api/comparisons",
        need="operator",
        body=CompareBody,
        answer=Comparison,
        run=start,
        summary="Give one prompt to 2 to 4 agents, each in a git work tree of its own",
        max_bytes=LARGE,
    ),
    Operation(
        name="compare:show",
        method="GET",
        path=ONE,
        need="viewer",
        body=ComparisonNamed,
        answer=Comparison,
        run=comparison,
        summary="One such prompt: its sessions, branches and work trees",
    ),
    Operation(
        name="compare:changes",
        method="GET",
        path=ONE + "/changes",
        need="viewer",
        body=ContestantBody,
        answer=ContestantChanges,
        run=changes,
        summary="What one agent changed since the commit all began from",
    ),
    Operation(
        name="compare:keep",
        method="POST",
        path=ONE + "/keep",
        need="operator",
        body=ContestantBody,
        answer=Kept,
        run=keep,
        summary="Take one agent's changes over into the working copy, if they fit",
    ),
    Operation(
        name="compare:remove",
        method="POST",
        path=ONE + "/remove",
        need="operator",
        body=RemoveTreesBody,
        answer=TreesRemoved,
        run=remove,
        summary="End sessions and remove their work trees; their branches keep the work",
    ),
)
