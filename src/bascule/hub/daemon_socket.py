"""The socket of a machine that has joined: frames from its daemon to the switchboard, and back."""

import asyncio
import logging
from collections.abc import Coroutine
from functools import partial

from bascule.api.pushes import ServerRestored
from bascule.hub.calls.call import AnyCall
from bascule.hub.devices.audit_inflow import AuditInflow
from bascule.hub.devices.inflow import Inflow
from bascule.hub.devices.link_tapes import LinkTapes
from bascule.hub.devices.mirror import FROM_TAPE
from bascule.hub.door.open_streams import Ending
from bascule.hub.door.roles import Forbidden
from bascule.hub.live.restored import restored_view
from bascule.hub.wire.intake import header
from bascule.hub.wire.ws_protocol import BoundedSocket, binary_frame, text_frame
from bascule.link.frames import (
    AnyFrame,
    AuditOutput,
    DaemonConnected,
    HubRestored,
    LineRefused,
    SessionDiverged,
    SessionForgotten,
    SessionHead,
    SessionOutput,
    Watching,
    Welcome,
)
from bascule.link.line import Line
from bascule.link.pace import Pace
from bascule.link.priorities import Priority
from bascule.link.unsent import keep_little_unsent
from bascule.link.wire import AHEAD, CLIENT_ID, MAX_FRAME, SUBPROTOCOL, LineError, Received, UnknownFrame
from bascule.link.wire_names import UnknownAsk
from bascule.model.errors import StorageFailed

log = logging.getLogger("bascule.hub")

BROKE_THE_RULES = 4002
CLOSED = 4000
WATCH_SECONDS = 0.05
STORE_SECONDS = 1.0  # until a machine tries again, while its hub's database is away
MAX_WATCHED = 1000


