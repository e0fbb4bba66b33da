"""The hub that this machine has joined: keeps its address and connection until the machine leaves."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from bascule.link.uplink import UplinkStatus, check_encrypted
from bascule.model.errors import AgentUnavailable, InvalidInput

if TYPE_CHECKING:
    from bascule.daemon.hub_lines.uplink import Attach, Uplink


class Notes(Protocol):
    """How the address is kept between two starts."""

    def write(self, url: str, token: str, may_widen: bool) -> None: ...
    def remove(self) -> None: ...


class JoinedHub:
    """All methods are called on the event loop. `steady` goes on while the machine sleeps."""

    def __init__(
        self,
        device: str,
        notes: Notes,
        clock: Callable[[], float],
        steady: Callable[[], float],
        may_widen: bool | None = None,
        *,
        insecure: bool = False,
    ) -> None:
        """`may_widen`: what the config file says of it; None when it says nothing. `insecure`: a hub
        elsewhere may be connected to without encryption."""
        self._insecure = insecure
        self._device, self._notes = device, notes
        self._configured = may_widen
        self._joined: tuple[str, str] | None = None  # address and token
        self._answered = False  # what the person here said of the hub that is joined
        self._widening_changed: Callable[[], None] = lambda: None
        self._clock, self._steady = clock, steady
        self._attach: Attach | None = None
        self._uplink: Uplink | None = None
        self._running: asyncio.Task[None] | None = None
        self._decided = asyncio.Event()

    def open(self, attach: "Attach", widening_changed: Callable[[], None]) -> None:
        """The daemon is there: `attach` gives a new connection its end in it, and hubs are to hear of
        `widening_changed`."""
        self._attach, self._widening_changed = attach, widening_changed

    @property
    def status(self) -> UplinkStatus:
        status = self._uplink.status if self._uplink is not None else UplinkStatus()
        return replace(status, may_widen=self.hub_may_widen)

    @property
    def hub_may_widen(self) -> bool:
        return self._answered if self._configured is None else self._configured

    def let_widen(self, may_widen: bool) -> None:
        if self._joined is None:
            raise InvalidInput("This machine has joined no hub.")
        if self._configured is not None and self._configured != may_widen:
            said = str(self._configured).lower()
            raise InvalidInput(
                f"The config file says `hub_may_widen = {said}` under [starts], and that decides. "
                "Change it there and restart the server, or remove it."
            )
        self._notes.write(*self._joined, may_widen)
        self._answered = may_widen
        self._widening_changed()

    def connect(self, url: str, token: str, *, may_widen: bool = False) -> None:
        """Keep connected to this hub from now on."""
        if self._attach is None:
            raise AgentUnavailable("This machine's sessions are still being taken up; try again.")
        from bascule.daemon.hub_lines.uplink import HubAddress, Uplink  # noqa: PLC0415 - slow to load: a WebSocket client

        self._joined, self._answered = (url, token), may_widen
        address = HubAddress(url, token, self._device, self._insecure)
        self._decided.clear()
        self._uplink = Uplink(address, self._attach, self._clock, self._steady, self._tell)
        self._running = asyncio.create_task(self._uplink.run(), name="uplink")

    async def join(self, url: str, token: str, *, may_widen: bool = False) -> None:
        check_encrypted(url, insecure=self._insecure)
        await self._disconnect()
        self._notes.write(url, token, may_widen)
        self.connect(url, token, may_widen=may_widen)

    async def leave(self) -> None:
        await self._disconnect()
        self._notes.remove()
        self._joined, self._answered = None, False

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
