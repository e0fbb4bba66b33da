"""Commands: each becomes these facts, bytes and audit records, or is refused and changes nothing."""

import asyncio
from typing import Any

import pytest
from msgspec import Raw, structs
from tests.session.playbook import Playbook, Step

from bascule.model.commands import (
    Actor,
    AnswerPermission,
    AnswerQuestion,
    DiscardHeld,
    Done,
    EditPrompt,
    Envelope,
    Interrupt,
    LiveCommand,
    PromptPlaced,
    ReleasePrompts,
    ReorderPrompts,
    SendPrompt,
    SetMode,
    SetModel,
    SetPermissionMode,
    WithdrawPrompt,
)
from bascule.model.errors import (
    AlreadyAnswered,
    BasculeError,
    InputChanged,
    InvalidInput,
    LimitReached,
    PromptNotFound,
    RequestNotFound,
    SessionOver,
    StorageFull,
)
from bascule.model.event_values import Question
from bascule.model.events import (
    AnyEvent,
    Interrupted,
    Note,
    PermissionAnswered,
    PermissionModeChanged,
    PermissionRequested,
    PermissionWithdrawn,
    PromptEdited,
    PromptQueued,
    PromptSent,
    PromptsReordered,
    PromptWithdrawn,
    QuestionAnswered,
    QuestionAsked,
    QueueHeld,
    QueueReleased,
    ReconnectScheduled,
    RuleAdded,
    SessionEnded,
    SessionEnding,
    SessionReady,
    TurnEnded,
)
from bascule.model.records import RequestRecord
from bascule.model.settings import Limits
from bascule.policy.session_rules import SessionRule, encode_rule
from bascule.session import commands, reasons
from bascule.session.commands import carry_out, end

pytestmark = pytest.mark.anyio

READY = SessionReady("conversation")
PROMPT = PromptSent("p1", "Do it", "ana")
WAITING = PromptQueued("p2", "And then", "ben", "c2")
STOPPED = [PROMPT, WAITING, Interrupted("ben"), QueueHeld("ben"), TurnEnded("interrupted")]
INPUT = Raw(b'{"command":"ls"}')
ASKED = PermissionRequested("r", "Bash", "ls", "execute", INPUT, "ab", ())
QUESTION = QuestionAsked("q", (Question("Which?"),), Raw(b"{}"), "cd")
OVER = [SessionEnding("closed", "ana"), SessionEnded("closed")]
ANA = Actor("ana")


class NoStore:
    """A store that holds only these requests."""

    storage_problem: str | None = None

    def __init__(self, *requests: RequestRecord) -> None:
        self._requests = {one.request_id: one for one in requests}

    async def request(self, session_id: str, request_id: str) -> RequestRecord | None:
        assert session_id == "s"
        return self._requests.get(request_id)


@pytest.fixture(autouse=True)
def same_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (commands, reasons):
        monkeypatch.setattr(module, "new_id", lambda: "new")


async def do(book: Playbook, command: LiveCommand, key: str | None = None, store: Any = None) -> Done:
    envelope = Envelope(command, ANA, key, "sha" if key else "")
    return await carry_out(book.supervisor, envelope, store or NoStore())  # pyright: ignore


def send(text: str = "Hello", **more: Any) -> SendPrompt:
    return SendPrompt(session_id="s", text=text, client_message_id="c", **more)


def allow(**more: Any) -> AnswerPermission:
    return AnswerPermission(session_id="s", request_id="r", decision="allow", **more)


def deny(**more: Any) -> AnswerPermission:
    return AnswerPermission(session_id="s", request_id="r", decision="deny", **more)


def answer(**more: Any) -> AnswerQuestion:
    return AnswerQuestion(session_id="s", request_id="q", answers={"Which?": "This"}, **more)


SENT = PromptSent("new", "Hello", "ana", "c")
QUEUED = PromptQueued("new", "Hello", "ana", "c")
INPUT_AUDIT = [("input", "ana", "5 characters")]
RULE = SessionRule("Bash", "/code", argv=("ls",))
IN_WORDS = "Allow `ls` in /code, in this session"


