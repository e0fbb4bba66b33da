"""Several hub nodes on one PostgreSQL, and machines that reach them through a balancer: real processes."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import httpx
from tests.live import LIMITS
from tests.machines.machines import Hub, Machine
from tests.machines.relay import Relay, relay
from tests.notify.push_service import Receiver, receiver
from tests.ports import kept_port, number
from tests.store.postgres_server import Server
from tests.waiting import PATIENCE
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Subprotocol

from bascule.hub.nodes.envelope import opened
from bascule.link.frames import Reply
from bascule.link.line import Line
from bascule.model.events import PermissionRequested

BUS = "FROM pg_stat_activity WHERE application_name = 'bascule bus' AND datname = current_database()"
ATTACHED = "SELECT url FROM bascule.attachments JOIN bascule.nodes USING (node)"


class Cluster(NamedTuple):
    """Three nodes; two machines, which reach them through a balancer each."""

    nodes: list[Hub]
    laptop: Machine
    desk: Machine
    lines: list[Relay]
    store: str
    postgres: Server
    proxy_port: int  # nodes let themselves be called by a proxy there

    async def rows(self, statement: str) -> list[tuple[Any, ...]]:
        (found,) = await asyncio.to_thread(self.postgres.run, statement, url=self.store)
        return found

    @property
    def running(self) -> list[Hub]:
        return [one for one in self.nodes if one.process is not None and one.process.returncode is None]

    async def attached_to(self, machine: Machine) -> str:
        """The address of the node that holds a machine's connection, as the database has it."""
        ((url,),) = await self.rows(f"{ATTACHED} WHERE device = '{machine.device}'")
        return str(url)

    async def end_listening(self) -> None:
        """End the connection by which a node is notified: that of each one that runs, and no other."""
        async with asyncio.timeout(PATIENCE):
            while len(await self.rows(f"SELECT pid {BUS}")) != len(self.running):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert await self.rows(f"SELECT pg_terminate_backend(pid) {BUS}") == [(True,)] * len(self.running)

    async def moved(self, machine: int, node: Hub) -> None:
        """Cut a machine's connection; its balancer leads to this node now. Wait until every node knows."""
        device = (self.laptop, self.desk)[machine].device
        before = await self.epoch(device)
        self.lines[machine].target = node.url
        self.lines[machine].cut()
        self.lines[machine].mend()
        await self.is_newer(device, before)

    async def joined_anew(self, machine: int, node: Hub) -> None:
        """A machine is at this node by a connection of an uplink that was never cut before."""
        joins = (self.laptop, self.desk)[machine]
        before = await self.epoch(joins.device)
        self.lines[machine].target = node.url
        await joins.join(node, self.lines[machine].url)
        await self.is_newer(joins.device, before)

    async def epoch(self, device: str) -> int:
        """Of a machine's newest connection that any node knows: others may hear of it a moment later."""
        return max([(await one.devices())[device]["epoch"] for one in self.running])

    async def is_newer(self, device: str, epoch: int) -> None:
        """Wait until every node that runs knows a newer connection of a machine."""
        async with asyncio.timeout(PATIENCE):
            for one in self.nodes:
                while one.process is not None and one.process.returncode is None:
                    status = (await one.devices())[device]
                    if status["online"] and status["epoch"] > epoch:
                        break
                    await asyncio.sleep(0.02)

    async def online(self, *nodes: Hub) -> None:
        for node in nodes or self.nodes:
            await node.until_device("d-laptop", online=True)
            await node.until_device("d-desk", online=True)
            await hears_others(node)


