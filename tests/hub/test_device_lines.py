"""Connections of devices: which one counts, what the hub keeps of a device, and when it is called away."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from tests.hub.boards import switchboard
from tests.hub.steady import Steady

from bascule.hub.devices import switchboard as switchboard_module
from bascule.hub.devices.device_line import DeviceLine
from bascule.hub.devices.line_watch import LOOK_SECONDS, LineWatch
from bascule.hub.devices.switchboard import Switchboard
from bascule.link.frames import (
    Ack,
    AgentsChanged,
    AnyFrame,
    Ask,
    Cancel,
    DaemonConnected,
    DeviceState,
    DeviceStateChanged,
    LineRefused,
    Ping,
    Pong,
    Reply,
    Versions,
    Welcome,
)
from bascule.link.machine import AgentInfo, EndAll, ListAgents, PauseDevice
from bascule.link.unlogged import TakeUpProcess
from bascule.model.codec import encode
from bascule.model.commands import Actor, ArchiveSession
from bascule.model.errors import DeviceOffline
from bascule.store.devices import DeviceBook

pytestmark = pytest.mark.anyio

ANA = Actor("ana", "grant-1", "192.0.2.7", "a browser")
CODEX = AgentInfo("codex", "Codex", True)


class Machine:
    """One end of a connection that can break: what was sent down it, and why it was closed."""

    def __init__(self, board: Switchboard, *, answers: bool = True) -> None:
        self.sent: list[AnyFrame] = []
        self.ends: list[str] = []
        self.answers = answers
        self.line: DeviceLine = board.attach(self._receive, close=self.ends.append)

    def _receive(self, frame: AnyFrame) -> None:
        self.sent.append(frame)
        if isinstance(frame, Ping) and self.answers:
            asyncio.get_running_loop().call_soon(self.line.receive, Pong(frame.n, frame.clock, frame.clock))

    def hello(self, device: str = "d", **more: Any) -> None:
        self.line.receive(DaemonConnected(device, more.pop("name", "laptop"), "1", **more))

    def of(self, kind: type) -> list[Any]:
        return [frame for frame in self.sent if isinstance(frame, kind)]


@pytest.fixture
def steady() -> Steady:
    return Steady()


@pytest.fixture
async def board(tmp_path: Path, steady: Steady) -> AsyncIterator[Switchboard]:
    async with switchboard(tmp_path, steady=steady) as made:
        yield made


async def tasks_done(board: Switchboard) -> None:
    waiting = [task for task in board._tasks if task.get_name().startswith("probe")]
    await asyncio.gather(*waiting)


@pytest.mark.row("REL-25")
async def test_a_device_whose_clock_was_set_back_is_online_after_it_connects_again(
    board: Switchboard,
) -> None:
    first, again = Machine(board), Machine(board)
    first.hello(boot="b", attempt=1, clock=2_000_000_000.0)
    first.line.closed()
    again.hello(boot="b", attempt=2, clock=1_000_000_000.0)
    (status,) = board.devices()
    assert (status.online, status.state, status.epoch) == (True, "online", 2)
    assert [frame.epoch for frame in again.of(Welcome)] == [2]
    assert status.skew_ms < -10_000_000


async def test_an_older_connection_is_closed_as_superseded_and_its_end_changes_nothing(
    board: Switchboard,
) -> None:
    old, new = Machine(board), Machine(board)
    old.hello(boot="b", attempt=1)
    new.hello(boot="b", attempt=2)
    assert old.ends == ["superseded"]
    old.line.receive(AgentsChanged((CODEX,)))
    old.line.closed()
    assert [(one.online, one.epoch, one.agents) for one in board.devices()] == [(True, 2, ())]


async def test_a_late_hello_of_the_same_process_is_refused(board: Switchboard) -> None:
    late, new = Machine(board), Machine(board)
    new.hello(boot="b", attempt=2)
    late.hello(boot="b", attempt=1)
    assert [frame.code for frame in late.of(LineRefused)] == ["SUPERSEDED"]
    assert (late.ends, new.ends) == (["SUPERSEDED"], [])


@pytest.mark.row("S38")
async def test_a_second_machine_with_the_same_identity_is_refused_while_the_first_answers(
    board: Switchboard,
) -> None:
    first, second = Machine(board), Machine(board)
    first.hello(boot="b", attempt=1)
    second.hello(boot="c", attempt=1, name="a copy of laptop")
    await tasks_done(board)
    (refused,) = second.of(LineRefused)
    assert (refused.code, second.ends) == ("IDENTITY_IN_USE", ["IDENTITY_IN_USE"])
    assert "pairing it again" in refused.message
    assert [(one.name, one.epoch) for one in board.devices()] == [("laptop", 1)]


@pytest.mark.row("S38")
async def test_a_second_process_takes_over_when_the_first_does_not_answer(
    board: Switchboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switchboard_module, "PROBE_SECONDS", 0.01)
    first, second = Machine(board, answers=False), Machine(board)
    first.hello(boot="b", attempt=1)
    second.hello(boot="c", attempt=1, name="laptop again")
    assert [one.name for one in board.devices()] == ["laptop"]
    await tasks_done(board)
    assert first.ends == ["superseded"]
    assert [(one.name, one.epoch) for one in board.devices()] == [("laptop again", 2)]


async def test_a_connection_can_not_become_that_of_another_device(board: Switchboard) -> None:
    machine = Machine(board)
    machine.hello("d")
    machine.hello("e")
    assert machine.ends == ["INVALID_MESSAGE"]
    assert [(one.device, one.online) for one in board.devices()] == [("d", False)]


@pytest.mark.row("R11")
async def test_a_hub_that_was_restarted_still_lists_machines_that_are_away(tmp_path: Path) -> None:
    state = DeviceState(paused=True, roots=("/home/ana",), running=2)
    async with switchboard(tmp_path) as board:
        Machine(board).hello("d", boot="b", attempt=7, agents=(CODEX,), state=state)
        await board.rename("d", "the tower", ANA)
    async with switchboard(tmp_path) as board:
        (status,) = board.devices()
        assert (status.name, status.state, status.online) == ("the tower", "away", False)
        assert (status.agents, status.roots, status.running) == ((CODEX,), ("/home/ana",), 2)
        assert status.paused
        assert status.last_heard is not None
        with pytest.raises(DeviceOffline, match=r"the tower is not connected, last heard at 20\d\d-"):
            await board.ask("d", ListAgents(), ANA)
        Machine(board).hello("d", boot="c", attempt=1)
        assert [(one.name, one.epoch, one.online) for one in board.devices()] == [("the tower", 2, True)]


async def test_a_forgotten_device_is_off_the_list_until_it_connects_again(tmp_path: Path) -> None:
    async with switchboard(tmp_path) as board:
        machine = Machine(board)
        machine.hello("d")
        machine.line.closed()
        await board.forget("d", ANA)
        assert board.devices() == []
    async with switchboard(tmp_path) as board:
        assert board.devices() == []
        Machine(board).hello("d")
        assert [(one.device, one.epoch) for one in board.devices()] == [("d", 2)]


@pytest.mark.row("R3", "R11")
async def test_a_silent_connection_is_pinged_then_stale_then_closed(
    board: Switchboard, steady: Steady
) -> None:
    machine = Machine(board, answers=False)
    machine.hello()
    seen: list[tuple[float, str, int]] = []
    for _ in range(13):
        steady.now += LOOK_SECONDS
        board.look()
        (status,) = board.devices()
        seen.append((steady.now - 1000, status.state, len(machine.of(Ping))))
    assert [state for at, state, _ in seen if at < 15] == ["online"] * 5
    assert [state for at, state, _ in seen if 15 <= at < 30] == ["stale"] * 6
    assert seen[-1][1] == "away"
    assert next(at for at, _, pings in seen if pings) == 10
    assert machine.ends == ["silent"]


@pytest.mark.row("R3")
async def test_the_next_look_is_when_a_line_becomes_stale_or_dead(board: Switchboard, steady: Steady) -> None:
    line = Machine(board).line
    watch = LineWatch({"d": line}, steady, lambda _, __: None, lambda: None)
    pauses: list[tuple[float, float]] = []
    for silent in (0.0, 13.9, 14.99, 15.0, 29.5, 31.0):
        line.heard_at = steady.now - silent
        pauses.append((silent, round(watch.pause(), 2)))
    assert pauses == [(0.0, 2.5), (13.9, 1.1), (14.99, 0.05), (15.0, 2.5), (29.5, 0.5), (31.0, 2.5)]


async def test_a_byte_from_a_stale_connection_makes_it_online_again(
    board: Switchboard, steady: Steady
) -> None:
    machine = Machine(board, answers=False)
    machine.hello()
    for _ in range(7):
        steady.now += LOOK_SECONDS
        board.look()
    assert board.devices()[0].state == "stale"
    machine.line.alive()
    assert board.devices()[0].state == "online"


async def test_a_hub_that_was_suspended_judges_nobody_for_what_it_could_not_hear(
    board: Switchboard, steady: Steady
) -> None:
    machine = Machine(board, answers=False)
    machine.hello()
    steady.now += 3600
    board.look()
    assert (board.devices()[0].state, machine.ends) == ("online", [])


async def test_frames_that_are_not_known_are_counted_and_logged_once(
    board: Switchboard, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "bascule.hub")
    machine = Machine(board)
    machine.hello()
    for _ in range(3):
        machine.line.receive(Ack({}, 0))
        machine.line.ignore("brand_new")
    assert machine.line.unknown == {"Ack": 3, "brand_new": 3}
    assert caplog.text.count("brand_new") == 1
    assert board.devices()[0].online


async def test_a_device_of_another_protocol_is_refused_and_shown_as_needing_an_update(
    board: Switchboard,
) -> None:
    machine, newer = Machine(board), Machine(board)
    machine.hello(boot="b", attempt=1)
    machine.line.closed()
    newer.hello(boot="c", attempt=1, protocol=Versions(8, 9))
    assert [frame.code for frame in newer.of(LineRefused)] == ["UPDATE_HUB"]
    assert [(one.needs_update, one.state) for one in board.devices()] == [(True, "away")]


async def test_what_a_device_says_of_itself_is_in_its_status(board: Switchboard) -> None:
    machine = Machine(board)
    machine.hello()
    machine.line.receive(DeviceStateChanged(DeviceState(storage_problem="The disk is full.", running=1)))
    (status,) = board.devices()
    assert (status.storage_problem, status.running) == ("The disk is full.", 1)


async def test_a_caller_that_gives_up_cancels_its_question_and_says_until_when_it_waited(
    board: Switchboard,
) -> None:
    machine = Machine(board)
    machine.hello()
    with pytest.raises(DeviceOffline):
        await board.ask("d", ListAgents(), ANA, seconds=0.01)
    (ask,) = machine.of(Ask)
    assert (ask.deadline_ms, [frame.ask for frame in machine.of(Cancel)]) == (10, [ask.ask])


@pytest.mark.row("R20", "R16")
async def test_an_order_for_a_machine_that_is_away_is_the_first_it_hears_when_it_is_back(
    tmp_path: Path,
) -> None:
    async with switchboard(tmp_path) as board:
        machine = Machine(board)
        machine.hello()
        machine.line.closed()
        (outcome,) = await board.orders.give(EndAll(), ANA, ["d"])
        assert (outcome.outcome, outcome.message) == (
            "waiting",
            "laptop is away: it stops its agents when it is back.",
        )
        await board.orders.give(PauseDevice(paused=True), ANA, ["d"])
        await board.orders.give(PauseDevice(paused=False), ANA, ["d"])
    async with switchboard(tmp_path) as board:  # the hub was restarted meanwhile
        machine = Machine(board)
        machine.hello()
        assert [type(frame) for frame in machine.sent] == [Welcome, Ask, Ask]
        assert [frame.command for frame in machine.of(Ask)] == [EndAll(), PauseDevice(paused=False)]
        assert [frame.by for frame in machine.of(Ask)] == [ANA, ANA]
        for ask, result in zip(machine.of(Ask), (b'{"ended":3}', b"{}"), strict=True):
            machine.line.receive(Reply(ask.ask, Raw(result)))
        await asyncio.gather(*[task for task in board._tasks if task.get_name().endswith(" d")])
        machine.line.closed()
        again = Machine(board)
        again.hello()
        assert again.of(Ask) == []


async def test_an_answer_is_given_once_this_hub_has_the_rows_of_its_command(board: Switchboard) -> None:
    machine, has_rows = Machine(board), asyncio.Event()
    machine.hello()
    wanted: list[tuple[str, int]] = []

    async def catches_up(session_id: str, seq: int) -> None:
        wanted.append((session_id, seq))
        await has_rows.wait()

    machine.line.catches_up = catches_up
    archiving = asyncio.create_task(board.ask("d", ArchiveSession(session_id="s", archived=True), ANA))
    listing = asyncio.create_task(board.ask("d", ListAgents(), ANA))
    await asyncio.sleep(0)  # both are sent with their first step
    asked = {type(one.command): one.ask for one in machine.of(Ask)}
    machine.line.receive(Reply(asked[ArchiveSession], seq=7))
    machine.line.receive(Reply(asked[ListAgents], Raw(b'{"agents":[]}'), seq=7))
    await listing
    assert (archiving.done(), wanted) == (False, [("s", 7)])
    has_rows.set()
    await archiving


async def test_a_recovered_process_is_answered_for_once_this_hub_has_its_log(board: Switchboard) -> None:
    machine, has_rows = Machine(board), asyncio.Event()
    machine.hello()
    wanted: list[tuple[str, int]] = []

    async def copied(session_id: str, seq: int) -> None:
        wanted.append((session_id, seq))
        await has_rows.wait()

    machine.line.copied = copied
    recovering = asyncio.create_task(board.ask("d", TakeUpProcess(name="s-1"), ANA))
    listing = asyncio.create_task(board.ask("d", ListAgents(), ANA))
    await asyncio.sleep(0)  # both are sent with their first step
    asked = {type(one.command): one.ask for one in machine.of(Ask)}
    machine.line.receive(Reply(asked[TakeUpProcess], Raw(b'{"sessionIds":["s"]}')))
    machine.line.receive(Reply(asked[ListAgents], Raw(b'{"agents":[]}')))
    await listing
    assert (recovering.done(), wanted) == (False, [("s", 1)])
    has_rows.set()
    assert (await recovering).session_ids == ("s",)


@pytest.mark.row("R20", "X11")
async def test_an_order_that_another_node_kept_for_a_machine_of_this_one_is_given_to_it_once(
    board: Switchboard,
) -> None:
    machine = Machine(board)
    machine.hello()
    mine = board.orders._book
    other_node = await DeviceBook.open(mine._store)
    _, written = other_node.stand("d", "end_all", encode(EndAll()), ANA)
    await written
    for _ in range(2):
        await mine.reload(board.holds)
        board.books_changed()
    (ask,) = machine.of(Ask)
    assert (ask.command, ask.by) == (EndAll(), ANA)
    machine.line.receive(Reply(ask.ask, Raw(b'{"ended":3}')))
    await asyncio.gather(*[task for task in board._tasks if task.get_name().endswith(" d")])
    assert mine.standing("d") == []
