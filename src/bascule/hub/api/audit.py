"""The audit log: this hub's own chain, and the copies of the chains of the machines that have joined it."""

from msgspec import Raw

from bascule.api.audit_answers import AuditCopy, AuditPage, AuditVerdict
from bascule.api.bodies import AuditNamed, AuditQuery
from bascule.hub.calls.call import Call
from bascule.hub.calls.operation import Operation
from bascule.hub.services import Hub
from bascule.store.base import AuditCheck
from bascule.store.device_audit import DeviceChain
from bascule.store.devices import DeviceNotFound
from bascule.store.replication import ReplicaStore


async def audit(call: Call[AuditQuery]) -> AuditPage:
    body = call.body
    device = None if body.device == call.hub.switchboard.this else body.device
    if device is None:
        lines = await call.hub.store.audit_lines(body.after, body.limit)
    else:
        store, copies = await _copies(call.hub, device)
        chain = copies[-1].chain if body.chain is None and copies else body.chain
        lines = await store.copied_audit_lines(device, chain, body.after, body.limit)
    return AuditPage(records=[Raw(line) for line in lines], last=body.after + len(lines))


async def verify_audit(call: Call[AuditNamed]) -> AuditVerdict:
    """Without a device: the hub's own chain, and what is known of each copy. With one: its copies, walked."""
    hub, device = call.hub, call.body.device
    if device is None or device == hub.switchboard.this:
        check = await hub.store.verify_audit()
        copies = await hub.store.audit_copies()
        return _verdict(check, [_view(hub, copy, copies) for copy in copies if device is None])
    store, copies = await _copies(hub, device)
    checks = [await store.verify_audit_copy(copy) for copy in copies]
    views = [
        _view(hub, copy, copies, check, await store.audit_parted_at(copy) if copy is not copies[-1] else None)
        for copy, check in zip(copies, checks, strict=True)
    ]
    bad = next((check for check in reversed(checks) if check.fault), None)
    return _verdict(bad or (checks[-1] if checks else AuditCheck(0, "")), views)


async def _copies(hub: Hub, device: str) -> tuple[ReplicaStore, list[DeviceChain]]:
    """The copies of one machine's chains. Raises `DeviceNotFound` when nothing is known of it."""
    copies = await hub.store.audit_copies()
    own = [copy for copy in copies if copy.device == device]
    if not own and hub.switchboard.status(device) is None:
        raise DeviceNotFound("There is no such device.")
    return hub.store, own


def _verdict(check: AuditCheck, copies: list[AuditCopy]) -> AuditVerdict:
    sound = check.bad is None and not check.fault
    return AuditVerdict(
        ok=sound, count=check.checked, bad=check.bad, problem=check.fault or None, copies=copies
    )


def _view(
    hub: Hub,
    copy: DeviceChain,
    copies: list[DeviceChain],
    check: AuditCheck | None = None,
    differs_at: int | None = None,
) -> AuditCopy:
    status = hub.switchboard.status(copy.device)
    last = max(one.chain for one in copies if one.device == copy.device)
    return AuditCopy(
        device=copy.device,
        name=status.name if status else copy.device,
        chain=copy.chain,
        current=copy.chain == last,
        count=copy.n,
        began_at=copy.began_at,
        copied_at=copy.copied_at,
        broken_at=copy.broken_at if check is None else check.bad,
        problem=(copy.fault if check is None else check.fault) or None,
        differs_at=differs_at,
    )


OPERATIONS = (
    Operation(
        name="audit:list",
        method="GET",
        path="/api/audit",
        need="owner",
        body=AuditQuery,
        answer=AuditPage,
        run=audit,
        summary="List the audit log of this hub, or the copy of a machine's",
    ),
    Operation(
        name="audit:verify",
        method="GET",
        path="/api/audit/verify",
        need="owner",
        body=AuditNamed,
        answer=AuditVerdict,
        run=verify_audit,
        summary="Verify the audit chain of this hub, or the copies of a machine's",
    ),
)
