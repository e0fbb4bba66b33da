"""The launch bridge over HTTP: launches, health, preflights, the launch window and the element's file."""

import logging
import os
import time
from collections.abc import Callable

from bascule.hub.launch.element_file import NAME, element_file
from bascule.hub.launch.window_routes import WindowRoutes, Workbench
from bascule.hub.page.web_files import TYPES
from bascule.hub.wire.asgi_types import ASGIApp, Receive, Scope, Send
from bascule.hub.wire.headers import SecurityHeaders
from bascule.hub.wire.intake import LARGE, ClientGone, TooLarge, WrongType, header, read_body
from bascule.hub.wire.json_answers import JsonAnswer
from bascule.hub.wire.peer_uid import Name, peer_uid
from bascule.hub.wire.response import Response
from bascule.launch.errors import LaunchError
from bascule.launch.gate import (
    API_VERSION,
    OUTCOME,
    WINDOW,
    Gate,
    answer_headers,
    check_method,
    check_preflight,
    preflight_headers,
)
from bascule.launch.idempotent import IdempotentLaunches
from bascule.launch.record import error_answer, launch_answer
from bascule.launch.refusals import RefusalLog
from bascule.launch.request import check_key, parse_body
from bascule.model.faults import report

log = logging.getLogger("bascule.launch")

UserOf = Callable[[Name, Name], int | None]


class BridgeApp:
    """Trusts exact origins only, and only pages in browsers of this very user."""

    def __init__(
        self,
        launches: IdempotentLaunches,
        gate: Gate,
        workbench: Workbench | None = None,
        user_of: UserOf = peer_uid,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.gate = gate
        self._launches, self._user_of = launches, user_of
        self._window = WindowRoutes(launches, workbench)
        self._refusals = RefusalLog(steady)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        try:
            answer = await self._answer(scope, receive)
        except ClientGone:
            return
        await answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> Response:
        origin = ""
        try:
            self._check_user(scope)
            if scope["path"] == f"/{NAME}":
                return self._element(scope)
            if scope["path"] == WINDOW or scope["path"].startswith(f"{WINDOW}/"):
                self.gate.check_window(scope["method"], scope["path"], scope["headers"])
                return await self._window.answer(scope, receive)
            origin = self.gate.check(scope["method"], scope["path"], scope["headers"])
            return await self._run(scope, receive, origin)
        except LaunchError as error:
            return self._refused(error, scope, origin)
        except TooLarge:
            error = LaunchError("prompt_too_large", "Prompt exceeds maximum size: the request is too large.")
            return self._refused(error, scope, origin)
        except WrongType as error:
            return self._refused(LaunchError("unsupported_media_type", error.message), scope, origin)
        except Exception as error:  # noqa: BLE001 - answered with an id, and nothing of the inside
            refusal = report(log, "the launch bridge", error)
            return self._refused(LaunchError("internal_error", refusal.message), scope, origin)

    def _check_user(self, scope: Scope) -> None:
        """Another user of this machine could send any Origin, and hang up before it is known."""
        ours, peer = scope.get("server"), scope.get("client")
        user = self._user_of(tuple(ours), tuple(peer)) if ours and peer else None
        if user is not None and user not in (os.getuid(), 0):
            raise LaunchError("origin_forbidden", "Only the user who runs the bridge may use it.")

    def _element(self, scope: Scope) -> Response:
        """The only file that pages of other origins may load, so the only one with this resource policy."""
        origin = self.gate.check_script(scope["headers"])
        if scope["method"] != "GET":
            raise LaunchError("method_not_allowed", "Use GET.")
        headers = {**answer_headers(origin), "Cross-Origin-Resource-Policy": "cross-origin"}
        return Response(element_file(), 200, headers, TYPES[".js"])

    async def _run(self, scope: Scope, receive: Receive, origin: str) -> Response:
        method, path = scope["method"], scope["path"]
        if method == "OPTIONS":
            check_preflight(path, scope["headers"])
            return Response(b"", 204, preflight_headers(origin, path))
        check_method(method, path)
        if path == "/health":
            return JsonAnswer({"status": "ok", "version": API_VERSION}, 200, answer_headers(origin))
        if path.startswith(OUTCOME):
            record = self._launches.launches.get(path.removeprefix(OUTCOME))
        else:
            key = check_key(header(scope["headers"], b"idempotency-key"))
            request = parse_body(await read_body(scope["headers"], receive, LARGE))
            record = await self._launches.launch(request, who=origin, key=key)
        status, body = launch_answer(record)
        return JsonAnswer(body, status, answer_headers(origin))

    def _refused(self, error: LaunchError, scope: Scope, origin: str) -> Response:
        self._refusals.add(error, origin or header(scope["headers"], b"origin") or "none")
        status, body = error_answer(error)
        headers = answer_headers(origin)
        if (wait := error.fields.get("retry_after")) is not None:
            headers["Retry-After"] = str(wait)
        if status in (413, 415):
            headers["Connection"] = "close"
        return JsonAnswer(body, status, headers)


def bridge_app(launches: IdempotentLaunches, gate: Gate, workbench: Workbench | None = None) -> ASGIApp:
    return SecurityHeaders(BridgeApp(launches, gate, workbench))
