"""uvicorn with our bounded protocols and our own way to accept connections."""

import asyncio
import contextlib
import socket
from collections.abc import Generator

import uvicorn

from bascule.hub.wire.accepting import AcceptingServer
from bascule.hub.wire.asgi_types import ASGIApp
from bascule.hub.wire.connection_limits import ConnectionCounter
from bascule.hub.wire.http_protocol import BoundedHttp
from bascule.hub.wire.ws_protocol import BoundedSocket
from bascule.model.settings import Settings

GRACE_SECONDS = 5


def wire_config(app: ASGIApp, connections: ConnectionCounter, tls: Settings | None) -> uvicorn.Config:
    """uvicorn's settings for an app of ours; `tls` names the certificate, if there is one."""
    limits = connections.limits
    http = type("Http", (BoundedHttp,), {"all_connections": connections})
    ws = type("Ws", (BoundedSocket,), {"all_connections": connections})
    return uvicorn.Config(
        app,
        http=http,
        ws=ws,
        ws_max_size=limits.message_bytes,
        ws_per_message_deflate=False,
        ws_ping_interval=limits.ping_seconds,
        ws_ping_timeout=limits.ping_seconds,
        timeout_keep_alive=limits.keep_alive_seconds,
        timeout_graceful_shutdown=GRACE_SECONDS,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ssl_certfile=tls.tls_cert if tls else None,
        ssl_keyfile=tls.tls_key if tls else None,
    )


class SocketServer(uvicorn.Server):
    """Serves on sockets that are handed in; the caller handles signals."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])
        config, state = self.config, self.server_state

        def connection() -> asyncio.Protocol:
            return config.http_protocol_class(config=config, server_state=state, app_state={})  # type: ignore[call-arg]

        accepting = (AcceptingServer(listening, connection, config.ssl) for listening in sockets or [])
        self.servers.extend(accepting)  # pyright: ignore[reportArgumentType] - all that uvicorn asks of one

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:  # type: ignore[override]
        yield
