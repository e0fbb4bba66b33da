"""Runs uvicorn with our bounded protocols, and closes open streams at shutdown."""

import socket

from bascule.hub.asgi import HubApp
from bascule.hub.door.hosts import check_bind
from bascule.hub.services import Hub
from bascule.hub.wire.certificates import Certificates
from bascule.hub.wire.connection_limits import ConnectionCounter, WireLimits
from bascule.hub.wire.socket_server import SocketServer, wire_config
from bascule.model.settings import Settings


def bind(settings: Settings) -> socket.socket:
    """The listening socket. Raises `InvalidInput` for an unsafe address and `OSError` when it is taken."""
    check_bind(settings)
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named as TCP, or asyncio would not switch off Nagle's delay: 40 ms for an answer in two writes.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((settings.host, settings.port))
        sock.listen(2048)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock


class HubServer(SocketServer):
    """Closes open streams when it stops. The caller calls `stop`."""

    def __init__(self, app: HubApp, settings: Settings, limits: WireLimits | None = None) -> None:
        self.connections = ConnectionCounter(limits or WireLimits())
        self._hub: Hub = app.hub
        super().__init__(wire_config(app, self.connections, settings))

    def stop(self) -> None:
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        for listening in sockets or []:
            self._hub.doors.bound(listening.getsockname()[1])
        tls, settings = self.config.ssl, self._hub.settings
        if tls is not None and settings.tls_cert and settings.tls_key:
            Certificates(settings.tls_cert, settings.tls_key).renew_for(tls)
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._hub.open_streams.shut_down()
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
