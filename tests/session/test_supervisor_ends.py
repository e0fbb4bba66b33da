"""How a session ends, as a playbook: by its limits, by a person, by its agent, and after a restart."""

import asyncio
from typing import Any

import pytest
from tests.session.facts import PROMPT, QUESTION, READY, RESUMES, SOON, asked, running, went
from tests.session.playbook import PLAN, Playbook, Step
from tests.waiting import PATIENCE

from bascule.model.errors import AgentFailed
from bascule.model.events import (
    AgentSpawned,
    AnyEvent,
    EndScheduled,
    Note,
    PermissionAnswered,
    PermissionWithdrawn,
    QuestionAnswered,
    QuestionWithdrawn,
    ReconnectScheduled,
    SessionEnding,
    SessionFailed,
    StderrWritten,
)
from bascule.model.settings import Limits
from bascule.session.answer_deadlines import NO_ANSWER
from bascule.session.ending import END_WORDS
from bascule.session.reviving import CUT, UNANSWERED, Revival
from bascule.session.time_limits import IDLE

pytestmark = pytest.mark.anyio


async def test_a_permission_nobody_answers_is_denied_in_time():
    book = Playbook(READY, PROMPT, limits=Limits(permission_seconds=SOON))  # pyright: ignore
    await book.says(asked())
    await book.until(PermissionAnswered)
    answer = PermissionAnswered("r", "deny", "timeout", message=NO_ANSWER)
    assert await book.step() == Step([answer], [b"deny r"], [("permission", "timeout", "deny")])


@pytest.mark.row("R10")
async def test_a_question_nobody_answers_is_closed_in_time():
    book = Playbook(READY, PROMPT, limits=Limits(question_seconds=SOON))  # pyright: ignore
    await book.says(QUESTION)
    await book.until(QuestionAnswered)
    answer = QuestionAnswered("q", "timeout", message=NO_ANSWER)
    assert await book.step() == Step([answer], [b"answered q"], [("question", "timeout", "answered")])


async def test_a_request_that_waited_before_a_restart_waits_only_for_the_rest():
    book = Playbook(READY, PROMPT, asked(), limits=Limits(permission_seconds=1000))
    book.now += 999.99
    async with running(book):
        await book.until(PermissionAnswered)


@pytest.mark.parametrize(
    ("before", "limits", "reason"),
    [
        ([READY], {"idle_seconds": SOON}, "idle_limit"),
        ([READY, PROMPT], {"idle_seconds": 1000, "session_seconds": SOON}, "time_limit"),
    ],
)
async def test_a_session_that_reaches_a_limit_is_ended(
    before: list[AnyEvent], limits: dict[str, Any], reason: Any
):
    book = Playbook(*before, limits=Limits(**limits))
    book.now += 5000  # it has run for so long, before a restart
    async with running(book):
        await book.until(SessionEnding)
        scheduled, ending = (await book.step()).facts
        assert (type(scheduled), ending) == (EndScheduled, SessionEnding(reason, "limit"))
        async with asyncio.timeout(PATIENCE):
            while "end" not in book.process.done:
                book.process.did.clear()
                await book.process.did.wait()


async def test_an_open_request_stops_the_idle_clock():
    book = Playbook(READY, limits=Limits(idle_seconds=1000))
    deadlines = book.supervisor._deadlines  # pyright: ignore[reportPrivateUsage]
    book.supervisor.touch()
    assert deadlines.is_set(IDLE)
    await book.says(asked())
    assert not deadlines.is_set(IDLE)
    book.ledger.log([PermissionAnswered("r", "allow", "ana")])
    book.supervisor.touch()
    assert deadlines.is_set(IDLE)
    deadlines.cancel_all()


@pytest.mark.parametrize(("reached", "ends"), [(999, False), (1000, False), (1001, True)])
async def test_a_session_that_wrote_too_much_is_ended(reached: int, ends: bool):
    book = Playbook(READY, PROMPT, limits=Limits(output_bytes=1000))
    book.supervisor.admit([], reached)
    ended = [event for event in (await book.step()).facts if not isinstance(event, Note)]  # it was warned
    assert ended == ([SessionEnding("size_limit", "limit")] if ends else [])


# The end ---------------------------------------------------------------------------------------------


async def test_an_end_takes_back_what_is_open_and_is_begun_once():
    book = Playbook(READY, PROMPT, asked(), QUESTION)
    assert book.supervisor.end("closed", "ana") is not None
    step = await book.step()
    assert step == Step(
        [PermissionWithdrawn("r", "ended"), QuestionWithdrawn("q", "ended"), SessionEnding("closed", "ana")]
    )
    assert book.supervisor.end("killed", "ben") is None
    assert await book.step() == Step()


