"""A hub that has lost everything, and a machine that has lost its database: real processes."""

import asyncio
import shutil
import sys
from pathlib import Path

import pytest
from tests.machines.machines import Hub, Machine, equal_logs, rows_of
from tests.machines.relay import Relay
from tests.machines.test_joined_machine import start
from tests.machines.test_machine_identity import uplink_says
from tests.waiting import PATIENCE

from bascule.commands import exits
from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio


async def daemon_status(machine: Machine) -> tuple[int, str]:
    """What `bascule daemon status` says there, and the code it ends with."""
    words = (sys.executable, "-m", "bascule", "daemon", "status", "--data", str(machine.data))
    process = await asyncio.create_subprocess_exec(
        *words,
        env={"PATH": "/usr/bin:/bin", "HOME": str(machine.home), "BASCULE_CONFIG_DIR": str(machine.config)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    return process.returncode or 0, said.decode()


@pytest.mark.row("R2", "REL-11")
async def test_a_machine_whose_hub_was_wiped_says_so_and_gives_it_everything_once_it_has_joined_again(
    hub_behind_line: Hub, line: Relay, short_dir: Path
) -> None:
    hub = hub_behind_line
    folder = short_dir / "l"
    folder.mkdir(mode=0o700)
    laptop = Machine(folder, "d-laptop")
    await laptop.join(hub, line.url)
    async with laptop:
        await hub.until_device("d-laptop", online=True)
        session = await start(hub, laptop, "count 3")
        first = await hub.wait_for(session, TurnEnded)
        await equal_logs(hub, laptop, session)
        await hub.stop()
        shutil.rmtree(hub.data)
        hub.token = ""  # the new one is in the link that it prints
        line.arrived.clear()
        await hub.start()
        await uplink_says(laptop, "The hub does not know this machine any more.")
        tried = len(line.arrived)
        code, said = await daemon_status(laptop)
        assert code == exits.REFUSED, said
        assert f"Join again: bascule daemon join {line.url}" in said
        # The agents work on, and the machine is not refused in a loop meanwhile.
        await laptop.send(session, "count 2")
        await laptop.wait_for(session, TurnEnded, first.seq)
        assert len(line.arrived) == tried
        assert await hub.sessions() == []
        await laptop.join(hub, line.url)
        await hub.until_device("d-laptop", online=True)
        await hub.until_here(session)
        await equal_logs(hub, laptop, session)
        (listed,) = await hub.sessions()
        assert (listed["id"], listed["device"]) == (session, "d-laptop")


@pytest.mark.row("R2", "REL-11")
async def test_sessions_of_a_machine_that_has_lost_its_database_stay_readable_and_take_no_commands(
    hub: Hub, laptop: Machine
) -> None:
    session = await start(hub, laptop, "count 3")
    await hub.wait_for(session, TurnEnded)
    rows = await equal_logs(hub, laptop, session)
    await laptop.stop()
    await laptop.end_keeper()
    for one in laptop.data.glob("bascule.db*"):
        one.unlink()
    laptop.token = ""  # its grants were in it
    await laptop.start()
    await hub.until_device("d-laptop", online=True)
    assert await laptop.sessions() == []
    sent = await hub.post(f"/api/sessions/{session}/send", text="more")
    assert sent.status_code == 410, sent.text
    assert sent.json()["error"]["code"] == "SESSION_GONE"
    assert "is no longer on" in sent.json()["error"]["message"]
    assert (await rows_of(hub, session))[: len(rows)] == rows
    following = await start(hub, laptop, "count 2")
    await hub.wait_for(following, TurnEnded)
    await equal_logs(hub, laptop, following)
    assert {one["id"] for one in await hub.sessions()} == {session, following}
    assert [one["id"] for one in await laptop.sessions()] == [following]
