"""What people share at several hub nodes: tickets, grants, presence, requests and what tells of them."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from tests.machines.cluster import (
    Cluster,
    channel_of,
    deny,
    guard_gone,
    handled_by_all,
    hears,
    node_key,
    page,
    request_gone,
    start,
    until_left_to_another,
    until_open,
)
from tests.machines.machines import Hub
from tests.terminal.viewing import terminal, viewing
from tests.waiting import PATIENCE, within
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from bascule.model.events import GuardAsked, PermissionRequested

pytestmark = pytest.mark.anyio


@pytest.mark.row("X11")
async def test_a_ticket_of_one_node_opens_once_at_another_of_fifty_tries_at_once(cluster: Cluster) -> None:
    a, b, c = cluster.nodes
    made = await a.http.post("/api/tickets", json={"purpose": "socket"})
    assert made.status_code == 200, made.text

    async def attempt(node: Hub) -> int:
        url = f"{node.url.replace('http', 'ws', 1)}/ws?ticket={made.json()['ticket']}"
        try:
            async with connect(url, origin=node.url, proxy=None):  # type: ignore[arg-type]
                return 101
        except InvalidStatus as error:
            return error.response.status_code

    answers = await asyncio.gather(*(attempt(node) for _ in range(25) for node in (b, c)))
    assert answers.count(101) == 1
    assert set(answers) <= {101, 401, 429}


@pytest.mark.row("X11")
@pytest.mark.parametrize("heard", ["heard", "unheard"])
async def test_a_grant_that_one_node_revokes_ends_at_another_within_two_seconds(
    cluster: Cluster, heard: str
) -> None:
    a, b, c = cluster.nodes
    session = await start(a, cluster.laptop, "count 1")
    shell = await terminal(a, cwd=str(cluster.laptop.work), device="d-laptop")
    await c.until_here(session, shell)
    made = (await a.post("/api/grants", name=f"guest {heard}", role="viewer")).json()
    token = made["token"]
    headers = {"authorization": f"Bearer {token}"}
    async with (
        page(b, token, session) as at_b,
        page(c, token, session) as at_c,
        viewing(c, shell, token=token) as screen,
        c.http.stream("GET", f"/api/sessions/{session}/stream", headers=headers) as stream,
    ):
        assert stream.status_code == 200
        lines = stream.aiter_lines()
        for one in (at_b, at_c):
            await hears(one, type="session:events")
        assert await anext(lines)  # all four are open, and were sent something
        if heard == "unheard":  # no node is told anything for a while: each has to look
            await cluster.end_listening()
        with within(2.0):
            assert (await a.http.delete(f"/api/grants/{made['grant']['id']}")).status_code == 200
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(at_b.wait_closed(), at_c.wait_closed(), screen.over(), rest(lines))
    for node in (b, c):
        assert await refusal_of(node, headers) == 401


async def rest(lines: AsyncIterator[str]) -> None:
    async for _ in lines:
        pass


async def refusal_of(node: Hub, headers: dict[str, str]) -> int:
    """It answers nobody before it has read its grants again, and some wrong tokens at a time."""
    async with asyncio.timeout(PATIENCE):
        while (answer := await node.http.get("/api/sessions", headers=headers)).status_code in (429, 507):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return answer.status_code


@pytest.mark.row("X11")
async def test_people_at_two_nodes_see_each_other_and_who_types(cluster: Cluster) -> None:
    a, b, _ = cluster.nodes
    session = await start(a, cluster.laptop, "count 1")
    ana = (await a.post("/api/grants", name="Ana", role="operator")).json()
    bo = (await a.post("/api/grants", name="Bo", role="operator")).json()
    async with page(a, ana["token"], session) as at_a, page(b, bo["token"], session) as at_b:
        await hears(at_a, viewers=["Ana", "Bo"], typing=[])
        await hears(at_b, viewers=["Ana", "Bo"], typing=[])
        await at_b.send(json.dumps({"id": 2, "type": "session:typing", "sessionId": session, "typing": True}))
        await hears(at_a, viewers=["Ana", "Bo"], typing=["Bo"])
        await at_b.close()
        await hears(at_a, viewers=["Ana"], typing=[])


@pytest.mark.row("X11")
async def test_lists_and_requests_of_another_nodes_machine_are_pushed(cluster: Cluster) -> None:
    a, b, c = cluster.nodes
    quiet = await start(a, cluster.laptop, "count 1")
    async with page(c, c.token, quiet) as socket:
        session = await start(a, cluster.laptop, "go", agent="asks")
        await hears(socket, type="session:created", sessionId=session)
        request = await hears(socket, type="requests:changed", sessionId=session, gone=False)
        asked = (await b.wait_for(session, PermissionRequested)).event
        answer = await c.post(
            f"/api/sessions/{session}/permissions",
            requestId=request["requestId"],
            decision="deny",
            inputSha256=asked.input_sha256,
        )
        assert answer.status_code == 200, answer.text
        await hears(socket, type="requests:changed", sessionId=session, gone=True)


@pytest.mark.row("X11")
async def test_a_request_is_told_once_by_a_channel_that_was_added_at_another_node(cluster: Cluster) -> None:
    a = cluster.nodes[0]
    async with channel_of(cluster) as channel:
        session = await start(a, cluster.laptop, "go", agent="asks")
        asked = (await a.wait_for(session, PermissionRequested)).event
        told = (await asyncio.wait_for(channel.requests.get(), PATIENCE)).json
        assert (told["kind"], told["state"]) == ("approval", "open")
        await until_left_to_another(session, cluster.nodes, 2)
        async with handled_by_all(cluster.nodes, session, request_gone):
            await deny(a, session, asked)
        settled = (await asyncio.wait_for(channel.requests.get(), PATIENCE)).json
        assert settled["state"] != "open"
        assert channel.requests.empty()  # every node has sent all it had to


@pytest.mark.row("X11")
async def test_an_agent_that_is_stopped_at_a_limit_is_told_by_one_node_and_replaced(cluster: Cluster) -> None:
    a, laptop = cluster.nodes[0], cluster.laptop
    await laptop.clear()  # the limit holds for sessions of other tests, too
    limited = await laptop.post("/api/limits", limits={"session_tokens": 1})
    assert limited.status_code == 200, limited.text
    try:
        async with channel_of(cluster) as channel:
            session = await start(a, laptop, "count 3 1")
            guard = (await a.wait_for(session, GuardAsked)).event
            told = (await asyncio.wait_for(channel.requests.get(), PATIENCE)).json
            assert (told["kind"], told["state"], told["requestId"]) == ("limit", "open", guard.guard_id)
            await until_left_to_another(session, cluster.nodes, 2)
            await cluster.moved(0, cluster.nodes[2])  # whoever told it, another may hear what became of it
            async with handled_by_all(cluster.nodes, session, guard_gone):
                ended = await laptop.post(
                    f"/api/sessions/{session}/guard", guardId=guard.guard_id, decision="end"
                )
                assert ended.status_code == 200, ended.text
            settled = (await asyncio.wait_for(channel.requests.get(), PATIENCE)).json
            assert (settled["tag"], settled["state"]) == (told["tag"], "settled")
            assert channel.requests.empty()  # every node has sent all it had to
    finally:
        await laptop.post("/api/limits", limits={"session_tokens": None})


@pytest.mark.row("X11")
async def test_a_request_whose_node_dies_before_it_told_anybody_is_told_once_by_another(
    cluster: Cluster,
) -> None:
    a, b, _ = cluster.nodes
    await cluster.joined_anew(0, b)
    async with channel_of(cluster) as channel:
        session = await start(a, cluster.laptop, "go", agent="asks")
        asked = (await a.wait_for(session, PermissionRequested)).event
        await b.kill()  # which holds the machine: it had two seconds to tell it
        told = (await asyncio.wait_for(channel.requests.get(), PATIENCE)).json
        assert (told["kind"], told["state"]) == ("approval", "open")
        await until_left_to_another(session, cluster.nodes, 1)
        await b.start()
        await cluster.online(b)
        async with handled_by_all(cluster.nodes, session, request_gone):
            await deny(a, session, asked)
        settled = (await asyncio.wait_for(channel.requests.get(), PATIENCE)).json
        assert settled["state"] != "open"
        assert channel.requests.empty()  # every node has sent all it had to


@pytest.mark.row("X11")
async def test_a_machine_joins_and_a_browser_is_let_in_whichever_node_they_reach(cluster: Cluster) -> None:
    a, b, c = cluster.nodes
    asked = {"device": "d-new", "name": "new", "user": "ana", "version": "1", "agents": []}
    made = (await a.http.post("/api/pairings", json=asked)).json()
    (waiting,) = (await b.http.get("/api/pairings")).json()["pairings"]
    assert waiting["code"] == made["code"]
    answer = {"code": made["code"], "allow": True}
    assert (await c.http.post(f"/api/pairings/{waiting['id']}/answer", json=answer)).status_code == 200
    polled = (await b.http.post("/api/pairings/poll", json={"secret": made["secret"], "wait": 5})).json()
    assert polled["state"] == "allowed"
    again = await c.http.post("/api/pairings/poll", json={"secret": made["secret"]})
    assert again.json()["error"]["code"] == "PAIRING_NOT_FOUND"
    link = (await a.http.post("/api/links", json={"name": "phone", "role": "viewer"})).json()
    let_in = await b.http.post("/api/links/redeem", json={"secret": link["secret"], "name": "phone"})
    assert let_in.status_code == 200, let_in.text
    headers = {"authorization": f"Bearer {let_in.json()['token']}"}
    assert (await c.http.get("/api/sessions", headers=headers)).status_code == 200
    second = await c.http.post("/api/links/redeem", json={"secret": link["secret"], "name": "x"})
    assert second.json()["error"]["code"] == "LINK_USED"


@pytest.mark.row("X11")
async def test_the_key_of_nodes_opens_their_socket_alone_and_nothing_else_opens_that(
    cluster: Cluster,
) -> None:
    a = cluster.nodes[0]
    headers = {"authorization": f"Bearer {await node_key(cluster)}"}
    for path in ("/api/sessions", "/api/grants", "/api/audit", "/api/daemon/status"):
        assert (await a.http.get(path, headers=headers)).status_code == 403
    grants = (await a.http.get("/api/grants")).json()["grants"]
    assert grants
    assert "node" not in {one["role"] for one in grants}
    protocol = Subprotocol("bascule.node.1")
    for token, status in ((a.token, 403), ("not the key", 401)):
        shown = {"authorization": f"Bearer {token}", "X-Bascule-Node": "x"}
        url = f"{a.url.replace('http', 'ws', 1)}/ws/node"
        with pytest.raises(InvalidStatus) as refused:
            await connect(url, additional_headers=shown, subprotocols=[protocol], proxy=None)
        assert refused.value.response.status_code == status


@pytest.mark.row("X11")
async def test_an_old_request_with_many_newer_ones_is_pushed_to_pages_of_another_node(
    cluster: Cluster,
) -> None:
    a, b, c = cluster.nodes
    quiet = await start(a, cluster.laptop, "count 1")
    session = await start(a, cluster.laptop, "go", agent="asks-60")
    first = (await b.wait_for(session, PermissionRequested)).event
    await until_open(c, 60)
    # Opened when everything is there already, and nobody looked at this node before.
    async with page(c, c.token, quiet) as socket:
        await hears(socket, sessionId=quiet)
        await deny(a, session, first)
        gone = await hears(socket, type="requests:changed", sessionId=session, gone=True)
    assert gone["requestId"] == first.request_id
    assert gone["open"] == 59
    assert (await a.http.delete(f"/api/sessions/{session}")).status_code == 200
    await until_open(c, 0)
