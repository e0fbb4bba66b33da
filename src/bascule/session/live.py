"""The interface of a live session, as the registry of live sessions uses it."""

import asyncio
from typing import Protocol

from bascule.model.events import EndReason
from bascule.session.agent import Exit, SpawnPlan
from bascule.session.ledger import Ledger


class Hears(Protocol):
    """Receives the keeper's notices of one process."""

    def output(self, end: int | None = None, err_end: int | None = None) -> None:
        """There is more to read, up to here on stdout and stderr when that is known."""
        ...

    def exited(self, exit: Exit) -> None: ...


class LiveSession(Hears, Protocol):
    ledger: Ledger

    async def run(self, plan: SpawnPlan | None) -> None:
        """From the spawn (or, without a plan, from wherever it was) to the end."""
        ...

    def end(self, reason: EndReason, by: str) -> "asyncio.Future[None] | None":
        """Begin to end; None when it is ending already."""
        ...
