"""One prompt for several agents: started, compared, one kept, work trees removed."""

from bascule.hub.api import comparisons as comparing
from bascule.hub.api.bodies import CompareBody, ContestantBody, ContestantQuery, RemoveTreesBody
from bascule.hub.api.call import AnyCall, Call
from bascule.hub.api.intake import LARGE
from bascule.hub.api.table import NoQuery, Row
from bascule.link.comparisons import Comparisons, ContestantChanges, Kept, TreesRemoved
from bascule.model.comparisons import Comparison


async def comparisons(call: AnyCall) -> Comparisons:
    return await comparing.comparison_list(call.hub)


async def start(call: Call[CompareBody, NoQuery]) -> Comparison:
    return await comparing.start(call.hub, call.holder, call.by, call.key, call.body)


async def one(call: AnyCall) -> Comparison:
    return await comparing.comparison(call.hub, call.params["id"])


async def changes(call: Call[None, ContestantQuery]) -> ContestantChanges:
    return await comparing.changes(call.hub, call.params["id"], call.query.session_id)


async def keep(call: Call[ContestantBody, NoQuery]) -> Kept:
    return await comparing.keep(call.hub, call.by, call.params["id"], call.body.session_id)


async def remove(call: Call[RemoveTreesBody, NoQuery]) -> TreesRemoved:
    return await comparing.remove(call.hub, call.by, call.params["id"], call.body)


ONE = "/api/comparisons/{id}"
ROWS = [
    Row(
        method="GET",
        path="/api/comparisons",
        need="viewer",
        serve=comparisons,
        summary="Prompts that several agents were given, the newest first",
        answer=Comparisons,
    ),
    Row(
        method="POST",
        path="/api/comparisons",
        need="operator",
        serve=start,
        summary="Give one prompt to 2 to 4 agents, each in a git work tree of its own",
        body=CompareBody,
        answer=Comparison,
        most=LARGE,
    ),
    Row(
        method="GET",
        path=ONE,
        need="viewer",
        serve=one,
        summary="One such prompt: its sessions, branches and work trees",
        answer=Comparison,
    ),
    Row(
        method="GET",
        path=ONE + "/changes",
        need="viewer",
        serve=changes,
        summary="What one agent changed since the commit all began from",
        query=ContestantQuery,
        answer=ContestantChanges,
    ),
    Row(
        method="POST",
        path=ONE + "/keep",
        need="operator",
        serve=keep,
        summary="Take one agent's changes over into the working copy, if they fit",
        body=ContestantBody,
        answer=Kept,
    ),
    Row(
        method="POST",
        path=ONE + "/remove",
        need="operator",
        serve=remove,
        summary="End sessions and remove their work trees; their branches keep the work",
        body=RemoveTreesBody,
        answer=TreesRemoved,
    ),
]
