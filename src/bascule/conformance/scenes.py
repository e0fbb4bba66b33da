"""Scenes for an agent with its own model: it answers, asks, accepts a denial, stops, resumes.

Each works in a throw-away folder. Only the one command it asks for is ever allowed; whatever else the agent
wants is denied.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress

from msgspec import Struct

from bascule.api.bodies import CreateBody
from bascule.client import Client
from bascule.conformance.trial_server import Trial
from bascule.model.codec import Logged
from bascule.model.errors import BasculeError
from bascule.model.event_values import Decision
from bascule.model.events import (
    AnyEvent,
    PermissionRequested,
    QuestionAsked,
    SessionEnded,
    SessionFailed,
    SessionReady,
    TextAppended,
    TextSaid,
    TurnEnded,
)
from bascule.model.fields import DriverName

WORD = "heron"
SAY = f"Answer with the single word {WORD}. Use no tools and write nothing else."
RECALL = "Which single word did you answer with before? Answer with that word only. Use no tools."
COUNT = "Count from 1 to 400, one number on each line. Use no tools and leave nothing out."
RUN = "Run exactly this shell command once and do nothing else: touch {name}"
ALLOWED, REJECTED = "bascule-allowed.txt", "bascule-rejected.txt"


class Unmet(Exception):
    """The agent did not behave as the scene requires. `unsure`: the model may have decided so."""

    def __init__(self, why: str, *, unsure: bool = False) -> None:
        super().__init__(why)
        self.unsure = unsure


class Session:
    """One session of the trial; denies every request but the scene's own."""

    def __init__(self, client: Client, session_id: str, command: str = "") -> None:
        self.client = client
        self.session_id = session_id
        self.said = ""
        self._command = command  # the one that may be allowed
        self._feed: AsyncGenerator[Logged, None] = client.events(session_id)

    async def until(self, kind: type[AnyEvent] | tuple[type[AnyEvent], ...]) -> AnyEvent:
        async for row in self._feed:
            event = row.event
            if isinstance(event, TextAppended | TextSaid) and event.kind == "assistant":
                self.said += event.text
            if isinstance(event, kind):
                return event
            if isinstance(event, SessionEnded | SessionFailed):
                raise Unmet(f"the session ended: {_why(event)}")
            await self._deny(event)
        raise Unmet("the session's log ended")

    async def turn_ends(self) -> TurnEnded:
        event = await self.until(TurnEnded)
        assert isinstance(event, TurnEnded)
        return event

    async def asked_for_it(self) -> PermissionRequested | None:
        """The request for the scene's own command; None when the turn ended without one."""
        while True:
            event = await self.until((PermissionRequested, TurnEnded))
            if not isinstance(event, PermissionRequested):
                return None
            if self._command in event.title + bytes(event.input).decode("utf-8", "replace"):
                return event
            await self._deny(event)

    async def answer(self, asked: PermissionRequested, decision: Decision) -> None:
        await self.client.answer(self.session_id, asked.request_id, decision, input_sha256=asked.input_sha256)

    async def aclose(self) -> None:
        await self._feed.aclose()
        with suppress(BasculeError):  # it may have ended by itself
            await self.client.end(self.session_id)

    async def _deny(self, event: AnyEvent) -> None:
        if isinstance(event, PermissionRequested):
            await self.answer(event, "deny")
        elif isinstance(event, QuestionAsked):
            await self.client.answer_question(
                self.session_id,
                event.request_id,
                {},
                input_sha256=event.input_sha256,
                message="Nobody is here.",
            )


class Stage(Struct, frozen=True):
    """The server, agent, driver and model that the scenes use."""

    trial: Trial
    agent: str
    driver: DriverName | None
    model: str | None

    async def open(self, name: str, prompt: str, command: str = "") -> Session:
        cwd = self.trial.work / name
        cwd.mkdir()
        wanted = CreateBody(
            agent=self.agent, cwd=str(cwd), prompt=prompt, model=self.model, driver=self.driver
        )
        created = await self.trial.client.start(wanted)
        return Session(self.trial.client, created.id, command)


async def _text(stage: Stage) -> str:
    begun = time.monotonic()
    session = await stage.open("text", SAY)
    async with aclosing(session):
        await session.until(SessionReady)
        ready = time.monotonic() - begun
        _ended_well(await session.turn_ends())
        if WORD not in session.said.lower():
            raise Unmet(f"it was to say {WORD!r} and said {session.said[:80]!r}", unsure=True)
    return f"ready after {ready:.1f} s"


async def _allowed(stage: Stage) -> str:
    session = await stage.open("allowed", RUN.format(name=ALLOWED), ALLOWED)
    async with aclosing(session):
        asked = await session.asked_for_it()
        made = stage.trial.work / "allowed" / ALLOWED
        if asked is None:
            if made.exists():
                raise Unmet("it ran the command without asking")
            raise Unmet("the model did not run the command", unsure=True)
        await session.answer(asked, "allow")
        _ended_well(await session.turn_ends())
        if not made.exists():
            raise Unmet("it was allowed to run the command, and the file is not there", unsure=True)
    return ""


async def _rejected(stage: Stage) -> str:
    session = await stage.open("rejected", RUN.format(name=REJECTED), REJECTED)
    async with aclosing(session):
        asked = await session.asked_for_it()
        if asked is not None:
            await session.answer(asked, "deny")
            await session.turn_ends()
        if (stage.trial.work / "rejected" / REJECTED).exists():
            raise Unmet("the command ran although it was denied" if asked else "it ran without asking")
        if asked is None:
            raise Unmet("the model did not try to run the command", unsure=True)
    return ""


async def _cancelled(stage: Stage) -> str:
    session = await stage.open("cancel", COUNT)
    async with aclosing(session):
        await session.until((TextAppended, TextSaid, TurnEnded))
        await session.client.interrupt(session.session_id)
        ended = await session.turn_ends()
        if ended.stop_reason != "interrupted":
            raise Unmet(f"the turn ended as {ended.stop_reason}", unsure=ended.stop_reason == "end_turn")
        await session.client.send(session.session_id, SAY)
        _ended_well(await session.turn_ends())
    return "and answers again"


async def _resumed(stage: Stage) -> str:
    session = await stage.open("resume", SAY)
    async with aclosing(session):
        _ended_well(await session.turn_ends())
        await session.client.end(session.session_id)
        await session.until(SessionEnded)
        await session.client.reconnect(session.session_id)
        await session.until(SessionReady)
        session.said = ""
        await session.client.send(session.session_id, RECALL)
        _ended_well(await session.turn_ends())
        if WORD not in session.said.lower():
            raise Unmet(f"it was to remember {WORD!r} and said {session.said[:80]!r}", unsure=True)
    return ""


def _ended_well(ended: TurnEnded) -> None:
    if ended.stop_reason != "end_turn":
        raise Unmet(f"the turn ended as {ended.stop_reason}{f': {ended.message}' if ended.message else ''}")


def _why(event: AnyEvent) -> str:
    match event:
        case SessionFailed(message=message):
            return message
        case SessionEnded(reason=reason, code=code):
            return f"{reason}, code {code}"
        case _:
            return type(event).__name__


SCENES: dict[str, Callable[[Stage], Awaitable[str]]] = {
    "answers": _text,
    "asks before a command, and runs it when allowed": _allowed,
    "does not run what was denied": _rejected,
    "stops on request": _cancelled,
    "takes up an ended conversation": _resumed,
}
