"""Carries out what people ask of a live session. Each command is checked, made a fact, and answered."""

import asyncio

from bascule.model.codec import encode
from bascule.model.commands import (
    Actor,
    AnswerPermission,
    AnswerQuestion,
    EditPrompt,
    EndSession,
    Interrupt,
    ReorderPrompts,
    SendPrompt,
    SetMode,
    SetModel,
    SetPermissionMode,
    WithdrawPrompt,
)
from bascule.model.errors import InvalidInput, LimitReached, PromptNotFound, SessionOver, StorageFull
from bascule.model.events import (
    AnyEvent,
    Image,
    Interrupted,
    PermissionAnswered,
    PermissionModeChanged,
    PromptEdited,
    PromptQueued,
    PromptSent,
    PromptsReordered,
    PromptWithdrawn,
    RuleAdded,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import Pending, RequestRecord
from bascule.policy.attachments import objection
from bascule.policy.session_rules import SessionRule, encode_rule, rule_for, words
from bascule.session.answers import (
    asked_permission,
    asked_question,
    check_open,
    permission_answer,
    question_answer,
)
from bascule.session.ending import OVER, STORE_SECONDS
from bascule.session.ledger import Ledger
from bascule.session.reasons import reason_as_message
from bascule.session.supervisor import Supervisor, new_id
from bascule.store.base import AuditRecord, EventStore, StoredReply

MAX_QUEUE = 100
MAX_QUEUE_BYTES = 24 * 1024 * 1024

LiveCommand = (
    SendPrompt
    | EditPrompt
    | ReorderPrompts
    | WithdrawPrompt
    | Interrupt
    | AnswerPermission
    | AnswerQuestion
    | SetMode
    | SetModel
    | SetPermissionMode
    | EndSession
)


async def carry_out(
    supervisor: Supervisor, command: LiveCommand, store: EventStore, body_sha256: str
) -> bytes:
    """Do it, and give the reply (JSON). Returns once the facts would survive a power cut.

    Only an end is carried out on a full disk too; what it says is stored when there is room again.
    """
    if supervisor.ledger.storage_full and not isinstance(command, EndSession):
        problem = store.storage_problem or "The disk takes nothing just now."
        raise StorageFull(f"{problem} Nothing was changed; free some space and try again.")
    if isinstance(command, SendPrompt | SetMode | SetModel):
        supervisor.check_room()
    match command:
        case SendPrompt():
            return await _send(supervisor, command, body_sha256)
        case AnswerPermission():
            request = await _find(supervisor, command.request_id, store)
            await _answer_permission(supervisor, command, request)
        case AnswerQuestion():
            request = await _find(supervisor, command.request_id, store)
            await _answer_question(supervisor, command, request)
        case Interrupt():
            await _interrupt(supervisor, command)
        case EditPrompt() | WithdrawPrompt() | ReorderPrompts():
            await _change_queue(supervisor, command)
        case SetMode() | SetModel():
            await _tell_agent(supervisor, command)
        case SetPermissionMode():
            changed = PermissionModeChanged(command.mode, command.by.name)
            await supervisor.log([changed], audit=[_audit("mode", supervisor, command.by, command.mode)])
        case EndSession():
            ending = supervisor.end(command.reason, command.by.name)
            if ending is not None:
                stored, _ = await asyncio.wait([ending], timeout=STORE_SECONDS)
                for one in stored:
                    one.result()
    return b"{}"


def check_prompt(text: str, images: tuple[Image, ...], limit: int) -> None:
    """What a prompt must be before it is taken."""
    if not text and not images:
        raise InvalidInput("The message is empty.")
    if len(text) > limit:
        raise InvalidInput(f"The message is longer than {limit} characters.")
    if "\x00" in text:
        raise InvalidInput("The message contains a NUL character.")
    wrong = objection(images)
    if wrong is not None:
        raise InvalidInput(wrong)


def check_queue(ledger: Ledger, command: SendPrompt) -> None:
    """Raises when this message may not wait with the others."""
    if len(ledger.pending.queue) >= MAX_QUEUE:
        raise LimitReached(f"{MAX_QUEUE} messages are waiting already. Withdraw some first.")
    _check_size(ledger.pending, command)


async def _send(supervisor: Supervisor, command: SendPrompt, body_sha256: str) -> bytes:
    _check_running(supervisor)
    check_prompt(command.text, command.images, supervisor.limits.prompt_chars)
    pending = supervisor.ledger.pending
    check_queue(supervisor.ledger, command)
    if not supervisor.inputs.take():
        wait = round(supervisor.inputs.seconds_until_next()) + 1
        raise LimitReached(
            f"At most {supervisor.limits.inputs_per_minute} messages a minute. Try again in {wait} s.",
            retry_after=wait,
        )
    prompt_id = new_id()
    now = supervisor.free and not pending.queue
    result = encode({"prompt_id": prompt_id, "state": "sent" if now else "queued"})
    reply = StoredReply(command.key, body_sha256, result) if command.key else None
    fact: AnyEvent
    if now:
        fact = PromptSent(prompt_id, command.text, command.by.name, command.client_message_id, command.images)
        writes = [supervisor.driver.prompt(fact)]
    else:
        fact = PromptQueued(
            prompt_id, command.text, command.by.name, command.client_message_id, command.images
        )
        writes = []
    facts = [fact, *supervisor.driver.settled()]
    audit = _audit("input", supervisor, command.by, f"{len(command.text)} characters")
    committed = supervisor.log(facts, writes=writes, audit=[audit], reply=reply)
    supervisor.touch()
    await committed
    return result


def _check_size(pending: Pending, command: SendPrompt) -> None:
    """What waits is read, kept and written as one, so it is bounded by its size too."""
    waiting = sum(_size(one.text, one.images) for one in pending.queue)
    if waiting + _size(command.text, command.images) > MAX_QUEUE_BYTES:
        raise LimitReached(
            f"The messages that wait hold {waiting // 1024} KiB; {MAX_QUEUE_BYTES // 1024} KiB is the most. "
            "Withdraw some first, or wait until the agent has taken one."
        )


def _size(text: str, images: tuple[Image, ...]) -> int:
    return len(text) + sum(len(image.data) for image in images)


async def _answer_permission(
    supervisor: Supervisor, command: AnswerPermission, request: RequestRecord | None
) -> None:
    request = check_open(request, command.request_id, "permission", command.input_sha256)
    asked = asked_permission(request)
    answer = permission_answer(asked, command)
    facts: list[AnyEvent] = []
    remembered: list[SessionRule] = []
    if command.remember:
        rule = rule_for(asked, supervisor.ledger.record.cwd)
        answer = PermissionAnswered(
            answer.request_id, answer.decision, answer.by, answer.option, words(rule), answer.message
        )
        facts.append(RuleAdded(encode_rule(rule), words(rule), command.by.name))
        remembered.append(rule)
    facts.append(answer)
    facts += reason_as_message(asked, command, supervisor.ledger.pending.queue)
    audit = supervisor.audit_answer(asked, answer, command.by)
    write = supervisor.driver.answer_permission(asked, answer)  # may refuse; nothing has changed until here
    supervisor.rules += remembered
    committed = supervisor.log(facts, writes=[write], audit=[audit])
    supervisor.send_next()
    supervisor.touch()
    await committed


async def _answer_question(
    supervisor: Supervisor, command: AnswerQuestion, request: RequestRecord | None
) -> None:
    request = check_open(request, command.request_id, "question", command.input_sha256)
    asked = asked_question(request)
    answer = question_answer(asked, command)
    audit = supervisor.audit_answer(asked, answer, command.by)
    write = supervisor.driver.answer_question(asked, answer)
    committed = supervisor.log([answer], writes=[write], audit=[audit])
    supervisor.touch()
    await committed


async def _find(supervisor: Supervisor, request_id: str, store: EventStore) -> RequestRecord | None:
    """The request: from memory while it can be answered, else from the store, to say why not.

    Nothing may be awaited between this look-up and the answer, so an open one is never read from the store.
    """
    known = supervisor.ledger.requests.get(request_id)
    if known is not None:
        return known
    return await store.request(supervisor.ledger.record.session_id, request_id)


async def _interrupt(supervisor: Supervisor, command: Interrupt) -> None:
    _check_running(supervisor)
    if supervisor.ledger.record.phase is not Phase.RUNNING:
        return  # nothing runs, or it is being interrupted already: the command is met
    write = supervisor.driver.interrupt(f"interrupt:{new_id()}")
    audit = _audit("interrupt", supervisor, command.by, "")
    facts = [Interrupted(command.by.name), *supervisor.driver.settled()]
    committed = supervisor.log(facts, writes=[write], audit=[audit])
    supervisor.send_next()  # what is interrupted before it was sent is over at once
    await committed


async def _change_queue(
    supervisor: Supervisor, command: EditPrompt | WithdrawPrompt | ReorderPrompts
) -> None:
    waiting = {one.prompt_id for one in supervisor.ledger.pending.queue}
    asked = set(command.order) if isinstance(command, ReorderPrompts) else {command.prompt_id}
    if not asked <= waiting:
        missing = ", ".join(sorted(asked - waiting))[:200]
        raise PromptNotFound(f"No message {missing} waits in this session; it may have been sent.")
    match command:
        case EditPrompt():
            check_prompt(command.text, (), supervisor.limits.prompt_chars)
            await supervisor.log([PromptEdited(command.prompt_id, command.text, command.by.name)])
        case WithdrawPrompt():
            await supervisor.log([PromptWithdrawn(command.prompt_id, command.by.name)])
        case ReorderPrompts():
            await supervisor.log([PromptsReordered(command.order, command.by.name)])


async def _tell_agent(supervisor: Supervisor, command: SetMode | SetModel) -> None:
    """Mode and model are the agent's: it confirms, and its confirmation is the fact."""
    _check_running(supervisor)
    word = command.mode if isinstance(command, SetMode) else command.model
    if not word or len(word) > 200 or not word.isprintable():
        raise InvalidInput("A mode or model is a short name without control characters.")
    if isinstance(command, SetMode):
        write = supervisor.driver.set_mode(f"mode:{new_id()}", command.mode)
    else:
        write = supervisor.driver.set_model(f"model:{new_id()}", command.model)
    facts = supervisor.driver.settled()
    await supervisor.log(facts, writes=[write], audit=[_audit("mode", supervisor, command.by, word)])


def _check_running(supervisor: Supervisor) -> None:
    if supervisor.ledger.record.phase in OVER:
        raise SessionOver("This session has ended. Resume it to go on.")


def _audit(action: str, supervisor: Supervisor, by: Actor, detail: str) -> AuditRecord:
    return AuditRecord(
        action,  # pyright: ignore[reportArgumentType] - one of the literal actions
        by.name,
        supervisor.ledger.record.session_id,
        by.grant_id,
        by.address,
        by.user_agent,
        detail=detail,
    )
