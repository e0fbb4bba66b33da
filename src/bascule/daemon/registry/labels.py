"""Labels: what the keeper stores with each process, to recover its session without the database.

A label holds how each session on the process was started and, once its agent is ready, the driver's state at
that moment: enough to begin a log again from the spool.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine

import msgspec
from msgspec import Struct

from bascule.daemon.processes.keeper_process import KeeperLink
from bascule.daemon.registry.live_sessions import process_name
from bascule.model.errors import HostError
from bascule.model.events import SessionStarted
from bascule.model.lifecycle import LIVE
from bascule.model.records import SessionRecord
from bascule.session.agent import SpawnPlan
from bascule.session.live import LiveSession
from bascule.session.supervisor import Supervisor
from bascule.store.base import Committed
from bascule.transport.errors import KeeperError, KeeperGone

log = logging.getLogger(__name__)

MAX_BYTES = 400 * 1024
CLOSING_SECONDS = 2.0  # that a label under way has when the server stops


class Labelled(Struct, omit_defaults=True):
    """One session on the process. `state` is the driver's state after `out` bytes of output."""

    started: SessionStarted
    title: str = ""
    agent_session_id: str | None = None
    model: str | None = None
    state: bytes | None = None
    out: int = 0


class Label(Struct, omit_defaults=True):
    sessions: dict[str, Labelled] = {}

    def encoded(self) -> str:
        return msgspec.json.encode(self).decode()


def decode_label(text: str) -> Label:
    """An empty label if the text is empty or of an earlier version."""
    try:
        return msgspec.json.decode(text, type=Label) if text else Label()
    except msgspec.DecodeError:
        return Label()


def with_label(plan: SpawnPlan, session_id: str, started: SessionStarted) -> SpawnPlan:
    label = Label({session_id: Labelled(started)})
    return msgspec.structs.replace(plan, label=label.encoded())


class Labels:
    """Updates a session's label once per run, when its agent is ready."""

    def __init__(
        self,
        keeper: KeeperLink,
        live: Callable[[str], LiveSession | None],
        started: Callable[[SessionRecord], Awaitable[SessionStarted]],
    ) -> None:
        self._keeper = keeper
        self._live = live
        self._started = started
        self._done: set[tuple[str, int]] = set()
        self._turn = asyncio.Lock()  # two sessions of one process must not write over each other
        self._tasks: set[asyncio.Task[None]] = set()

    def committed(self, committed: Committed) -> None:
        record = committed.record
        run = (record.session_id, record.started_seq)
        if record.phase not in LIVE:
            if run in self._done and record.process:
                self._do(self._remove(record))  # others may go on with the process
            self._done.discard(run)
        elif record.agent_session_id is not None and run not in self._done:
            live = self._live(record.session_id)
            if isinstance(live, Supervisor) and live.ledger.record.started_seq == record.started_seq:
                self._done.add(run)
                self._do(self._write(live, record))

    def _do(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name="label")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Finish what is under way: nobody writes the label of a database that is lost meanwhile."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSING_SECONDS)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _write(self, live: Supervisor, record: SessionRecord) -> None:
        started = await self._started(record)
        out, state = live.place_and_state()
        known = Labelled(started, record.title, record.agent_session_id, record.model, state, out)
        await self._change(record, lambda sessions: sessions.update({record.session_id: known}))

    async def _remove(self, record: SessionRecord) -> None:
        await self._change(record, lambda sessions: sessions.pop(record.session_id, None))

    async def _change(self, record: SessionRecord, change: Callable[[dict[str, Labelled]], object]) -> None:
        name = process_name(record)
        try:
            async with self._turn:
                connection = self._keeper.get()
                label = decode_label((await connection.about(name)).label)
                change(label.sessions)
                text = label.encoded()
                if len(text) <= MAX_BYTES:
                    await connection.label(name, text)
        except (KeeperError, KeeperGone, HostError) as error:
            # It has ended, or the keeper is away: the label of its start stays.
            log.debug("no label for %s: %s", name, error)
