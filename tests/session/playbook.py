"""A supervisor without a process: events of an agent in, facts and bytes out, each step as it is committed.

The agent's protocol is our own events, one JSON object on each line, so that a test says what the agent said
in the words that are asserted afterwards.
"""

import asyncio
from typing import Self

from msgspec import Struct
from tests.waiting import PATIENCE

from bascule.model.codec import decode_event, encode
from bascule.model.errors import BasculeError
from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
    SessionStarted,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import Pending, SessionRecord, Write
from bascule.model.settings import Limits
from bascule.policy.decide import Ruling, by_mode
from bascule.session.agent import Exit, SpawnPlan
from bascule.session.ledger import Ledger
from bascule.session.reviving import Revival
from bascule.session.supervisor import NEVER, Supervisor
from bascule.store.base import Batch, ResumePoint

NOW = 1_000_000.0
PLAN = SpawnPlan("spawn", ("/bin/agent",), {}, "/code", (1, 2))
NO_LIMITS = Limits(session_seconds=0, idle_seconds=0, start_seconds=0, quiet_seconds=0)


class CommittingStore:
    """Commits every batch at once, and remembers them all."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.grew = asyncio.Event()

    def append(self, batch: Batch) -> "asyncio.Future[None]":
        self.batches.append(batch)
        self.grew.set()
        committed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        committed.set_result(None)
        return committed


class LineDriver:
    """Reads events from lines, and writes commands as words a test can compare."""

    spoken = True
    repeatable = True
    offered_modes: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.consumed = 0
        self.replies: list[Write] = []
        self.causes: list[AnyEvent] = []  # what the next command brings about by itself
        self.last: list[AnyEvent] = []  # what is said when the output ends
        self._rest = b""

    def start(self) -> list[Write]:
        return []

    def receive(self, chunk: bytes) -> list[AnyEvent]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        self.consumed += sum(len(line) + 1 for line in lines)
        return [decode_event(line) for line in lines]

    def finish(self) -> list[AnyEvent]:
        return self.last

    @property
    def owes(self) -> bool:
        return bool(self.replies)

    def data_to_send(self) -> list[Write]:
        replies, self.replies = self.replies, []
        return replies

    def settled(self) -> list[AnyEvent]:
        causes, self.causes = self.causes, []
        return causes

    def prompt(self, sent: PromptSent) -> Write:
        return Write(f"prompt:{sent.prompt_id}", f"prompt {sent.text}".encode())

    def interrupt(self, write_id: str) -> Write:
        return Write(write_id, b"interrupt")

    def answer_permission(self, asked: PermissionRequested, answered: PermissionAnswered) -> Write:
        return Write(f"answer:{asked.request_id}", f"{answered.decision} {asked.request_id}".encode())

    def answer_question(self, asked: QuestionAsked, answered: QuestionAnswered) -> Write:
        return Write(f"answer:{asked.request_id}", f"answered {asked.request_id}".encode())

    def set_mode(self, write_id: str, mode: str) -> Write:
        return Write(write_id, f"mode {mode}".encode())

    def set_model(self, write_id: str, model: str) -> Write:
        return Write(write_id, f"model {model}".encode())

    def state(self) -> bytes:
        return b"%d" % self.consumed

    @classmethod
    def restore(cls, state: bytes) -> Self:
        return cls()


class ScriptedProcess:
    """Does what the test says: what it printed, what it refuses, and a list of all that was done to it."""

    def __init__(self) -> None:
        self.out = b""
        self.err = b""
        self.done: list[str] = []
        self.did = asyncio.Event()
        self.refused = asyncio.Event()
        self.refuses: dict[str, BasculeError] = {}  # "spawn", "write", "end" or "kill"
        self.waiting_to_be_read: int | None = 0

    def _do(self, word: str, what: str = "") -> None:
        if word in self.refuses:
            self.refused.set()
            raise self.refuses[word]
        self.done.append(what or word)
        self.did.set()

    async def spawn(self, plan: SpawnPlan) -> int:
        self._do("spawn")
        return 42

    async def write(self, write: Write) -> None:
        self._do("write", write.data.decode())

    async def unread(self) -> int | None:
        if "unread" in self.refuses:
            raise self.refuses["unread"]
        return self.waiting_to_be_read

    async def end(self) -> None:
        self._do("end")

    async def kill(self) -> None:
        self._do("kill")

    async def forget(self) -> None:
        self._do("forget")

    def read_out(self, offset: int, limit: int) -> bytes:
        return self.out[offset : offset + limit]

    def read_err(self, offset: int, limit: int) -> bytes:
        return self.err[offset : offset + limit]

    def position(self, *, out: int, err: int, trim_out: int, trim_err: int) -> None:
        pass

    def close(self) -> None:
        self._do("close")


class Step(Struct):
    """What was logged together: facts, bytes for the agent, and what the audit has of it."""

    facts: list[AnyEvent] = []
    writes: list[bytes] = []
    audit: list[tuple[str, ...]] = []  # action, actor and decision or detail


class Playbook:
    """One session under test, begun by `before`."""

    def __init__(
        self,
        *before: AnyEvent,
        limits: Limits = NO_LIMITS,
        revival: Revival = NEVER,
        ruling: Ruling = by_mode,
        mode: str = "relay",
    ) -> None:
        self.store = CommittingStore()
        self.driver = LineDriver()
        self.process = ScriptedProcess()
        self.now = NOW
        point = ResumePoint(SessionRecord(session_id="s"), Pending(), 0, 0, None, [], [])
        self.ledger = Ledger(self.store, point, lambda: self.now)  # pyright: ignore[reportArgumentType]
        self.ledger.log([SessionStarted("demo", "lines", "/code", "ana", permission_mode=mode), *before])
        self._seen = 1
        clock = lambda: self.now  # noqa: E731 - the same for both
        self.supervisor = Supervisor(
            self.ledger, self.process, self.driver, point, limits, clock, clock, ruling, revival
        )

    async def says(self, *events: AnyEvent) -> Step:
        """Hand an agent's events to the supervisor, as its reader does. Returns what that made of them."""
        self.supervisor.admit(list(events), 1)
        return await self.step()

    async def step(self) -> Step:
        """All that was logged since this was last asked."""
        await self.ledger.settled()
        batches, self._seen = self.store.batches[self._seen :], len(self.store.batches)
        step = Step()
        for batch in batches:
            step.facts += batch.events
            step.writes += [write.data for write in batch.writes]
            step.audit += [(one.action, one.actor, one.decision or one.detail) for one in batch.audit]
        return step

    async def until(self, wanted: type[AnyEvent]) -> None:
        """Wait until such a fact is logged."""
        async with asyncio.timeout(PATIENCE):
            while not any(isinstance(event, wanted) for one in self.store.batches for event in one.events):
                self.store.grew.clear()
                await self.store.grew.wait()

    @property
    def phase(self) -> Phase:
        return self.ledger.record.phase

    def prints(self, *events: AnyEvent) -> None:
        """Put an agent's events into its output, for a supervisor that runs."""
        self.process.out += b"".join(encode(event) + b"\n" for event in events)
        self.supervisor.output()

    def exits(self, code: int | None = 0, signal: int | None = None, *, lost: bool = False) -> None:
        process = self.process
        self.supervisor.exited(Exit(code, signal, len(process.out), len(process.err), lost))
