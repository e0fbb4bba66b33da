"""The supervisor, as a playbook: an agent's events in, the facts, bytes and audit records out."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec import Raw
from tests.session.playbook import PLAN, Playbook, Step
from tests.waiting import PATIENCE

from bascule.model.errors import AgentFailed, HostError
from bascule.model.event_values import Question
from bascule.model.events import (
    AgentSpawned,
    AnswerDelivered,
    AnyEvent,
    EndScheduled,
    EntryClosed,
    Interrupted,
    Note,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PromptQueued,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    ReconnectScheduled,
    SessionEnded,
    SessionEnding,
    SessionFailed,
    SessionReady,
    StderrWritten,
    TextAppended,
    ToolChanged,
    TurnEnded,
    Unrecognised,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import Write
from bascule.model.settings import Limits
from bascule.policy.decide import MODE_WORDS, Verdict
from bascule.session.agent import ProcessUnreachable
from bascule.session.answer_deadlines import NO_ANSWER
from bascule.session.ending import END_WORDS
from bascule.session.reviving import CUT, UNANSWERED, UNDELIVERED, Revival
from bascule.session.time_limits import IDLE

pytestmark = pytest.mark.anyio

READY = SessionReady("conversation")
PROMPT = PromptSent("p1", "Do it", "ana")
QUESTION = QuestionAsked("q", (Question("Which?"),), Raw(b"{}"), "cd", tool_id="t2")
DONE = TurnEnded("end_turn")


def asked(request_id: str = "r", tool_id: str | None = "t1") -> PermissionRequested:
    return PermissionRequested(request_id, "Bash", "ls", "execute", Raw(b"{}"), "ab", (), tool_id=tool_id)


# What the agent says ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "said", "facts"),
    [
        # What an agent says is logged as it is.
        ([], [READY, TextAppended("m", "assistant", "a")], [READY, TextAppended("m", "assistant", "a")]),
        # A request that is asked twice is one, in one breath or later.
        ([], [asked(), asked()], [asked()]),
        ([asked()], [asked()], []),
        # An agent can't take back what it never asked, or what was answered.
        ([], [PermissionWithdrawn("r", "agent")], []),
        ([asked(), PermissionAnswered("r", "allow", "ana")], [PermissionWithdrawn("r", "agent")], []),
        ([asked()], [PermissionWithdrawn("r", "agent")], [PermissionWithdrawn("r", "agent")]),
        # A tool that is over needs no permission; one that runs still does, and so does another one.
        (
            [asked()],
            [ToolChanged("t1", "done")],
            [PermissionWithdrawn("r", "agent"), ToolChanged("t1", "done")],
        ),
        ([asked()], [ToolChanged("t1", "running")], [ToolChanged("t1", "running")]),
        ([asked()], [ToolChanged("t2", "done")], [ToolChanged("t2", "done")]),
        # An interrupted turn takes back whatever it asked.
        (
            [PROMPT, asked(), QUESTION],
            [TurnEnded("interrupted")],
            [
                PermissionWithdrawn("r", "interrupted"),
                QuestionWithdrawn("q", "interrupted"),
                TurnEnded("interrupted"),
            ],
        ),
        ([PROMPT, asked()], [DONE], [DONE]),
        # What it takes back because a person stopped it, the person took back.
        (
            [PROMPT, asked(), QUESTION, Interrupted("ana")],
            [PermissionWithdrawn("r", "agent"), QuestionWithdrawn("q", "agent")],
            [PermissionWithdrawn("r", "interrupted"), QuestionWithdrawn("q", "interrupted")],
        ),
    ],
)
async def test_an_agents_events_become_these_facts(
    before: list[AnyEvent], said: list[AnyEvent], facts: list[AnyEvent]
):
    book = Playbook(READY, *before)
    assert await book.says(*said) == Step(facts)


@pytest.mark.parametrize(
    ("mode", "answer"),
    [
        ("auto", PermissionAnswered("r", "allow", "policy", rule=MODE_WORDS["auto"])),
        (
            "deny",
            PermissionAnswered(
                "r", "deny", "policy", rule=MODE_WORDS["deny"], message="This session denies every request."
            ),
        ),
    ],
)
async def test_policy_answers_in_the_same_step_as_the_request(mode: str, answer: PermissionAnswered):
    book = Playbook(READY, PROMPT, mode=mode)
    assert await book.says(asked()) == Step(
        [asked(), answer],
        [f"{answer.decision} r".encode()],
        [("permission", "policy", answer.decision)],
    )
    assert book.ledger.open_requests() == []
    assert book.store.batches[-1].sync, "an answer leaves only once it would survive a power cut"


async def test_a_request_that_policy_leaves_to_people_stays_open():
    book = Playbook(READY, PROMPT)
    assert await book.says(asked(), QUESTION) == Step([asked(), QUESTION])
    assert [one.request_id for one in book.ledger.open_requests()] == ["r", "q"]
    assert not book.store.batches[-1].sync


async def test_the_lasting_rules_that_answered_are_named():
    book = Playbook(
        READY, ruling=lambda *_: Verdict("allow", "Allow `ls` everywhere", None, ("rule-1",)), mode="deny"
    )
    step = await book.says(asked())
    answer = PermissionAnswered("r", "allow", "policy", rule="Allow `ls` everywhere", rule_ids=("rule-1",))
    assert step.facts == [asked(), answer]


async def test_what_the_driver_owes_the_agent_is_sent_with_the_facts():
    book = Playbook(READY)
    book.driver.replies = [Write("w", b"welcome")]
    assert await book.says(TextAppended("m", "assistant", "a")) == Step(
        [TextAppended("m", "assistant", "a")], [b"welcome"]
    )


async def test_lines_that_are_no_protocol_are_counted_after_the_first_twenty():
    book = Playbook(READY)
    step = await book.says(*(Unrecognised(str(number), "no JSON") for number in range(30)))
    flood = Note(
        "unrecognised_flood",
        "The agent prints much that is not its protocol. From here on it is only counted.",
        "warning",
    )
    assert step.facts == [*(Unrecognised(str(number), "no JSON") for number in range(20)), flood]


# The next prompt -------------------------------------------------------------------------------------

QUEUED = PromptQueued("p2", "And then", "ben", "c2")
SENT = PromptSent("p2", "And then", "ben", "c2")


@pytest.mark.parametrize(
    ("before", "said", "step"),
    [
        ([PROMPT, QUEUED], [DONE], Step([DONE, SENT], [b"prompt And then"])),
        ([PROMPT], [DONE], Step([DONE])),
        ([QUEUED], [READY], Step([READY, SENT], [b"prompt And then"])),
        (
            [PROMPT, QUEUED],
            [TextAppended("m", "assistant", "a")],
            Step([TextAppended("m", "assistant", "a")]),
        ),
        ([PROMPT, QUEUED, SessionEnding("closed", "ana")], [DONE], Step([DONE])),
        # An agent that is being started again takes nothing until it is back.
        ([QUEUED, ReconnectScheduled(1, 5)], [DONE], Step([])),
    ],
)
async def test_a_queued_prompt_is_sent_when_the_agent_is_free(
    before: list[AnyEvent], said: list[AnyEvent], step: Step
):
    assert await Playbook(*before).says(*said) == step


async def test_what_a_prompt_settles_by_itself_is_logged_with_it():
    book = Playbook(READY, PROMPT, QUEUED)
    book.driver.causes = [Note("sent", "At once.")]
    assert (await book.says(DONE)).facts == [DONE, SENT, Note("sent", "At once.")]


@pytest.mark.parametrize(
    ("before", "free"),
    [
        ([], True),
        ([READY], True),
        ([READY, PROMPT], False),
        ([READY, PROMPT, Interrupted("ana")], False),
        ([READY, PROMPT, DONE], True),
        ([READY, SessionEnding("closed", "ana")], False),
        ([ReconnectScheduled(1, 5)], False),
        ([ReconnectScheduled(1, 5), READY], True),
    ],
)
async def test_the_agent_is_free_while_it_waits_or_starts_and_not_while_it_is_had_back(
    before: list[AnyEvent], free: bool
):
    assert Playbook(*before).supervisor.free is free


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


def went(reason: Any, code: int | None, signal: int | None, message: str | None) -> SessionEnded:
    return SessionEnded(reason, code, signal, message)


RESUMES = Revival("Demo", resumes=True)


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


# A whole life ----------------------------------------------------------------------------------------


async def test_output_becomes_facts_answers_are_delivered_and_the_place_is_kept():
    book = Playbook(mode="auto")
    async with running(book, PLAN) as run:
        book.prints(READY, asked())
        await book.until(AnswerDelivered)
        assert book.process.done == ["spawn", "allow r"]
        assert book.supervisor.place_and_state() == (len(book.process.out), b"%d" % len(book.process.out))
        book.driver.last = [EntryClosed("m")]
        book.exits(0)
        await asyncio.wait_for(run, PATIENCE)
    facts = (await book.step()).facts
    assert [type(fact) for fact in facts] == [
        AgentSpawned,
        SessionReady,
        PermissionRequested,
        PermissionAnswered,
        AnswerDelivered,
        EntryClosed,
        SessionEnded,
    ]
    assert book.store.batches[-1].out_offset == len(book.process.out)
    assert book.phase is Phase.ENDED


async def test_what_did_not_reach_the_agent_is_out_of_the_outbox_with_the_end():
    book = Playbook(READY, PROMPT, mode="auto", revival=RESUMES)
    book.process.refuses["write"] = ProcessUnreachable("not now")
    await book.says(asked())
    async with running(book) as run:
        book.exits(1)
        await asyncio.wait_for(run, PATIENCE)
    assert book.store.batches[-1].delivered == ["answer:r"]
    cut, _ = (await book.step()).facts[-2:]
    assert isinstance(cut, Note)
    assert cut.text.endswith(UNDELIVERED)


async def test_bytes_that_were_logged_before_the_session_was_live_are_delivered():
    book = Playbook(READY)
    committed = book.ledger.log([], writes=[Write("w", b"first")])
    book.supervisor.deliver_after(committed, [Write("w", b"first")])
    async with running(book):
        async with asyncio.timeout(PATIENCE):
            await book.process.did.wait()
    assert book.process.done[0] == "first"


async def test_lines_that_were_only_counted_are_told_at_the_end():
    book = Playbook(READY)
    await book.says(*(Unrecognised(str(number), "no JSON") for number in range(23)))
    async with running(book) as run:
        book.exits(0)
        await asyncio.wait_for(run, PATIENCE)
    left_out = Note(
        "unrecognised_left_out", "3 lines that are not the agent's protocol were left out here.", "warning"
    )
    assert (await book.step()).facts == [left_out, went("exited", 0, None, None)]


async def test_giving_up_a_process_that_is_gone_is_no_error():
    book = Playbook(READY)
    book.process.refuses["kill"] = HostError("gone")
    await book.supervisor.give_up()
    assert book.process.done == []
