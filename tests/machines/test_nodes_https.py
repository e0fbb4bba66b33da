"""Nodes that reach each other by https, with certificates from files that no authority has signed."""

import asyncio
import contextlib
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.machines.cluster import start
from tests.machines.machines import Hub, Machine, equal_logs
from tests.store.postgres_server import Server
from tests.waiting import PATIENCE

from bascule.model.events import TurnEnded

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make certificates"),
]


def certificate(folder: Path) -> dict[str, str]:
    """A self-signed one for 127.0.0.1, and the settings to serve with it."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    words = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=node"]
    words += [
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
    ]
    subprocess.run([*words, "-keyout", key, "-out", cert], check=True, capture_output=True)
    return {"BASCULE_TLS_CERT": str(cert), "BASCULE_TLS_KEY": str(key)}


@pytest.fixture
async def nodes(short_dir: Path, postgres: Server) -> AsyncIterator[list[Hub]]:
    """Two that are not started yet, each with a certificate of its own."""
    store = await asyncio.to_thread(postgres.new_database)
    async with contextlib.AsyncExitStack() as closing:
        made: list[Hub] = []
        for name in "ab":
            folder = short_dir / name
            folder.mkdir(mode=0o700)
            env = {"BASCULE_STORE": store, **await asyncio.to_thread(certificate, folder)}
            made.append(Hub(folder, env=env))
        for node in made:
            await closing.enter_async_context(node)
            node.token = made[0].token
        yield made


async def until(node: Hub, words: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while words not in (node.data / "server.log").read_text():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def listed(node: Hub) -> list[str]:
    return [one["code"] for one in (await node.http.get("/api/pairings")).json()["pairings"]]


@pytest.mark.row("X11")
async def test_nodes_reach_each_other_by_https_once_they_know_each_others_certificates(
    nodes: list[Hub], short_dir: Path
) -> None:
    a, b = nodes
    assert a.url.startswith("https://")
    asked = {"device": "d-new", "name": "new", "user": "ana", "version": "1", "agents": []}
    made = (await a.http.post("/api/pairings", json=asked)).json()
    # A stranger's certificate: nothing is said to it, least of all the key of nodes.
    await until(b, "no secure connection")
    assert "node_ca" in (b.data / "server.log").read_text()
    assert await listed(b) == []
    both = short_dir / "nodes.pem"
    both.write_text("".join((short_dir / name / "cert.pem").read_text() for name in "ab"))
    await b.stop()
    b.env["BASCULE_NODE_CA"] = str(both)
    await b.start()
    async with asyncio.timeout(PATIENCE):
        while await listed(b) != [made["code"]]:  # noqa: ASYNC110 - it is asked of the other node each time
            await asyncio.sleep(0.02)


@pytest.mark.row("X11")
async def test_a_machine_at_one_node_is_driven_through_another_by_https(
    nodes: list[Hub], short_dir: Path
) -> None:
    a, b = nodes
    both = short_dir / "nodes.pem"
    both.write_text("".join((short_dir / name / "cert.pem").read_text() for name in "ab"))
    for node in nodes:
        await node.stop()
        node.env["BASCULE_NODE_CA"] = str(both)
        await node.start()
    folder = short_dir / "l"
    folder.mkdir(mode=0o700)
    laptop = Machine(folder, "d-laptop", env={"SHELL": "/bin/sh", "SSL_CERT_FILE": str(both)})
    await laptop.join(a)
    async with laptop:
        for node in nodes:
            await node.until_device("d-laptop", online=True)
        listed = await b.http.get("/api/directories", params={"path": str(laptop.work), "device": "d-laptop"})
        assert listed.json()["path"] == str(laptop.work)
        session = await start(b, laptop, "count 3")
        await ended(b, session, 1)
        await b.send(session, "count 2")
        await ended(b, session, 2)
        for node in nodes:
            await equal_logs(node, laptop, session)


async def ended(node: Hub, session: str, turns: int) -> int:
    """Wait until so many turns of a session have ended, as this node has it; the number of its last row."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await node.http.get(f"/api/sessions/{session}/events", params={"limit": 1})
            rows = await node.log(session) if found.status_code == 200 else []
            if sum(isinstance(row.event, TurnEnded) for row in rows) >= turns:
                return rows[-1].seq
            await asyncio.sleep(0.02)
