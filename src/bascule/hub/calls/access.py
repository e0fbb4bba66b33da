"""Access control: checks Host, Origin, grant and role of every request before any route runs."""

import logging
from dataclasses import dataclass

from bascule.hub.calls.ended import way_in, what_became
from bascule.hub.calls.operation import Match, Operation, Table
from bascule.hub.door.addresses import address_of
from bascule.hub.door.credentials import Credentials, take_credentials, token_in
from bascule.hub.door.hosts import check_host, check_origin
from bascule.hub.door.roles import allows, reaches
from bascule.hub.door.throttle import Throttle
from bascule.hub.door.who_may import forbidden
from bascule.hub.services import Hub
from bascule.hub.wire.asgi_types import ASGIApp, Receive, Scope, Send
from bascule.hub.wire.intake import ClientGone, header, read_body
from bascule.hub.wire.json_answers import error_answer, status_of
from bascule.hub.wire.response import Response
from bascule.model.errors import BasculeError, Field, Refusal
from bascule.model.faults import report
from bascule.store.grants import Grant

log = logging.getLogger("bascule.hub")


class Turned(Exception):
    """The request is refused. Without a refusal the response has no body: a stranger learns nothing."""

    def __init__(
        self, status: int, refusal: Refusal | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(status)
        self.status, self.refusal, self.headers = status, refusal, headers


# Made anew each time: an exception that is raised again and again keeps every frame it ever passed.


def no_grant(fields: dict[str, Field] | None = None) -> Turned:
    words = "Show a valid token: Authorization: Bearer <token>."
    return Turned(401, Refusal("UNAUTHENTICATED", words, fields or {}), {"www-authenticate": "Bearer"})


def not_enough(grant: Grant, operation: Operation) -> Turned:
    return Turned(403, forbidden(grant, operation.need).refusal())


def too_many() -> Turned:
    words = "Too many wrong tokens; wait a minute."
    return Turned(429, Refusal("TOO_MANY_ATTEMPTS", words), {"retry-after": "60"})


@dataclass(frozen=True)
class Admitted:
    """An admitted request: its operation, path parameters, grant, body and address."""

    operation: Operation
    params: dict[str, str]
    grant: Grant | None
    body: bytes
    address: str


class Access:
    """ASGI middleware. Nothing reaches a route but through `_admit`, and its default is no."""

    def __init__(self, app: ASGIApp, hub: Hub, table: Table, throttle: Throttle) -> None:
        self._app, self._hub, self._table = app, hub, table
        self._throttle = throttle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            scope["bascule.admitted"] = await self._admit(scope, receive)
        except Turned as no:
            await _turn_away(no, scope, receive, send)
        except BasculeError as error:
            status = status_of(error.refusal().code)
            await _turn_away(Turned(status, error.refusal()), scope, receive, send)
        except ClientGone:
            return
        except Exception as error:  # noqa: BLE001 - whatever breaks at the door is answered as any other fault
            await _turn_away(Turned(500, report(log, "the door", error)), scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _admit(self, scope: Scope, receive: Receive) -> Admitted:
        shown = take_credentials(scope)
        status = check_host(self._hub.doors, scope["headers"])
        if status is not None:
            raise Turned(status)
        socket = scope["type"] == "websocket"
        match = self._table.find("WS" if socket else scope["method"], scope["path"])
        opaque = match.operation is not None and match.operation.opaque_origin
        if not check_origin(self._hub.doors, scope["headers"], scope["scheme"], opaque=opaque):
            raise Turned(403)
        address = address_of(scope, self._hub.settings.trusted_proxies)
        if match.operation is not None and match.operation.need == "public":
            body = await _body_of(match.operation, scope, receive)
            return Admitted(match.operation, match.params, None, body, address)
        if socket:
            _check_socket(shown, scope)
        grant, body = await self._identify(shown, match.operation, scope, receive, address)
        _tell_connection(scope)
        operation = _check_role(match, grant)
        if body is None:
            body = await _body_of(operation, scope, receive)
        return Admitted(operation, match.params, grant, body, address)

    async def _identify(
        self, shown: Credentials, operation: Operation | None, scope: Scope, receive: Receive, address: str
    ) -> tuple[Grant, bytes | None]:
        """The grant, and the body when it had to be read for the token in it."""
        body: bytes | None = None
        if shown.nothing and operation is not None and operation.token_in_body:
            body = await _body_of(operation, scope, receive)
            shown = Credentials(None, None, token_in(body))
        if shown.nothing:
            raise no_grant(way_in(self._hub, scope, address))
        grant = await self._look_up(shown, operation, scope["path"])
        if grant is None and shown.bearer is not None and self._hub.cluster is not None:
            # Another node may have made it just now. While the database is away, no node can tell: 503.
            await self._hub.cluster.grants_now()
            grant = await self._look_up(shown, operation, scope["path"])
        if grant is None:
            if not self._throttle.wrong(address):
                raise too_many()
            raise no_grant({**way_in(self._hub, scope, address), **what_became(self._hub, shown.bearer)})
        return grant, body

    async def _look_up(self, shown: Credentials, operation: Operation | None, path: str) -> Grant | None:
        if shown.bearer is not None:
            return self._hub.grants.authenticate(shown.bearer)
        if shown.ticket is not None:
            return (
                await self._hub.tickets.redeem(shown.ticket, path)
                if operation is not None and operation.ticket
                else None
            )
        grant = self._hub.grants.authenticate(shown.token or "")
        # Only a session's own token may travel in a query or a body.
        return grant if grant is not None and grant.role == "session" else None


def _check_role(match: Match, grant: Grant) -> Operation:
    operation = match.operation
    if operation is None and match.methods:
        allow = ", ".join(sorted(set(match.methods)))
        raise Turned(405, Refusal("METHOD_NOT_ALLOWED", f"Use {allow}."), {"allow": allow})
    if operation is None:
        raise Turned(404, Refusal("NOT_FOUND", "There is nothing here."))
    if not allows(grant, operation.need):
        raise not_enough(grant, operation)
    # For another session its token is not a valid one, whether that session exists or not.
    if operation.need.startswith("session") and not reaches(grant, match.params["session_id"]):
        raise no_grant()
    return operation


def _check_socket(shown: Credentials, scope: Scope) -> None:
    """A page can't send a header and a program needs no ticket: each has its own way, and only that."""
    from_page = header(scope["headers"], b"origin") is not None
    if from_page and (shown.bearer is not None or shown.nothing):
        raise Turned(403)
    if not from_page and shown.bearer is None:
        raise Turned(403)


async def _body_of(operation: Operation, scope: Scope, receive: Receive) -> bytes:
    if scope["type"] == "websocket" or operation.method == "GET":
        return b""
    return await read_body(scope["headers"], receive, operation.max_bytes)


def _tell_connection(scope: Scope) -> None:
    connection = scope.get("bascule.connection")
    if connection is not None:
        connection.known()


async def _turn_away(no: Turned, scope: Scope, receive: Receive, send: Send) -> None:
    headers = {"connection": "close", **(no.headers or {})} if no.status in (413, 415) else no.headers
    answer = error_answer(no.refusal, headers) if no.refusal else Response(b"", no.status, headers)
    answer.status = no.status
    await answer(scope, receive, send)
