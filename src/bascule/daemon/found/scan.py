"""Scans the agents' conversation files for new, changed and deleted ones, and updates the store."""

import asyncio
import logging
from collections.abc import Callable

from bascule.daemon.found.history_import import (
    READER,
    Noted,
    Writing,
    decode_noted,
    session_id_of,
    still_stands,
)
from bascule.daemon.found.kept import Cabinet, KeptConversation
from bascule.daemon.found.known_sessions import FoundCatalogue, KnownSession
from bascule.daemon.found.open_terminals import open_terminals, process_lives
from bascule.drivers.history.builder import History
from bascule.link.found import Looking, OpenTerminal
from bascule.model.errors import BasculeError
from bascule.model.events import AnyEvent, ArchivedChanged, PromptQueued, TitleChanged
from bascule.store.base import Batch, ResumePoint
from bascule.store.protocols import DaemonStore

log = logging.getLogger(__name__)

RECENT_SECONDS = 60.0  # a file that changed so lately may still be written to
STEPS_AT_ONCE = 256  # on their way to the store; live sessions must not wait behind a whole history

Terminals = dict[tuple[str, str], OpenTerminal]


class Scan:
    """One scan at a time. `turn` locks writes to a found session, which others write to as well."""

    def __init__(
        self,
        store: DaemonStore,
        cabinets: list[Cabinet],
        home: str,
        own: tuple[str, ...],
        device: str,
        turn: asyncio.Lock,
        clock: Callable[[], float],
        alive: Callable[[int, str | None], bool] = process_lives,
    ) -> None:
        self.known = FoundCatalogue()
        self.looking = Looking(False, 0, 0)
        self.terminals: Terminals = {}
        self.rests = {cabinet.place.agent: cabinet.place.rest_seconds for cabinet in cabinets}
        self.commands = {
            cabinet.place.agent: cabinet.place.command for cabinet in cabinets if cabinet.place.command
        }
        self._store = store
        self._cabinets = cabinets
        self._home = home
        self._own = own
        self._device = device
        self._turn = turn
        self._clock = clock
        self._alive = alive
        self._loaded = False
        # One reads at a time: who read earlier must not write later.
        self._reading = asyncio.Lock()

    async def load(self) -> None:
        """Loads the results of earlier scans from the store."""
        if not self._loaded:
            self._loaded = True
            self._store.listen(self.known.committed)
            self.known.load(await self._store.found())

    async def run(self) -> None:
        """Look everywhere once. Progress is in `looking`."""
        await self.load()
        self.looking = Looking(True, 0, 0)
        problems = 0
        try:
            await self.look_at_terminals()
            ours = await self._ours()
            changed: list[KeptConversation] = []
            for cabinet in self._cabinets:
                kept = await self._look(cabinet)
                if kept is None:
                    problems += 1
                    continue
                await self._forget_gone(cabinet, kept, ours)
                changed += [one for one in kept if self._differs(one)]
            changed.sort(key=lambda one: one.modified, reverse=True)
            for done, one in enumerate(changed):
                self.looking = Looking(True, done, len(changed), problems)
                problems += not await self.take(one, ours)
        finally:
            total = self.looking.total
            self.looking = Looking(False, total, total, problems)

    async def look_at_terminals(self) -> None:
        found: Terminals = {}
        for cabinet in self._cabinets:
            if cabinet.place.live:
                open_now = await asyncio.to_thread(
                    open_terminals, self._home, self._own, cabinet.place.live, self._alive
                )
                found |= {(cabinet.place.agent, one): terminal for one, terminal in open_now.items()}
        self.terminals = found

    async def again(self, shown: KnownSession) -> None:
        """Look at one session: read on when it changed, or when its terminal came or went."""
        for cabinet in self._cabinets:
            if not shown.noted.key.startswith(f"{cabinet.place.agent}:"):
                continue
            kept = KeptConversation(shown.noted.key, cabinet.place.agent, "", 0.0, History)
            now = await asyncio.to_thread(cabinet.again, kept)
            if now is not None and self._differs(now):
                await self.take(now, await self._ours())

    async def take(self, kept: KeptConversation, ours: set[tuple[str, str]]) -> bool:
        """Read one conversation and write down what is new in it. False when it can't be read."""
        async with self._reading:
            return await self._take(kept, ours)

    async def _take(self, kept: KeptConversation, ours: set[tuple[str, str]]) -> bool:
        try:
            history = await asyncio.to_thread(kept.read)
        except (BasculeError, OSError) as error:
            log.info("a conversation can't be read: %s", error)
            self.known.nothing[kept.key] = kept.stamp
            return False
        async with self._turn:
            shown = self.known.kept_at(kept.key)
            if not self._is_one(kept, history, ours):
                self.known.nothing[kept.key] = kept.stamp
                await self._forget(shown)
                return True
            await self._write(kept, history, shown)
        return True

    def terminal_of(self, shown: KnownSession) -> OpenTerminal | None:
        return self.terminals.get(shown.conversation)

    def _is_one(self, kept: KeptConversation, history: History, ours: set[tuple[str, str]]) -> bool:
        """A conversation by itself, of a person, that is not listed as ours or from another file."""
        name = (kept.agent, history.agent_session_id)
        if history.aside or not history.messages or not history.agent_session_id or name in ours:
            return False
        return all(one.conversation != name or one.noted.key == kept.key for one in self.known)

    async def _write(self, kept: KeptConversation, history: History, shown: KnownSession | None) -> None:
        before = await self._store.resume_point(shown.record.session_id) if shown else None
        if before is not None and not before.record.found:
            return  # continued here in this very moment
        noted = (decode_noted(before.driver_state) if before else None) or Noted(kept.key, kept.stamp, READER)
        anew = before is not None and not still_stands(noted, history)
        if anew:
            noted = Noted(kept.key, kept.stamp, READER, generation=noted.generation + 1)
        noted.stamp = kept.stamp
        if before is None or anew:
            session_id = session_id_of(self._device, kept.agent, history.agent_session_id, noted.generation)
            seq = 0
        else:
            session_id, seq = before.record.session_id, before.record.seq
        writing = Writing(session_id, seq, self._device, kept.agent, noted)
        seq = await self._append(writing, history, self._is_live(kept, history.agent_session_id))
        if anew and before is not None and shown is not None:
            await self._carry_over(session_id, seq, before)
            await self._forget(shown)
        record = await self._store.session(session_id)
        if record is not None:
            self.known.put(KnownSession(record, writing.noted))

    async def _append(self, writing: Writing, history: History, live: bool) -> int:
        waiting: list[asyncio.Future[None]] = []
        seq = 0
        for step in writing.steps(history, live=live):
            waiting.append(self._store.append(step))
            seq = step.first_seq - 1 + len(step.events)
            if len(waiting) >= STEPS_AT_ONCE:
                await asyncio.gather(*waiting)
                waiting = []
        await asyncio.gather(*waiting)
        return seq

    async def _carry_over(self, session_id: str, seq: int, before: ResumePoint) -> None:
        """Logs again the changes people made to the session before its file was rewritten."""
        record = before.record
        events: list[AnyEvent] = []
        if record.titled:
            events.append(TitleChanged(record.title, "earlier"))
        if record.archived:
            events.append(ArchivedChanged(True, "earlier"))
        events += [
            PromptQueued(one.prompt_id, one.text, one.by, one.client_message_id, one.images)
            for one in before.pending.queue
        ]
        if events:
            await self._store.append(Batch(session_id, seq + 1, record.updated_at, events))

    async def _look(self, cabinet: Cabinet) -> list[KeptConversation] | None:
        try:
            return await asyncio.to_thread(cabinet.look)
        except (BasculeError, OSError) as error:
            log.info("the conversations of %s can't be listed: %s", cabinet.place.agent, error)
            return None

    def _differs(self, kept: KeptConversation) -> bool:
        if self.known.nothing.get(kept.key) == kept.stamp:
            return False
        shown = self.known.kept_at(kept.key)
        if shown is None or shown.noted.stamp != kept.stamp:
            return True
        return shown.noted.ended == self._is_live(kept, shown.record.agent_session_id or "")

    def _is_live(self, kept: KeptConversation, agent_session_id: str) -> bool:
        """Open in a terminal as far as its agent says so; of others, whether it is being written to."""
        if any(cabinet.place.live and cabinet.place.agent == kept.agent for cabinet in self._cabinets):
            return (kept.agent, agent_session_id) in self.terminals
        return self._clock() - kept.modified < RECENT_SECONDS

    async def _forget_gone(
        self, cabinet: Cabinet, kept: list[KeptConversation], ours: set[tuple[str, str]]
    ) -> None:
        keys = {one.key for one in kept}
        for shown in self.known:
            if shown.record.agent != cabinet.place.agent:
                continue
            if shown.noted.key not in keys or shown.conversation in ours:
                async with self._turn:
                    await self._forget(shown)

    async def _forget(self, shown: KnownSession | None) -> None:
        if shown is not None and self.known.get(shown.record.session_id) is shown:
            self.known.drop(shown)
            await self._store.forget(shown.record.session_id)

    async def _ours(self) -> set[tuple[str, str]]:
        """The conversations Bascule itself began or continues: they are in its list already."""
        return set(await self._store.conversations())
