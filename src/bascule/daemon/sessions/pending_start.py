"""A checked start that is not stored yet: its events, its actor, and how it is logged."""

import asyncio
from typing import NamedTuple, Protocol

from bascule.drivers.base import Driver
from bascule.model.commands import Actor
from bascule.model.events import AnyEvent, PromptSent, SessionStarted
from bascule.model.records import Pending, SessionRecord, Write
from bascule.session.ledger import Ledger
from bascule.store.base import AuditRecord, ResumePoint, StoredReply


class HasState(Protocol):
    """Any driver, of a protocol or of a terminal."""

    def state(self) -> bytes: ...


class PendingStart(NamedTuple):
    ledger: Ledger
    started: SessionStarted
    facts: list[AnyEvent]  # what follows the start at once: a title, a prompt
    by: Actor
    reply: StoredReply | None

    def first_writes(self, driver: Driver) -> list[Write]:
        """The driver's handshake, then the prompts that came with the start."""
        writes = driver.start()
        return writes + [driver.prompt(fact) for fact in self.facts if isinstance(fact, PromptSent)]

    def log(
        self,
        driver: HasState,
        writes: list[Write] | None = None,
        settled: list[AnyEvent] | None = None,
        out_offset: int = 0,
        err_offset: int = 0,
    ) -> "asyncio.Future[None]":
        """Queue everything for one commit; `writes` are delivered after it."""
        return self.ledger.log(
            [self.started, *self.facts, *(settled or [])],
            out_offset=out_offset,
            err_offset=err_offset,
            driver_state=driver.state(),
            writes=writes or [],
            audit=[self._audit()],
            reply=self.reply,
            sync=True,
        )

    def _audit(self) -> AuditRecord:
        started = self.started
        detail = f"{started.agent} in {started.cwd}, {started.permission_mode}"
        if started.driver == "terminal":
            detail = f"{started.agent} in {started.cwd}, in a terminal"
        detail += f", {started.capability or 'full'}"
        if started.skip_permissions:
            detail += ", skipping its permissions"
        return AuditRecord.of(self.by, "session_started", self.ledger.record.session_id, detail)


def fresh_point(
    record: SessionRecord, pending: Pending, out_offset: int = 0, err_offset: int = 0
) -> ResumePoint:
    """Where a session begins on its process: nothing is read, written or asked yet."""
    return ResumePoint(record, pending, out_offset, err_offset, None, [], [], out_offset)
