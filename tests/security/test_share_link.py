"""A share link against every route and every socket message: it reads one session, and opens nothing else."""

import httpx
import pytest
from tests.hub.running_hub import RunningHub, ask
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from bascule.hub.door.roles import allows
from bascule.hub.operation_table import operation_table

pytestmark = pytest.mark.anyio

MESSAGES = operation_table().messages

ROWS = [row for row in operation_table().routes if row.need != "public"]
ONE = "/api/sessions/{session_id}"
# docs/api.md: its record, entries, events, queue, stream and export, nothing else; a ticket to read along.
READS = {
    ("GET", ONE),
    ("GET", f"{ONE}/entries"),
    ("GET", f"{ONE}/events"),
    ("GET", f"{ONE}/stream"),
    ("GET", f"{ONE}/export"),
    ("GET", f"{ONE}/queue"),
    ("GET", "/openapi.json"),
    ("POST", "/api/tickets"),
    ("WS", "/ws"),
}
SAYS = {
    "hello",
    "ping",
    "session:open",
    "session:show",
    "session:entries",
    "session:events",
    "session:queued",
    "session:subscribe",
    "session:unsubscribe",
}


async def guest_of(hub: RunningHub) -> str:
    await hub.session("s1")
    return await hub.trust("guest", "viewer", session_id="s1")


async def answer(client: httpx.AsyncClient, method: str, path: str) -> int:
    body = b"{}" if method in ("POST", "DELETE") else None
    headers = {"content-type": "application/json"} if body else {}
    async with client.stream(method, path, content=body, headers=headers) as got:
        return got.status_code


async def knock(hub: RunningHub, token: str, path: str) -> int:
    url = f"ws://127.0.0.1:{hub.port}{path}"
    try:
        async with connect(url, additional_headers={"authorization": f"Bearer {token}"}, proxy=None):
            return 101
    except InvalidStatus as error:
        return error.response.status_code


@pytest.mark.row("F9", "S61")
async def test_a_share_link_reaches_what_the_docs_list_and_no_other_route(hub: RunningHub) -> None:
    token = await guest_of(hub)
    reached: set[tuple[str, str]] = set()
    async with hub.client(token) as client:
        for row in ROWS:
            path = row.path.replace("{session_id}", "s1")
            known = (
                await knock(hub, token, path)
                if row.method == "WS"
                else await answer(client, row.method, path)
            )
            if known not in (401, 403):
                reached.add((row.method, row.path))
    assert reached == READS


@pytest.mark.row("F9", "S61")
async def test_a_share_link_says_over_the_socket_what_reads_and_nothing_else(hub: RunningHub) -> None:
    token = await guest_of(hub)
    grant = hub.grant["guest"]
    assert {name for name, kind in MESSAGES.items() if allows(grant, kind.need)} == SAYS
    said: set[str] = set()
    for name, kind in MESSAGES.items():
        async with hub.socket(token) as socket:
            told = await ask(socket, name, 1, **({"sessionId": "s1"} if kind.in_session else {}))
            if "ok" in told:
                said.add(name)
    assert said == SAYS


@pytest.mark.row("F9", "S61")
async def test_a_share_link_opens_no_terminal_by_token_or_by_ticket(hub: RunningHub) -> None:
    token = await guest_of(hub)
    assert await knock(hub, token, "/ws/terminal/s1") == 403
    async with hub.client(token) as client:
        told = await client.post("/api/tickets", json={"purpose": "terminal", "sessionId": "s1"})
    assert told.status_code == 403
    assert told.json()["error"]["message"] == "A share link does not open a terminal."