class DaemonSocket:
    """One connection of one machine. Whatever it says of itself, it is the machine that its grant names."""

    def __init__(self, call: AnyCall, device: str) -> None:
        self._hub, self._call, self._device = call.hub, call, device
        self._connection: BoundedSocket = call.scope["bascule.connection"]
        self._line = Line("hub", deflated=False, pace=Pace(call.hub.steady))
        self._more = asyncio.Event()
        self._store = call.hub.store
        self._their_store = ""
        self._inflow: Inflow | None = None
        self._is_watching = False
        self._audit: AuditInflow | None = None
        self._work: set[asyncio.Task[None]] = set()
        self._tapes = call.hub.link_tapes.setdefault(device, LinkTapes())
        self._device_line = call.hub.switchboard.attach(self._send, self._tapes, self._close)

    async def run(self) -> None:
        await self._call.receive()
        await self._call.send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL})
        self._connection.stop_keepalive()  # any byte is a sign of life, and the switchboard asks for one
        keep_little_unsent(self._connection.transport)
        leave = self._hub.open_streams.enter(self._call.holder, self._end)
        unwatch = self._hub.feed.on_watched(self._watch_soon)
        self._spawn(self._write(), f"line to {self._device}")
        try:
            await self._listen()
        finally:
            leave()
            unwatch()
            self._connection.take = None
            self._tapes.disconnected(self)
            self._device_line.closed()
            for task in self._work:
                task.cancel()
            await asyncio.gather(*self._work, return_exceptions=True)
            if self._inflow is not None:
                await self._inflow.stop()
            if self._audit is not None:
                await self._audit.stop()

    def _spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    # In

    async def _listen(self) -> None:
        self._connection.take = self._take
        while (message := await self._call.receive())["type"] == "websocket.receive":
            text = message.get("text")
            self._take((message.get("bytes") or b"") if text is None else text)

    def _take(self, message: str | bytes) -> bool:
        self._device_line.alive()
        try:
            for frame in self._line.receive(message):
                self._hear(frame)
            if any(self._line.waiting):
                self._more.set()
        except LineError as error:
            log.warning("machine %s: %s", self._device, error.message)
            self._connection.end(BROKE_THE_RULES, error.code)
        return True

    def _hear(self, frame: Received) -> None:
        match frame:
            case DaemonConnected():
                self._spawn(self._greet(frame), f"hello of {self._device}")
            case SessionOutput() | SessionHead() | SessionDiverged() | SessionForgotten():
                if self._inflow is not None:
                    self._inflow.receive(frame)
            case AuditOutput():
                if self._audit is not None:
                    self._audit.receive(frame)
            case HubRestored(rows=rows):
                if self._inflow is not None and rows > 0:
                    self._spawn(self._restored(rows), f"restore noticed by {self._device}")
            case UnknownFrame() | UnknownAsk():
                self._device_line.ignore(frame.type)
            case _ if isinstance(frame, FROM_TAPE):
                self._tapes.receive(frame)
            case _:
                self._device_line.receive(frame)

    async def _greet(self, hello: DaemonConnected) -> None:
        if hello.device != self._device:
            words = "This token belongs to another machine. Pair this one: bascule daemon join"
            self._device_line.refuse(LineRefused("WRONG_DEVICE", words, retry=600))
            return
        self._their_store = hello.store
        try:
            self._device_line.rows = await self._store.rows_of(self._device)
            if self._hub.cluster is not None:
                self._device_line.epoch = await self._hub.cluster.greeted(self._device)
        except StorageFailed as error:
            self._device_line.refuse(LineRefused("STORAGE_FAILED", error.message, retry=STORE_SECONDS))
            return
        self._device_line.receive(hello)

    def _welcomed(self) -> None:
        """Its hello was accepted: from now on its terminals are shown and its logs copied."""
        self._tapes.connected(self)
        if self._their_store == self._hub.store.link_name:
            return
        self._inflow = inflow = Inflow(
            self._store,
            self._device,
            self._say,
            self._device_line.end,
            set_aside=self._set_aside,
            skew=partial(self._hub.switchboard.skew, self._device),
        )
        line = self._device_line
        line.copied, line.catches_up, line.fetch = inflow.waits_for, inflow.catches_up, inflow.fetch
        self._watch_soon()
        self._spawn(inflow.start(), f"resume {self._device}")
        self._audit = AuditInflow(self._store, self._device, self._send, self._device_line.end)
        self._spawn(self._audit.start(), f"resume the audit of {self._device}")

    async def _restored(self, rows: int) -> None:
        """It has more of its logs acknowledged than we hold: our database is an older copy."""
        log.warning(
            "%s sends %d rows again that this hub had: its database is an older copy", self._device, rows
        )
        try:
            is_new = await self._hub.restores.sent_again(self._device, rows)
        except StorageFailed as error:
            log.warning("that is not in the audit log: %s", error.message)
            is_new = True
        if is_new:
            self._hub.push(ServerRestored(restored=restored_view(self._hub)))

    def _watch_soon(self) -> None:
        """Sessions that people view are sent before the rest; several new viewers make one message."""
        if self._inflow is not None and not self._is_watching:
            self._is_watching = True
            asyncio.get_running_loop().call_later(WATCH_SECONDS, self._watch)

    def _watch(self) -> None:
        self._is_watching = False
        if not self._connection.gone:
            self._send(Watching(tuple(self._hub.feed.watched()[:MAX_WATCHED])))

    def _set_aside(self, session_id: str, aside: str | None) -> None:
        """The log was begun again: who reads it has positions that mean nothing any more."""
        log.warning("the log of session %s on %s was replaced; its copy is kept", session_id, self._device)
        self._hub.switchboard.spawn(self._hub.feed.begun_again(session_id), f"begin {session_id} again")
        if self._hub.cluster is not None:
            self._hub.cluster.replaced(session_id)

    # Out

    def _send(self, frame: AnyFrame, priority: Priority | None = None) -> None:
        self._line.send(frame, priority)
        self._more.set()
        if isinstance(frame, Welcome):
            self._welcomed()

    def send(self, frame: AnyFrame) -> None:
        self._send(frame)

    def _say(self, frame: AnyFrame, priority: int) -> None:
        self._send(frame, Priority(priority))

    async def _write(self) -> None:
        while not self._connection.gone:
            await self._more.wait()
            self._more.clear()
            while messages := self._line.take(AHEAD):
                self._hand_over(messages)
                await self._connection.ready()

    def _close(self, why: str) -> None:
        """After what was said last, a refusal perhaps."""
        self._hand_over(self._line.take(MAX_FRAME))
        self._connection.end(CLOSED, why[:120])

    def _hand_over(self, messages: list[bytes | str]) -> None:
        for message in messages:
            is_text = isinstance(message, str)
            self._connection.write_frame(text_frame(message.encode()) if is_text else binary_frame(message))

    def _end(self, ending: Ending) -> None:
        self._connection.end(1012 if ending is Ending.SHUTDOWN else 1008, ending.value)


async def connect(call: AnyCall) -> None:
    named = header(call.scope["headers"], CLIENT_ID.lower().encode())
    device = call.holder.device
    if device is None or named != device:
        raise Forbidden("X-Bascule-Client-ID is not the machine that this token was made for.")
    if not any(one == SUBPROTOCOL for one in call.scope.get("subprotocols", ())):
        raise Forbidden(f"Speak the subprotocol {SUBPROTOCOL}.")
    await DaemonSocket(call, device).run()
