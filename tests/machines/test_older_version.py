"""Machine and hub of different versions: an older daemon is understood, and rows stay as they are."""

import asyncio
from pathlib import Path

import pytest
from tests.machines import older
from tests.machines.machines import Hub, Machine, equal_logs
from tests.machines.scale import FULL
from tests.machines.test_joined_machine import start

from bascule.link.frames import AgentsChanged, DaemonConnected, DeviceStateChanged, Reply, SessionOutput
from bascule.link.line import Line
from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio

RECORDED = Path(__file__).parent / "older_daemon.jsonl"


@pytest.mark.row("REL-34")
def test_what_an_older_daemon_sent_is_understood() -> None:
    line = Line("hub")
    frames = [frame for message in RECORDED.read_text().splitlines() for frame in line.receive(message)]
    kinds = {type(frame) for frame in frames}
    assert {DaemonConnected, DeviceStateChanged, AgentsChanged, Reply, SessionOutput} <= kinds
    (hello,) = [frame for frame in frames if isinstance(frame, DaemonConnected)]
    assert hello.features == ()  # so that no command is repeated for it
    assert not hello.state.owner_only  # it says nothing of it: as before, all is offered
    rows = [row for frame in frames if isinstance(frame, SessionOutput) for row in frame.rows]
    assert all(bytes(row) in RECORDED.read_bytes() for row in rows)


@pytest.mark.row("REL-34")
@pytest.mark.skipif(not FULL, reason="with `make machines`: starts two versions of the program")
@pytest.mark.parametrize("which", ["hub", "machine"])
async def test_versions_a_hundred_commits_apart_work_together(short_dir: Path, which: str) -> None:
    if (reason := older.reason_to_skip()) is not None:
        pytest.skip(reason)
    env = await asyncio.to_thread(older.unpacked, short_dir / "older")
    for name in "hl":
        (short_dir / name).mkdir(mode=0o700)
    async with Hub(short_dir / "h", env=env if which == "hub" else {}) as hub:
        laptop = Machine(short_dir / "l", "d-laptop", env=env if which == "machine" else {})
        await laptop.join(hub)
        async with laptop:
            await hub.until_device("d-laptop", online=True)
            session = await start(hub, laptop, "count 3")
            ended = await hub.wait_for(session, TurnEnded)
            await laptop.sessions()  # a link that was used is good after a restart, too
            await laptop.kill()
            await laptop.start()
            await hub.until_device("d-laptop", online=True)
            await hub.send(session, "count 2")
            await hub.wait_for(session, TurnEnded, ended.seq)
            await equal_logs(hub, laptop, session)
