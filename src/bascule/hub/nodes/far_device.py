"""A machine whose connection another node holds: the switchboard has a line that leads through that node."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING

from bascule.hub.devices.device_line import WENT_AWAY
from bascule.hub.devices.link_tapes import LinkTapes
from bascule.hub.devices.mirror import FROM_TAPE
from bascule.link.frames import (
    PROTOCOL,
    AnyFrame,
    DaemonConnected,
    Fetch,
    SessionForgotten,
    SessionHead,
    Welcome,
)
from bascule.link.line import Line
from bascule.link.wire import LineError, Received, UnknownFrame
from bascule.link.wire_names import UnknownAsk
from bascule.model.errors import DeviceOffline, SessionNotFound

if TYPE_CHECKING:
    from bascule.hub.services import Hub

log = logging.getLogger("bascule.hub")

FETCH_SECONDS = 20.0


class FarDevice:
    """`wrote` is called when there is something to send; `left` when this end is over."""

    def __init__(
        self, hub: "Hub", device: str, epoch: int, wrote: Callable[[], None], left: Callable[[], None]
    ) -> None:
        self.device, self.epoch = device, epoch
        self.line = Line("hub", deflated=False)
        self._hub, self._wrote, self._left = hub, wrote, left
        self._fetching: defaultdict[str, list[asyncio.Future[bool]]] = defaultdict(list)
        self._tapes = hub.link_tapes.setdefault(device, LinkTapes())
        self._ends = hub.switchboard.attach(self.send, self._tapes, self._closed)
        self._ends.far, self._ends.epoch, self._ends.fetch = True, epoch, self._fetch
        self.send(
            Welcome(
                protocol=PROTOCOL,
                hub="",
                name="",
                store=hub.store.link_name,
                epoch=epoch,
                clock=hub.clock(),
                window=0,
            )
        )

    def send(self, frame: AnyFrame) -> None:
        self.line.send(frame)
        self._wrote()

    def receive(self, message: bytes | str) -> None:
        try:
            for frame in self.line.receive(message):
                self._hear(frame)
        except LineError as error:
            log.warning("a neighbour's line to %s: %s", self.device, error.message)
            self.end()

    def _hear(self, frame: Received) -> None:
        match frame:
            case DaemonConnected():
                if self._hub.switchboard.take_far(self._ends, frame):
                    self._tapes.connected(self)
                else:
                    self.end()
            case SessionHead():
                self._fetched(frame.session_id, found=True)
            case SessionForgotten():
                self._fetched(frame.session_id, found=False)
            case UnknownFrame() | UnknownAsk():
                self._ends.ignore(frame.type)
            case _ if isinstance(frame, FROM_TAPE):
                self._ends.alive()
                self._tapes.receive(frame)
            case _:
                self._ends.receive(frame)

    def end(self) -> None:
        """Nothing leads there any more."""
        self._tapes.disconnected(self)
        self._ends.closed()
        self._fail()
        self._left()

    def _closed(self, why: str) -> None:
        """The switchboard ends it: it fell silent, or the machine came to us."""
        self._tapes.disconnected(self)
        self._fail()
        self._left()

    def _fail(self) -> None:
        for waiting in self._fetching.values():
            for promise in waiting:
                if not promise.done():
                    promise.set_exception(DeviceOffline(WENT_AWAY))

    # Found sessions

    async def _fetch(self, session_id: str) -> None:
        promise: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._fetching[session_id].append(promise)
        self.send(Fetch(session_id))
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                if not await promise:
                    raise SessionNotFound(session_id)
        except TimeoutError:
            raise DeviceOffline("The machine did not send this session in time; try again.") from None

    def _fetched(self, session_id: str, *, found: bool) -> None:
        for promise in self._fetching.pop(session_id, ()):
            if not promise.done():
                promise.set_result(found)
