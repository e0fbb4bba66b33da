"""An agent that opens ports: Bascule says which, to those who may know, and nothing leads there."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from msgspec import inspect
from tests.daemon.test_listening import noted
from tests.live import LiveServer
from tests.system.test_command_line import bascule
from tests.waiting import PATIENCE

from bascule.hub.operation_table import operation_table

pytestmark = [pytest.mark.anyio, pytest.mark.row("S11")]
PAGE = "the agent's own page"
# Fields by which an operation could be told where to connect; each with why it is none for an agent's port.
PLACES = {
    ("tunnels:open", "port"),  # where ssh on another machine listens; what dials it reaches this hub
}


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    made = LiveServer(module_dir)
    (module_dir / "notes").mkdir()
    made.add_agent("listens", "listens.py", str(module_dir / "notes"))
    async with made:
        yield made


async def test_what_an_agent_listens_on_is_told_and_no_route_leads_there(server: LiveServer) -> None:
    session = await server.create("hello", agent="listens")
    (own, _), (network, _) = await noted(server.folder / "notes")
    path = f"/api/sessions/{session}/listeners"
    told = (await server.http.get(path)).json()
    found = [(one["address"], one["port"], one["loopback"]) for one in told["listeners"]]
    assert found == [("0.0.0.0", network, False), ("127.0.0.1", own, True)]
    shared = (await server.post("/api/grants", name="reader", role="viewer", sessionId=session)).json()
    guest = {"authorization": f"Bearer {shared['token']}"}
    assert (await server.http.get(path, headers=guest)).status_code == 403

    code, shown = await bascule(server, "sessions", "show", session)
    assert code == 0, shown
    assert f"Listens on 127.0.0.1:{own} (" in shown
    assert f"Listens on 0.0.0.0:{network} (web" in shown
    assert "Reachable from the network" in shown
    if sys.platform == "linux":
        assert "\x1b[2J" not in shown
        assert "\u202e" not in shown

    async with httpx.AsyncClient(trust_env=False) as direct:
        assert (await direct.get(f"http://127.0.0.1:{own}/")).text == PAGE
    for port in (own, network):
        where = f"127.0.0.1:{port}"
        for tried in (
            f"/proxy/{port}/",
            f"/port/{port}",
            f"/{where}/",
            f"/http://{where}/",
            f"{path}/{port}",
        ):
            answer = await server.http.get(tried)
            assert (answer.status_code, PAGE in answer.text) == (404, False), tried
        for first in (f"GET http://{where}/ HTTP/1.1", f"CONNECT {where} HTTP/1.1"):
            said = await asyncio.to_thread(raw, server, f"{first}\r\nHost: {where}\r\n")
            assert PAGE not in said
            assert not said.startswith("HTTP/1.1 2"), said
    connections = (server.folder / "notes" / "connections").read_text()
    assert connections == "one\n"  # ours, and none by way of the server
    await server.http.delete(f"/api/sessions/{session}")


def raw(server: LiveServer, head: str) -> str:
    """What the server says to a request that no client library would send."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), PATIENCE) as line:
        line.sendall(f"{head}Authorization: Bearer {server.token}\r\nConnection: close\r\n\r\n".encode())
        parts: list[bytes] = []
        while piece := line.recv(65536):
            parts.append(piece)
    return b"".join(parts).decode(errors="replace")


def test_no_operation_takes_a_port_or_an_address_to_connect_to() -> None:
    words = {"port", "ports", "target", "upstream", "proxy", "forward", "connect"}
    taken: set[tuple[str, str]] = set()
    for one in operation_table().all:
        told = inspect.type_info(one.body)
        assert isinstance(told, inspect.StructType)
        taken |= {(one.name or one.path, field.name) for field in told.fields if field.name in words}
        assert "{port}" not in one.path
    assert taken == PLACES