@pytest.mark.parametrize(
    ("before", "command", "answered", "step"),
    [
        # A prompt goes to an agent that is free, and waits for any other.
        (
            [],
            send(),
            PromptPlaced(prompt_id="new", state="sent"),
            Step([SENT], [b"prompt Hello"], INPUT_AUDIT),
        ),
        ([PROMPT], send(), PromptPlaced(prompt_id="new", state="queued"), Step([QUEUED], [], INPUT_AUDIT)),
        (
            [ReconnectScheduled(1, 5)],
            send(),
            PromptPlaced(prompt_id="new", state="queued"),
            Step([QUEUED], [], INPUT_AUDIT),
        ),
        ([WAITING], send(), PromptPlaced(prompt_id="new", state="queued"), Step([QUEUED], [], INPUT_AUDIT)),
        # A permission.
        (
            [PROMPT, ASKED],
            allow(input_sha256="ab"),
            Done(),
            Step([PermissionAnswered("r", "allow", "ana")], [b"allow r"], [("permission", "ana", "allow")]),
        ),
        (
            [PROMPT, ASKED],
            deny(message="Not now."),
            Done(),
            Step(
                [PermissionAnswered("r", "deny", "ana", message="Not now.")],
                [b"deny r"],
                [("permission", "ana", "deny")],
            ),
        ),
        (
            [PROMPT, ASKED],
            allow(remember=True),
            Done(),
            Step(
                [
                    RuleAdded(encode_rule(RULE), IN_WORDS, "ana"),
                    PermissionAnswered("r", "allow", "ana", rule=IN_WORDS),
                ],
                [b"allow r"],
                [("permission", "ana", "allow")],
            ),
        ),
        # The reason of a denial is the next message for an agent that takes none with it.
        (
            [PROMPT, structs.replace(ASKED, reason_follows=True), WAITING],
            deny(message="Not now."),
            Done(),
            Step(
                [
                    PermissionAnswered("r", "deny", "ana", message="Not now."),
                    PromptQueued("new", "I denied “ls”: Not now.", "ana"),
                    PromptsReordered(("new", "p2"), "ana"),
                ],
                [b"deny r"],
                [("permission", "ana", "deny")],
            ),
        ),
        # ... at once, if it is free.
        (
            [structs.replace(ASKED, reason_follows=True)],
            deny(message="Not now."),
            Done(),
            Step(
                [
                    PermissionAnswered("r", "deny", "ana", message="Not now."),
                    PromptQueued("new", "I denied “ls”: Not now.", "ana"),
                    PromptSent("new", "I denied “ls”: Not now.", "ana"),
                ],
                [b"deny r", b"prompt I denied \xe2\x80\x9cls\xe2\x80\x9d: Not now."],
                [("permission", "ana", "deny")],
            ),
        ),
        # A question.
        (
            [PROMPT, QUESTION],
            answer(input_sha256="cd"),
            Done(),
            Step(
                [QuestionAnswered("q", "ana", {"Which?": "This"})],
                [b"answered q"],
                [("question", "ana", "answered")],
            ),
        ),
        # Interrupting: what does not run need not be stopped.
        (
            [PROMPT],
            Interrupt(session_id="s"),
            Done(),
            Step([Interrupted("ana")], [b"interrupt"], [("interrupt", "ana", "")]),
        ),
        ([], Interrupt(session_id="s"), Done(), Step()),
        # A stop holds what waits, unless it is to be sent instead.
        (
            [PROMPT, WAITING],
            Interrupt(session_id="s"),
            Done(),
            Step([Interrupted("ana"), QueueHeld("ana")], [b"interrupt"], [("interrupt", "ana", "")]),
        ),
        (
            [PROMPT, WAITING],
            Interrupt(session_id="s", hold=False),
            Done(),
            Step([Interrupted("ana")], [b"interrupt"], [("interrupt", "ana", "")]),
        ),
        (
            [*STOPPED],
            ReleasePrompts(session_id="s", prompt_ids=("p2",)),
            Done(),
            Step(
                [QueueReleased("ana", ("p2",)), PromptSent("p2", "And then", "ben", "c2")],
                [b"prompt And then"],
            ),
        ),
        ([*STOPPED], DiscardHeld(session_id="s"), Done(), Step([PromptWithdrawn("p2", "ana")])),
        # What is held lets a new message pass.
        (
            [*STOPPED],
            send(),
            PromptPlaced(prompt_id="new", state="sent"),
            Step(
                [PromptSent("new", "Hello", "ana", "c")],
                [b"prompt Hello"],
                [("input", "ana", "5 characters")],
            ),
        ),
        ([PROMPT, Interrupted("ben")], Interrupt(session_id="s"), Done(), Step()),
        # The queue.
        (
            [PROMPT, WAITING],
            EditPrompt(session_id="s", prompt_id="p2", text="New"),
            Done(),
            Step([PromptEdited("p2", "New", "ana")]),
        ),
        (
            [PROMPT, WAITING],
            WithdrawPrompt(session_id="s", prompt_id="p2"),
            Done(),
            Step([PromptWithdrawn("p2", "ana")]),
        ),
        (
            [PROMPT, WAITING],
            ReorderPrompts(session_id="s", order=("p2",)),
            Done(),
            Step([PromptsReordered(("p2",), "ana")]),
        ),
        # Mode and model are the agent's to confirm; the permission mode is ours.
        (
            [],
            SetMode(session_id="s", mode="plan"),
            Done(),
            Step([], [b"mode plan"], [("mode", "ana", "plan")]),
        ),
        (
            [PROMPT],
            SetModel(session_id="s", model="large"),
            Done(),
            Step([], [b"model large"], [("mode", "ana", "large")]),
        ),
        (
            [],
            SetPermissionMode(session_id="s", mode="auto"),
            Done(),
            Step([PermissionModeChanged("auto", "ana")], [], [("mode", "ana", "auto")]),
        ),
    ],
)
async def test_a_command_becomes_these_facts(
    before: list[AnyEvent], command: LiveCommand, answered: Done, step: Step
):
    book = Playbook(READY, *before)
    assert await do(book, command) == answered
    assert await book.step() == step


