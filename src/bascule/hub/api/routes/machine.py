"""The machine and its owner: agents, devices, requests, tickets, grants, audit, panic."""

import msgspec

from bascule.hub.api import overview, places
from bascule.hub.api.bodies import (
    AgentsQuery,
    Body,
    DirectoryQuery,
    EventsQuery,
    GrantBody,
    QrBody,
    TicketBody,
    TrustBody,
)
from bascule.hub.api.call import AnyCall, Call
from bascule.hub.api.qr import qr_code
from bascule.hub.api.table import NoQuery, Row
from bascule.hub.api.views import (
    AgentList,
    AuditPage,
    AuditVerdict,
    DaemonStatus,
    Directories,
    Directory,
    Done,
    Ended,
    Folders,
    GrantList,
    GrantMade,
    QrCode,
    RequestList,
    SettingsView,
    TicketMade,
)
from bascule.hub.door.roles import Forbidden, allows, reaches
from bascule.link.frames import CheckDirectory
from bascule.model.errors import InvalidInput, SessionNotFound


class Empty(Body, kw_only=True, frozen=True):
    """No words needed."""


async def requests(call: AnyCall) -> RequestList:
    return await overview.open_requests(call.hub)


async def agents(call: Call[None, AgentsQuery]) -> AgentList:
    return await overview.list_agents(call.hub, refresh=call.query.refresh)


async def daemon_status(call: AnyCall) -> DaemonStatus:
    return overview.daemon_status(call.hub)


async def directory(call: Call[None, DirectoryQuery]) -> Directories:
    query = call.query
    if (query.path is None) == (query.prefix is None):
        raise InvalidInput("Give either path or prefix.")
    if query.prefix is not None:
        found = await places.folders(call.hub, query.prefix, query.limit)
        return Directories(directories=found.directories, cut=found.cut)
    result = await call.hub.switchboard.ask(CheckDirectory(query.path or ""))
    return msgspec.json.decode(result, type=Directories)


async def ticket(call: Call[TicketBody, NoQuery]) -> TicketMade:
    body, tickets = call.body, call.hub.tickets
    path = "/ws"
    if body.purpose != "socket":
        if body.session_id is None:
            raise InvalidInput("A ticket for a stream or a terminal names its sessionId.")
        if not reaches(call.holder, body.session_id):
            raise SessionNotFound(body.session_id)
        if body.purpose == "terminal" and not allows(call.holder, "session_terminal"):
            raise Forbidden("A share link does not open a terminal.")
        stream = body.purpose == "stream"
        path = f"/api/sessions/{body.session_id}/stream" if stream else f"/ws/terminal/{body.session_id}"
    return TicketMade(ticket=tickets.issue(call.holder, path), expires_in=tickets.lifetime)


async def grants(call: AnyCall) -> GrantList:
    return overview.list_grants(call.hub)


async def make_grant(call: Call[GrantBody, NoQuery]) -> GrantMade:
    return await overview.make_grant(call.hub, call.by, call.body)


async def revoke_grant(call: AnyCall) -> Done:
    await overview.revoke_grant(call.hub, call.by, call.params["id"])
    return Done(ok=True)


async def audit(call: Call[None, EventsQuery]) -> AuditPage:
    return await overview.audit_page(call.hub, call.query.after, call.query.limit)


async def verify(call: AnyCall) -> AuditVerdict:
    return await overview.audit_verdict(call.hub)


async def settings(call: AnyCall) -> SettingsView:
    return overview.settings_view(call.hub)


async def qr(call: Call[QrBody, NoQuery]) -> QrCode:
    return qr_code(call.body)


async def kill_all(call: AnyCall) -> Ended:
    return await overview.end_all(call.hub, call.by)


async def trusted(call: AnyCall) -> Folders:
    return await overview.trusted_folders(call.hub)


async def trust(call: Call[TrustBody, NoQuery]) -> Directory:
    return await overview.trust_folder(call.hub, call.by, call.body)


async def pause(call: AnyCall) -> Done:
    await overview.pause(call.hub, call.by, paused=True)
    return Done(ok=True)


async def resume(call: AnyCall) -> Done:
    await overview.pause(call.hub, call.by, paused=False)
    return Done(ok=True)


ROWS = [
    Row(
        method="GET",
        path="/api/requests",
        need="viewer",
        serve=requests,
        summary="What waits for a person, oldest first",
        answer=RequestList,
    ),
    Row(
        method="GET",
        path="/api/agents",
        need="viewer",
        serve=agents,
        summary="The agents of this machine",
        query=AgentsQuery,
        answer=AgentList,
    ),
    Row(
        method="GET",
        path="/api/daemon/status",
        need="viewer",
        serve=daemon_status,
        summary="Which devices are connected",
        answer=DaemonStatus,
    ),
    Row(
        method="GET",
        path="/api/directories",
        need="operator",
        serve=directory,
        summary="Is this a folder a session may run in (path)? Which could it become (prefix)?",
        query=DirectoryQuery,
        answer=Directories,
    ),
    Row(
        method="POST",
        path="/api/tickets",
        need="any",
        serve=ticket,
        summary="A single-use ticket for a socket or a stream",
        body=TicketBody,
        answer=TicketMade,
    ),
    Row(
        method="GET",
        path="/api/grants",
        need="owner",
        serve=grants,
        summary="Who may come in",
        answer=GrantList,
    ),
    Row(
        method="POST",
        path="/api/grants",
        need="owner",
        serve=make_grant,
        summary="Let somebody in",
        body=GrantBody,
        answer=GrantMade,
    ),
    Row(
        method="DELETE",
        path="/api/grants/{id}",
        need="owner",
        serve=revoke_grant,
        summary="Let somebody in no more",
        body=Empty,
        answer=Done,
    ),
    Row(
        method="GET",
        path="/api/audit",
        need="owner",
        serve=audit,
        summary="Who did what, as chained records",
        query=EventsQuery,
        answer=AuditPage,
    ),
    Row(
        method="GET",
        path="/api/audit/verify",
        need="owner",
        serve=verify,
        summary="Walk the audit chain",
        answer=AuditVerdict,
    ),
    Row(
        method="GET",
        path="/api/settings",
        need="operator",
        serve=settings,
        summary="The limits and folders this Bascule runs with",
        answer=SettingsView,
    ),
    Row(
        method="POST",
        path="/api/qr",
        need="owner",
        serve=qr,
        summary="A link as a QR code, row by row",
        body=QrBody,
        answer=QrCode,
    ),
    Row(
        method="POST",
        path="/api/kill-all",
        need="owner",
        serve=kill_all,
        summary="Stop every agent on every device",
        body=Empty,
        answer=Ended,
    ),
    Row(
        method="GET",
        path="/api/projects/trusted",
        need="viewer",
        serve=trusted,
        summary="Folders whose agents' trust questions are answered yes",
        answer=Folders,
    ),
    Row(
        method="POST",
        path="/api/projects/trusted",
        need="owner",
        serve=trust,
        summary="Trust a folder, or no longer",
        body=TrustBody,
        answer=Directory,
    ),
    Row(
        method="POST",
        path="/api/daemon/pause",
        need="owner",
        serve=pause,
        summary="Take no new sessions",
        body=Empty,
        answer=Done,
    ),
    Row(
        method="POST",
        path="/api/daemon/resume",
        need="owner",
        serve=resume,
        summary="Take new sessions again",
        body=Empty,
        answer=Done,
    ),
]
