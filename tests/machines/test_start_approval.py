"""Starts from a hub on a machine that asks first, in real processes and over a real line."""

import asyncio
import sys
from pathlib import Path

import pytest
from tests.live import LIMITS
from tests.machines.machines import Hub, Machine
from tests.waiting import PATIENCE

from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio


async def bascule(machine: Machine, *words: str) -> tuple[int, str]:
    """The command line of that machine."""
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bascule", *words, "--data", str(machine.data)),
        env=machine._environment(),  # pyright: ignore[reportPrivateUsage]
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(program.communicate(), PATIENCE)
    return program.returncode or 0, said.decode()


async def message_in(path: Path) -> str:
    async with asyncio.timeout(PATIENCE):
        while not path.exists() or "#approve=" not in path.read_text():  # noqa: ASYNC110 - a program writes it
            await asyncio.sleep(0.02)
    return path.read_text()


async def at_hub(hub: Hub, session: str) -> None:
    """Wait for the first row of a session that its machine began without the hub."""
    async with asyncio.timeout(PATIENCE):
        while (await hub.http.get(f"/api/sessions/{session}")).status_code != 200:  # noqa: ASYNC110 - no event yet
            await asyncio.sleep(0.02)


@pytest.mark.row("R17", "R16")
async def test_a_start_by_a_hub_waits_for_a_link_or_the_command_line_of_its_machine(
    hub: Hub, short_dir: Path
) -> None:
    folder, mail = short_dir / "l", short_dir / "mail"
    folder.mkdir(mode=0o700)
    config = f'{LIMITS}\n[starts]\napproval = "oob_confirm"\ncommand = ["tee", "{mail}"]\n'
    async with Machine(folder, "d-laptop", config=config) as laptop:
        await laptop.join(hub)
        await hub.until_device("d-laptop", online=True)
        body = {"agent": "demo", "cwd": str(laptop.work), "prompt": "count 2", "device": "d-laptop"}
        asked = (await hub.http.post("/api/sessions", json=body)).json()
        start = asked["waiting"]
        assert (await hub.http.get(f"/api/sessions/{asked['id']}")).status_code == 404
        token = (await message_in(mail)).partition("#approve=")[2].split()[0]
        # Neither the hub nor a look at the link begins it; the button, at the machine's own server, does.
        refused = await hub.post("/api/starts/link/answer", token=token, decision="approve")
        assert refused.status_code == 400
        assert (await laptop.http.get(f"/?approve={token}")).status_code == 200
        shown = await laptop.post("/api/starts/link", token=token)
        assert shown.json()["start"]["id"] == start["id"]
        assert (await hub.http.get(f"/api/sessions/{asked['id']}")).status_code == 404
        assert (
            await laptop.post("/api/starts/link/answer", token=token, decision="approve")
        ).status_code == 200
        await at_hub(hub, asked["id"])
        await hub.wait_for(asked["id"], TurnEnded)
        assert (await laptop.post("/api/starts/link", token=token)).status_code == 410
        # What would let agents there do more without asking is set there, and not by the hub.
        rule = {"answer": "allow", "toolClass": "command", "argv": ["ls"]}
        modes = f"/api/sessions/{asked['id']}/permission-mode"
        for refused in (
            await hub.post("/api/rules", rule=rule, device="d-laptop"),
            await hub.post(modes, mode="auto"),
            await hub.http.post("/api/projects/trusted", json={"path": body["cwd"], "device": "d-laptop"}),
        ):
            assert refused.status_code == 403, refused.text
            assert refused.json()["error"]["code"] == "OWNER_NEEDED"
        assert (await laptop.post("/api/rules", rule=rule)).status_code == 200
        # The next one by the command line.
        again = (await hub.http.post("/api/sessions", json=body)).json()
        status, listed = await bascule(laptop, "starts", "list")
        assert (status, again["waiting"]["id"] in listed) == (0, True)
        assert await bascule(laptop, "starts", "deny", again["waiting"]["id"]) == (0, "Denied.\n")
        device = await hub.until_device("d-laptop", online=True)
        assert [one["state"] for one in device["starts"]["waiting"]] == ["denied"]
        actions = [one["entry"]["record"]["action"] for one in (await laptop.audit())[0]]
        assert [one for one in actions if one.startswith("start_")] == ["start_asked", "start_decided"] * 2
