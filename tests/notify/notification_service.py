"""A session bus of its own, and on it a desktop's notification service that a test looks at and presses."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest
from tests.waiting import PATIENCE

pytest.importorskip("dbus_fast", reason="desktops other than Linux have no such bus")
from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
needs_bus = pytest.mark.skipif(not shutil.which("dbus-daemon"), reason="needs dbus-daemon")
INTERFACE = f"""<node><interface name="{NAME}">
<method name="GetServerInformation"><arg direction="out" type="s"/><arg direction="out" type="s"/>
<arg direction="out" type="s"/><arg direction="out" type="s"/></method>
<method name="GetCapabilities"><arg direction="out" type="as"/></method>
<method name="Notify"><arg direction="in" type="s"/><arg direction="in" type="u"/>
<arg direction="in" type="s"/><arg direction="in" type="s"/><arg direction="in" type="s"/>
<arg direction="in" type="as"/>
<arg direction="in" type="a{{sv}}"/><arg direction="in" type="i"/><arg direction="out" type="u"/></method>
<method name="CloseNotification"><arg direction="in" type="u"/></method>
<signal name="ActionInvoked"><arg type="u"/><arg type="s"/></signal>
<signal name="NotificationClosed"><arg type="u"/><arg type="u"/></signal>
</interface></node>"""


class Shown(NamedTuple):
    number: int
    title: str
    body: str
    buttons: dict[str, str]  # their words, and the keys they are pressed by
    milliseconds: int


class NotificationService:
    def __init__(self, bus: MessageBus) -> None:
        self._bus = bus
        self.shown: asyncio.Queue[Shown] = asyncio.Queue()
        self._count, self._sender = 0, ""

    async def open(self) -> None:
        self._bus.add_message_handler(self._answer)
        await self._bus.request_name(NAME)

    async def next(self) -> Shown:
        return await asyncio.wait_for(self.shown.get(), PATIENCE)

    async def press(self, shown: Shown, words: str) -> None:
        # No person is so quick: the sender has to have heard the number of its notification.
        ping: Any = {"path": "/", "interface": "org.freedesktop.DBus.Peer", "member": "Ping"}
        await self._bus.call(Message(destination=self._sender, **ping))
        await self._signal("ActionInvoked", "us", [shown.number, shown.buttons[words]])
        await self._signal("NotificationClosed", "uu", [shown.number, 2])

    async def _signal(self, name: str, signature: str, body: list[Any]) -> None:
        await self._bus.send(Message.new_signal(PATH, NAME, name, signature, body))

    def _answer(self, message: Message) -> Message | None:
        if message.message_type is not MessageType.METHOD_CALL or message.path != PATH:
            return None
        match message.member:
            case "Introspect":
                return Message.new_method_return(message, "s", [INTERFACE])
            case "GetServerInformation":
                return Message.new_method_return(message, "ssss", ["a test", "bascule", "1", "1.2"])
            case "GetCapabilities":
                return Message.new_method_return(message, "as", [["body", "body-markup", "actions"]])
            case "Notify":
                self._sender = message.sender or ""
                return Message.new_method_return(message, "u", [self._notify(*message.body)])
            case _:
                return None

    def _notify(
        self,
        app: str,
        _replaces: int,
        _icon: str,
        title: str,
        body: str,
        actions: list[str],
        _hints: dict[str, Variant],
        milliseconds: int,
    ) -> int:
        assert app == "Bascule"
        self._count += 1
        keys = dict(zip(actions[1::2], actions[0::2], strict=True))
        self.shown.put_nowait(Shown(self._count, title, body, keys, milliseconds))
        return self._count


@asynccontextmanager
async def session_bus() -> AsyncIterator[str]:
    """The address of a bus without any service on it."""
    bus = await asyncio.create_subprocess_exec(
        *("dbus-daemon", "--session", "--nofork", "--print-address"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert bus.stdout is not None
    try:
        yield (await asyncio.wait_for(bus.stdout.readline(), PATIENCE)).decode().strip()
    finally:
        bus.kill()
        await bus.wait()


@asynccontextmanager
async def notification_service(address: str) -> AsyncIterator[NotificationService]:
    bus = await MessageBus(bus_address=address).connect()
    service = NotificationService(bus)
    await service.open()
    try:
        yield service
    finally:
        bus.disconnect()
