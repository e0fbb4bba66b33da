"""The hub's end of the link: sends commands to devices; each gets exactly one answer or an error."""

import asyncio
import logging
from collections.abc import Callable
from typing import TypeVar, cast

import msgspec
from msgspec.structs import replace

from bascule.api.answers import DeviceStatus
from bascule.link.frames import (
    AgentProblem,
    AgentsChanged,
    AgentStatus,
    AnyFrame,
    Ask,
    DaemonConnected,
    DeviceCommand,
    Ping,
    Pong,
    Reply,
)
from bascule.link.machine import AgentInfo
from bascule.link.tape import Tapes
from bascule.model.commands import Actor, Command, answer_type
from bascule.model.errors import DeviceOffline, InvalidInput, NotSupported, Refused

log = logging.getLogger("bascule.hub")

A = TypeVar("A")
Send = Callable[[AnyFrame], None]
NO_DEVICE = "No device is connected: start its daemon and try again."


class DeviceLine:
    """One connection of one device. An older connection of the same device is ignored."""

    def __init__(self, board: "Switchboard", send: Send, tapes: Tapes | None) -> None:
        self.send = send
        self.tapes = tapes
        self.waiting: dict[int, asyncio.Future[bytes]] = {}
        self._board = board

    def receive(self, frame: AnyFrame) -> None:
        match frame:
            case DaemonConnected():
                self._board.connected(self, frame)
            case AgentsChanged():
                self._board.agents_changed(self, frame.agents)
            case AgentStatus() | AgentProblem():
                self._board.agent_news(self, frame)
            case Reply():
                self._answer(frame)
            case Ping():
                self.send(Pong(frame.n))
            case _:
                log.debug("ignored %s", type(frame).__name__)  # a frame for devices

    def closed(self) -> None:
        self.fail_waiting()
        self._board.disconnected(self)

    def fail_waiting(self) -> None:
        waiting, self.waiting = self.waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(DeviceOffline("The device went away before it answered."))

    def _answer(self, reply: Reply) -> None:
        future = self.waiting.pop(reply.ask, None)
        if future is None or future.done():
            return  # the caller has given up
        if reply.refusal is not None:
            future.set_exception(Refused(reply.refusal))
        else:
            future.set_result(bytes(reply.result))


