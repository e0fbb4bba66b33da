"""This machine's connection to another hub: join, leave, and how it stands. For its own command line."""

from bascule.api.bodies import JoinBody, UplinkQuery, WidenBody
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.operation import Operation
from bascule.link.uplink import UplinkControl, UplinkStatus
from bascule.model.errors import NotSupported, OwnerNeeded
from bascule.policy.start_approval import is_remote
from bascule.store.base import AuditRecord


async def status(call: Call[UplinkQuery]) -> UplinkStatus:
    if call.hub.uplink is None:
        return UplinkStatus()
    return await call.hub.uplink.decided(call.body.wait)


async def join(call: Call[JoinBody]) -> UplinkStatus:
    uplink = _of(call)
    _check_here(call, call.body.may_widen)
    await uplink.join(call.body.url, call.body.token, may_widen=call.body.may_widen)
    await _note_widening(call, call.body.url, call.body.may_widen)
    return uplink.status


async def widen(call: Call[WidenBody]) -> UplinkStatus:
    uplink = _of(call)
    _check_here(call, call.body.may_widen)
    uplink.let_widen(call.body.may_widen)
    await _note_widening(call, uplink.status.url, call.body.may_widen)
    return uplink.status


def _check_here(call: AnyCall, may_widen: bool) -> None:
    """A browser elsewhere may be a stolen one; no hub can send this at all."""
    if may_widen and is_remote(call.by):
        raise OwnerNeeded(
            "Only somebody at this machine lets its hub widen: bascule daemon hub-may-widen yes"
        )


async def _note_widening(call: AnyCall, url: str, may_widen: bool) -> None:
    words = "may" if may_widen else "may not"
    detail = f"the hub {url} {words} let agents here do more without asking"
    await call.hub.store.audit([AuditRecord.of(call.by, "mode", detail=detail)])


async def leave(call: AnyCall) -> UplinkStatus:
    uplink = _of(call)
    await uplink.leave()
    return uplink.status


def _of(call: AnyCall) -> UplinkControl:
    if call.hub.uplink is None:
        raise NotSupported("This server runs no agents itself (`bascule hub`), so it joins no other.")
    return call.hub.uplink


OPERATIONS = (
    Operation(
        name="uplink:show",
        method="GET",
        path="/api/uplink",
        need="owner",
        body=UplinkQuery,
        answer=UplinkStatus,
        run=status,
        summary="Get the state of this machine's connection to a hub",
    ),
    Operation(
        name="uplink:join",
        method="POST",
        path="/api/uplink",
        need="owner",
        body=JoinBody,
        answer=UplinkStatus,
        run=join,
        summary="Connect this machine to a hub",
    ),
    Operation(
        name="uplink:widen",
        method="POST",
        path="/api/uplink/widening",
        need="owner",
        body=WidenBody,
        answer=UplinkStatus,
        run=widen,
        summary="Set whether the hub may let agents on this machine do more without asking",
    ),
    Operation(
        name="uplink:leave",
        method="DELETE",
        path="/api/uplink",
        need="owner",
        answer=UplinkStatus,
        run=leave,
        summary="Disconnect this machine from its hub",
    ),
)