@pytest.mark.parametrize(
    ("before", "command", "error", "words"),
    [
        (OVER, send(), SessionOver, "This session has ended. Resume it to go on."),
        (OVER[:1], send(), SessionOver, "This session has ended. Resume it to go on."),
        (OVER, Interrupt(session_id="s"), SessionOver, "This session has ended. Resume it to go on."),
        (OVER, SetMode(session_id="s", mode="x"), SessionOver, "This session has ended. Resume it to go on."),
        ([], send(""), InvalidInput, "The message is empty."),
        ([], send("x" * 101), InvalidInput, "The message is longer than 100 characters."),
        (
            [PROMPT, *(structs.replace(WAITING, prompt_id=str(number)) for number in range(100))],
            send(),
            LimitReached,
            "100 messages are waiting already. Withdraw some first.",
        ),
        ([], allow(), RequestNotFound, None),
        ([QUESTION], structs.replace(allow(), request_id="q"), RequestNotFound, None),
        ([ASKED], structs.replace(answer(), request_id="r"), RequestNotFound, None),
        ([ASKED], allow(input_sha256="other"), InputChanged, None),
        ([QUESTION], answer(input_sha256="other"), InputChanged, None),
        ([ASKED, PermissionAnswered("r", "deny", "ben")], allow(), AlreadyAnswered, None),
        ([ASKED], deny(remember=True), InvalidInput, "Only an allowed request can be remembered."),
        (
            [structs.replace(ASKED, input=Raw(b'{"command":"ls $x"}'))],
            allow(remember=True),
            InvalidInput,
            "This command can't be remembered exactly. Allow it once instead.",
        ),
        ([QUESTION], structs.replace(answer(), answers={}), InvalidInput, None),
        ([], EditPrompt(session_id="s", prompt_id="p2", text="x"), PromptNotFound, None),
        *(
            ([], command, InvalidInput, "A mode or model is a short name without control characters.")
            for command in (
                SetMode(session_id="s", mode=""),
                SetMode(session_id="s", mode="x" * 201),
                SetModel(session_id="s", model="a\nb"),
            )
        ),
    ],
)
async def test_a_command_that_is_refused_changes_nothing(
    before: list[AnyEvent], command: LiveCommand, error: type[BasculeError], words: str | None
):
    book = Playbook(READY, *before, limits=Limits(prompt_chars=100))
    rules = list(book.supervisor.rules)
    with pytest.raises(error) as refused:
        await do(book, command)
    assert words is None or refused.value.message == words
    assert await book.step() == Step()
    assert book.supervisor.rules == rules


async def test_a_remembered_rule_answers_the_next_request():
    book = Playbook(READY, PROMPT, ASKED)
    await do(book, allow(remember=True))
    await book.step()
    again = structs.replace(ASKED, request_id="again")
    answered = PermissionAnswered("again", "allow", "policy", rule=IN_WORDS)
    assert (await book.says(again)).facts == [again, answered]


