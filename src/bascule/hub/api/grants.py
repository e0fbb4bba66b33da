"""Access: grants, share links, QR codes, and tickets for sockets and streams."""

from collections.abc import Sequence
from typing import cast

from bascule.api.bodies import GrantBody, GrantNamed, GrantRename, QrBody, ShareBody, TicketBody
from bascule.api.grant_answers import GrantList, GrantMade, QrCode, TicketMade
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.operation import Operation
from bascule.hub.door.roles import Forbidden, allows, reaches
from bascule.hub.views import grant_view
from bascule.model.commands import Done
from bascule.model.errors import CallerError, InvalidInput, SessionNotFound


class GrantNotFound(CallerError):
    code = "GRANT_NOT_FOUND"


async def list_grants(call: AnyCall) -> GrantList:
    streams = call.hub.open_streams
    return GrantList(grants=[grant_view(grant, streams.count(grant.id)) for grant in call.hub.grants.list()])


async def create(call: Call[GrantBody]) -> GrantMade:
    hub, body = call.hub, call.body
    if body.session_id is not None and await hub.store.session(body.session_id) is None:
        raise InvalidInput("There is no such session.")
    grant, secret = await hub.grants.create(
        body.name,
        body.role,
        session_id=body.session_id,
        expires_in=body.expires_in,
        device=body.device,
        by=call.by.name,
    )
    return GrantMade(grant=grant_view(grant), token=secret, link=f"{hub.doors.url}/#token={secret}")


async def revoke(call: Call[GrantNamed]) -> Done:
    await call.hub.grants.revoke(_known(call, call.body), by=call.by.name)
    return Done()


async def rename(call: Call[GrantRename]) -> Done:
    """Sockets that are open keep the old name; a page connects again."""
    await call.hub.grants.rename(_known(call, call.body), call.body.name, by=call.by.name)
    return Done()


def _known(call: AnyCall, named: GrantNamed) -> str:
    if all(grant.id != named.grant_id for grant in call.hub.grants.list()):
        raise GrantNotFound("There is no such grant.")
    return named.grant_id


async def share(call: Call[ShareBody]) -> GrantMade:
    """The secret stands behind the `#`, which browsers do not send: it is in no server's log."""
    hub, record = call.hub, call.record
    name = call.body.name or f"Link to {record.title or record.session_id}"[:100]
    name = "".join(letter for letter in name if letter.isprintable()) or "share"
    grant, secret = await hub.grants.create(
        name,
        "viewer",
        session_id=record.session_id,
        expires_in=call.body.expires_in,
        by=call.by.name,
        keeps_secrets=call.body.keep_secrets,
    )
    return GrantMade(grant=grant_view(grant), token=secret, link=f"{hub.doors.url}/s#token={secret}")


async def qr(call: Call[QrBody]) -> QrCode:
    """A link as a square of dots, for a phone's camera. The page draws it: it may not take any markup."""
    import segno  # noqa: PLC0415 - slow to load: only those who show a link pay for it

    matrix = cast("Sequence[bytes]", segno.make(call.body.text, micro=False, error="m").matrix)
    return QrCode(rows=["".join("1" if dark else "0" for dark in row) for row in matrix])


async def ticket(call: Call[TicketBody]) -> TicketMade:
    body, tickets = call.body, call.hub.tickets
    path = "/ws"
    if body.purpose != "socket":
        if body.session_id is None:
            raise InvalidInput("A ticket for a stream, a terminal or an export names its sessionId.")
        if not reaches(call.holder, body.session_id):
            raise SessionNotFound(body.session_id)
        if body.purpose == "terminal" and not allows(call.holder, "session_terminal"):
            raise Forbidden("A share link does not open a terminal.")
        terminal = body.purpose == "terminal"
        path = (
            f"/ws/terminal/{body.session_id}"
            if terminal
            else f"/api/sessions/{body.session_id}/{body.purpose}"
        )
    return TicketMade(ticket=await tickets.issue(call.holder, path), expires_in=tickets.lifetime)


OPERATIONS = (
    Operation(
        name="grants:list",
        method="GET",
        path="/api/grants",
        need="owner",
        answer=GrantList,
        run=list_grants,
        summary="List grants",
    ),
    Operation(
        name="grants:create",
        method="POST",
        path="/api/grants",
        need="owner",
        body=GrantBody,
        answer=GrantMade,
        run=create,
        summary="Create a grant",
    ),
    Operation(
        name="grants:revoke",
        method="DELETE",
        path="/api/grants/{grant_id}",
        need="owner",
        body=GrantNamed,
        answer=Done,
        run=revoke,
        summary="Revoke a grant",
    ),
    Operation(
        name="grants:rename",
        method="POST",
        path="/api/grants/{grant_id}/name",
        need="owner",
        body=GrantRename,
        answer=Done,
        run=rename,
        summary="Rename a grant",
    ),
    Operation(
        name="session:share",
        method="POST",
        path="/api/sessions/{session_id}/share",
        need="owner",
        body=ShareBody,
        answer=GrantMade,
        run=share,
        summary="Create a read-only link to this session",
        in_session=True,
    ),
    Operation(
        name="qr",
        method="POST",
        path="/api/qr",
        need="owner",
        body=QrBody,
        answer=QrCode,
        run=qr,
        summary="Encode a link as a QR code",
    ),
    Operation(
        method="POST",
        path="/api/tickets",
        need="any",
        body=TicketBody,
        answer=TicketMade,
        run=ticket,
        summary="Create a single-use ticket for a socket or a stream",
    ),
)
