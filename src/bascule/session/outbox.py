"""Writes committed bytes to the agent's stdin, in order, each exactly once."""

import asyncio
from collections import deque
from collections.abc import Sequence

from bascule.model.errors import HostError, LimitReached
from bascule.model.events import AnswerDelivered, AnyEvent, Note
from bascule.model.records import Write
from bascule.session.agent import AgentProcess, ProcessUnreachable
from bascule.session.deafness import Deafness
from bascule.session.ledger import Ledger

ANSWER = "answer:"
MAX_BYTES = 32 * 1024 * 1024  # that wait for an agent: a few of the largest messages
MAX_WRITES = 1000


class Outbox:
    """The queue of committed writes. After a restart they are delivered from the store."""

    def __init__(self, ledger: Ledger, process: AgentProcess, waiting: Sequence[Write] = ()) -> None:
        self._ledger = ledger
        self._process = process
        self._waiting: deque[Write] = deque(waiting)
        self._undelivered = {write.write_id: len(write.data) for write in waiting}
        self.deafness = Deafness(ledger, process.unread)
        self._wake = asyncio.Event()
        self._wake.set()

    def put_after(self, committed: "asyncio.Future[None]", writes: Sequence[Write]) -> None:
        """Deliver these once the step that holds them is durable. One without data stands for nothing."""
        if not writes:
            return
        kept = tuple(write for write in writes if write.data)
        self._undelivered.update({write.write_id: len(write.data) for write in kept})

        def on_commit(done: "asyncio.Future[None]") -> None:
            if not done.cancelled() and done.exception() is None:
                self._waiting.extend(kept)
                self._wake.set()

        if kept:
            committed.add_done_callback(on_commit)

    def check_room(self) -> None:
        """Raises while so much waits for the agent that more would only fill memory."""
        waiting = sum(self._undelivered.values())
        if waiting > MAX_BYTES or len(self._undelivered) > MAX_WRITES:
            raise LimitReached(
                f"The agent does not read what is sent to it, and {waiting} bytes wait already. Nothing was "
                "taken. Wait until it reads, or end the session."
            )

    def wake(self) -> None:
        """The way to the agent is open again, or may be: said with every piece of its output."""
        if self._waiting:
            self._wake.set()

    @property
    def holds_answer(self) -> bool:
        """Whether a person's answer is not delivered yet."""
        return any(write_id.startswith(ANSWER) for write_id in self._undelivered)

    def abandon(self) -> list[str]:
        """The agent is gone: the ids of all that will never reach it."""
        left = list(self._undelivered)
        self._undelivered = {}
        self._waiting.clear()
        return left

    async def run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting and await self._deliver(self._waiting[0]):
                pass

    async def _deliver(self, write: Write) -> bool:
        """False when it has to be tried again later."""
        self.deafness.sent()
        try:
            await self._process.write(write)
        except ProcessUnreachable:
            return False
        except HostError as error:  # the agent has closed its stdin or is gone; its exit tells the rest
            if write.write_id not in self._undelivered:  # abandoned meanwhile: that has been logged
                return True
            note = Note("not_delivered", f"The agent did not take it: {error.message}", "warning")
            self._done(write, [note])
            return True
        is_answer = write.write_id.startswith(ANSWER)
        self._done(write, [AnswerDelivered(write.write_id.removeprefix(ANSWER))] if is_answer else [])
        return True

    def _done(self, write: Write, events: list[AnyEvent]) -> None:
        if self._waiting and self._waiting[0] is write:
            self._waiting.popleft()
        self._undelivered.pop(write.write_id, None)
        self._ledger.log(events, delivered=[write.write_id])
