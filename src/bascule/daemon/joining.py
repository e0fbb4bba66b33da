"""Which hub this machine has joined: keeps its address and its connection, until it leaves."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from bascule.link.uplink import UplinkStatus
from bascule.model.errors import AgentUnavailable

if TYPE_CHECKING:
    from bascule.daemon.uplink import Attach, Uplink


class Notes(Protocol):
    """How the address is kept between two starts."""

    def write(self, url: str, token: str) -> None: ...
    def remove(self) -> None: ...


class Joining:
    """All methods are called on the event loop. `steady` goes on while the machine sleeps."""

    def __init__(
        self, device: str, notes: Notes, clock: Callable[[], float], steady: Callable[[], float]
    ) -> None:
        self._device, self._notes = device, notes
        self._clock, self._steady = clock, steady
        self._attach: Attach | None = None
        self._uplink: Uplink | None = None
        self._running: asyncio.Task[None] | None = None
        self._decided = asyncio.Event()

    def open(self, attach: "Attach") -> None:
        """The daemon is there: `attach` gives a new connection its end in it."""
        self._attach = attach

    @property
    def status(self) -> UplinkStatus:
        return self._uplink.status if self._uplink is not None else UplinkStatus()

    def connect(self, url: str, token: str) -> None:
        """Keep connected to this hub from now on."""
        if self._attach is None:
            raise AgentUnavailable("This machine's sessions are still being taken up; try again.")
        from bascule.daemon.uplink import HubAddress, Uplink  # noqa: PLC0415 - slow to load: a WebSocket client

        address = HubAddress(url, token, self._device)
        self._decided.clear()
        self._uplink = Uplink(address, self._attach, self._clock, self._steady, self._tell)
        self._running = asyncio.create_task(self._uplink.run(), name="uplink")

    async def join(self, url: str, token: str) -> None:
        await self._disconnect()
        self._notes.write(url, token)
        self.connect(url, token)

    async def leave(self) -> None:
        await self._disconnect()
        self._notes.remove()

    async def decided(self, seconds: float) -> UplinkStatus:
        if self._uplink is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._decided.wait()
        return self.status

    async def close(self) -> None:
        await self._disconnect()

    async def _disconnect(self) -> None:
        running, self._running, self._uplink = self._running, None, None
        if running is not None:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    def _tell(self, status: UplinkStatus) -> None:
        if status.state != "connecting":
            self._decided.set()
