"""Limits: what is in force, and the owner's changes, which hold at once and outlast a restart."""

from msgspec.structs import asdict

from bascule.api.bodies import LimitsBody
from bascule.api.pushes import LimitsChanged
from bascule.api.server_answers import LimitsView
from bascule.hub.api.machine import known_fields
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.operation import Operation
from bascule.hub.services import Hub
from bascule.link.machine import ReadSettings
from bascule.model.errors import NotSupported
from bascule.model.settings import Limits
from bascule.store.base import AuditRecord


async def show(call: AnyCall) -> LimitsView:
    """Of the machine that is named, or of the one this hub runs on."""
    if not _is_here(call):
        there = known_fields(Limits, (await call.ask(ReadSettings())).limits)
        return LimitsView(limits=there, configured=there, changed=[])
    return _view(call.hub)


async def change(call: Call[LimitsBody]) -> LimitsView:
    if not _is_here(call):
        raise NotSupported("A machine's limits are changed on that machine: another one must not widen them.")
    book, changes = call.hub.limits, call.body.limits
    before = asdict(book.now)
    book.change(changes)
    now = asdict(book.now)
    changed = [f"{name} {before[name]} -> {now[name]}" for name in changes if before[name] != now[name]]
    if changed:
        detail = "limits: " + ", ".join(changed)
        await call.hub.store.audit([AuditRecord.of(call.by, "mode", detail=detail)])
        call.hub.push(LimitsChanged(**asdict(_view(call.hub))))
    return _view(call.hub)


def _is_here(call: AnyCall) -> bool:
    board = call.hub.switchboard
    return call.device is None or board.device(call.device) == board.this


def _view(hub: Hub) -> LimitsView:
    book = hub.limits
    return LimitsView(limits=book.now, configured=book.configured, changed=sorted(book.changed))


OPERATIONS = (
    Operation(
        name="limits:show",
        method="GET",
        path="/api/limits",
        need="operator",
        answer=LimitsView,
        run=show,
        for_device=True,
        summary="Get the limits in force, those of the settings, and which ones were changed",
    ),
    Operation(
        name="limits:set",
        method="POST",
        path="/api/limits",
        need="owner",
        body=LimitsBody,
        answer=LimitsView,
        run=change,
        for_device=True,
        summary="Change limits at once and for good: 0 for none, null for the setting's value",
    ),
)
