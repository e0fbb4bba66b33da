"""Several hub nodes on one PostgreSQL, and machines that joined: real processes, killed and restarted."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.live import LIMITS
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.relay import Relay, relay
from tests.notify.push_service import receiver
from tests.store.postgres_server import Server
from tests.terminal.test_terminal_viewers import ASKER, ask
from tests.terminal.viewing import Viewer, terminal, viewing
from tests.waiting import PATIENCE, within
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from bascule.model.events import PermissionRequested, TurnEnded

pytestmark = pytest.mark.anyio

BUS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = 'bascule bus' AND datname = current_database()
"""


class Cluster(NamedTuple):
    """Three nodes; two machines, which reach them through a balancer each."""

    nodes: list[Hub]
    laptop: Machine
    desk: Machine
    lines: list[Relay]
    store: str
    postgres: Server

    async def moved(self, machine: int, node: Hub) -> None:
        """Cut a machine's connection; its balancer leads to this node now."""
        device = (self.laptop, self.desk)[machine].device
        before = (await node.devices())[device]["epoch"]
        self.lines[machine].target = node.url
        self.lines[machine].cut()
        self.lines[machine].mend()
        async with asyncio.timeout(PATIENCE):
            while True:
                status = (await node.devices())[device]
                if status["online"] and status["epoch"] > before:
                    return
                await asyncio.sleep(0.02)

    async def online(self, *nodes: Hub) -> None:
        for node in nodes or self.nodes:
            await node.until_device("d-laptop", online=True)
            await node.until_device("d-desk", online=True)


@pytest.fixture(scope="module")
async def running(module_dir: Path, postgres: Server) -> AsyncIterator[Cluster]:
    store = await asyncio.to_thread(postgres.new_database)
    async with contextlib.AsyncExitStack() as closing:
        lines = [await closing.enter_async_context(relay()) for _ in range(2)]
        hosts = ", ".join(f'"{line.host}"' for line in lines)
        nodes: list[Hub] = []
        for name in "abc":
            (module_dir / name).mkdir(mode=0o700)
            config = f"allowed_hosts = [{hosts}]\n{LIMITS}"
            node = Hub(module_dir / name, config=config, env={"BASCULE_STORE": store})
            nodes.append(await closing.enter_async_context(node))
        for node in nodes[1:]:
            node.token = nodes[0].token  # any node knows it
        lines[0].target, lines[1].target = nodes[1].url, nodes[0].url
        machines: list[Machine] = []
        for name, line in zip(("laptop", "desk"), lines, strict=True):
            (module_dir / name).mkdir(mode=0o700)
            machine = Machine(module_dir / name, f"d-{name}", env={"SHELL": "/bin/sh"})
            machine.add_agent("asks", "asks_many.py", "1", str(module_dir / name / "asked"))
            await machine.join(nodes[0], line.url)
            machines.append(await closing.enter_async_context(machine))
        made = Cluster(nodes, *machines, lines, store, postgres)
        await made.online()
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


async def start(node: Hub, machine: Machine, prompt: str, agent: str = "demo") -> str:
    body = {"agent": agent, "cwd": str(machine.work), "prompt": prompt, "device": machine.device}
    made = await node.http.post("/api/sessions", json=body)
    assert made.status_code == 200, made.text
    return made.json()["id"]


