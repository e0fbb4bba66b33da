"""Patience: an agent that never speaks is given up, a long quiet turn is noted once."""

import asyncio
from typing import Any

import pytest
from msgspec import Raw
from tests.session.playbook import Playbook
from tests.waiting import PATIENCE

from bascule.model.events import (
    AnyEvent,
    Note,
    PermissionRequested,
    PromptSent,
    SessionReady,
    TextAppended,
    ToolChanged,
    ToolStarted,
    TurnEnded,
)
from bascule.model.settings import Limits
from bascule.session.deadlines import Deadlines
from bascule.session.patience import QUIET, START, Patience
from bascule.session.running_tools import RunningTools

pytestmark = pytest.mark.anyio

READY = SessionReady("conversation")
PROMPT = PromptSent("p", "Do it", "ana")
DONE = TurnEnded("end_turn")
WORD = TextAppended("m", "assistant", "a")
TOOL = ToolStarted("t", "Bash", "ls", "execute", Raw(b"{}"))
ASKED = PermissionRequested("r", "Bash", "ls", "execute", Raw(b"{}"), "0", ())
SOON = 0.01


class Waiting:
    """One session's patience, with all it said."""

    def __init__(self, *before: AnyEvent, spoken: bool = True, **limits: Any) -> None:
        self.book = Playbook(*before)
        self.book.driver.spoken = spoken
        self.deadlines, self.tools = Deadlines(), RunningTools()
        self.said: list[Note | str] = []
        self.spoke = asyncio.Event()
        self.patience = Patience(
            self.book.ledger,
            self.book.driver,
            Limits(**{"start_seconds": 1000, "quiet_seconds": 1000, **limits}),
            self.deadlines,
            self.tools,
            self._say,
            lambda notes: self._say(*notes),
        )

    def _say(self, words: Note | str) -> None:
        self.said.append(words)
        self.spoke.set()

    def hears(self, *events: AnyEvent) -> None:
        self.book.ledger.log(list(events))
        self.tools.heard(events)
        self.patience.heard(set(map(type, events)))

    async def until_it_says(self, *words: Note | str) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.spoke.wait()
        self.spoke.clear()
        assert self.said == list(words)

    @property
    def counts(self) -> tuple[bool, bool]:
        """Whether the clocks of the start and of the silence run."""
        return self.deadlines.is_set(START), self.deadlines.is_set(QUIET)


NO_ANSWER = Note(
    "no_answer", "No answer from the agent for 0.01 s. It may be waiting for its model.", "warning"
)


@pytest.mark.parametrize(
    ("spoken", "before", "limits", "clocks"),
    [
        (False, [], {}, (True, False)),
        (True, [], {}, (False, False)),
        (False, [], {"start_seconds": 0}, (False, False)),
        (True, [READY, PROMPT], {}, (False, True)),
        (False, [READY, PROMPT], {}, (True, False)),  # the start has a clock of its own
        (False, [READY, PROMPT], {"start_seconds": 0}, (False, True)),
        (True, [READY, PROMPT], {"quiet_seconds": 0}, (False, False)),
        (True, [READY, PROMPT, DONE], {}, (False, False)),
        (True, [READY, PROMPT, ASKED], {}, (False, False)),  # a person is being waited for
    ],
)
async def test_a_session_that_begins_counts_its_start_or_its_silence(
    spoken: bool, before: list[AnyEvent], limits: dict[str, Any], clocks: tuple[bool, bool]
):
    waiting = Waiting(*before, spoken=spoken, **limits)
    waiting.patience.begin()
    assert waiting.counts == clocks
    waiting.deadlines.cancel_all()


async def test_an_agent_that_never_speaks_its_protocol_is_given_up():
    waiting = Waiting(spoken=False, start_seconds=SOON)
    waiting.patience.begin()
    await waiting.until_it_says("it did not speak its protocol within 0.01 s")
    assert waiting.counts == (False, False)


async def test_an_agent_that_spoke_just_then_is_not_given_up_and_its_silence_counts():
    waiting = Waiting(READY, PROMPT, spoken=False, start_seconds=SOON, quiet_seconds=SOON)
    waiting.patience.begin()
    waiting.book.driver.spoken = True
    await waiting.until_it_says(NO_ANSWER)


async def test_its_first_word_stops_the_clock_of_the_start_and_no_noise_does():
    waiting = Waiting(spoken=False)
    waiting.patience.begin()
    waiting.hears(WORD)
    assert waiting.counts == (True, False)
    waiting.book.driver.spoken = True
    waiting.hears(WORD)
    assert waiting.counts == (False, False)


@pytest.mark.parametrize(
    ("heard", "counts"),
    [
        ([WORD], True),
        ([TOOL], False),  # a tool may take its time
        ([TOOL, ToolChanged("t", "running")], False),
        ([TOOL, ToolChanged("t", "done")], True),
        ([TOOL, ToolChanged("other", "done")], False),
        ([TOOL, DONE], False),
        ([TOOL, DONE, PROMPT], True),  # no tool outlives its turn
        ([ASKED], False),
        ([DONE], False),
    ],
)
async def test_silence_counts_while_nobody_but_the_agent_has_anything_to_do(
    heard: list[AnyEvent], counts: bool
):
    waiting = Waiting(READY, PROMPT)
    waiting.patience.begin()
    waiting.hears(*heard)
    assert waiting.counts == (False, counts)
    waiting.deadlines.cancel_all()


async def test_a_word_starts_the_silence_anew():
    waiting = Waiting(READY, PROMPT)
    waiting.patience.begin()
    due = waiting.deadlines._due  # pyright: ignore[reportPrivateUsage]
    first = due[QUIET]
    waiting.patience.look()
    assert due[QUIET] is first
    waiting.hears(WORD)
    assert due[QUIET] is not first
    waiting.deadlines.cancel_all()


async def test_a_quiet_turn_is_told_once_and_the_next_turn_again():
    waiting = Waiting(READY, PROMPT, quiet_seconds=SOON)
    waiting.patience.begin()
    await waiting.until_it_says(NO_ANSWER)
    waiting.hears(WORD)
    assert waiting.counts == (False, False)
    waiting.hears(DONE)
    waiting.hears(PROMPT)
    await waiting.until_it_says(NO_ANSWER, NO_ANSWER)


async def test_a_request_that_came_meanwhile_keeps_it_silent():
    waiting = Waiting(READY, PROMPT)
    waiting.patience.begin()
    waiting.book.ledger.log([ASKED])
    waiting.patience._due()  # pyright: ignore[reportPrivateUsage] - the clock runs out now
    assert waiting.said == []
    waiting.deadlines.cancel_all()
