"""Token use and cost of sessions, summed over all machines."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from bascule.api.session_answers import AgentSums, DeviceSums, UsageSums
from bascule.hub.calls.call import AnyCall
from bascule.hub.calls.operation import Operation
from bascule.hub.views import session_view
from bascule.store.base import AgentUsage

MAX_COSTLIEST = 100


async def usage(call: AnyCall) -> UsageSums:
    """Over all machines, by agent and by machine; those that are away count with what the hub has of them."""
    hub = call.hub
    sums = await hub.store.usage(MAX_COSTLIEST)
    names = {one.device: one.name for one in hub.switchboard.devices()}
    agents = _grouped(sums.agents, lambda one: one.agent)
    devices = _grouped(sums.agents, lambda one: one.device or hub.switchboard.this)
    return UsageSums(
        **_added(sums.agents),
        agents=[AgentSums(agent=agent, **_added(some)) for agent, some in agents.items()],
        devices=[
            DeviceSums(device=device, name=names.get(device, ""), **_added(some))
            for device, some in devices.items()
        ],
        costliest=[session_view(record) for record in sums.costliest],
    )


def _grouped(sums: list[AgentUsage], key: Callable[[AgentUsage], str]) -> dict[str, list[AgentUsage]]:
    groups: defaultdict[str, list[AgentUsage]] = defaultdict(list)
    for one in sums:
        groups[key(one)].append(one)
    return groups


def _added(sums: list[AgentUsage]) -> dict[str, Any]:
    known = [one.cost_usd for one in sums if one.cost_usd is not None]
    return {
        "sessions": sum(one.sessions for one in sums),
        "turns": sum(one.turns for one in sums),
        "cost_usd": sum(known) if known else None,
    }


OPERATIONS = (
    Operation(
        name="usage:show",
        method="GET",
        path="/api/usage",
        need="viewer",
        answer=UsageSums,
        run=usage,
        summary="Get what all sessions used and cost",
    ),
)
