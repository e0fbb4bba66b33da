"""The hub's end of the link: sends commands to devices; each gets exactly one answer or an error."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from msgspec.structs import replace

from bascule.api.machine_answers import DeviceStatus
from bascule.hub.devices.asking import GRACE_SECONDS, Asking
from bascule.hub.devices.device_line import Close, DeviceLine, Send
from bascule.hub.devices.device_list import DeviceList
from bascule.hub.devices.line_refusals import IN_USE, LATE, NO_DEVICE, OTHER, offline
from bascule.hub.devices.line_watch import LineWatch
from bascule.hub.devices.orders import Orders
from bascule.link.frames import (
    PROTOCOL,
    REMEMBERS_ANSWERS,
    AgentProblem,
    AgentsChanged,
    AgentStatus,
    AnyFrame,
    DaemonConnected,
    DeviceStateChanged,
    LineRefused,
    Pong,
    Versions,
    Welcome,
)
from bascule.link.tape import Tapes
from bascule.link.versions import agree
from bascule.model.commands import Actor, Command
from bascule.model.errors import BasculeError, DeviceOffline, InvalidInput, NotSupported
from bascule.model.faults import report
from bascule.store.devices import DeviceBook

log = logging.getLogger("bascule.hub")

A = TypeVar("A")
News = AgentStatus | AgentProblem
WINDOW = 4 * 1024 * 1024  # bytes of rows that a device may send beyond what was acknowledged
RESTART_SECONDS = 60.0  # a device heard so short before this start was here until the hub went away
PROBE_SECONDS = 2.0  # in which a device answers before another machine may take its name


class Switchboard:
    """Routes commands to devices over their connections.

    `this` is the device this hub runs on, empty when it is none; `hub` is the id of this hub. Which devices
    there are is in the book, and stays so across restarts.
    """

    def __init__(
        self,
        book: DeviceBook,
        first_wait: float = 0.0,
        *,
        this: str = "",
        hub: str = "",
        name: str = "",
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
        grace: float = GRACE_SECONDS,
    ) -> None:
        self.this = this
        self.clock = clock
        self.steady = steady
        self.orders = Orders(self, book)
        self._hub = hub or this
        self._name = name
        self._list = DeviceList(book, clock)
        self._first_wait = first_wait
        self._met = asyncio.Event()
        self._lines: dict[str, DeviceLine] = {}
        self._asking = Asking(self, grace)
        for device in self._list.heard_within(RESTART_SECONDS):
            if device != this:
                self._asking.lost(device)
        self._greeters: list[Callable[[DeviceLine], None]] = []
        self._leavers: list[Callable[[DeviceLine], None]] = []
        self._watchers: list[Callable[[], None]] = []
        self._listeners: list[Callable[[str, News], None]] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._watch = LineWatch(
            self._lines, steady, lambda device, ago: self._list.note_heard(device, ago=ago), self._tell
        )
        self._looking: asyncio.Task[None] | None = None

    def attach(self, send: Send, tapes: Tapes | None = None, close: Close | None = None) -> DeviceLine:
        """A device has a line to us, and a way to its terminals; it says who it is with `DaemonConnected`.

        `close` ends a connection that can break; a line in memory has none.
        """
        if close is not None and self._looking is None:
            self._looking = self.spawn(self._watch.run(), "device lines")
        return DeviceLine(self, send, tapes, close)

    async def close(self) -> None:
        """Note when each device was last heard, and stop."""
        for line in self.own_lines():
            self._list.note_heard(line.device, now=True)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def spawn(self, work: Coroutine[Any, Any, A], name: str) -> asyncio.Task[A]:
        """A task that ends with the switchboard."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, BasculeError):
            report(log, task.get_name(), error)

    def tapes(self, device: str) -> Tapes:
        """The terminals of a device. Raises `DeviceOffline`."""
        tapes = self.line(device).tapes
        if tapes is None:
            raise NotSupported("The device does not show its terminals.")
        return tapes

    def with_store(self, problem: Callable[[], str | None]) -> None:
        """While the hub can store nothing, nothing can be done with any device: each says why."""
        self._list.hub_problem = problem

    def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` when a device connects, disconnects, or something about it changes."""
        self._watchers.append(changed)

    def listen(self, heard: Callable[[str, News], None]) -> None:
        """Call `heard` with the device and each change of an agent's state, and each problem."""
        self._listeners.append(heard)

    def on_hello(self, greet: Callable[[DeviceLine], None]) -> None:
        """Call `greet` with each line that is accepted, after the orders and before anybody can ask."""
        self._greeters.append(greet)

    def on_gone(self, left: Callable[[DeviceLine], None]) -> None:
        """Call `left` with each line that is over and was in use."""
        self._leavers.append(left)

    # Devices

    def devices(self) -> list[DeviceStatus]:
        """Those that are connected and those that are away."""
        return self._list.all(self._lines)

    def status(self, device: str) -> DeviceStatus | None:
        return self._list.one(device, self._lines)

    def skew(self, device: str) -> float:
        """Seconds that a device's clock is ahead of ours; none while it is nearly right."""
        return self._list.skew(device)

    def is_connected(self, device: str) -> bool:
        return device in self._lines

    def device(self, named: str | None) -> str:
        """The device that a command is for. It must be named once there are several."""
        if named is None:
            return self._only_device()
        known = self.devices()
        if known and all(named != one.device for one in known):
            raise InvalidInput(f"There is no device {named[:80]!r}. `GET /api/daemon/status` lists them.")
        return named

    def device_of(self, session_device: str) -> str:
        """The device of a session. Older logs name none: they are of the machine that has them."""
        return session_device or self.this or self._only_device()

    def _only_device(self) -> str:
        known = self.devices()
        if not known:
            raise DeviceOffline(NO_DEVICE)
        if len(known) > 1:
            names = ", ".join(f"{status.device} ({status.name})" for status in known)
            raise InvalidInput(f"There are several devices; say which one with `device`: {names[:500]}.")
        return known[0].device

    async def rename(self, device: str, name: str, by: Actor) -> DeviceStatus:
        """Raises `DeviceNotFound`."""
        await self._list.book.rename(device, name, by)
        return self._changed(device)

    async def forget(self, device: str, by: Actor) -> None:
        """Take a device that is away off the list. Raises `DeviceNotFound`."""
        if device in self._lines:
            raise InvalidInput("This device is connected: stop its daemon first, or it is back at once.")
        await self._list.book.forget(device, by)
        self._asking.wake(device)
        self._tell()

    def check_replaceable(self, device: str) -> None:
        """Raises `InvalidInput` for a device that is not known, or is here."""
        if device in self._lines or device == self.this:
            raise InvalidInput("This device is connected, so no other can be what it was.")
        if all(device != one.device for one in self.devices()):
            raise InvalidInput(f"There is no device {device[:80]!r}. `GET /api/daemon/status` lists them.")

    async def replace(self, device: str, other: str, by: Actor) -> None:
        """Let a reinstalled machine, whose id is new, replace the old one. The old one's sessions stay."""
        if device in self._lines or device == other:
            return
        for waiting in self._list.book.standing(device):
            self._list.book.drop(waiting)
        await self._list.book.replace(device, other, by)
        self._asking.wake(device)
        self._tell()

    def _changed(self, device: str) -> DeviceStatus:
        self._tell()
        status = self.status(device)
        assert status is not None
        return status

    # Commands

    async def ask(
        self, device: str, command: Command[A], by: Actor, key: str | None = None, *, seconds: float = 30
    ) -> A:
        """The answer to a command. Raises `Refused`, or `DeviceOffline` when the device does not answer."""
        return await self._asking.ask(device, command, by, key, seconds)

    def line(self, device: str) -> DeviceLine:
        """Raises `DeviceOffline`."""
        line = self._lines.get(device)
        if line is not None:
            return line
        status = self.status(device)
        replaced_by = status.replaced_by if status is not None else ""
        raise offline(status, self.status(replaced_by) if replaced_by else None)

    async def met(self) -> None:
        """Just after a start the first device is about to connect: give it a moment, once."""
        if not self._met.is_set() and self._first_wait > 0:
            try:
                async with asyncio.timeout(self._first_wait):
                    await self._met.wait()
            except TimeoutError:
                self._met.set()  # no device came; from now on the answer is at once

    # What lines say

    def hello(self, line: DeviceLine, hello: DaemonConnected) -> None:
        refused = self._refusal(line, hello)
        current = self._lines.get(hello.device)
        if refused is not None:
            line.refuse(refused)
        elif current is None or current is line or self._list.is_boot(hello.device, hello.boot):
            self._accept(line, hello)
        else:
            self.spawn(self._probe(current, line, hello), f"probe {hello.device}")

    def _refusal(self, line: DeviceLine, hello: DaemonConnected) -> LineRefused | None:
        if line.device not in ("", hello.device):
            return OTHER
        agreed = agree(Versions(), hello.protocol)
        if isinstance(agreed, LineRefused):
            self._list.note_incompatible(hello)
            self._tell()
            return agreed
        if self._lines.get(hello.device) is not line and self._list.is_late(hello):
            return LATE
        return None

    async def _probe(self, current: DeviceLine, line: DeviceLine, hello: DaemonConnected) -> None:
        """Another process says it is this device. The connected one stays, if it still answers."""
        alive = await current.answers_within(PROBE_SECONDS)
        now = self._lines.get(hello.device)
        if line.over:
            return
        if now is not current and now is not None:
            self.hello(line, hello)  # another connection came first
        elif alive and now is current:
            line.refuse(IN_USE)
        else:
            self._accept(line, hello)

    def _accept(self, line: DeviceLine, hello: DaemonConnected) -> None:
        older = self._lines.get(hello.device)
        record = self._list.accept(hello, line.epoch)
        line.accepted(hello, record.epoch)
        self._lines[hello.device] = line
        if older is not None and older is not line:
            older.end("superseded")
        self._met.set()
        line.send(
            Welcome(
                protocol=PROTOCOL,
                hub=self._hub,
                name=self._name,
                store=self._list.book.link_name,
                epoch=record.epoch,
                clock=self.clock(),
                window=WINDOW,
                rows=line.rows,
            )
        )
        self.orders.deliver(line)  # before anybody else can ask
        for greet in self._greeters:
            greet(line)
        self._asking.wake(hello.device)
        self._tell()

    def take_far(self, line: DeviceLine, hello: DaemonConnected) -> bool:
        """Another node holds this device's connection; `line` leads there. False when we hold it."""
        current = self._lines.get(hello.device)
        if line.over or (current is not None and not current.far):
            return False
        line.accepted(hello, line.epoch)
        self._list.heard_elsewhere(hello)
        self._lines[hello.device] = line
        if current is not None and current is not line:
            current.end("superseded")
        self._met.set()
        self._asking.wake(hello.device)
        self._tell()
        return True

    def own_lines(self) -> list[DeviceLine]:
        """The devices whose connection this node holds."""
        return [line for line in self._lines.values() if not line.far]

    def hello_of(self, device: str) -> DaemonConnected:
        """What a device that is connected said of itself, for another node."""
        features = (REMEMBERS_ANSWERS,) if self.line(device).remembers_answers else ()
        return replace(self._list.hello_of(device), features=features)

    def books_changed(self) -> None:
        """Other nodes have changed what is known of devices."""
        self._list.reloaded(self.holds)
        for line in self.own_lines():
            self.orders.deliver_new(line)
        self._tell()

    def holds(self, device: str) -> bool:
        line = self._lines.get(device)
        return line is not None and not line.far

    def heard(self, line: DeviceLine, frame: AnyFrame) -> None:
        """News on a line that was accepted."""
        device, store = line.device, not line.far
        match frame:
            case AgentsChanged():
                self._list.note_agents(device, frame.agents, store=store)
                self._tell()
            case DeviceStateChanged():
                self._list.note_state(device, frame.state, store=store)
                self._tell()
            case AgentStatus():
                agents = tuple(
                    replace(agent, status=frame.status) if agent.name == frame.agent else agent
                    for agent in self._list.agents(device)
                )
                self._list.note_agents(device, agents, store=False)
                self._news(device, frame)
            case AgentProblem():
                self._news(device, frame)
            case Pong(pinged=pinged) if pinged and not line.far:
                self._list.note_clock(device, pinged, frame.clock)
            case _:
                pass

    def _news(self, device: str, news: News) -> None:
        for heard in self._listeners:
            heard(device, news)

    def gone(self, line: DeviceLine) -> None:
        """A line is over. One that had been superseded changes nothing."""
        if self._lines.get(line.device) is line:
            del self._lines[line.device]
            self._asking.lost(line.device)
            if not line.far:
                self._list.note_heard(line.device, now=True, ago=self.steady() - line.heard_at)
            for left in self._leavers:
                left(line)
            self._tell()

    def back(self, line: DeviceLine) -> None:
        if self._lines.get(line.device) is line:
            self._tell()

    def look(self) -> None:
        """Ping the silent, mark the stale, close the dead."""
        self._watch.look()

    def _tell(self) -> None:
        for watcher in self._watchers:
            watcher()
