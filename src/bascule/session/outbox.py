"""Carries committed bytes to the agent's stdin, in order, each exactly once."""

import asyncio
from collections import deque
from collections.abc import Sequence

from bascule.model.errors import HostError
from bascule.model.events import AnswerDelivered, Note
from bascule.model.records import Write
from bascule.session.agent import AgentProcess
from bascule.session.ledger import Ledger

ANSWER = "answer:"


class Outbox:
    """The last leg of a wish. What is in here has been committed, so a restart can carry it again."""

    def __init__(self, ledger: Ledger, process: AgentProcess, waiting: Sequence[Write] = ()) -> None:
        self._ledger = ledger
        self._process = process
        self._waiting: deque[Write] = deque(waiting)
        self._wake = asyncio.Event()
        self._wake.set()

    def put_after(self, committed: "asyncio.Future[None]", writes: Sequence[Write]) -> None:
        """Deliver these once the step that holds them is durable."""
        kept = tuple(writes)

        def on_commit(done: "asyncio.Future[None]") -> None:
            if not done.cancelled() and done.exception() is None:
                self._waiting.extend(kept)
                self._wake.set()

        if kept:
            committed.add_done_callback(on_commit)

    async def run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                await self._deliver(self._waiting.popleft())

    async def _deliver(self, write: Write) -> None:
        try:
            await self._process.write(write)
        except HostError as error:  # the agent has closed its stdin or is gone; its exit tells the rest
            note = Note("not_delivered", f"The agent did not take it: {error.message}", "warning")
            self._ledger.log([note], delivered=[write.write_id])
            return
        events = (
            [AnswerDelivered(write.write_id.removeprefix(ANSWER))]
            if write.write_id.startswith(ANSWER)
            else []
        )
        self._ledger.log(events, delivered=[write.write_id])
