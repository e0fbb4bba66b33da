"""Processes that run without a log: list them, take one up, end one."""

import msgspec

from bascule.hub.api.bodies import ProcessNamed
from bascule.hub.api.call import AnyCall, Call
from bascule.hub.api.operation import Operation
from bascule.link.unlogged import (
    EndProcess,
    ListUnlogged,
    PutAside,
    TakenUp,
    TakeUpProcess,
    UnloggedList,
)

END_SECONDS = 45.0  # stdin closes, TERM, KILL, and what it wrote is put aside
CHANGED = {"type": "unlogged:changed"}


async def unlogged_list(call: AnyCall) -> UnloggedList:
    return msgspec.json.decode(await call.hub.switchboard.ask(ListUnlogged()), type=UnloggedList)


async def take_up(call: Call[ProcessNamed]) -> TakenUp:
    answer = await call.hub.switchboard.ask(TakeUpProcess(call.body.name, call.by))
    call.hub.push(CHANGED)
    return msgspec.json.decode(answer, type=TakenUp)


async def end_process(call: Call[ProcessNamed]) -> PutAside:
    answer = await call.hub.switchboard.ask(EndProcess(call.body.name, call.by), timeout=END_SECONDS)
    call.hub.push(CHANGED)
    return msgspec.json.decode(answer, type=PutAside)


OPERATIONS = (
    Operation(
        name="unlogged:list",
        method="GET",
        path="/api/unlogged",
        need="operator",
        answer=UnloggedList,
        run=unlogged_list,
        summary="Processes that run and are not in the log",
    ),
    Operation(
        name="unlogged:take-up",
        method="POST",
        path="/api/unlogged/{name}/take-up",
        need="operator",
        body=ProcessNamed,
        answer=TakenUp,
        run=take_up,
        summary="Begin a log for such a process from what was kept of its output",
    ),
    Operation(
        name="unlogged:end",
        method="POST",
        path="/api/unlogged/{name}/end",
        need="operator",
        body=ProcessNamed,
        answer=PutAside,
        run=end_process,
        summary="End such a process and put what was kept of its output aside",
    ),
)
