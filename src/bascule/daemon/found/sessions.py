"""Found sessions: lists them, follows one while it is viewed, queues messages for it, continues it here."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from bascule.daemon.found.feedback import Feedback
from bascule.daemon.found.known_sessions import KnownSession, command_for
from bascule.daemon.found.scan import Scan
from bascule.daemon.handlers import Handlers, widens_nothing
from bascule.link.found import (
    MAX_LISTED,
    AwaitFeedback,
    Followed,
    FollowFound,
    FoundHit,
    FoundHits,
    FoundList,
    ListFound,
    Looking,
    OpenTerminal,
    SearchFound,
    TakeFeedback,
)
from bascule.model.codec import timestamp
from bascule.model.commands import (
    Actor,
    Command,
    Done,
    Envelope,
    LiveCommand,
    PromptPlaced,
    QueueChange,
    SendPrompt,
)
from bascule.model.errors import BasculeError, InvalidInput, LimitReached, SessionOver
from bascule.model.events import AnyEvent, Note
from bascule.session.queueing import check_prompt, check_room, queue_changes, queued
from bascule.session.supervisor import new_id
from bascule.store.base import AuditRecord, Batch, ResumePoint, StoredReply
from bascule.store.protocols import DaemonStore

log = logging.getLogger(__name__)

FRESH_SECONDS = 2.0  # asked again so soon, the last look is good enough
FOLLOW_SECONDS = 30.0
STEP_SECONDS = 0.5
WAIT_SECONDS = 25.0

NOT_HERE = "This session was begun outside Bascule. Continue it here first."


class OpenInTerminal(InvalidInput):
    """The conversation is open in a terminal: two programs must not continue it at the same time."""

    code = "OPEN_IN_TERMINAL"


class FoundSessions:
    def __init__(
        self,
        store: DaemonStore,
        scan: Scan,
        turn: asyncio.Lock,
        prompt_chars: Callable[[], int],
        go_on: Callable[[str, Actor], Awaitable[None]],
        clock: Callable[[], float],
        steady: Callable[[], float],
    ) -> None:
        self._store = store
        self._scan = scan
        self._turn = turn
        self._prompt_chars = prompt_chars
        self._go_on = go_on
        self._clock = clock
        self._steady = steady
        self._looked_at = float("-inf")
        self._looking: asyncio.Task[None] | None = None
        self._following: asyncio.Task[None] | None = None
        self._until: dict[str, float] = {}
        self._moved: dict[str, str] = {}  # sessions that had to be read anew: the id they had, and have
        self._feedback = Feedback(store, scan, turn, self._watch, clock, steady)
        self._refused: set[str] = set()  # whose waiting messages could not be sent; a person has to look

    async def open(self) -> None:
        """Messages that waited for a terminal when we were last here still do."""
        await self._scan.load()
        self._feedback.open()
        if any(one.record.queued for one in self._scan.known):
            self._follow()

    async def close(self) -> None:
        tasks = [one for one in (self._looking, self._following) if one is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Looking

    def register(self, handlers: Handlers) -> None:
        handlers.add(ListFound, self._list, widens=widens_nothing)
        handlers.add(SearchFound, self._search, reads=True)
        handlers.add(FollowFound, self._follow_named, widens=widens_nothing)
        handlers.add(AwaitFeedback, self._feedback.news, reads=True)
        handlers.add(TakeFeedback, self._feedback.take, stores=True, widens=widens_nothing)

    async def _list(self, envelope: Envelope[ListFound]) -> FoundList:
        command = envelope.command
        await self._scan.load()
        if self._looking is None and self._steady() - self._looked_at >= FRESH_SECONDS:
            self._looking = asyncio.create_task(self._look(), name="look for found sessions")
        elif self._looking is None:
            await self._scan.look_at_terminals()
        if command.wait and self._looking is not None:
            await asyncio.wait([self._looking], timeout=WAIT_SECONDS)
        elif self._looking is not None:
            await asyncio.sleep(0)
        known, limit = self._scan.known, max(0, min(command.limit, MAX_LISTED))
        looking = self._scan.looking if self._looking is None else self._running()
        terminals = self._feedback.mark_all(self._scan.terminals)
        return FoundList(known.listed(terminals, self._scan.commands, limit), len(known), looking)

    async def _search(self, envelope: Envelope[SearchFound]) -> FoundHits:
        command = envelope.command
        result = await self._store.search(command.q, limit=command.limit, only_found=True)
        hits = [
            FoundHit(
                hit.session_id, hit.title, hit.first_seq, list(hit.snippet), hit.at, hit.kind, hit.archived
            )
            for hit in result.hits
        ]
        return FoundHits(hits=hits, owed=result.owed)

    def _running(self) -> Looking:
        now = self._scan.looking
        return now if now.running else Looking(True, 0, 0)

    async def _look(self) -> None:
        try:
            await self._scan.run()
        except BasculeError as error:
            log.warning("the look for found sessions stopped: %s", error.message)
        finally:
            self._looked_at = self._steady()
            self._looking = None

    # Following

    async def _follow_named(self, envelope: Envelope[FollowFound]) -> Followed:
        named = envelope.command.session_id
        session_id = self._moved.get(named, named)
        shown = self._scan.known.get(session_id)
        if shown is None:
            return Followed(session_id, None)
        self._watch(session_id)
        terminal = self._scan.terminal_of(shown)
        marked = self._feedback.marked(shown.conversation, terminal) if terminal else None
        return Followed(session_id, marked, command_for(shown, self._scan.commands))

    def terminal_of(self, session_id: str) -> OpenTerminal | None:
        """The one that it is open in, as of the last look."""
        shown = self._scan.known.get(self._moved.get(session_id, session_id))
        return None if shown is None else self._scan.terminal_of(shown)

    def _watch(self, session_id: str) -> None:
        self._until[session_id] = self._steady() + FOLLOW_SECONDS
        self._follow()

    def _follow(self) -> None:
        if self._following is None or self._following.done():
            self._following = asyncio.create_task(self._run(), name="follow found sessions")

    async def _run(self) -> None:
        """Runs while a session is viewed, or while a message waits for its terminal to close."""
        while wanted := self._wanted():
            began = self._steady()
            await self._scan.look_at_terminals()
            for shown in wanted:
                await self._step(shown)
            # A long history takes long to read again; looking at it must not become all we do.
            await asyncio.sleep(max(STEP_SECONDS, 4 * (self._steady() - began)))

    def _wanted(self) -> list[KnownSession]:
        now = self._steady()
        self._until = {one: until for one, until in self._until.items() if until > now}
        known = self._scan.known
        return [one for one in known if one.record.session_id in self._until or self._waits(one)]

    def _waits(self, shown: KnownSession) -> bool:
        return shown.record.queued > 0 and shown.record.session_id not in self._refused

    async def _step(self, shown: KnownSession) -> None:
        session_id = shown.record.session_id
        try:
            await self._scan.again(shown)
        except BasculeError as error:
            log.warning("a found session can't be followed: %s", error.message)
            return
        now = self._scan.known.kept_at(shown.noted.key)
        if now is not None and now.record.session_id != session_id:
            self._moved[session_id] = now.record.session_id
            if session_id in self._until:
                self._until[now.record.session_id] = self._until.pop(session_id)
        if now is not None and self._waits(now) and self._scan.terminal_of(now) is None:
            await self._deliver(now)

    async def _deliver(self, shown: KnownSession) -> None:
        """Its terminal is gone: what people wrote meanwhile is sent by continuing the session here."""
        session_id = shown.record.session_id
        point = await self._store.resume_point(session_id)
        if point is None or not point.pending.queue:
            return
        try:
            await self._go_on(session_id, Actor(point.pending.queue[0].by))
        except BasculeError as error:
            self._refused.add(session_id)
            text = (
                f"What waits here could not be sent: {error.message} Continue the session here to try again."
            )
            await self._log(session_id, [Note("not_continued", text, "warning")])

    # Messages

    def has(self, session_id: str) -> bool:
        return self._scan.known.get(session_id) is not None

    async def carry_out(self, envelope: Envelope[LiveCommand]) -> Done:
        """The commands allowed while a session is open in a terminal: queue a message for later."""
        command = envelope.command
        shown = self._scan.known.get(command.session_id)
        if shown is None or not isinstance(command, SendPrompt | QueueChange):
            raise SessionOver(NOT_HERE)
        await self._scan.look_at_terminals()
        async with self._turn:
            point = await self._store.resume_point(command.session_id)
            if point is None or not point.record.found:
                raise SessionOver(NOT_HERE)
            if isinstance(command, SendPrompt):
                answer = await self._queue(command, envelope, point, shown)
            else:
                changes = queue_changes(command, point.pending, envelope.by.name, self._prompt_chars())
                await self._append(point, changes)
                answer = Done()
        self._refused.discard(command.session_id)
        self._follow()
        return answer

    async def _queue(
        self, command: SendPrompt, envelope: Envelope[Command[Any]], point: ResumePoint, shown: KnownSession
    ) -> PromptPlaced:
        check_prompt(command.text, command.images, self._prompt_chars())
        if self._scan.terminal_of(shown) is None:
            raise SessionOver(NOT_HERE)
        check_room(point.pending, command)
        placed = PromptPlaced(prompt_id=new_id(), state="queued")
        said = f"{len(command.text)} characters, to be sent when its terminal is done"
        await self._append(
            point,
            [queued(placed.prompt_id, command, envelope.by.name)],
            audit=[AuditRecord.of(envelope.by, "input", command.session_id, said)],
            reply=StoredReply.to(envelope, placed),
        )
        return placed

    async def _log(self, session_id: str, events: list[AnyEvent]) -> None:
        async with self._turn:
            point = await self._store.resume_point(session_id)
            if point is not None and point.record.found:
                await self._append(point, events)

    async def _append(
        self,
        point: ResumePoint,
        events: list[AnyEvent],
        *,
        audit: list[AuditRecord] | None = None,
        reply: StoredReply | None = None,
    ) -> None:
        # A message that waits is newer than the conversation; the session itself did not move by it.
        at = max(timestamp(self._clock()), point.record.updated_at)
        record = point.record
        batch = Batch(
            record.session_id, record.seq + 1, at, events, audit=audit or [], reply=reply, sync=True
        )
        await self._store.append(batch)

    # Continuing

    async def release(self, session_id: str) -> None:
        """Called before the session is continued here. Raises while it is open in a terminal."""
        shown = self._scan.known.get(session_id)
        if shown is None:
            return
        await self._scan.look_at_terminals()
        terminal = self._scan.terminal_of(shown)
        if terminal is not None:
            raise OpenInTerminal(
                f"This session is open in a terminal (process {terminal.pid}). Close it there, then continue "
                "here. A message you send now waits until then.",
                pid=terminal.pid,
            )
        said_at = datetime.fromisoformat(shown.record.updated_at).timestamp()
        rest = self._scan.rests.get(shown.record.agent, 0)
        wait = round(said_at + rest - self._clock())
        # A file may claim any time: one that is yet to come is no reason to wait.
        if 0 < wait <= rest:
            raise LimitReached(
                f"Its agent can't take up a session so soon after its last words. Try again in {wait} s.",
                retry_after=wait,
            )
