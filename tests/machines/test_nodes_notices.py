"""Notices of nodes that are killed: another one says what became of the requests, and it alone."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.machines.cluster import Cluster, channel_of, deny, running_cluster, start
from tests.machines.machines import Hub, Machine, asking_laptop
from tests.notify.push_service import Receiver, receiver
from tests.store.postgres_server import Server
from tests.waiting import PATIENCE

from bascule.model.events import PermissionRequested

pytestmark = pytest.mark.anyio

SHOWN = "SELECT count(*)::int FROM bascule.sent_channels WHERE shown = 1"


@pytest.fixture
async def cluster(short_dir: Path, postgres: Server) -> AsyncIterator[Cluster]:
    folder = short_dir / "nodes"
    folder.mkdir(mode=0o700)
    async with running_cluster(folder, postgres) as made:
        yield made


@pytest.fixture
async def hub_env(postgres: Server) -> dict[str, str]:
    return {"BASCULE_STORE": await asyncio.to_thread(postgres.new_database)}


@pytest.fixture
async def laptop(short_dir: Path, hub: Hub) -> AsyncIterator[Machine]:
    async with asking_laptop(short_dir / "l", hub) as made:
        yield made


@contextlib.asynccontextmanager
async def hook(hub: Hub) -> AsyncIterator[Receiver]:
    async with receiver() as made:
        body = {"service": "webhook", "name": "hook", "url": made.url, "secret": "hush-little-secret"}
        added = await hub.http.post("/api/notifications/channels", json=body)
        assert added.status_code == 200, added.text
        yield made


async def asks(node: Hub, machine: Machine) -> tuple[str, PermissionRequested]:
    session = await start(node, machine, "go", agent="asks")
    return session, (await node.wait_for(session, PermissionRequested)).event


async def told(channel: Receiver) -> tuple[Any, ...]:
    said = (await asyncio.wait_for(channel.requests.get(), PATIENCE)).json
    return said["requestId"], said["state"], said["tag"]


async def until_shown(postgres: Server, store: str, count: int) -> None:
    """Until it is stored that so many notices were shown: a node that dies before sends it again."""
    async with asyncio.timeout(PATIENCE):
        while (await asyncio.to_thread(postgres.run, SHOWN, url=store))[0] != [(count,)]:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def told_and_replaced(node: Hub, machine: Machine, channel: Receiver) -> None:
    """One more request: whatever else was sent before would come first."""
    session, asked = await asks(node, machine)
    request, state, tag = await told(channel)
    assert (request, state) == (asked.request_id, "open")
    await deny(node, session, asked)
    assert await told(channel) == (asked.request_id, "settled", tag)


@pytest.mark.row("X11", "X2")
async def test_what_a_node_told_before_it_was_killed_is_replaced_once_by_another(cluster: Cluster) -> None:
    a, b, c = cluster.nodes
    async with channel_of(cluster) as channel:
        session, asked = await asks(a, cluster.laptop)
        request, state, tag = await told(channel)
        assert (request, state) == (asked.request_id, "open")
        await until_shown(cluster.postgres, cluster.store, 1)
        cluster.lines[0].target = c.url
        await b.kill()  # which holds the machine, and has told it
        await c.until_device("d-laptop", online=True)
        await deny(a, session, asked)
        assert await told(channel) == (asked.request_id, "settled", tag)
        await until_shown(cluster.postgres, cluster.store, 0)
        await b.start()
        await cluster.online(b)
        await told_and_replaced(a, cluster.laptop, channel)
        assert channel.requests.empty()


@pytest.mark.row("X11", "X2")
async def test_what_the_only_node_told_before_it_was_killed_it_replaces_when_it_is_started_again(
    hub: Hub, laptop: Machine, postgres: Server, hub_env: dict[str, str]
) -> None:
    store = hub_env["BASCULE_STORE"]
    async with hook(hub) as channel:
        session, asked = await asks(hub, laptop)
        request, state, tag = await told(channel)
        assert (request, state) == (asked.request_id, "open")
        await until_shown(postgres, store, 1)
        await hub.kill()
        await hub.start()
        await hub.until_device(laptop.device, online=True)
        await deny(hub, session, asked)
        assert await told(channel) == (asked.request_id, "settled", tag)
        await until_shown(postgres, store, 0)
        await told_and_replaced(hub, laptop, channel)
        assert channel.requests.empty()
