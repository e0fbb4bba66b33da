"""An agent's trust question in a real terminal: answered in a trusted project, left alone in any other."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.live import SPLIT, LiveServer
from tests.terminal.viewing import terminal, viewing
from tests.waiting import PATIENCE

from bascule.daemon.device import Device
from bascule.model.events import Note, SessionEnded

pytestmark = pytest.mark.anyio

# Draws the question as Claude Code does, the mark on "No, exit"; arrows move it, Enter decides.
AGENT = """
import os, sys, tty
tty.setraw(0)
choice = 0
def draw():
    out = "\\x1b[H\\x1b[2J Quick safety check: Is this a project you created or one you trust?\\r\\n"
    for n, words in enumerate(["No, exit", "Yes, I trust this folder"]):
        out += (" \\u276f " if n == choice else "   ") + words + "\\r\\n"
    os.write(1, out.encode())
draw()
while True:
    keys = os.read(0, 100)
    if keys == b"\\x1b[B": choice = 1
    elif keys == b"\\x1b[A": choice = 0
    elif keys == b"\\r":
        os.write(1, b"\\r\\nWELCOME\\r\\n" if choice else b"\\r\\nBYE\\r\\n")
        if not choice: sys.exit(1)
        os.read(0, 100)
        sys.exit(0)
    draw()
"""


@pytest.fixture
async def server(short_dir: Path) -> AsyncIterator[LiveServer]:
    script = short_dir / "asks.py"
    script.write_text(AGENT)
    agents = short_dir / "config" / "agents"
    agents.mkdir(parents=True)
    (short_dir / "config").chmod(0o700)
    (agents / "asks.toml").write_text(
        f'name = "asks"\ntitle = "Asks"\nsearch = ["{sys.executable}"]\n[version]\nargs = ["--version"]\n'
        '[trust]\ntext = "Is this a project you created or one you trust?"\n'
        f'accept = "Yes, I trust this folder"\n[[drivers]]\nname = "terminal"\nargs = ["{script}"]\n'
    )
    (agents / "asks.toml").chmod(0o600)
    async with LiveServer(short_dir) as live:
        yield live


async def trust(server: LiveServer, path: str, *, trusted: bool = True) -> httpx.Response:
    return await server.http.post("/api/projects/trusted", json={"path": path, "trusted": trusted})


async def notes(server: LiveServer, session: str) -> list[str]:
    return [row.event.code for row in await server.log(session) if isinstance(row.event, Note)]


@pytest.mark.row("P4")
async def test_in_a_trusted_project_yes_is_chosen_once_and_noted(server: LiveServer):
    answer = await trust(server, str(server.work))
    assert answer.status_code == 200, answer.text
    await server.stop()
    await server.start()  # the list outlives the server
    assert (await server.http.get("/api/projects/trusted")).json() == {"folders": [str(server.work)]}
    session = await terminal(server, "asks")
    async with viewing(server, session) as viewer:
        await viewer.shows(b"WELCOME")
        await viewer.type("\r")
        await viewer.over()
    assert await notes(server, session) == ["trust_answered"]


@pytest.mark.row("P4")
async def test_in_any_other_project_it_is_left_to_a_person(server: LiveServer):
    inner = server.work / "inner"
    inner.mkdir()
    assert (await trust(server, str(server.work))).status_code == 200
    session = await terminal(server, "asks", cwd=str(inner))
    async with viewing(server, session) as viewer:
        await server.wait_for(session, lambda one: isinstance(one, Note) and one.code == "trust_asked")
        assert b"WELCOME" not in viewer.data
        assert b"BYE" not in viewer.data
        await viewer.type("\r")
        await viewer.shows(b"BYE")
    ended = await server.wait_for(session, SessionEnded)
    assert isinstance(ended.event, SessionEnded)
    assert ended.event.code == 1


async def test_trust_can_be_taken_back_and_never_covers_everything(server: LiveServer):
    assert (await trust(server, str(server.work))).status_code == 200
    taken = await trust(server, str(server.work), trusted=False)
    assert taken.status_code == 200
    assert (await server.http.get("/api/projects/trusted")).json() == {"folders": []}
    assert (await trust(server, "/")).status_code == 400
    async with asyncio.timeout(PATIENCE):  # a hub has its copy a moment later
        while "no longer trusts" not in await machine_audit(server):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def machine_audit(server: LiveServer) -> str:
    """What happened on the machine is in its own audit log; in split mode the hub has a copy of that."""
    device = {"device": Device.of(server.data, "machine").id} if SPLIT else {}
    return (await server.http.get("/api/audit", params=device)).text
