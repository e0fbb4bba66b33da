"""Tunnels over ssh to machines that can't dial this hub, and the addresses by which it may be reached."""

from bascule.api.bodies import TunnelBody, TunnelNamed
from bascule.api.grant_answers import AddressList
from bascule.api.machine_answers import TunnelList
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.operation import Operation
from bascule.hub.door.own_addresses import addresses_of
from bascule.link.tunnels import TunnelControl, TunnelStatus
from bascule.model.commands import Done
from bascule.model.errors import NotSupported


async def addresses(call: AnyCall) -> AddressList:
    return AddressList(addresses=addresses_of(call.hub.settings, call.hub.doors))


async def list_tunnels(call: AnyCall) -> TunnelList:
    return TunnelList(tunnels=call.hub.tunnels.list() if call.hub.tunnels is not None else [])


async def open_tunnel(call: Call[TunnelBody]) -> TunnelStatus:
    return await _of(call).open(call.body.host, call.body.port)


async def close_tunnel(call: Call[TunnelNamed]) -> Done:
    await _of(call).close(call.body.host)
    return Done()


def _of(call: AnyCall) -> TunnelControl:
    if call.hub.tunnels is None:
        raise NotSupported(
            "This server opens no tunnels: no machine would accept its certificate for 127.0.0.1."
        )
    return call.hub.tunnels


OPERATIONS = (
    Operation(
        name="addresses:list",
        method="GET",
        path="/api/addresses",
        need="owner",
        answer=AddressList,
        run=addresses,
        summary="List the addresses at which this server can be reached",
    ),
    Operation(
        name="tunnels:list",
        method="GET",
        path="/api/tunnels",
        need="owner",
        answer=TunnelList,
        run=list_tunnels,
        summary="List ssh tunnels",
    ),
    Operation(
        name="tunnels:open",
        method="POST",
        path="/api/tunnels",
        need="owner",
        body=TunnelBody,
        answer=TunnelStatus,
        run=open_tunnel,
        summary="Keep an ssh tunnel open through which a machine reaches this server",
    ),
    Operation(
        name="tunnels:close",
        method="DELETE",
        path="/api/tunnels/{host}",
        need="owner",
        body=TunnelNamed,
        answer=Done,
        run=close_tunnel,
        summary="Close an ssh tunnel",
    ),
)
