"""Joins a row of the table to the router: decodes what came, runs the route, encodes what it gives."""

import logging

from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Message, Receive, Scope, Send

from bascule.hub.api.call import AnyCall, Call
from bascule.hub.api.intake import decode_json, decode_query, header
from bascule.hub.api.responses import JsonAnswer, error_answer
from bascule.hub.api.table import Row, Table
from bascule.hub.door.access import Admitted
from bascule.hub.services import Hub
from bascule.model.commands import Actor
from bascule.model.errors import BasculeError, InvalidInput
from bascule.model.faults import report

log = logging.getLogger("bascule.hub")

KEY_LENGTH = 200


class Endpoint:
    """An ASGI app for one row. It runs only for a request the door admitted to this very row."""

    def __init__(self, hub: Hub, row: Row) -> None:
        self._hub, self._row = hub, row

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        admitted: Admitted = scope["bascule.admitted"]
        if admitted.row is not self._row:
            raise RuntimeError("The router and the door disagree about a route.")
        begun = False

        async def noting_send(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        answer = await self._answer(admitted, scope, receive, noting_send)
        if answer is None:
            return
        if begun:  # it broke in the middle of a stream: there is no saying why any more, only an end
            scope["bascule.connection"].abort()
            return
        await answer(scope, receive, send)

    async def _answer(
        self, admitted: Admitted, scope: Scope, receive: Receive, send: Send
    ) -> Response | None:
        try:
            call = self._call(admitted, scope, receive, send)
            result = await self._row.serve(call)
            if result is None or isinstance(result, Response):
                return result
            return JsonAnswer(result, self._row.status)
        except BasculeError as error:
            return error_answer(error, _retry(error))
        except Exception as error:  # noqa: BLE001 - told with an id, and nothing of the inside
            return error_answer(report(log, f"{self._row.method} {self._row.path}", error))

    def _call(self, admitted: Admitted, scope: Scope, receive: Receive, send: Send) -> AnyCall:
        row = self._row
        return Call(
            hub=self._hub,
            row=row,
            scope=scope,
            receive=receive,
            send=send,
            grant=admitted.grant,
            by=_actor(admitted, scope),
            params=admitted.params,
            query=decode_query(scope["query_string"], row.query),
            body=decode_json(admitted.body, row.body) if row.body is not None else None,
            key=_key(header(scope["headers"], b"idempotency-key")),
        )


def routes_of(hub: Hub, table: Table) -> list[BaseRoute]:
    routes: list[BaseRoute] = []
    for row in table.rows:
        endpoint = Endpoint(hub, row)
        if row.method == "WS":
            routes.append(WebSocketRoute(row.path, endpoint))
        else:
            routes.append(Route(row.path, endpoint, methods=[row.method]))
    return routes


def _actor(admitted: Admitted, scope: Scope) -> Actor:
    agent = (header(scope["headers"], b"user-agent") or "")[:200]
    if admitted.grant is None:
        return Actor("", address=admitted.address, user_agent=agent)
    return Actor(admitted.grant.name, admitted.grant.id, admitted.address, agent)


def _key(key: str | None) -> str | None:
    if key is not None and (not 0 < len(key) <= KEY_LENGTH or not key.isprintable()):
        raise InvalidInput(f"Idempotency-Key has 1 to {KEY_LENGTH} printable characters.")
    return key


def _retry(error: BasculeError) -> dict[str, str] | None:
    seconds = error.fields.get("retry_after")
    return None if seconds is None else {"retry-after": str(seconds)}
