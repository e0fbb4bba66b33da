"""Keys and sizes from the terminal socket to a tape: no command, no task and no timer for each."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest
from tests.hub.running_hub import RunningHub, until
from tests.hub.scripted_device import append
from tests.waiting import PATIENCE
from websockets.asyncio.client import ClientConnection, connect

from bascule.daemon.terminals.arbiter import Arbiter
from bascule.daemon.terminals.size_policy import SmallestClientSize
from bascule.link.tape import Delivered, Participant, ParticipantEvents, TapeTail
from bascule.model.commands import Actor
from bascule.model.errors import LineTooLong
from bascule.model.events import SessionStarted

pytestmark = pytest.mark.anyio


class ScriptedTape:
    """Remembers what it is asked, and says that every key was delivered unless told otherwise."""

    base = end = 0
    over = False

    def __init__(self, delivered: Delivered, arbiter: Arbiter) -> None:
        self.delivered = delivered
        self.arbiter = arbiter
        self.keys: list[bytes] = []
        self.asked: list[tuple[Any, ...]] = []
        self.refuses: str | None = None
        self.is_deaf = False  # its program reads nothing: no outcome is told
        self.closed = False

    def read(self, offset: int, limit: int) -> bytes:
        return b""

    async def tail(self, limit: int) -> TapeTail:
        return TapeTail(0, b"")

    def type(self, data: bytes, by: Actor, *, reply: bool = False) -> None:
        self.keys.append(data)
        self.asked.append(("type", by.name, reply))
        if self.is_deaf:
            return
        self.delivered(len(data), LineTooLong(self.refuses) if self.refuses else None)

    async def first_to_answer(self) -> bool:
        return True

    def join(self, by: Actor, may_write: bool, events: ParticipantEvents) -> Participant:
        return self.arbiter.join(by, may_write, events, self)

    def resize(self, cols: int, rows: int, by: Actor) -> None:
        self.asked.append(("resize", cols, rows, by.name))

    def redraw(self) -> None:
        self.asked.append(("redraw",))

    def close(self) -> None:
        self.closed = True


class ScriptedTapes:
    def __init__(self) -> None:
        self.opened: list[ScriptedTape] = []
        self.arbiter = Arbiter("t1", (80, 24), SmallestClientSize(), time.monotonic, lambda: None)

    async def open(
        self,
        session_id: str,
        run: int,
        grew: Callable[[], None],
        delivered: Delivered,
        after: int | None = None,
        *,
        skips: bool = True,
    ) -> ScriptedTape:
        self.opened.append(ScriptedTape(delivered, self.arbiter))
        return self.opened[-1]


@pytest.fixture
async def tapes(hub: RunningHub) -> ScriptedTapes:
    begun = SessionStarted(agent="shell", driver="terminal", cwd="/tmp", by="ana", cols=80, rows=24)
    await append(hub.store, "t1", begun)
    made = ScriptedTapes()
    hub.device.line.tapes = made
    return made


@contextlib.asynccontextmanager
async def terminal(hub: RunningHub, role: str = "owner") -> AsyncIterator[ClientConnection]:
    headers = {"authorization": f"Bearer {hub.tokens[role]}"}
    url = f"ws://127.0.0.1:{hub.port}/ws/terminal/t1?after=tail"
    async with connect(url, additional_headers=headers, compression=None, proxy=None) as socket:
        await said(socket, "size")
        yield socket


async def said(socket: ClientConnection, kind: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            message = msgspec.json.decode(await socket.recv())
            if message["type"] == kind:
                return message


async def test_a_hundred_keys_arrive_in_order_and_cost_no_task_and_no_timer_each(
    hub: RunningHub, tapes: ScriptedTapes, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    tasks: list[object] = []
    timers: list[object] = []
    create_task, call_later = loop.create_task, loop.call_later

    def noted_task(work: Any, **more: Any) -> Any:
        tasks.append(work)
        return create_task(work, **more)

    def noted_timer(seconds: float, action: Callable[..., object], *args: Any, **more: Any) -> Any:
        if str(action.__module__).startswith("bascule."):  # the test and its client have timers of their own
            timers.append(action)
        return call_later(seconds, action, *args, **more)

    async with terminal(hub) as socket:
        monkeypatch.setattr(loop, "create_task", noted_task)
        monkeypatch.setattr(loop, "call_later", noted_timer)
        for number in range(100):
            await socket.send(b"%02d" % number)
        await until(lambda: len(tapes.opened[0].keys) == 100)
        monkeypatch.undo()
    assert tapes.opened[0].keys == [b"%02d" % number for number in range(100)]
    assert tapes.opened[0].asked == [("type", "owner", False)] * 100
    assert (tasks, len(timers) <= 3) == ([], True), timers


async def test_no_command_is_sent_for_keys_and_sizes(hub: RunningHub, tapes: ScriptedTapes) -> None:
    async with terminal(hub) as socket:
        await socket.send(b"x")
        await socket.send('{"type":"resize","cols":100,"rows":5000}')
        size = await said(socket, "size")
        assert (size["cols"], size["rows"], size["owner"], size["rule"]) == (100, 1000, True, "smallest")
    assert tapes.opened[0].asked == [("type", "owner", False), ("resize", 100, 1000, "owner")]
    assert hub.device.commands == []
    await until(lambda: tapes.opened[0].closed)


async def test_whoever_typed_is_told_why_the_program_did_not_get_it(
    hub: RunningHub, tapes: ScriptedTapes
) -> None:
    async with terminal(hub) as socket, terminal(hub, "operator") as other:
        tapes.opened[0].refuses = "That line is too long."
        await socket.send(b"x")
        told = await said(socket, "error")
        assert told["error"]["code"] == "LINE_TOO_LONG"
        assert told["error"]["message"] == "That line is too long."
        await other.send(b"y")
        await until(lambda: tapes.opened[1].keys == [b"y"])
        assert (await said(socket, "typing"))["by"] == "operator"


async def test_refusals_of_the_program_are_no_reason_to_close_the_socket(
    hub: RunningHub, tapes: ScriptedTapes
) -> None:
    async with terminal(hub) as socket:
        tapes.opened[0].refuses = "The keeper went away."
        for _ in range(200):
            await socket.send(b"x")
        for _ in range(200):
            await said(socket, "error")
        await socket.send('{"type":"resize","cols":90,"rows":30}')
        assert (await said(socket, "size"))["cols"] == 90


async def test_who_types_ahead_of_a_deaf_program_is_held_back_and_heard_in_order(
    hub: RunningHub, tapes: ScriptedTapes
) -> None:
    async with terminal(hub) as socket:
        tape = tapes.opened[0]
        tape.is_deaf = True
        paste = b"p" * 300_000
        await socket.send(paste)
        await until(lambda: tape.keys == [paste])
        for number in range(50):
            await socket.send(b"%02d" % number)
        await socket.send('{"type":"resize","cols":91,"rows":31}')
        await asyncio.sleep(0)
        assert tape.keys == [paste]
        tape.is_deaf = False
        tape.delivered(len(paste), None)
        assert (await said(socket, "size"))["cols"] == 91
        assert tape.keys == [paste, *(b"%02d" % number for number in range(50))]
        assert tape.asked[-1] == ("resize", 91, 31, "owner")
