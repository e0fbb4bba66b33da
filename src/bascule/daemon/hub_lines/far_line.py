"""One connection to a hub with a store of its own: commands, terminals, copies of our logs and our audit."""

import asyncio
import logging
from collections.abc import Callable

from bascule.daemon.host import Host
from bascule.daemon.hub_lines.audit_outflow import AuditOutflow
from bascule.daemon.hub_lines.outflow import Outflow
from bascule.daemon.hub_lines.uplink import Send
from bascule.daemon.terminals.tape_streams import TAPE_FRAMES, TapeStreams
from bascule.link.frames import Ack, AnyFrame, AuditHeld, Fetch, HubRestored, Resume, Watching, Welcome
from bascule.link.priorities import Priority
from bascule.link.tape import Tapes
from bascule.model.errors import StorageFailed
from bascule.store.base import AuditRecord
from bascule.store.replication import SourceStore

log = logging.getLogger(__name__)

RESTORED = "The hub {name} was restored from an older copy: {rows:,} rows that it had are sent again."


class FarLine:
    """`close` ends the connection, and says why."""

    def __init__(
        self, host: Host, store: SourceStore, tapes: Tapes, send: Send, close: Callable[[str], None]
    ) -> None:
        self._store, self._send, self._close = store, send, close
        self._streams = TapeStreams(tapes, send, lambda: self._host.via)
        self._outflow = Outflow(store, lambda frame, priority: send(frame, Priority(priority)), close)
        self._audit = AuditOutflow(store, send, close)
        self._starting: asyncio.Task[None] | None = None
        self._flowing = False  # the outflow has begun
        self._early: list[Resume | Ack | Watching | Fetch] = []  # that came before
        self._host = host.attach(send, far=True)

    def receive(self, frame: AnyFrame) -> None:
        match frame:
            case Welcome():
                self._host.receive(frame)
                self._starting = asyncio.create_task(self._start(frame), name="outflow start")
            case Resume() | Ack() | Watching() | Fetch():
                if self._flowing:
                    self._outflow.receive(frame)
                else:
                    self._early.append(frame)
            case AuditHeld():
                self._audit.receive(frame)
            case _ if isinstance(frame, TAPE_FRAMES):
                self._streams.receive(frame)
            case _:
                self._host.receive(frame)

    async def _start(self, welcome: Welcome) -> None:
        """Once there is room on this machine's disk: what is sent must be on it. Commands need not wait."""
        await self._store.writable()
        try:
            await self._begin(welcome)
        except StorageFailed as error:
            self._close(error.message)  # it is tried again with the next connection

    async def _begin(self, welcome: Welcome) -> None:
        lost = await self._outflow.start(welcome)
        if lost:
            words = RESTORED.format(name=welcome.name or welcome.hub, rows=lost)
            log.warning("%s", words)
            await self._store.audit([AuditRecord("restored", "this machine", detail=words, via=welcome.name)])
            self._send(HubRestored(lost))
        self._flowing = True
        for frame in self._early:
            self._outflow.receive(frame)
        self._early.clear()
        await self._audit.start(welcome)

    async def closed(self) -> None:
        self._host.closed()
        self._streams.close()
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        await self._audit.close()
        await self._outflow.close()
