"""Security headers of every response."""

from bascule.hub.wire.asgi_types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; style-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; frame-src 'self'; "
    "require-trusted-types-for 'script'"
)

ALWAYS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", PAGE_POLICY.encode()),
    (b"x-frame-options", b"DENY"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
STARTS = ("http.response.start", "websocket.http.response.start")


class SecurityHeaders:
    """Adds them to every HTTP answer; a route may say something more exact for itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] in STARTS:
                message["headers"] = _complete(list(message.get("headers", [])))
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _complete(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    names = {name.lower() for name, _ in headers}
    headers += [(name, value) for name, value in ALWAYS if name not in names]
    if b"cache-control" not in names:
        headers.append((b"cache-control", b"no-store"))
    return headers
