"""Serves an operation over HTTP: decodes the request, runs it, encodes the answer."""

import logging
from typing import Any

import msgspec
from msgspec import Struct, to_builtins

from bascule.hub.calls.access import Admitted
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.operation import Operation
from bascule.hub.calls.session_lookup import require_session
from bascule.hub.calls.socket_messages import device_of
from bascule.hub.door.roles import sees_scrubbed
from bascule.hub.services import Hub
from bascule.hub.wire.asgi_types import Message, Receive, Scope, Send
from bascule.hub.wire.intake import convert, header, json_object, query_object
from bascule.hub.wire.json_answers import JsonAnswer, error_answer
from bascule.hub.wire.response import Response
from bascule.model.codec import encode
from bascule.model.commands import Actor, Done
from bascule.model.errors import BasculeError, InvalidInput
from bascule.model.faults import report
from bascule.policy.scrub import scrub_value

log = logging.getLogger("bascule.hub")

KEY_LENGTH = 200


class AdmittedRequests:
    """Runs the operation that a request was admitted to. The door has found it already."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        admitted: Admitted = scope["bascule.admitted"]
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
        operation = admitted.operation
        try:
            result = await operation.run(await self._call(admitted, scope, receive, send))
            if result is None or isinstance(result, Response):
                return result
            answer = with_ok(result) if isinstance(result, Done) else result
            if operation.in_session and sees_scrubbed(admitted.grant):
                answer = scrub_value(msgspec.json.decode(encode(answer)))
            return JsonAnswer(answer)
        except BasculeError as error:
            return error_answer(error, _retry(error))
        except Exception as error:  # noqa: BLE001 - answered with an id, and nothing of the inside
            return error_answer(report(log, f"{operation.method} {operation.path}", error))

    async def _call(self, admitted: Admitted, scope: Scope, receive: Receive, send: Send) -> AnyCall:
        operation = admitted.operation
        body, device = _parameters(operation, admitted, scope)
        session = await require_session(self._hub, body.session_id) if operation.in_session else None  # type: ignore[attr-defined]
        return Call[Any](
            hub=self._hub,
            operation=operation,
            grant=admitted.grant,
            by=_actor(admitted, scope),
            body=body,
            key=_key(header(scope["headers"], b"idempotency-key")),
            scope=scope,
            receive=receive,
            send=send,
            params=admitted.params,
            device=device,
            session=session,
        )


def _parameters(operation: Operation, admitted: Admitted, scope: Scope) -> tuple[Struct, str | None]:
    """The operation's body, made of path, query and JSON; and the device it is for, when one is named."""
    named = {
        operation.fields[name]: value for name, value in admitted.params.items() if name in operation.fields
    }
    query = query_object(scope["query_string"])
    if operation.method in ("GET", "WS"):
        device = device_of(operation, query)
        takes_query = len(operation.fields) > len(named)
        given = {**(query if takes_query else {}), **named}
        return convert(given, operation.body, in_address=True), device
    given = operation.given(json_object(admitted.body))
    if operation.in_session:
        given.pop("token", None)  # the chat API lets a session's token come in the body
    for name in named.keys() & given.keys():
        raise InvalidInput(f"{name} stands in the address; leave it out of the body.")
    device = device_of(operation, given)
    return convert({**given, **named}, operation.body), device


def _actor(admitted: Admitted, scope: Scope) -> Actor:
    agent = (header(scope["headers"], b"user-agent") or "")[:200]
    if admitted.grant is None:
        return Actor("", address=admitted.address, user_agent=agent)
    return Actor(admitted.grant.name, admitted.grant.id, admitted.address, agent)


def _key(key: str | None) -> str | None:
    if key is not None and (not 0 < len(key) <= KEY_LENGTH or not key.isprintable()):
        raise InvalidInput(f"Idempotency-Key has 1 to {KEY_LENGTH} printable characters.")
    return key


def with_ok(done: Done) -> dict[str, Any]:
    """Over HTTP the chat API has `{"ok": true}`."""
    return {"ok": True, **to_builtins(done)}


def _retry(error: BasculeError) -> dict[str, str] | None:
    seconds = error.fields.get("retry_after")
    return None if seconds is None else {"retry-after": str(seconds)}
