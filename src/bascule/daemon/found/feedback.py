"""Delivers queued messages to an agent in a plain terminal: the agent's hook waits here and takes them.

Asking and taking are two steps, so that nothing is taken for a hook that is gone. What is taken is in the
log, on the disk, before its words are given away: at most once. The same hook may ask for its own again.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import msgspec
from msgspec import structs

from bascule.daemon.found.history_import import decode_noted
from bascule.daemon.found.known_sessions import KnownSession
from bascule.daemon.found.scan import Scan, Terminals
from bascule.drivers.history.hook_messages import HookMessage, format_hook_message
from bascule.link.found import AwaitFeedback, FeedbackNews, OpenTerminal, TakeFeedback, TakenFeedback
from bascule.model.codec import encode, timestamp
from bascule.model.commands import Envelope
from bascule.model.events import PromptQueued, PromptSent
from bascule.policy.visible import sanitize
from bascule.store.base import AuditRecord, Batch, Committed, ResumePoint, StoredReply
from bascule.store.protocols import DaemonStore

HOLD_SECONDS = 25.0  # a question is answered at the latest after this
STEP_SECONDS = 0.5
NOTE_SECONDS = 5.0  # an agent that has just begun may not have noted its terminal yet
LINGER_SECONDS = 10.0  # between two questions of the same hook
FLUSH_SECONDS = 0.15  # agents write their files a moment later
MAX_HANDED = 50

Conversation = tuple[str, str]
NOTHING = TakenFeedback()


class Feedback:
    """`turn` locks writes to a found session; `watch` follows a session's file for a while."""

    def __init__(
        self,
        store: DaemonStore,
        scan: Scan,
        turn: asyncio.Lock,
        watch: Callable[[str], None],
        clock: Callable[[], float],
        steady: Callable[[], float],
    ) -> None:
        self._store = store
        self._scan = scan
        self._turn = turn
        self._watch = watch
        self._clock = clock
        self._steady = steady
        self._asking: dict[Conversation, asyncio.Event] = {}  # set when there may be news, or another asks
        self._heard: dict[Conversation, float] = {}  # asked lately: until when that counts

    def open(self) -> None:
        self._store.listen(self._committed)

    def _committed(self, committed: Committed) -> None:
        record = committed.record
        asking = self._asking.get((record.agent, record.agent_session_id or ""))
        if asking is not None:
            asking.set()

    def listens(self, conversation: Conversation) -> bool:
        return conversation in self._asking or self._heard.get(conversation, 0.0) > self._steady()

    def mark_all(self, terminals: Terminals) -> Terminals:
        """The terminals, each with whether its agent listens."""
        return {one: self.marked(one, terminal) for one, terminal in terminals.items()}

    def marked(self, conversation: Conversation, terminal: OpenTerminal) -> OpenTerminal:
        return OpenTerminal(
            terminal.pid, terminal.status, terminal.waiting_for, listens=self.listens(conversation)
        )

    # Asking

    async def news(self, envelope: Envelope[AwaitFeedback]) -> FeedbackNews:
        command = envelope.command
        conversation = (command.agent, command.conversation)
        asking = asyncio.Event()
        older = self._asking.get(conversation)
        self._asking[conversation] = asking
        if older is not None:
            older.set()
        try:
            answer = await self._until_news(conversation, command.pid, asking)
        finally:
            if self._asking.get(conversation) is asking:
                del self._asking[conversation]
        self._note(conversation, answer)
        return answer

    async def _until_news(self, conversation: Conversation, pid: int, asking: asyncio.Event) -> FeedbackNews:
        begun = self._steady()
        while True:
            asking.clear()
            terminal = await self._terminal(conversation, pid)
            waits = terminal is not None and await self._next(conversation) is not None
            passed = self._steady() - begun
            if self._asking.get(conversation) is not asking or (terminal is None and passed >= NOTE_SECONDS):
                return FeedbackNews("over")
            if waits and terminal is not None and terminal.status == "idle":
                return FeedbackNews("ready")
            if passed >= HOLD_SECONDS:
                return FeedbackNews("nothing")
            # Only who has something to deliver looks again and again whether the agent is idle now.
            pause = STEP_SECONDS if waits or terminal is None else HOLD_SECONDS - passed
            await _either(asking, pause)

    def _note(self, conversation: Conversation, answer: FeedbackNews) -> None:
        now = self._steady()
        self._heard = {one: until for one, until in self._heard.items() if until > now}
        if answer.state != "over":
            self._heard[conversation] = now + LINGER_SECONDS

    # Taking

    async def take(self, envelope: Envelope[TakeFeedback]) -> TakenFeedback:
        command = envelope.command
        conversation = (command.agent, command.conversation)
        if envelope.key is not None:
            envelope = replace(envelope, key=f"feedback:{envelope.by.grant_id}:{envelope.key}")
            stored = await self._store.stored_reply(envelope.key or "")
            if stored is not None:
                return msgspec.json.decode(stored.reply, type=TakenFeedback)
        terminal = await self._terminal(conversation, command.pid)
        first = await self._next(conversation)
        if terminal is None or first is None or (command.idle and terminal.status != "idle"):
            return NOTHING
        await self._catch_up(first[0])
        async with self._turn:
            found = await self._next(conversation)  # what it was may have been withdrawn, edited or taken
            if found is None:
                return NOTHING
            return await self._hand_over(envelope, terminal, *found)

    async def _hand_over(
        self,
        envelope: Envelope[TakeFeedback],
        terminal: OpenTerminal,
        shown: KnownSession,
        point: ResumePoint,
        one: PromptQueued,
    ) -> TakenFeedback:
        record = point.record
        # The agent may draw the words on its screen: they must not move a cursor, or turn a line around.
        words = format_hook_message(HookMessage(one.prompt_id, sanitize(one.by), sanitize(one.text)))
        taken = TakenFeedback(one.prompt_id, words)
        noted = decode_noted(point.driver_state) or shown.noted
        noted.handed = [*noted.handed, one.prompt_id][-MAX_HANDED:]
        said = f"{len(one.text)} characters, handed to the agent in its terminal (process {terminal.pid})"
        author = structs.replace(envelope.by, name=one.by)
        await self._store.append(
            Batch(
                record.session_id,
                record.seq + 1,
                max(timestamp(self._clock()), record.updated_at),
                [PromptSent(one.prompt_id, one.text, one.by, one.client_message_id)],
                driver_state=encode(noted),
                audit=[AuditRecord.of(author, "input", record.session_id, said)],
                reply=StoredReply.to(envelope, taken),
                sync=True,
            )
        )
        shown.noted = noted
        self._watch(record.session_id)
        return taken

    async def _catch_up(self, shown: KnownSession) -> None:
        """Read what the agent said before, so that the message stands after it."""
        await asyncio.sleep(FLUSH_SECONDS)
        await self._scan.again(shown)

    async def _terminal(self, conversation: Conversation, pid: int) -> OpenTerminal | None:
        await self._scan.look_at_terminals()
        terminal = self._scan.terminals.get(conversation)
        return terminal if terminal is not None and pid in (0, terminal.pid) else None

    async def _next(
        self, conversation: Conversation
    ) -> tuple[KnownSession, ResumePoint, PromptQueued] | None:
        """The first message, if it can be said in words: a hook carries no images."""
        for shown in self._scan.known:
            if shown.conversation == conversation and shown.record.queued:
                point = await self._store.resume_point(shown.record.session_id)
                if point is not None and point.record.found and point.pending.queue:
                    first = point.pending.queue[0]
                    return None if first.images else (shown, point, first)
        return None


async def _either(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return
