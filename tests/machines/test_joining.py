"""`bascule daemon join`: a code on both sides, the owner's answer, and one of three words at the end."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.cli.program import OnTerminal
from tests.live import LiveServer
from tests.machines.machines import Hub, Machine
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

    async def join(self, hub: Hub, *words: str, allow: bool) -> tuple[int, str]:
        process = await self.begin("join", hub.url, *words)
        assert process.stdout is not None
        line = (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).decode()
        assert line == f"Code: {await self.answered(hub, allow=allow)}\n"
        said, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
        return process.returncode or 0, said.decode()

    async def answered(self, hub: Hub, *, allow: bool) -> str:
        """The code of the machine that waits at the hub, once its owner has answered."""
        waiting = (await hub.http.get("/api/pairings")).json()["pairings"]
        (asked,) = [one for one in waiting if one["name"] == "attic"]
        answer = await hub.post(f"/api/pairings/{asked['id']}/answer", code=asked["code"], allow=allow)
        assert answer.status_code == 200, answer.text
        return asked["code"]

    def on_terminal(self, *words: str) -> OnTerminal:
        more = {"HOME": str(self.server.home), "BASCULE_CONFIG_DIR": str(self.server.config)}
        return OnTerminal(self.server.data, "daemon", *words, BASCULE_LAUNCH_ENABLED="false", **more)

    def config(self, more: str) -> None:
        file = self.server.config / "config.toml"
        file.write_text(f"{file.read_text()}{more}")


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
    # Stopped and started again it is the same device, without a new code.
    for word, online in (("stop", False), ("start", True)):
        code, said = await attic.run(word)
        assert code == 0, said
        await hub.until_device(device["device"], online=online)
    assert list(await hub.devices()) == [device["device"]]
    code, said = await attic.run("leave")
    assert code == 0, said
    await hub.until_device(device["device"], online=False)
    assert "Not joined to a hub." in (await attic.run("status"))[1]


@pytest.mark.row("R1")
async def test_a_machine_that_is_not_let_in_is_told_who_said_no(hub: Hub, attic: Joiner) -> None:
    code, said = await attic.join(hub, allow=False)
    assert (code, "owner did not let this machine in." in said) == (4, True), said
    assert "Not running." in (await attic.run("status"))[1]


@pytest.mark.row("R1", "S38")
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


@pytest.mark.row("S38")
async def test_an_address_where_nothing_listens_or_that_is_not_safe_is_named(attic: Joiner) -> None:
    code, said = await attic.run("join", "http://127.0.0.1:9")
    assert (code, "No hub answers at http://127.0.0.1:9" in said) == (3, True), said
    code, said = await attic.run("join", "http://hub.example")
    assert (code, "not encrypted" in said) == (2, True), said


@pytest.mark.row("R17")
async def test_joining_asks_at_the_machine_whether_the_hub_may_widen_and_no_is_the_default(
    hub: Hub, attic: Joiner
) -> None:
    async with attic.on_terminal("join", hub.url) as typing:
        await typing.sees(f"May {hub.url} let agents on this machine do more without asking?")
        await typing.sees("(default)]")
        typing.type("perhaps")
        await typing.sees("is neither yes nor no.")
        await typing.sees("(default)]")
        typing.type("")
        await typing.sees("let attic in if it shows the same code")
        assert f"Code: {await attic.answered(hub, allow=True)}" in typing.text
        await typing.sees(f"{hub.url} may not let agents here do more without asking")
        await typing.sees("Connected to")
        assert await typing.code() == 0
    (device,) = (await hub.devices()).values()
    assert device["ownerOnly"] is True
    # Who has answered once is not asked again.
    code, said = await attic.join(hub, allow=True)
    assert (code, "may not let agents" in said) == (0, True), said


async def audited_modes(hub: Hub, device: str) -> list[str]:
    """What the hub's copy of the machine's audit log says of modes, once it says something."""
    async with asyncio.timeout(PATIENCE):
        while True:
            page = (await hub.http.get("/api/audit", params={"device": device, "after": 0})).json()
            records = [one["entry"]["record"] for one in page["records"]]
            found = [one["detail"] for one in records if one["action"] == "mode"]
            if found:
                return found


@pytest.mark.row("R17")
async def test_the_answer_is_kept_shown_by_status_changed_on_the_machine_and_told_to_the_hub_at_once(
    hub: Hub, attic: Joiner
) -> None:
    code, said = await attic.join(hub, "--hub-may-widen", allow=True)
    assert code == 0, said
    (device,) = (await hub.devices()).values()
    assert device["ownerOnly"] is False
    code, said = await attic.run("status")
    assert f"{hub.url} may let agents here do more without asking" in said
    assert "bascule daemon hub-may-widen no" in said
    code, said = await attic.run("hub-may-widen", "no")
    assert (code, "may not let agents" in said) == (0, True), said
    await hub.until_device(device["device"], ownerOnly=True)
    await attic.run("stop")
    assert "may not let agents" in (await attic.run("status"))[1]  # also while it does not run
    assert (await attic.run("hub-may-widen", "yes"))[0] == 0
    await attic.run("start")
    await hub.until_device(device["device"], online=True, ownerOnly=False)
    said = f"the hub {hub.url} may not let agents here do more without asking"
    assert await audited_modes(hub, device["device"]) == [said]


@pytest.mark.row("R17")
async def test_what_the_config_file_says_decides_and_is_not_overruled(hub: Hub, attic: Joiner) -> None:
    attic.config("[starts]\nhub_may_widen = false\n")
    code, said = await attic.join(hub, "--hub-may-widen", allow=True)
    assert (code, "do more without asking (config.toml says so)" in said) == (0, True), said
    assert "may not let" in said
    (device,) = (await hub.devices()).values()
    assert device["ownerOnly"] is True
    code, said = await attic.run("hub-may-widen", "yes")
    assert (code, "`hub_may_widen = false` under [starts], and that decides" in said) == (4, True), said
    await attic.run("stop")
    code, said = await attic.run("hub-may-widen", "yes")
    assert (code, "and that decides" in said) == (2, True), said
    await attic.run("leave")
    code, said = await attic.run("hub-may-widen", "yes")
    assert (code, "joined no hub" in said) == (4, True), said


@pytest.mark.row("R17", "S39")
async def test_no_browser_elsewhere_lets_a_hub_widen(hub: Hub, short_dir: Path) -> None:
    folder = short_dir / "m"
    folder.mkdir(mode=0o700)
    machine = Machine(folder, "d-m", config='trusted_proxies = ["127.0.0.1"]\n')
    await machine.join(hub)
    async with machine:
        await hub.until_device("d-m", online=True, ownerOnly=True)
        far = {"x-forwarded-for": "203.0.113.9"}
        say = {"mayWiden": True}
        answer = await machine.http.post("/api/uplink/widening", json=say, headers=far)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "OWNER_NEEDED")
        joined = {"url": hub.url, "token": "t" * 43, **say}
        answer = await machine.http.post("/api/uplink", json=joined, headers=far)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "OWNER_NEEDED")
        answer = await machine.http.post("/api/uplink/widening", json={"mayWiden": False}, headers=far)
        assert answer.status_code == 200, answer.text
        answer = await machine.http.post("/api/uplink/widening", json=say)
        assert (answer.status_code, answer.json()["mayWiden"]) == (200, True), answer.text
        await hub.until_device("d-m", ownerOnly=False)
