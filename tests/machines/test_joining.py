"""`bascule daemon join`: a code on both sides, the owner's answer, and one of three words at the end."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.live import LiveServer
from tests.machines.machines import Hub
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio


class Joiner:
    """A machine on which somebody types `bascule daemon …`."""

    def __init__(self, folder: Path) -> None:
        self.server = LiveServer(folder)
        self.server.hub = None  # it joins by itself, also where tests run split
        (self.server.config / "config.toml").write_text(
            f'roots = ["{folder}"]\nport = 0\ndevice_name = "attic"\n'
        )

    async def begin(self, *words: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "bascule", "daemon", words[0], "--data", str(self.server.data), *words[1:]),
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.server.home),
                "BASCULE_CONFIG_DIR": str(self.server.config),
                "BASCULE_LAUNCH_ENABLED": "false",
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )

    async def run(self, *words: str) -> tuple[int, str]:
        process = await self.begin(*words)
        said, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
        return process.returncode or 0, said.decode()

    async def join(self, hub: Hub, *, allow: bool) -> tuple[int, str]:
        process = await self.begin("join", hub.url)
        assert process.stdout is not None
        line = (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).decode()
        waiting = (await hub.http.get("/api/pairings")).json()["pairings"]
        (asked,) = [one for one in waiting if one["name"] == "attic"]
        assert line == f"Code: {asked['code']}\n"
        answer = await hub.post(f"/api/pairings/{asked['id']}/answer", code=asked["code"], allow=allow)
        assert answer.status_code == 200, answer.text
        said, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
        return process.returncode or 0, said.decode()


@pytest.fixture
async def attic(short_dir: Path) -> AsyncIterator[Joiner]:
    folder = short_dir / "a"
    folder.mkdir(mode=0o700)
    joiner = Joiner(folder)
    yield joiner
    await joiner.run("stop")
    await joiner.server.end_keeper()


@pytest.mark.row("R1")
async def test_a_machine_joins_by_its_code_is_seen_and_leaves(hub: Hub, attic: Joiner) -> None:
    code, said = await attic.join(hub, allow=True)
    assert (code, "Connected to" in said) == (0, True), said
    (device,) = (await hub.devices()).values()
    assert (device["name"], device["online"]) == ("attic", True)
    code, said = await attic.run("status")
    assert (code, f"({hub.url})" in said) == (0, True), said
    code, said = await attic.run("leave")
    assert code == 0, said
    await hub.until_device(device["device"], online=False)
    assert "Not joined to a hub." in (await attic.run("status"))[1]


@pytest.mark.row("R1")
async def test_a_machine_that_is_not_let_in_is_told_who_said_no(hub: Hub, attic: Joiner) -> None:
    code, said = await attic.join(hub, allow=False)
    assert (code, "owner did not let this machine in." in said) == (4, True), said
    assert "Not running." in (await attic.run("status"))[1]


@pytest.mark.row("R1")
async def test_a_revoked_machine_says_so_and_how_to_join_again(hub: Hub, attic: Joiner) -> None:
    await attic.join(hub, allow=True)
    grants = (await hub.http.get("/api/grants")).json()["grants"]
    (grant,) = [one for one in grants if one["role"] == "daemon"]
    await hub.http.delete(f"/api/grants/{grant['id']}")
    await hub.until_device(grant["device"], online=False)
    async with asyncio.timeout(PATIENCE):
        while "Refused by" not in (said := (await attic.run("status"))[1]):
            pass  # each look is a program that runs for a while
    assert f"bascule daemon join {hub.url}" in said


async def test_an_address_where_nothing_listens_or_that_is_not_safe_is_named(attic: Joiner) -> None:
    code, said = await attic.run("join", "http://127.0.0.1:9")
    assert (code, "No hub answers at http://127.0.0.1:9" in said) == (3, True), said
    code, said = await attic.run("join", "http://hub.example")
    assert (code, "not encrypted" in said) == (2, True), said
