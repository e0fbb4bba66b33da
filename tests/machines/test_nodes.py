"""Several hub nodes on one PostgreSQL, and machines that joined: real processes, killed and restarted."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.machines.balancer import BySocket, ByStream, balanced
from tests.machines.cluster import (
    BUS,
    Cluster,
    Watcher,
    channel_of,
    deny,
    grown,
    hears,
    newer_node,
    node_key,
    page,
    problem,
    running_cluster,
    start,
    until_left_to_another,
    until_open,
    until_reply,
)
from tests.machines.machines import equal_logs
from tests.store.postgres_server import Server
from tests.terminal.test_terminal_viewers import ASKER, ask
from tests.terminal.viewing import Viewer, terminal, viewing
from tests.waiting import PATIENCE, within
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from bascule.hub.nodes.envelope import enclose
from bascule.link.frames import PROTOCOL, Welcome
from bascule.link.ladder import MOST
from bascule.link.line import Line
from bascule.model.events import GuardAsked, PermissionRequested, TurnEnded

pytestmark = pytest.mark.anyio

MOVED_SECONDS = 1.0  # from the end of a machine's node until its next rows are at a page of another one


@pytest.fixture(scope="module")
async def running(module_dir: Path, postgres: Server) -> AsyncIterator[Cluster]:
    async with running_cluster(module_dir, postgres) as made:
        yield made


@pytest.fixture
async def cluster(running: Cluster) -> Cluster:
    for node in running.nodes:
        assert node.process is not None
        if node.process.returncode is not None:
            await node.start()
    running.lines[0].target, running.lines[1].target = running.nodes[1].url, running.nodes[0].url
    await running.online()
    return running


@pytest.mark.row("X11")
async def test_a_browser_at_one_node_drives_a_session_of_a_machine_at_another(cluster: Cluster) -> None:
    a, b, _ = cluster.nodes
    for node, machine in ((a, cluster.laptop), (b, cluster.desk)):
        session = await start(node, machine, "count 5")
        ended = await node.wait_for(session, TurnEnded)
        await node.send(session, "count 3")
        await node.wait_for(session, TurnEnded, ended.seq)
        for other in cluster.nodes:
            await equal_logs(other, machine, session)


@pytest.mark.row("X11")
async def test_nothing_is_lost_or_doubled_when_nodes_the_database_and_its_notifications_go(
    cluster: Cluster,
) -> None:
    a, b, c = cluster.nodes
    laptop, line = cluster.laptop, cluster.lines[0]
    await cluster.joined_anew(0, b)
    session = await start(a, laptop, "slow 100000")
    watcher = Watcher(session, [a, c])
    try:
        await watcher.beyond(5)
        await a.kill()  # the page's node
        with within(1.0):
            await watcher.beyond(watcher.last + 1)
        line.target = c.url  # the balancer has another one
        with within(MOVED_SECONDS):
            await b.kill()  # the machine's node
            await watcher.beyond(await grown(laptop, session, watcher.last))
        await a.start()
        connected = watcher.connected
        await asyncio.to_thread(cluster.postgres.stop)
        try:
            head = await grown(laptop, session, watcher.last)
            assert await grown(laptop, session, head) > head  # its agent goes on
            await problem(c, "database can't be reached")
        finally:
            await asyncio.to_thread(cluster.postgres.start)
        with within(1.0):
            await watcher.beyond(watcher.last)
        await watcher.beyond((await laptop.log(session, watcher.last))[-1].seq)
        assert watcher.connected == connected  # its page stayed open
        assert [one["storageProblem"] for one in (await c.devices()).values()] == [None, None]
        await cluster.moved(0, a)  # so that rows come to c by notifications again
        await watcher.beyond(watcher.last + 1)
        await asyncio.to_thread(cluster.postgres.run, BUS, url=cluster.store)
        with within(1.0):
            await watcher.beyond(watcher.last + 3)
        answer = await c.http.delete(f"/api/sessions/{session}")
        assert answer.status_code == 200, answer.text
        for node in (a, c):
            rows = await equal_logs(node, laptop, session)
        await watcher.beyond(len(rows) - 1)
    finally:
        await watcher.close()


@pytest.mark.row("X11")
async def test_a_ticket_of_one_node_opens_once_at_another_of_fifty_tries_at_once(cluster: Cluster) -> None:
    a, _, b = cluster.nodes  # the second one takes wrong tokens in the next test
    made = await a.http.post("/api/tickets", json={"purpose": "socket"})
    assert made.status_code == 200, made.text
    url = f"{b.url.replace('http', 'ws', 1)}/ws?ticket={made.json()['ticket']}"

    async def attempt() -> int:
        try:
            async with connect(url, origin=b.url, proxy=None):  # type: ignore[arg-type]
                return 101
        except InvalidStatus as error:
            return error.response.status_code

    answers = await asyncio.gather(*(attempt() for _ in range(50)))
    assert answers.count(101) == 1
    assert set(answers) <= {101, 401, 429}


@pytest.mark.row("X11")
@pytest.mark.parametrize("heard", ["heard", "unheard"])
async def test_a_grant_that_one_node_revokes_ends_at_another_within_two_seconds(
    cluster: Cluster, heard: str
) -> None:
    a, b, _ = cluster.nodes
    made = (await a.post("/api/grants", name=f"guest {heard}", role="viewer")).json()
    url = f"{b.url.replace('http', 'ws', 1)}/ws"
    headers = {"authorization": f"Bearer {made['token']}"}
    async with connect(url, additional_headers=headers, proxy=None) as socket:
        if heard == "unheard":  # no node is told anything for a while: each has to look
            await asyncio.to_thread(cluster.postgres.run, BUS, url=cluster.store)
        with within(2.0):
            assert (await a.http.delete(f"/api/grants/{made['grant']['id']}")).status_code == 200
            async with asyncio.timeout(PATIENCE):
                await socket.wait_closed()
    async with asyncio.timeout(PATIENCE):  # it answers nobody before it has read its grants again
        while True:
            again = await b.http.get("/api/sessions", headers=headers)
            if again.status_code != 507:
                break
            await asyncio.sleep(0.02)
    assert again.status_code == 401


@pytest.mark.row("X11")
async def test_three_viewers_of_one_terminal_at_three_nodes_have_one_size_and_miss_nothing_when_one_dies(
    cluster: Cluster,
) -> None:
    a, b, c = cluster.nodes
    await cluster.moved(0, b)
    session = await terminal(a, cwd=str(cluster.laptop.work), device="d-laptop")
    async with viewing(a, session) as one, viewing(b, session) as two, viewing(c, session) as three:
        for viewer, size in ((one, (120, 50)), (two, (100, 40)), (three, (90, 45))):
            await viewer.line.resize(*size)
        for viewer in (one, two, three):
            await viewer.until(lambda seen: (seen.said[-1].cols, seen.said[-1].rows) == (90, 40))
        await three.type("stty size; echo fr''om three\r")
        for viewer in (one, two, three):
            await viewer.shows(b"40 90")
            await viewer.shows(b"from three")
        await a.kill()
        await one.over()
        begun = await one.hears("begin")
        async with viewing(b, session, after=one.next, run=begun.run, epoch=begun.epoch) as again:
            await again.type("echo fr''om again\r")
            for viewer in (again, two, three):
                await viewer.shows(b"from again")
            assert again.first == one.next
            seen, first = bytes(one.data + again.data), max(one.first or 0, three.first or 0)
            ends = min(again.next, three.next)
            assert seen[first - (one.first or 0) :][: ends - first] == bytes(
                three.data[first - (three.first or 0) :][: ends - first]
            )


@pytest.mark.row("X11", "S54")
async def test_a_viewer_of_a_node_that_is_killed_goes_on_at_another_and_one_still_answers_each_query(
    cluster: Cluster,
) -> None:
    a, b, laptop = cluster.nodes[0], cluster.nodes[1], cluster.laptop
    (laptop.work / "asker.py").write_text(ASKER)
    session = await terminal(b, cwd=str(laptop.work), device="d-laptop")

    async def one_answer(number: int, *viewers: Viewer) -> None:
        places = [len(viewer.data) for viewer in viewers]
        await viewers[0].type(ask(r"\033[c\033[6n", "XYZ"))
        for viewer, place, letter in zip(viewers, places, "XYZ", strict=True):
            await viewer.shows(b"\x1b[c\x1b[6n", after=place)
            await viewer.type(b"\x1b[?1;2c\x1b[5;7R")
            await viewer.type(letter)
        await viewers[0].shows(b"<>over", times=number)
        assert viewers[0].data.count(b"got=<1b5b3f313b32631b5b353b3752>") == number

    async with viewing(laptop, session) as near, viewing(b, session) as at_b:
        async with viewing(a, session) as at_a:
            await one_answer(1, near, at_a, at_b)
            place = at_a.next
            await a.kill()
        await near.type("echo bet''ween\r")
        await near.shows(b"between")
        async with viewing(b, session, after=place) as again:
            await again.shows(b"between")
            assert (again.first, near.first) == (place, 0)
            assert bytes(again.data) == bytes(near.data[place : place + len(again.data)])
            await one_answer(2, near, again, at_b)


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
        await deny(a, session, asked)
        settled = (await asyncio.wait_for(channel.requests.get(), PATIENCE)).json
        assert settled["state"] != "open"
        assert channel.requests.empty()


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
            ended = await laptop.post(
                f"/api/sessions/{session}/guard", guardId=guard.guard_id, decision="end"
            )
            assert ended.status_code == 200, ended.text
            settled = (await asyncio.wait_for(channel.requests.get(), PATIENCE)).json
            assert (settled["tag"], settled["state"]) == (told["tag"], "settled")
            assert channel.requests.empty()
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
        await deny(a, session, asked)
        settled = (await asyncio.wait_for(channel.requests.get(), PATIENCE)).json
        assert settled["state"] != "open"
        assert channel.requests.empty()


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


# What a newer version may add: columns, books that nodes have in memory, words in wakes, other wakes.
NEWER = (
    "ALTER TABLE bascule.nodes ADD COLUMN region text NOT NULL DEFAULT 'north'",
    "ALTER TABLE bascule.attachments ADD COLUMN since timestamptz NOT NULL DEFAULT now()",
    "ALTER TABLE bascule.sessions ADD COLUMN colour text NOT NULL DEFAULT ''",
    "INSERT INTO bascule.book_changes (book, n) VALUES ('recipes', 7)",
    """SELECT pg_notify('bascule', '{"node":"newer","recipes":[1],"books":["recipes"],"everything":true}')""",
    """SELECT pg_notify('bascule', '["another kind of wake"]')""",
)


@pytest.mark.row("X11")
async def test_what_a_newer_node_says_and_writes_is_left_alone_and_the_rest_goes_on(cluster: Cluster) -> None:
    a, b, c = cluster.nodes
    await cluster.moved(0, b)
    await asyncio.to_thread(cluster.postgres.run, *NEWER, url=cluster.store)
    async with newer_node(cluster, b) as line:
        await line.send('{"type":"recipes","soup":1}')
        await line.send('{"type":"call","n":1,"what":"recipes","body":{}}')
        answer = json.loads(await asyncio.wait_for(line.recv(), PATIENCE))
        assert (answer["type"], answer["n"]) == ("answer", 1)
        assert answer["refusal"] is not None
        # The machine there, by frames of a link: those it does not know are passed over, or refused.
        hub = Line("hub", deflated=False)
        hub.send(Welcome(PROTOCOL, "", "", "x", 1, 0.0, 0))
        unknown = '{"type":"ask","ask":9,"command":{"type":"dance"},"by":{"name":"ana"}}'
        for message in (*hub.take(1 << 20), '{"type":"dance"}', unknown):
            await line.send(enclose("d-laptop", message))
        refused = await until_reply(line, hub, 9)
        assert refused.refusal is not None
        assert refused.refusal.code == "NOT_SUPPORTED"
    session = await start(a, cluster.laptop, "count 3")
    await c.wait_for(session, TurnEnded)
    for node in cluster.nodes:
        await equal_logs(node, cluster.laptop, session)
        assert "Traceback" not in node.stderr()


@pytest.mark.row("X11")
async def test_the_proxy_of_the_example_carries_sockets_and_streams_past_nodes_that_die(
    cluster: Cluster, module_dir: Path
) -> None:
    a, b, c = cluster.nodes
    await cluster.moved(0, b)
    session = await start(a, cluster.laptop, "slow 100000")
    async with balanced(module_dir / "proxy", cluster.proxy_port, [a, c]) as url:
        async with BySocket(url, a.token).client() as http:
            assert "<html" in (await http.get("/")).text
            assert (await http.get("/api/sessions")).status_code == 200
            assert (await http.get("/ws/node")).status_code == 404
        socket = Watcher(session, [BySocket(url, a.token)])
        stream = Watcher(session, [ByStream(url, a.token)])
        try:
            for node in (a, c):
                for watcher in (socket, stream):
                    await watcher.beyond(watcher.last)
                await node.kill()
                for watcher in (socket, stream):
                    await watcher.beyond(watcher.last + 1)
                await node.start()
                await cluster.online(node)
            # Each of them had one of the nodes that died.
            assert min(socket.connected, stream.connected) >= 2
            assert (await a.http.delete(f"/api/sessions/{session}")).status_code == 200
            head = len(await equal_logs(a, cluster.laptop, session))
            for watcher in (socket, stream):
                await watcher.beyond(head - 1)
        finally:
            await socket.close()
            await stream.close()


@pytest.mark.row("X11")
async def test_a_node_that_is_stopped_leaves_its_machines_to_the_others(cluster: Cluster) -> None:
    a, b, _ = cluster.nodes
    count = "SELECT count(*)::int FROM bascule.nodes"
    ((before,),) = (await asyncio.to_thread(cluster.postgres.run, count, url=cluster.store))[0]
    cluster.lines[0].target = a.url
    await b.stop()  # the balancer leads to another one
    # Its lines were cut by the tests before: it may stand on the ladder's last step.
    with within(MOST + 3.0):
        await a.until_device("d-laptop", online=True)
        session = await start(a, cluster.laptop, "count 1")
    await a.wait_for(session, TurnEnded)
    ((after,),) = (await asyncio.to_thread(cluster.postgres.run, count, url=cluster.store))[0]
    assert after == before - 1
