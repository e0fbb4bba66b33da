"""Listens for web pages that launch: a server of its own on 127.0.0.1, beside Bascule's or alone."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Container

from bascule.hub.launch.bridge_app import bridge_app
from bascule.hub.launch.window_routes import Workbench
from bascule.hub.wire.connection_limits import ConnectionCounter, WireLimits
from bascule.hub.wire.socket_server import SocketServer, wire_config
from bascule.launch.gate import Gate
from bascule.launch.idempotent import IdempotentLaunches

LOOPBACK = "127.0.0.1"


def bind_bridge(port: int) -> socket.socket:
    """The listening socket; raises `OSError` when the port is taken."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((LOOPBACK, port))
        sock.listen(128)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock


def port_in_use(port: int) -> str:
    """What a person can do about it."""
    other = port + 1 if port < 65535 else port - 1
    return (
        f"Port {port} is already in use.\n"
        "Options:\n"
        f"  1. Stop the other process using port {port}\n"
        f"  2. Use a different port: CLAUDE_BRIDGE_PORT={other} bascule bridge\n"
        f"  3. Find process: lsof -i :{port} (Linux/macOS)"
    )


@contextlib.asynccontextmanager
async def serving_bridge(
    listening: socket.socket,
    launches: IdempotentLaunches,
    origins: Container[str],
    workbench: Workbench | None = None,
) -> AsyncGenerator[int]:
    """Serve until the block ends; gives the port. `workbench` is there beside a server."""
    port: int = listening.getsockname()[1]
    app = bridge_app(launches, Gate.of(port, origins), workbench)
    server = SocketServer(wire_config(app, ConnectionCounter(WireLimits()), None))
    serving = asyncio.create_task(server.serve(sockets=[listening]), name="launch bridge")
    try:
        yield port
    finally:
        server.should_exit = True
        await serving
