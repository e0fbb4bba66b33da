"""Another node of this hub, as this one reaches it: one connection, made again as long as that node lives."""

import asyncio
import contextlib
import logging
import random
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from bascule.hub.nodes.envelope import (
    NODE_HEADER,
    SUBPROTOCOL,
    Answered,
    Called,
    Control,
    Gone,
    Leave,
    control,
    enclose,
    opened,
)
from bascule.hub.nodes.far_device import FarDevice
from bascule.link.wire import AHEAD
from bascule.model.codec import encode
from bascule.model.errors import DeviceOffline, Refused

if TYPE_CHECKING:
    from bascule.hub.services import Hub
    from bascule.model.settings import Settings

log = logging.getLogger("bascule.hub")

OPEN_SECONDS = 5.0
PING_SECONDS = 5.0
RETRY_LEAST, RETRY_MOST = 0.1, 2.0
MAX_MESSAGE = 1024 * 1024
MAX_WAITING = 1000  # messages of ours for a node that does not read


class Neighbour:
    """`changed` is called when the connection came or went."""

    def __init__(
        self, hub: "Hub", node: str, url: str, key: str, own: str, changed: Callable[[], None]
    ) -> None:
        self.node, self.url = node, url
        self._hub, self._key, self._own, self._changed = hub, key, own, changed
        self._devices: dict[str, FarDevice] = {}
        self._dirty: dict[str, FarDevice] = {}  # with something to send
        self._controls: list[bytes] = []
        self._calls = 0
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._more = asyncio.Event()
        self.is_connected = False
        self._where = (node, url)
        self._refused = ""  # why there is no secure connection, as was said last
        self._task = asyncio.create_task(self._run(), name=f"node {node}")

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    # Machines over there

    def hold(self, device: str, epoch: int) -> None:
        """Have a line to a machine that this node holds."""
        known = self._devices.get(device)
        if not self.is_connected or (known is not None and known.epoch >= epoch):
            return
        if known is not None:
            known.end()
        far = FarDevice(
            self._hub, device, epoch, lambda: self._wrote(device), lambda: self._let_go(device, far)
        )
        self._devices[device] = far
        self._wrote(device)

    def drop(self, device: str) -> None:
        if device in self._devices:
            self._devices[device].end()

    @property
    def devices(self) -> list[str]:
        return list(self._devices)

    def _wrote(self, device: str) -> None:
        if device in self._devices:  # not yet, while it is being made
            self._dirty[device] = self._devices[device]
            self._more.set()

    def _let_go(self, device: str, far: FarDevice) -> None:
        if self._devices.get(device) is far:
            del self._devices[device]
            self._dirty.pop(device, None)
            self.say(Leave(device))

    async def call(self, what: str, body: bytes, seconds: float) -> bytes:
        """Raises what the other node refuses with, and `DeviceOffline` when it does not answer."""
        self._calls += 1
        number = self._calls
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self.say(Called(number, what, msgspec.Raw(body)))
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            raise DeviceOffline("Another node of this hub does not answer; try again.") from None
        finally:
            self._waiting.pop(number, None)

    def _answered(self, answer: Answered) -> None:
        waiting = self._waiting.get(answer.n)
        if waiting is None or waiting.done():
            return
        if answer.refusal is not None:
            waiting.set_exception(Refused(answer.refusal))
        else:
            waiting.set_result(bytes(answer.result))

    def say(self, message: Control) -> None:
        """News that may be lost with the connection."""
        if self.is_connected and len(self._controls) < MAX_WAITING:
            self._controls.append(encode(message))
            self._more.set()

    # The connection

    async def _run(self) -> None:
        wait = RETRY_LEAST
        while True:
            try:
                await self._serve(await self._open())
                wait = RETRY_LEAST
            except ssl.SSLError as error:
                self._distrust(str(error))
            except (OSError, TimeoutError, InvalidHandshake, InvalidURI, ConnectionClosed) as error:
                log.info("node %s at %s: %s", *self._where, error)
            except ValueError as error:
                log.warning("node %s at %s sent what is no message between nodes: %s", *self._where, error)
            await asyncio.sleep(wait * (0.5 + random.random()))
            wait = min(wait * 2, RETRY_MOST)

    def _distrust(self, why: str) -> None:
        """Said once: it is tried again all the time."""
        if self._refused != why:
            self._refused = why
            log.warning(
                "node %s at %s: no secure connection (%s). When its certificate is not trusted here, name "
                "it, or its authority's, by node_ca",
                *(*self._where, why),
            )

    async def _open(self) -> ClientConnection:
        parts = urlsplit(self.url)
        is_secure = parts.scheme == "https"
        return await connect(
            urlunsplit(("wss" if is_secure else "ws", parts.netloc, "/ws/node", "", "")),
            ssl=await asyncio.to_thread(trusted, self._hub.settings) if is_secure else None,
            additional_headers={"Authorization": f"Bearer {self._key}", NODE_HEADER: self._own},
            subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
            compression=None,
            proxy=None,
            max_size=MAX_MESSAGE,
            open_timeout=OPEN_SECONDS,
            ping_interval=PING_SECONDS,
            ping_timeout=PING_SECONDS,
            write_limit=AHEAD,
        )

    async def _serve(self, connection: ClientConnection) -> None:
        self.is_connected = True
        writing = asyncio.create_task(self._write(connection), name=f"to node {self.node}")
        try:
            self._changed()
            async for message in connection:
                self._take(message)
        finally:
            self.is_connected = False
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
            for far in list(self._devices.values()):
                far.end()
            self._controls.clear()
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(DeviceOffline("Another node of this hub went away; try again."))
            self._changed()
            with contextlib.suppress(ConnectionClosed, OSError):
                await connection.close()

    def _take(self, message: bytes | str) -> None:
        if isinstance(message, bytes):
            device, inner = opened(message)
            if device in self._devices:
                self._devices[device].receive(inner)
            return
        with contextlib.suppress(msgspec.MsgspecError):  # of a newer version
            match control(message):
                case Gone(device=device) if device in self._devices:
                    self._devices[device].end()
                case Answered() as answer:
                    self._answered(answer)
                case _:
                    pass

    async def _write(self, connection: ClientConnection) -> None:
        while True:
            await self._more.wait()
            self._more.clear()
            while self._controls or self._dirty:
                controls, self._controls = self._controls, []
                for data in controls:
                    await connection.send(data.decode())
                for device, far in list(self._dirty.items()):
                    messages = far.line.take(AHEAD)
                    if not messages:
                        self._dirty.pop(device, None)
                    for message in messages:
                        await connection.send(enclose(device, message))


def trusted(settings: "Settings") -> ssl.SSLContext:
    """The certificates that other nodes may show. Read for each connection: files are renewed."""
    if settings.node_ca is not None:
        return ssl.create_default_context(cafile=settings.node_ca)
    context = ssl.create_default_context()
    if settings.tls_cert is not None:
        context.load_verify_locations(settings.tls_cert)
    return context
