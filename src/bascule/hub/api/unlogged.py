"""Processes that run without a log, as people ask for them, for HTTP and the socket alike."""

import msgspec

from bascule.hub.services import Hub
from bascule.link.unlogged import (
    EndProcess,
    ListUnlogged,
    PutAside,
    TakenUp,
    TakeUpProcess,
    UnloggedList,
)
from bascule.model.codec import encode
from bascule.model.commands import Actor

END_SECONDS = 45.0  # stdin closes, TERM, KILL, and what it wrote is put aside


async def unlogged_list(hub: Hub) -> UnloggedList:
    return msgspec.json.decode(await hub.switchboard.ask(ListUnlogged()), type=UnloggedList)


async def take_up(hub: Hub, by: Actor, name: str) -> TakenUp:
    taken = msgspec.json.decode(await hub.switchboard.ask(TakeUpProcess(name, by)), type=TakenUp)
    _changed(hub)
    return taken


async def end_process(hub: Hub, by: Actor, name: str) -> PutAside:
    answer = await hub.switchboard.ask(EndProcess(name, by), timeout=END_SECONDS)
    _changed(hub)
    return msgspec.json.decode(answer, type=PutAside)


def _changed(hub: Hub) -> None:
    hub.feed.notify(None, encode({"type": "unlogged:changed"}))