class Switchboard:
    """Routes commands to devices over their connections."""

    def __init__(self, first_wait: float = 0.0, *, this: str = "") -> None:
        self.this = this  # the device this hub runs on
        self._first_wait = first_wait
        self._met = asyncio.Event()
        self._lines: dict[str, DeviceLine] = {}
        self._devices: dict[str, DeviceStatus] = {}
        self._count = 0
        self._watchers: list[Callable[[], None]] = []
        self._listeners: list[Callable[[AgentStatus | AgentProblem], None]] = []

    def attach(self, send: Send, tapes: Tapes | None = None) -> DeviceLine:
        """A device has a line to us, and a way to its terminals; it says who it is with `DaemonConnected`."""
        return DeviceLine(self, send, tapes)

    def tapes(self, device: str) -> Tapes:
        """The terminals of a device. Raises `DeviceOffline`."""
        tapes = self._line(device).tapes
        if tapes is None:
            raise NotSupported("The device does not show its terminals.")
        return tapes

    def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` when a device connects, disconnects, or its agents change."""
        self._watchers.append(changed)

    def listen(self, heard: Callable[[AgentStatus | AgentProblem], None]) -> None:
        """Call `heard` with each change of an agent's state, and each problem."""
        self._listeners.append(heard)

    def devices(self) -> list[DeviceStatus]:
        return list(self._devices.values())

    def is_connected(self, device: str) -> bool:
        return device in self._lines

    async def rename(self, device: str, name: str, by: Actor) -> DeviceStatus:
        """An empty name gives it the one it connects with again, at its next connection."""
        known = self._known(device)
        self._devices[device] = renamed = replace(known, name=name.strip() or known.name)
        self._tell()
        return renamed

    async def forget(self, device: str, by: Actor) -> None:
        """Take a device that is away off the list."""
        self._known(device)
        if device in self._lines:
            raise InvalidInput("This device is connected: stop its daemon first, or it is back at once.")
        del self._devices[device]
        self._tell()

    def _known(self, device: str) -> DeviceStatus:
        known = self._devices.get(device)
        if known is None:
            raise InvalidInput("There is no such device.")
        return known

    def device(self, named: str | None) -> str:
        """The device that a command is for. It must be named once there are several."""
        if named is None:
            return self._only_device()
        if self._devices and named not in self._devices:
            raise InvalidInput(f"There is no device {named[:80]!r}. `GET /api/daemon/status` lists them.")
        return named

    def _only_device(self) -> str:
        if not self._devices:
            raise DeviceOffline(NO_DEVICE)
        if len(self._devices) > 1:
            names = ", ".join(f"{status.device} ({status.name})" for status in self._devices.values())
            raise InvalidInput(f"There are several devices; say which one with `device`: {names[:500]}.")
        return next(iter(self._devices))

    async def ask(
        self, device: str, command: Command[A], by: Actor, key: str | None = None, *, seconds: float = 30
    ) -> A:
        """The answer to a command. Raises `Refused`, or `DeviceOffline` when nobody answers."""
        line = self._line(device)
        self._count += 1
        number = self._count
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        line.waiting[number] = answer
        line.send(Ask(number, cast("DeviceCommand", command), by, key))
        try:
            async with asyncio.timeout(seconds):
                return msgspec.json.decode(await answer, type=answer_type(type(command)))
        except TimeoutError:
            raise DeviceOffline(f"The device did not answer within {seconds:g} seconds.") from None
        finally:
            line.waiting.pop(number, None)

    async def met(self) -> None:
        """Just after a start the first device is about to connect: give it a moment, once."""
        if not self._met.is_set() and self._first_wait > 0:
            try:
                async with asyncio.timeout(self._first_wait):
                    await self._met.wait()
            except TimeoutError:
                self._met.set()  # nobody came; from now on the answer is at once

    def connected(self, line: DeviceLine, hello: DaemonConnected) -> None:
        known = self._devices.get(hello.device)
        if known is not None and known.epoch > hello.epoch:
            return  # a line from before the current one, late to say hello
        older = self._lines.get(hello.device)
        if older is not None and older is not line:
            older.fail_waiting()
        self._lines[hello.device] = line
        self._met.set()
        said = hello.state
        self._devices[hello.device] = DeviceStatus(
            hello.device,
            hello.name,
            hello.version,
            True,
            hello.epoch,
            hello.agents,
            state="online",
            paused=said.paused,
            storage_problem=said.storage_problem,
            roots=said.roots,
            running=said.running,
            starts_by_itself=said.starts_by_itself,
        )
        self._tell()

    def agents_changed(self, line: DeviceLine, agents: tuple[AgentInfo, ...]) -> None:
        self._change(line, online=True, agents=agents)

    def agent_news(self, line: DeviceLine, news: AgentStatus | AgentProblem) -> None:
        device = next((one for one, current in self._lines.items() if current is line), None)
        if device is None:
            return  # an older line, or one that has not said who it is
        if isinstance(news, AgentStatus):
            old = self._devices[device]
            agents = tuple(
                replace(one, status=news.status) if one.name == news.agent else one for one in old.agents
            )
            self._devices[device] = replace(old, agents=agents)
        for heard in self._listeners:
            heard(news)

    def disconnected(self, line: DeviceLine) -> None:
        if self._change(line, online=False, agents=None):
            self._lines = {device: one for device, one in self._lines.items() if one is not line}

    def _change(self, line: DeviceLine, *, online: bool, agents: tuple[AgentInfo, ...] | None) -> bool:
        for device, current in self._lines.items():
            if current is line:
                old = self._devices[device]
                self._devices[device] = replace(
                    old,
                    online=online,
                    state="online" if online else "away",
                    agents=old.agents if agents is None else agents,
                )
                self._tell()
                return True
        return False

    def _line(self, device: str) -> DeviceLine:
        line = self._lines.get(device)
        if line is None:
            raise DeviceOffline(NO_DEVICE)
        return line

    def _tell(self) -> None:
        for watcher in self._watchers:
            watcher()
