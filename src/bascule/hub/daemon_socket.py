"""The socket of a machine that has joined: frames from its daemon to the switchboard, and back."""

import asyncio
import contextlib
import logging
import socket

from bascule.hub.api.call import AnyCall
from bascule.hub.api.intake import header
from bascule.hub.api.operation import Operation
from bascule.hub.door.open_streams import Ending
from bascule.hub.door.roles import Forbidden
from bascule.hub.wire.ws_protocol import BoundedSocket, binary_frame, text_frame
from bascule.link.frames import AnyFrame, DaemonConnected, LineRefused, Ping, Pong
from bascule.link.line import Line
from bascule.link.liveness import ClockOffset, Liveness
from bascule.link.priorities import Priority
from bascule.link.wire import SUBPROTOCOL, LineError, UnknownFrame

log = logging.getLogger("bascule.hub")

CLIENT_ID = b"x-bascule-client-id"
AHEAD = 64 * 1024  # bytes that wait in the socket: what is urgent is never far behind them
BROKE_THE_RULES = 4002


class DaemonSocket:
    """One connection of one machine. Whatever it says of itself, it is the machine that its grant names."""

    def __init__(self, call: AnyCall, device: str) -> None:
        self._hub, self._call, self._device = call.hub, call, device
        self._connection: BoundedSocket = call.scope["bascule.connection"]
        self._line = Line("hub", deflated=False)
        self._liveness = Liveness(call.hub.steady())
        self._offset = ClockOffset()
        self._more = asyncio.Event()
        self._device_line = self._hub.switchboard.attach(self._send)

    async def run(self) -> None:
        await self._call.receive()
        await self._call.send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL})
        self._connection.stop_keepalive()  # any byte is a sign of life, and the line asks for one itself
        self._keep_little_unsent()
        leave = self._hub.open_streams.enter(self._call.holder, self._end)
        work = [
            asyncio.create_task(self._write(), name=f"line to {self._device}"),
            asyncio.create_task(self._watch(), name=f"watch of {self._device}"),
        ]
        try:
            await self._listen()
        finally:
            leave()
            self._connection.take = None
            for task in work:
                task.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            self._device_line.closed()

    # In

    async def _listen(self) -> None:
        self._connection.take = self._take
        while (message := await self._call.receive())["type"] == "websocket.receive":
            text = message.get("text")
            self._take((message.get("bytes") or b"") if text is None else text)

    def _take(self, message: str | bytes) -> bool:
        self._liveness.heard(self._hub.steady())
        try:
            for frame in self._line.receive(message):
                self._hear(frame)
        except LineError as error:
            log.warning("machine %s: %s", self._device, error.message)
            self._connection.end(BROKE_THE_RULES, error.code)
        return True

    def _hear(self, frame: object) -> None:
        match frame:
            case DaemonConnected() if frame.device != self._device:
                words = "This token belongs to another machine. Pair this one: bascule daemon join"
                self._refuse(LineRefused("WRONG_DEVICE", words, retry=600))
            case Ping():
                self._send(Pong(frame.n, frame.clock, self._hub.clock()))
            case Pong():
                self._offset.add(frame.pinged, frame.clock, self._hub.clock())
            case UnknownFrame():
                log.info("machine %s sent %s, which this version does not know", self._device, frame.type)
            case _:
                self._device_line.receive(frame)  # type: ignore[arg-type]

    # Out

    def _send(self, frame: AnyFrame, priority: Priority | None = None) -> None:
        self._line.send(frame, priority)
        self._more.set()

    async def _write(self) -> None:
        while not self._connection.gone:
            await self._more.wait()
            self._more.clear()
            while messages := self._line.take(AHEAD):
                for message in messages:
                    frame = (
                        text_frame(message.encode()) if isinstance(message, str) else binary_frame(message)
                    )
                    self._connection.write_frame(frame)
                while self._connection.unsent > AHEAD and not self._connection.gone:
                    await self._connection.ready()
            if self._line.refused is not None:
                self._connection.end(1008, self._line.refused.code)

    def _refuse(self, refused: LineRefused) -> None:
        self._send(refused)

    async def _watch(self) -> None:
        while True:
            look = self._liveness.look(self._hub.steady())
            if look.state == "dead":
                log.info("machine %s has not been heard for 30 seconds", self._device)
                self._connection.abort()
                return
            if look.ping is not None:
                self._send(Ping(look.ping, self._hub.clock()))
            await asyncio.sleep(max(0.0, look.again - self._hub.steady()))

    def _end(self, ending: Ending) -> None:
        self._connection.end(1012 if ending is Ending.SHUTDOWN else 1008, ending.value)

    def _keep_little_unsent(self) -> None:
        option = getattr(socket, "TCP_NOTSENT_LOWAT", 25)
        with contextlib.suppress(OSError, AttributeError):
            self._connection.transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, option, AHEAD)


async def connect_daemon(call: AnyCall) -> None:
    named = header(call.scope["headers"], CLIENT_ID)
    device = call.holder.device
    if device is None or named != device:
        raise Forbidden("X-Bascule-Client-ID is not the machine that this token was made for.")
    if not any(one == SUBPROTOCOL for one in call.scope.get("subprotocols", ())):
        raise Forbidden(f"Speak the subprotocol {SUBPROTOCOL}.")
    await DaemonSocket(call, device).run()


OPERATIONS = (
    Operation(
        method="WS",
        path="/ws/daemon",
        need="daemon",
        run=connect_daemon,
        summary="WebSocket of a machine that has joined",
        described=False,
    ),
)
