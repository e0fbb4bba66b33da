"""Events that tests of a supervisor share."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Raw
from tests.session.playbook import Playbook

from bascule.model.event_values import Question
from bascule.model.events import (
    PermissionRequested,
    PromptSent,
    QuestionAsked,
    SessionEnded,
    SessionReady,
    TurnEnded,
)
from bascule.session.reviving import Revival

READY = SessionReady("conversation")
PROMPT = PromptSent("p1", "Do it", "ana")
QUESTION = QuestionAsked("q", (Question("Which?"),), Raw(b"{}"), "cd", tool_id="t2")
DONE = TurnEnded("end_turn")


def asked(request_id: str = "r", tool_id: str | None = "t1") -> PermissionRequested:
    return PermissionRequested(request_id, "Bash", "ls", "execute", Raw(b"{}"), "ab", (), tool_id=tool_id)


# Deadlines -------------------------------------------------------------------------------------------


@asynccontextmanager
async def running(book: Playbook, plan: Any = None) -> AsyncIterator["asyncio.Task[None]"]:
    """The supervisor at work; what it began is over with the test."""
    task = asyncio.create_task(book.supervisor.run(plan))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


SOON = 0.01


def went(reason: Any, code: int | None, signal: int | None, message: str | None) -> SessionEnded:
    return SessionEnded(reason, code, signal, message)


RESUMES = Revival("Demo", resumes=True)