class Watcher:
    """A page that goes on at the next node when its own is gone; it never has a gap, nor a row twice."""

    def __init__(self, session: str, nodes: list[Hub]) -> None:
        self.session, self.nodes = session, nodes
        self.last = 0
        self.connected = 0  # how often
        self._moved = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        turn = 0
        while True:
            node = self.nodes[turn % len(self.nodes)]
            turn += 1
            self.connected += 1
            with contextlib.suppress(ConnectionClosed, OSError, InvalidStatus):
                async with contextlib.aclosing(node.follow(self.session, self.last)) as rows:
                    async for row in rows:
                        assert row.seq == self.last + 1
                        self.last = row.seq
                        self._moved.set()
            await asyncio.sleep(0.02)

    async def beyond(self, seq: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.last <= seq:
                if self._task.done():
                    self._task.result()
                self._moved.clear()
                await self._moved.wait()

    async def close(self) -> None:
        self._task.cancel()
        outcome = (await asyncio.gather(self._task, return_exceptions=True))[0]
        if isinstance(outcome, Exception):
            raise outcome


async def grown(server: Any, session: str, seq: int) -> int:
    """Wait until the log is longer, as this server has it."""
    async with asyncio.timeout(PATIENCE):
        while True:
            rows = await server.log(session, seq)
            if rows:
                return rows[-1].seq
            await asyncio.sleep(0.02)


async def problem(node: Hub) -> str:
    """What a page says while nothing can be stored."""
    async with asyncio.timeout(PATIENCE):
        while True:
            said = [one["storageProblem"] for one in (await node.devices()).values()]
            if said and all(said):
                return said[0]
            await asyncio.sleep(0.02)


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
    session = await start(a, laptop, "slow 100000")
    watcher = Watcher(session, [a, c])
    try:
        await watcher.beyond(5)
        await a.kill()  # the page's node
        with within(1.0):
            await watcher.beyond(watcher.last + 1)
        await b.kill()  # the machine's node; the balancer has another one
        line.target = c.url
        await c.until_device("d-laptop", online=True)
        with within(1.0):
            await watcher.beyond(watcher.last + 1)
        await a.start()
        connected = watcher.connected
        await asyncio.to_thread(cluster.postgres.stop)
        try:
            head = await grown(laptop, session, watcher.last)
            assert await grown(laptop, session, head) > head  # its agent goes on
            assert "database" in await problem(c)
        finally:
            await asyncio.to_thread(cluster.postgres.start)
        head = (await laptop.log(session, watcher.last))[-1].seq
        await watcher.beyond(head)
        with within(1.0):
            await watcher.beyond(watcher.last + 1)
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
    again = await b.http.get("/api/sessions", headers=headers)
    assert again.status_code == 401


@pytest.mark.row("X11")
async def test_three_viewers_of_one_terminal_at_three_nodes_have_one_size(cluster: Cluster) -> None:
    a, b, c = cluster.nodes
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


@contextlib.asynccontextmanager
async def page(node: Hub, token: str, session: str) -> AsyncIterator[ClientConnection]:
    headers = {"authorization": f"Bearer {token}"}
    url = f"{node.url.replace('http', 'ws', 1)}/ws"
    async with connect(url, additional_headers=headers, max_size=None, proxy=None) as socket:
        watch = {"id": 1, "type": "session:subscribe", "sessionId": session, "after": 0}
        await socket.send(json.dumps(watch))
        yield socket


async def hears(socket: ClientConnection, **wanted: Any) -> dict[str, Any]:
    """The first message that has all of this."""
    async with asyncio.timeout(PATIENCE):
        while True:
            message = json.loads(await socket.recv())
            if all(message.get(name) == value for name, value in wanted.items()):
                return message


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
    a, b, c = cluster.nodes
    async with receiver() as channel:
        body = {"service": "webhook", "name": "hook", "url": channel.url, "secret": "hush-little-secret"}
        made = await c.http.post("/api/notifications/channels", json=body)
        assert made.status_code == 200, made.text
        named = next(one["id"] for one in made.json()["channels"] if one["name"] == "hook")
        for node in (a, b):
            await shows_channel(node, named)
        session = await start(a, cluster.laptop, "go", agent="asks")
        asked = (await a.wait_for(session, PermissionRequested)).event
        told = (await asyncio.wait_for(channel.requests.get(), PATIENCE)).json
        assert (told["kind"], told["state"]) == ("approval", "open")
        await a.post(
            f"/api/sessions/{session}/permissions",
            requestId=asked.request_id,
            decision="deny",
            inputSha256=asked.input_sha256,
        )
        settled = (await asyncio.wait_for(channel.requests.get(), PATIENCE)).json
        assert settled["state"] != "open"
        assert channel.requests.empty()
        gone = await a.http.delete(f"/api/notifications/channels/{named}")
        assert gone.status_code == 200, gone.text


async def shows_channel(node: Hub, channel: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            shown = (await node.http.get("/api/notifications")).json()["channels"]
            if any(one["id"] == channel for one in shown):
                return
            await asyncio.sleep(0.02)


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
    read = "SELECT convert_from(value, 'UTF8') FROM bascule.meta WHERE name = 'node_key'"
    ((key,),) = (await asyncio.to_thread(cluster.postgres.run, read, url=cluster.store))[0]
    headers = {"authorization": f"Bearer {key}"}
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
async def test_a_node_that_is_stopped_leaves_its_machines_to_the_others(cluster: Cluster) -> None:
    a, b, _ = cluster.nodes
    count = "SELECT count(*)::int FROM bascule.nodes"
    ((before,),) = (await asyncio.to_thread(cluster.postgres.run, count, url=cluster.store))[0]
    cluster.lines[0].target = a.url
    await b.stop()  # the balancer leads to another one
    with within(3.0):
        await a.until_device("d-laptop", online=True)
        session = await start(a, cluster.laptop, "count 1")
    await a.wait_for(session, TurnEnded)
    ((after,),) = (await asyncio.to_thread(cluster.postgres.run, count, url=cluster.store))[0]
    assert after == before - 1
