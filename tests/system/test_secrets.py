"""A token, followed through everything a server does: it is found nowhere but where it was given."""

import asyncio
import contextlib
from collections.abc import Callable

import httpx
import pytest
from tests.live import LiveServer
from tests.system.processes import raw_environment, raw_words, tree
from tests.system.sse import stream, until
from tests.waiting import PATIENCE, within
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from bascule.model.events import PermissionRequested, TextAppended, TurnEnded

pytestmark = pytest.mark.anyio

Make = Callable[..., LiveServer]


@pytest.mark.row("S17", "X6")
async def test_no_token_is_found_in_logs_arguments_environments_or_files(make_server: Make):
    server = make_server(env={"PYTHONASYNCIODEBUG": "1", "PYTHONDEVMODE": "1"})
    ledger = server.folder / "ledger"
    server.env["DEMO_LEDGER"] = str(ledger)
    await server.start()
    made = (await server.post("/api/sessions", agent="demo", cwd=str(server.work), prompt="run")).json()
    session, own = made["id"], made["token"]
    viewer = (await server.post("/api/grants", name="viewer", role="viewer")).json()["token"]
    tickets = [(await server.post("/api/tickets", purpose="socket")).json()["ticket"] for _ in range(3)]
    secrets = [server.token, own, viewer, server.note_key(), *tickets]
    asked = (await server.wait_for(session, PermissionRequested)).event
    assert isinstance(asked, PermissionRequested)
    await until(server, session, "permission_request", token=own)

    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=PATIENCE) as client:
        for secret in secrets:
            bearer = {"authorization": f"Bearer {secret}"}
            query = {"token": secret, "ticket": secret}
            for path in ("/nope", f"/nope/{secret}", f"/api/sessions/{session}", f"/api/sessions/{secret}"):
                await client.get(path, params=query)
                await client.get(path, headers=bearer)
                await client.get(
                    f"{path}?%74oken={secret}&Token={secret}",
                    headers={"referer": f"{server.url}/?token={secret}"},
                )
                await client.post(path, json={"token": secret, "text": 5})
                await client.post(path, content=f"token={secret}")
                await client.get(path, headers={**bearer, "host": "evil.example"})
                await client.get(path, headers={**bearer, "origin": "https://evil.example"})
            await client.request("BREW", "/api/sessions", headers=bearer)
            await _broken_upgrade(server, f"/ws?ticket={secret}", {"origin": server.url})
            await _broken_upgrade(server, f"/ws?token={secret}", {"authorization": f"Bearer {secret}x"})
            await _broken_upgrade(server, f"/nope?ticket={secret}", bearer)
    url = server.url.replace("http", "ws", 1)
    async with connect(
        f"{url}/ws",
        additional_headers={"authorization": f"Bearer {viewer}"},
        proxy=None,
        open_timeout=PATIENCE,
    ) as socket:
        for text in (f'{{"id":1,"type":"{viewer}"}}', f'{{"token":"{viewer}"', viewer):
            await socket.send(text)
            await socket.recv()
    answer = {"requestId": asked.request_id, "decision": "allow", "token": own}
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=PATIENCE) as client:
        assert (await client.post(f"/api/sessions/{session}/permissions", json=answer)).status_code == 200
    await server.wait_for(session, TurnEnded)

    keeper = server.keeper_pid()
    assert keeper is not None
    processes = tree(server.pid, server.front.pid, keeper)
    assert len(processes) >= 3  # the server, the keeper, the agent
    for process in processes:
        words = raw_words(process.pid) + raw_environment(process.pid)
        assert not [one for one in secrets if one.encode() in words]
    await server.stop()
    kept = [path for path in server.folder.rglob("*") if path.is_file()]
    assert {"bascule.db", "server.log", "stderr.txt", "ledger"} <= {path.name for path in kept}
    for path in kept:
        data = path.read_bytes()
        assert not [one for one in secrets if one.encode() in data], path
    assert "Traceback" not in server.stderr()


async def _broken_upgrade(server: LiveServer, path: str, headers: dict[str, str]) -> None:
    url = server.url.replace("http", "ws", 1) + path
    with contextlib.suppress(InvalidStatus):
        async with connect(url, additional_headers=headers, proxy=None, open_timeout=PATIENCE) as socket:
            await socket.send("not json")
            await socket.recv()


@pytest.mark.row("S13")
async def test_revoking_a_grant_closes_its_open_streams_within_two_seconds(make_server: Make):
    server = make_server()
    await server.start()
    session = await server.create("count 100000 20")
    made = (await server.post("/api/grants", name="phone", role="viewer")).json()
    headers = {"authorization": f"Bearer {made['token']}"}
    own = (await server.post("/api/grants", name="link", role="session", sessionId=session)).json()
    names: list[str] = []
    begun = asyncio.Event()

    async def watch() -> None:
        async with contextlib.aclosing(stream(server, session, token=own["token"])) as events:
            async for event in events:
                names.append(event.name)
                begun.set()

    url = server.url.replace("http", "ws", 1) + "/ws"
    async with (
        asyncio.TaskGroup() as group,
        connect(url, additional_headers=headers, proxy=None, open_timeout=PATIENCE) as socket,
    ):
        group.create_task(watch())
        await asyncio.wait_for(begun.wait(), PATIENCE)
        with within(2):
            for grant in (made, own):
                gone = await server.http.delete(f"/api/grants/{grant['grant']['id']}")
                assert gone.json() == {"ok": True}
            await asyncio.wait_for(socket.wait_closed(), PATIENCE)
        assert socket.close_code == 1008
    assert names[-1] == "revoked"
    async with httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=PATIENCE) as client:
        assert (await client.get("/api/sessions", headers=headers)).status_code == 401
        path = f"/api/sessions/{session}"
        assert (await client.get(path, params={"token": own["token"]})).status_code == 401
    await server.wait_for(session, TextAppended)  # others see it still


@pytest.mark.row("S14")
async def test_a_viewer_can_look_and_do_nothing_else(make_server: Make):
    server = make_server()
    await server.start()
    session = await server.create("run")
    asked = (await server.wait_for(session, PermissionRequested)).event
    assert isinstance(asked, PermissionRequested)
    token = (await server.post("/api/grants", name="guest", role="viewer")).json()["token"]
    headers = {"authorization": f"Bearer {token}", "x-role": "owner"}
    path = f"/api/sessions/{session}"
    tries = {
        "/api/sessions": {"agent": "demo", "cwd": str(server.work)},
        f"{path}/send": {"text": "x"},
        f"{path}/permissions": {"requestId": asked.request_id, "decision": "allow"},
        f"{path}/interrupt": {},
        f"{path}/permission-mode": {"mode": "auto"},
        "/api/grants": {"name": "me", "role": "owner"},
        "/api/kill-all": {},
        "/api/daemon/pause": {},
    }
    before = (await server.http.get(path)).json()["seq"]
    async with httpx.AsyncClient(
        base_url=server.url, trust_env=False, headers=headers, timeout=PATIENCE
    ) as client:
        for target, body in tries.items():
            assert (await client.post(target, json={**body, "role": "owner"})).status_code == 403, target
            assert (await client.post(target, json=body)).status_code == 403, target
        assert (await client.delete(path)).status_code == 403
        assert (await client.get("/api/audit")).status_code == 403
        assert (await client.get(path)).json()["seq"] == before