@pytest.mark.parametrize(
    ("before", "exit", "revival", "facts", "detail"),
    [
        # It left in good order, or somebody ended it.
        ([], {"code": 0}, RESUMES, [went("exited", 0, None, None)], "exited"),
        (
            [SessionEnding("closed", "ana")],
            {"code": None, "signal": 15},
            RESUMES,
            [went("closed", None, 15, None)],
            "closed",
        ),
        (
            [SessionEnding("idle_limit", "limit")],
            {"code": 1},
            RESUMES,
            [went("idle_limit", 1, None, END_WORDS["idle_limit"])],
            "idle_limit",
        ),
        # It went away unasked, and can't be resumed.
        (
            [],
            {"code": 3},
            Revival("Demo"),
            [
                went(
                    "exited",
                    3,
                    None,
                    "Demo stopped (exit code 3). It can't take up an earlier conversation: "
                    "start a new session.",
                )
            ],
            "exited",
        ),
        # It went away unasked, and is started again.
        (
            [],
            {"code": None, "signal": 9},
            RESUMES,
            [went("disconnected", None, 9, "Demo stopped (stopped by signal 9).")],
            "disconnected",
        ),
        (
            [PROMPT, asked()],
            {"code": 1},
            RESUMES,
            [
                PermissionWithdrawn("r", "lost"),
                Note("turn_cut", f"{CUT} {UNANSWERED}".format(title="Demo"), "warning"),
                went("disconnected", 1, None, "Demo stopped (exit code 1)."),
            ],
            "disconnected",
        ),
        (
            [],
            {"code": None, "lost": True},
            RESUMES,
            [went("disconnected", None, None, "Demo stopped (together with the process that kept it).")],
            "disconnected",
        ),
        # What it asked is taken back, whoever ended it.
        (
            [PROMPT, asked()],
            {"code": 0},
            RESUMES,
            [PermissionWithdrawn("r", "ended"), went("exited", 0, None, None)],
            "exited",
        ),
    ],
)
async def test_a_session_whose_agent_spoke_ends_with_these_facts(
    before: list[AnyEvent], exit: dict[str, Any], revival: Revival, facts: list[AnyEvent], detail: str
):
    book = Playbook(READY, *before, revival=revival)
    book.supervisor.admit([], 0)
    await book.step()
    async with running(book) as run:
        book.exits(**exit)
        await asyncio.wait_for(run, PATIENCE)
    step = await book.step()
    assert step == Step(facts, [], [("session_ended", "agent", detail)])
    assert [word for word in book.process.done if word != "end"] == ["forget", "close"]


async def test_an_agent_that_stops_before_its_first_word_has_failed():
    book = Playbook()
    book.process.err = b"no key\n"
    async with running(book, PLAN) as run:
        book.exits(2)
        await asyncio.wait_for(run, PATIENCE)
    assert (await book.step()).facts == [
        AgentSpawned(42, "/bin/agent"),
        StderrWritten("no key\n"),
        SessionFailed(
            "exited_early", "The agent stopped before it said anything (exit code 2).", "no key", 2
        ),
    ]


async def test_an_agent_that_cannot_be_spawned_has_failed_and_nothing_is_read():
    book = Playbook()
    book.process.refuses["spawn"] = AgentFailed("It is not there.", reason="not_installed")
    async with running(book, PLAN) as run:
        await asyncio.wait_for(run, PATIENCE)
    assert await book.step() == Step(
        [SessionFailed("not_installed", "It is not there.")],
        [],
        [("session_ended", "agent", "failed to start")],
    )
    assert book.process.done == ["close"]


async def test_a_try_to_have_an_agent_back_that_cannot_be_spawned_is_told_as_a_try():
    book = Playbook(ReconnectScheduled(1, 5), revival=RESUMES)
    book.process.refuses["spawn"] = AgentFailed("It is not there.")
    async with running(book, PLAN) as run:
        await asyncio.wait_for(run, PATIENCE)
    words = "Demo could not be started again (It is not there.)."
    assert (await book.step()).facts == [went("disconnected", None, None, words)]
    assert book.supervisor.reviving.lost is not None


@pytest.mark.row("B7")
async def test_an_agent_that_never_speaks_its_protocol_is_stopped_and_told():
    book = Playbook(limits=Limits(start_seconds=SOON))  # pyright: ignore
    book.driver.spoken = False
    async with running(book) as run:
        async with asyncio.timeout(PATIENCE):
            await book.process.did.wait()
        assert book.process.done == ["kill"]
        book.exits(None, 9)
        await asyncio.wait_for(run, PATIENCE)
    words = (
        "Could not talk to demo: it did not speak its protocol within 0.01 s. "
        "Check that it runs by itself, then try again."
    )
    assert (await book.step()).facts == [SessionFailed("no_protocol", words, "", None, 9)]


async def test_a_restart_in_the_middle_of_an_end_ends_the_process_again():
    book = Playbook(READY, SessionEnding("closed", "ana"))
    async with running(book) as run:
        async with asyncio.timeout(PATIENCE):
            await book.process.did.wait()
        assert book.process.done == ["end"]
        book.exits(0)
        await asyncio.wait_for(run, PATIENCE)
