"""Processes that run without a log: list them, take one up, end one."""

from bascule.hub.api import unlogged
from bascule.hub.api.bodies import Body
from bascule.hub.api.call import AnyCall
from bascule.hub.api.table import Row
from bascule.link.unlogged import PutAside, TakenUp, UnloggedList


class Empty(Body, kw_only=True, frozen=True):
    """No words needed."""


async def list_all(call: AnyCall) -> UnloggedList:
    return await unlogged.unlogged_list(call.hub)


async def take_up(call: AnyCall) -> TakenUp:
    return await unlogged.take_up(call.hub, call.by, call.params["name"])


async def end(call: AnyCall) -> PutAside:
    return await unlogged.end_process(call.hub, call.by, call.params["name"])


ROWS = [
    Row(
        method="GET",
        path="/api/unlogged",
        need="operator",
        serve=list_all,
        summary="Processes that run and are not in the log",
        answer=UnloggedList,
    ),
    Row(
        method="POST",
        path="/api/unlogged/{name}/take-up",
        need="operator",
        serve=take_up,
        summary="Begin a log for such a process from what was kept of its output",
        body=Empty,
        answer=TakenUp,
    ),
    Row(
        method="POST",
        path="/api/unlogged/{name}/end",
        need="operator",
        serve=end,
        summary="End such a process and put what was kept of its output aside",
        body=Empty,
        answer=PutAside,
    ),
]