async def test_what_the_driver_refuses_to_send_leaves_the_request_open_and_no_rule():
    book = Playbook(READY, PROMPT, ASKED)

    def refuse(*_: object) -> Any:
        raise InvalidInput("Not by this protocol.")

    book.driver.answer_permission = refuse  # pyright: ignore
    with pytest.raises(InvalidInput, match="Not by this protocol"):
        await do(book, allow(remember=True))
    assert await book.step() == Step()
    assert (book.supervisor.rules, [one.request_id for one in book.ledger.open_requests()]) == ([], ["r"])


async def test_a_request_that_is_not_in_memory_any_more_is_found_in_the_store_to_say_why():
    gone = RequestRecord("s", "r", "permission", "confirmed", "ab", Raw(b"{}"), "", 1, answered_by="ben")
    with pytest.raises(AlreadyAnswered):
        await do(Playbook(READY), allow(), store=NoStore(gone))


async def test_what_a_command_settles_by_itself_is_logged_with_it():
    at_once = Note("done", "At once.")
    for before, command, first in (
        ([], send(), [SENT]),
        ([PROMPT], Interrupt(session_id="s"), [Interrupted("ana")]),
        ([], SetMode(session_id="s", mode="plan"), []),
    ):
        book = Playbook(READY, *before)
        book.driver.causes = [at_once]
        await do(book, command)
        assert (await book.step()).facts == [*first, at_once]


async def test_messages_over_the_rate_are_refused_with_the_time_to_wait():
    book = Playbook(READY, PROMPT, limits=Limits(inputs_per_minute=2))
    for _ in range(2):
        await do(book, send())
    with pytest.raises(LimitReached) as refused:
        await do(book, send())
    assert refused.value.message == "At most 2 messages a minute. Try again in 31 s."
    assert refused.value.fields == {"retry_after": 31}
    book.now += 31
    await do(book, send())


async def test_the_reply_to_a_keyed_prompt_is_stored_with_it_and_no_other():
    book = Playbook(READY)
    await do(book, send(), key="k")
    await do(book, send())
    first, second = [batch.reply for batch in book.store.batches[-2:]]
    assert first is not None
    assert (first.key, first.body_sha256) == ("k", "sha")
    assert first.reply == b'{"promptId":"new","state":"sent"}'
    assert second is None


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (None, "The disk takes nothing just now."),
        ("The disk is full.", "The disk is full."),
    ],
)
async def test_a_full_disk_refuses_every_command(problem: str | None, words: str):
    book, store = Playbook(READY), NoStore()
    book.ledger.storage_full, store.storage_problem = True, problem
    with pytest.raises(StorageFull) as refused:
        await do(book, send(), store=store)
    assert refused.value.message == f"{words} Nothing was changed; free some space and try again."
    assert await book.step() == Step()


async def test_a_command_that_is_done_and_not_stored_yet_is_not_done_again(monkeypatch: pytest.MonkeyPatch):
    book = Playbook(READY)
    monkeypatch.setattr(book.ledger, "holds_reply", lambda key: key == "k")  # pyright: ignore
    with pytest.raises(StorageFull, match=r"^The disk was full when this was asked for"):
        await do(book, send(), key="k")
    assert await book.step() == Step()


@pytest.mark.parametrize(
    ("command", "checked"),
    [
        (send(), True),
        (SetMode(session_id="s", mode="x"), True),
        (SetModel(session_id="s", model="x"), True),
        (allow(), False),  # an answer is always taken
        (Interrupt(session_id="s"), False),
    ],
)
async def test_an_agent_with_too_much_to_read_is_sent_nothing_more_but_answers(
    command: LiveCommand, checked: bool, monkeypatch: pytest.MonkeyPatch
):
    book = Playbook(READY, PROMPT, ASKED)

    def full() -> None:
        raise LimitReached("It has too much to read.")

    monkeypatch.setattr(book.supervisor, "check_room", full)
    if not checked:
        await do(book, command)
        return
    with pytest.raises(LimitReached, match="too much to read"):
        await do(book, command)
    assert await book.step() == Step()


async def test_an_end_takes_back_what_is_open_and_a_second_one_changes_nothing():
    book = Playbook(READY, PROMPT, ASKED)
    await end(book.supervisor, "ana")
    await end(book.supervisor, "ben")
    assert (await book.step()).facts == [PermissionWithdrawn("r", "ended"), SessionEnding("closed", "ana")]
    ending = book.supervisor._ending  # pyright: ignore[reportPrivateUsage]
    assert ending is not None
    await asyncio.wait_for(ending, 10)