@contextlib.asynccontextmanager
async def running_cluster(folder: Path, postgres: Server) -> AsyncIterator[Cluster]:
    store = await asyncio.to_thread(postgres.new_database)
    async with contextlib.AsyncExitStack() as closing:
        lines = [await closing.enter_async_context(relay()) for _ in range(2)]
        port = number(closing.enter_context(kept_port()))
        hosts = ", ".join(f'"{host}"' for host in (*(line.host for line in lines), f"127.0.0.1:{port}"))
        origins = f'allowed_origins = ["https://127.0.0.1:{port}"]'
        nodes: list[Hub] = []
        for name in "abc":
            (folder / name).mkdir(mode=0o700)
            config = f"allowed_hosts = [{hosts}]\n{origins}\n{LIMITS}"
            node = Hub(folder / name, config=config, env={"BASCULE_STORE": store})
            nodes.append(await closing.enter_async_context(node))
        for node in nodes[1:]:
            node.token = nodes[0].token  # any node knows it
        lines[0].target, lines[1].target = nodes[1].url, nodes[0].url
        machines: list[Machine] = []
        for name, line in zip(("laptop", "desk"), lines, strict=True):
            (folder / name).mkdir(mode=0o700)
            machine = Machine(folder / name, f"d-{name}", env={"SHELL": "/bin/sh"})
            machine.add_agent("asks", "asks_many.py", "1", str(folder / name / "asked"))
            machine.add_agent("counts", "counts.py", str(folder / name / "counted"))
            machine.add_agent("asks-60", "asks_many.py", "60", str(folder / name / "asked_60"))
            await machine.join(nodes[0], line.url)
            machines.append(await closing.enter_async_context(machine))
        made = Cluster(nodes, *machines, lines, store, postgres, port)
        await made.online()
        yield made


async def hears_others(node: Hub) -> None:
    """Wait until a node has its connection between nodes again, by which it reads grants of other nodes."""
    unknown = {"authorization": "Bearer nobody's"}
    async with asyncio.timeout(PATIENCE):
        while (answer := await node.http.get("/api/sessions", headers=unknown)).status_code == 507:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert answer.status_code in (401, 429), answer.text


async def start(node: Hub, machine: Machine, prompt: str, agent: str = "demo") -> str:
    body = {"agent": agent, "cwd": str(machine.work), "prompt": prompt, "device": machine.device}
    made = await node.http.post("/api/sessions", json=body)
    assert made.status_code == 200, made.text
    return made.json()["id"]


class Followed(Protocol):
    """Gives the rows of a session, or whatever else has their numbers, until its connection ends."""

    def follow(self, session: str, after: int = 0) -> Any: ...


class Watcher:
    """A page that goes on at the next node when its own is gone; it never has a gap, nor a row twice."""

    def __init__(self, session: str, nodes: Sequence[Followed]) -> None:
        self.session, self.nodes = session, nodes
        self.last = 0
        self.connected = 0  # how often
        self._why = ""  # it ended last
        self._moved = asyncio.Event()
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(lambda _: self._moved.set())

    async def _run(self) -> None:
        turn = 0
        while True:
            node = self.nodes[turn % len(self.nodes)]
            turn += 1
            self.connected += 1
            try:
                async with contextlib.aclosing(node.follow(self.session, self.last)) as rows:
                    async for row in rows:
                        assert row.seq == self.last + 1
                        self.last = row.seq
                        self._moved.set()
            except (ConnectionClosed, OSError, InvalidHandshake, httpx.TransportError) as error:
                self._why = repr(error)
            await asyncio.sleep(0.02)

    async def beyond(self, seq: int) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while self.last <= seq:
                    if self._task.done():
                        self._task.result()
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            raise AssertionError(f"{self.last} after {self.connected} connections, {self._why}") from None

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


async def problem(node: Hub, words: str) -> None:
    """Wait until a page says these words of why nothing can be stored."""
    async with asyncio.timeout(PATIENCE):
        while True:
            said = [one["storageProblem"] for one in (await node.devices()).values()]
            if said and all(one and words in one for one in said):
                return
            await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def page(node: Hub, token: str, session: str) -> AsyncIterator[ClientConnection]:
    headers = {"authorization": f"Bearer {token}"}
    url = f"{node.url.replace('http', 'ws', 1)}/ws"
    async with connect(url, additional_headers=headers, max_size=None, proxy=None) as page_socket:
        watch = {"id": 1, "type": "session:subscribe", "sessionId": session, "after": 0}
        await page_socket.send(json.dumps(watch))
        yield page_socket


async def hears(page_socket: ClientConnection, **wanted: Any) -> dict[str, Any]:
    """The first message that has all of this."""
    async with asyncio.timeout(PATIENCE):
        while True:
            message = json.loads(await page_socket.recv())
            if all(message.get(name) == value for name, value in wanted.items()):
                return message


