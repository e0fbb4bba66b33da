"""One machine, several hubs: each is answered on its own line, and all hear the news."""

import asyncio
from pathlib import Path

import pytest
from tests.daemon.running_daemon import ANA, running_daemon
from tests.parts import Part
from tests.waiting import PATIENCE

from bascule.link.frames import (
    AgentsChanged,
    AnyFrame,
    Ask,
    DaemonConnected,
    DeviceStateChanged,
    Ping,
    Pong,
    Reply,
    Resume,
    Welcome,
)
from bascule.link.machine import CheckDirectory, EndAll, PauseDevice
from bascule.model.commands import RenameSession
from bascule.model.events import TitleChanged

pytestmark = pytest.mark.anyio

WELCOME = Welcome(protocol=1, hub="h", name="hub", store="s", epoch=1, clock=0.0, window=1)


class Heard(list[AnyFrame]):
    """What a hub hears."""

    def of(self, kind: type) -> list[AnyFrame]:
        return [one for one in self if isinstance(one, kind)]

    async def until(self, kind: type, times: int = 1) -> AnyFrame:
        async with asyncio.timeout(PATIENCE):
            while len(self.of(kind)) < times:  # noqa: ASYNC110 - a list tells nobody
                await asyncio.sleep(0.005)
        return self.of(kind)[times - 1]


@pytest.mark.row("R20", "R16")
async def test_each_hub_is_answered_on_its_own_line_and_all_hear_the_news(
    short_dir: Path, part: Part
) -> None:
    async with running_daemon(short_dir) as made:
        one, two = Heard(), Heard()
        first, second = made.host.attach(one.append), made.host.attach(two.append)
        with part("each hub is greeted"):
            hellos = [heard.of(DaemonConnected)[0] for heard in (one, two)]
            assert all(isinstance(hello, DaemonConnected) for hello in hellos)
            assert hellos[0].boot == hellos[1].boot != ""  # type: ignore[union-attr]
            assert hellos[0].attempt < hellos[1].attempt  # type: ignore[union-attr]
            assert hellos[0].store == made.store.link_name  # type: ignore[union-attr]
        first.receive(WELCOME)
        await one.until(AgentsChanged)
        assert two.of(AgentsChanged) == []

        first.receive(Ask(1, CheckDirectory(path=str(made.work)), ANA))
        second.receive(Ask(1, CheckDirectory(path="/no/such"), ANA))
        with part("each is answered on its own line"):
            assert (await one.until(Reply)).refusal is None  # type: ignore[union-attr]
            assert (await two.until(Reply)).refusal is not None  # type: ignore[union-attr]

        second.receive(Ask(2, PauseDevice(paused=True), ANA))
        for heard in (one, two):
            states = [await heard.until(DeviceStateChanged, len(heard.of(DeviceStateChanged)) or 1)]
            assert states
        await two.until(Reply, 2)
        with part("both hear that the machine is paused"):
            assert one.of(DeviceStateChanged)[-1].state.paused  # type: ignore[union-attr]
            assert two.of(DeviceStateChanged)[-1].state.paused  # type: ignore[union-attr]
            assert len(one.of(Reply)) == 1

        with part("a ping is answered where it came from"):
            second.receive(Ping(4, 7.0))
            pong = await two.until(Pong)
            assert (pong.n, pong.pinged) == (4, 7.0)  # type: ignore[union-attr]
        with part("frames that nobody knows are counted"):
            first.receive(Resume({}))
            first.receive(Resume({}))
            assert first.unknown == {"Resume": 2}

        second.closed()
        heard_before = len(two)
        first.receive(Ask(2, EndAll(), ANA))
        await one.until(Reply, 2)
        assert len(two) == heard_before
        with part("the audit log says what was done, and by whom"):
            audit = b"".join(await made.store.audit_lines())
            assert b"everything on here" in audit
            assert audit.count(ANA.grant_id.encode()) >= 2
            assert audit.count(ANA.address.encode()) >= 2


async def test_starts_and_ends_of_agents_change_the_number_that_run(short_dir: Path) -> None:
    async with running_daemon(short_dir) as made:
        hub = Heard()
        line = made.host.attach(hub.append)
        line.receive(WELCOME)
        await made.start()
        async with asyncio.timeout(PATIENCE):
            while not any(one.state.running == 1 for one in hub.of(DeviceStateChanged)):  # type: ignore[union-attr]  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        await made.ask(EndAll())
        async with asyncio.timeout(PATIENCE):
            while hub.of(DeviceStateChanged)[-1].state.running:  # type: ignore[union-attr]  # noqa: ASYNC110
                await asyncio.sleep(0.005)


async def test_a_hub_elsewhere_hears_how_far_the_log_reaches_after_its_command(short_dir: Path) -> None:
    async with running_daemon(short_dir) as made:
        await made.start()
        there, here = Heard(), Heard()
        far, near = made.host.attach(there.append, far=True), made.host.attach(here.append)
        far.receive(WELCOME)
        far.receive(Ask(1, RenameSession(session_id="s1", title="Mended"), ANA))
        far.receive(Ask(2, CheckDirectory(path=str(made.work)), ANA))
        await there.until(Reply, 2)
        said = {one.ask: one.seq for one in there if isinstance(one, Reply)}
        (renamed,) = [one.seq for one in await made.log() if isinstance(one.event, TitleChanged)]
        assert (said[1] >= renamed, said[2]) == (True, 0)
        near.receive(Ask(1, RenameSession(session_id="s1", title="Mended again"), ANA))
        assert (await here.until(Reply)).seq == 0  # type: ignore[union-attr]
