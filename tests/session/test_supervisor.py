"""The supervisor, as a playbook: an agent's events in, the facts, bytes and audit records out."""

import asyncio

import pytest
from tests.session.facts import DONE, PROMPT, QUESTION, READY, RESUMES, asked, running, went
from tests.session.playbook import PLAN, Playbook, Step
from tests.waiting import PATIENCE

from bascule.model.errors import HostError
from bascule.model.events import (
    AgentSpawned,
    AnswerDelivered,
    AnyEvent,
    EntryClosed,
    Interrupted,
    Note,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PromptQueued,
    PromptSent,
    QuestionWithdrawn,
    ReconnectScheduled,
    SessionEnded,
    SessionEnding,
    SessionReady,
    TextAppended,
    ToolChanged,
    TurnEnded,
    Unrecognised,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import Write
from bascule.policy.decide import MODE_WORDS, Verdict
from bascule.session.agent import ProcessUnreachable
from bascule.session.reviving import UNDELIVERED

pytestmark = pytest.mark.anyio


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