async def shows_channel(node: Hub, channel: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            if any(one["id"] == channel for one in await _channels(node)):
                return
            await asyncio.sleep(0.02)


async def deny(node: Hub, session: str, asked: PermissionRequested) -> None:
    answer = await node.post(
        f"/api/sessions/{session}/permissions",
        requestId=asked.request_id,
        decision="deny",
        inputSha256=asked.input_sha256,
    )
    assert answer.status_code == 200, answer.text


@contextlib.asynccontextmanager
async def channel_of(cluster: Cluster) -> AsyncIterator[Receiver]:
    """One that was added at the last node, once every node has it."""
    a, b, c = cluster.nodes
    async with receiver() as made:
        body = {"service": "webhook", "name": "hook", "url": made.url, "secret": "hush-little-secret"}
        added = await c.http.post("/api/notifications/channels", json=body)
        assert added.status_code == 200, added.text
        named = next(one["id"] for one in added.json()["channels"] if one["name"] == "hook")
        for node in (a, b):
            await shows_channel(node, named)
        yield made
        gone = await a.http.delete(f"/api/notifications/channels/{named}")
        assert gone.status_code == 200, gone.text


async def until_left_to_another(session: str, nodes: list[Hub], times: int) -> None:
    """Until so many of the nodes wanted to tell people of the session's request, and another one had."""
    words = re.compile(rf"another node has sent the notice of request \S+ of {session}")
    async with asyncio.timeout(PATIENCE):
        while sum(bool(words.search((one.data / "server.log").read_text())) for one in nodes) < times:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def request_gone(message: dict[str, Any]) -> bool:
    return message["type"] == "requests:changed" and message["gone"]


def guard_gone(message: dict[str, Any]) -> bool:
    return message["type"] == "session:changed" and message["session"].get("guard") is None


@contextlib.asynccontextmanager
async def handled_by_all(
    nodes: list[Hub], session: str, gone: Callable[[dict[str, Any]], bool]
) -> AsyncIterator[None]:
    """Within, the session's request is settled. Wait until each node knows it, and has no notice to send.

    A node tells its pages and its channels of it in one step: the page that heard it shows that this is past.
    """
    async with contextlib.AsyncExitStack() as closing:
        pages = [await closing.enter_async_context(page(one, one.token, session)) for one in nodes]
        for one in pages:
            await hears(one, type="session:events")
        yield
        for node, heard_by in zip(nodes, pages, strict=True):
            await _heard(node, heard_by, session, gone)
        async with asyncio.timeout(PATIENCE):
            for node in nodes:
                while any([one["waiting"] for one in await _channels(node)]):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)


async def _heard(
    node: Hub, heard_by: ClientConnection, session: str, wanted: Callable[[dict[str, Any]], bool]
) -> None:
    heard: list[dict[str, Any]] = []
    try:
        async with asyncio.timeout(PATIENCE):
            while not heard or not _is_of(session, wanted, heard[-1]):
                heard.append(json.loads(await heard_by.recv()))
    except TimeoutError:
        shown = (await node.http.get(f"/api/sessions/{session}")).text
        raise AssertionError(f"{node.url} sent {heard[-5:]}, and knows {shown}\n{node.stderr()}") from None


def _is_of(session: str, wanted: Callable[[dict[str, Any]], bool], message: dict[str, Any]) -> bool:
    return message.get("sessionId") == session and wanted(message)


async def _channels(node: Hub) -> list[dict[str, Any]]:
    return (await node.http.get("/api/notifications")).json()["channels"]


async def until_open(node: Hub, count: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while len((await node.http.get("/api/requests")).json()["requests"]) != count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def until_reply(line: ClientConnection, hub: Line, ask: int) -> Reply:
    async with asyncio.timeout(PATIENCE):
        while True:
            message = await line.recv()
            if isinstance(message, bytes):
                for frame in hub.receive(opened(message).message):
                    if isinstance(frame, Reply) and frame.ask == ask:
                        return frame


@contextlib.asynccontextmanager
async def newer_node(cluster: Cluster, node: Hub) -> AsyncIterator[ClientConnection]:
    """A connection to this node as another one makes it."""
    headers = {"authorization": f"Bearer {await node_key(cluster)}", "X-Bascule-Node": "newer"}
    url = f"{node.url.replace('http', 'ws', 1)}/ws/node"
    protocols = [Subprotocol("bascule.node.1")]
    async with connect(url, additional_headers=headers, subprotocols=protocols, proxy=None) as line:
        yield line


async def node_key(cluster: Cluster) -> str:
    read = "SELECT convert_from(value, 'UTF8') FROM bascule.meta WHERE name = 'node_key'"
    ((key,),) = (await asyncio.to_thread(cluster.postgres.run, read, url=cluster.store))[0]
    return str(key)
