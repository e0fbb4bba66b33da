"""A hub, and a laptop that has joined it.

`BASCULE_TEST_HUB_STORE=postgres` runs all of these tests with the hub's store in PostgreSQL.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.live import LIMITS
from tests.machines.cluster import Cluster, running_cluster
from tests.machines.far_apart import Rig
from tests.machines.machines import Hub, Machine
from tests.machines.networks import network
from tests.machines.networks import reason_to_skip as no_networks
from tests.machines.relay import Relay, relay
from tests.store.postgres_server import Server, reason_to_skip, running_server

# Read here: tests begin without any variable of ours.
ON_POSTGRES = os.environ.get("BASCULE_TEST_HUB_STORE") == "postgres"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    if (reason := reason_to_skip()) is not None:
        pytest.skip(reason)
    with running_server() as made:
        yield made


@pytest.fixture
async def hub_env(request: pytest.FixtureRequest) -> dict[str, str]:
    """What the hub is started with."""
    if not ON_POSTGRES:
        return {}
    server: Server = request.getfixturevalue("postgres")
    return {"BASCULE_STORE": await asyncio.to_thread(server.new_database)}


@pytest.fixture
async def line() -> AsyncIterator[Relay]:
    """Between a machine and its hub: it can be cut, mended, or let nothing pass."""
    async with relay() as made:
        yield made


@pytest.fixture
async def hub_behind_line(short_dir: Path, line: Relay, hub_env: dict[str, str]) -> AsyncIterator[Hub]:
    folder = short_dir / "h"
    folder.mkdir(mode=0o700)
    config = f'allowed_hosts = ["{line.host}"]\n{LIMITS}'
    async with Hub(folder, config=config, env=hub_env) as made:
        line.target = made.url
        yield made


@pytest.fixture
async def hub(short_dir: Path, hub_env: dict[str, str]) -> AsyncIterator[Hub]:
    folder = short_dir / "h"
    folder.mkdir(mode=0o700)
    async with Hub(folder, env=hub_env) as made:
        yield made


@pytest.fixture
async def laptop(short_dir: Path, hub: Hub) -> AsyncIterator[Machine]:
    folder = short_dir / "l"
    folder.mkdir(mode=0o700)
    made = Machine(folder, "d-laptop", env={"SHELL": "/bin/sh"})
    await made.join(hub)
    async with made:
        await hub.until_device("d-laptop", online=True)
        yield made


@pytest.fixture
async def rig(short_dir: Path) -> AsyncIterator[Rig]:
    """A hub and a laptop with a real network between them."""
    if (reason := no_networks()) is not None:
        pytest.skip(reason)
    async with network() as net, AsyncExitStack() as closing:
        made = Rig(short_dir, net, closing)
        await made.begin()
        yield made


@pytest.fixture(scope="module")
async def running_nodes(module_dir: Path, postgres: Server) -> AsyncIterator[Cluster]:
    async with running_cluster(module_dir, postgres) as made:
        yield made


@pytest.fixture
async def cluster(running_nodes: Cluster) -> Cluster:
    for node in running_nodes.nodes:
        assert node.process is not None
        if node.process.returncode is not None:
            await node.start()
    nodes, lines = running_nodes.nodes, running_nodes.lines
    lines[0].target, lines[1].target = nodes[1].url, nodes[0].url
    await running_nodes.online()
    return running_nodes
