"""Handles commands for a live session: checks each, logs its event, returns its answer."""

import asyncio
from typing import Any, assert_never

from bascule.model.commands import (
    Actor,
    AnswerGuard,
    AnswerPermission,
    AnswerQuestion,
    Command,
    DiscardHeld,
    Done,
    EditPrompt,
    Envelope,
    Interrupt,
    KeepSession,
    LiveCommand,
    PromptPlaced,
    QueueChange,
    ReleasePrompts,
    ReorderPrompts,
    SendPrompt,
    SetMode,
    SetModel,
    SetPermissionMode,
    WithdrawPrompt,
)
from bascule.model.errors import AlreadyAnswered, InvalidInput, LimitReached, SessionOver, StorageFull
from bascule.model.events import (
    AnyEvent,
    Interrupted,
    PermissionAnswered,
    PermissionModeChanged,
    PromptSent,
    QueueHeld,
    RuleAdded,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import RequestRecord
from bascule.policy.answer_checks import (
    asked_permission,
    asked_question,
    check_open,
    permission_answer,
    question_answer,
)
from bascule.policy.session_rules import SessionRule, encode_rule, rule_for, words
from bascule.session.answer_deadlines import answer_audit
from bascule.session.ending import OVER, STORE_SECONDS
from bascule.session.guard_answers import answer_guard
from bascule.session.ledger import DONE_LATER
from bascule.session.queueing import (
    check_prompt,
    check_room,
    images_of,
    next_to_send,
    queue_changes,
    queued,
)
from bascule.session.reasons import reason_as_message
from bascule.session.repeated_answers import is_repeated, reply_to
from bascule.session.supervisor import Supervisor, new_id
from bascule.store.base import AuditAction, AuditRecord, StoredReply
from bascule.store.protocols import DaemonStore


async def carry_out(supervisor: Supervisor, envelope: Envelope[LiveCommand], store: DaemonStore) -> Done:
    """Returns once the facts would survive a power cut."""
    if supervisor.ledger.storage_full:
        problem = store.storage_problem or "The disk takes nothing just now."
        raise StorageFull(f"{problem} Nothing was changed; free some space and try again.")
    if supervisor.ledger.holds_reply(envelope.key):
        raise StorageFull(f"The disk was full when this was asked for. {DONE_LATER}")
    command, by = envelope.command, envelope.by
    if isinstance(command, SendPrompt | SetMode | SetModel):
        supervisor.check_room()
    match command:
        case SendPrompt():
            return await _send(supervisor, command, envelope)
        case AnswerPermission() | AnswerQuestion():
            await _answer(supervisor, command, by, store)
        case Interrupt():
            await _interrupt(supervisor, command, by)
        case EditPrompt() | WithdrawPrompt() | ReorderPrompts() | ReleasePrompts() | DiscardHeld():
            await _change_queue(supervisor, command, by)
        case SetMode() | SetModel():
            await _tell_agent(supervisor, command, by)
        case SetPermissionMode():
            changed = PermissionModeChanged(command.mode, by.name)
            committed = supervisor.log([changed], audit=[_audit("mode", supervisor, by, command.mode)])
            await supervisor.ledger.answer(committed)
        case AnswerGuard():
            _check_running(supervisor)
            await answer_guard(supervisor, command, by)
        case KeepSession():
            _check_running(supervisor)
            await supervisor.ledger.answer(supervisor.keep(by.name))
        case _:
            assert_never(command)
    return Done()


async def end(supervisor: Supervisor, by: str) -> None:
    """End the session. On a full disk too: what it says is stored when there is room again."""
    ending = supervisor.end("closed", by)
    if ending is not None:
        stored, _ = await asyncio.wait([ending], timeout=STORE_SECONDS)
        for one in stored:
            one.result()


async def _send(
    supervisor: Supervisor, command: SendPrompt, envelope: Envelope[Command[Any]]
) -> PromptPlaced:
    _check_running(supervisor)
    check_prompt(command.text, command.images, supervisor.limits.prompt_chars)
    pending, by = supervisor.ledger.pending, envelope.by
    check_room(pending, command)
    if not supervisor.inputs.take():
        wait = round(supervisor.inputs.seconds_until_next()) + 1
        raise LimitReached(
            f"At most {supervisor.limits.inputs_per_minute} messages a minute. Try again in {wait} s.",
            retry_after=wait,
        )
    now = supervisor.free and next_to_send(pending) is None  # what is held lets a new prompt pass
    placed = PromptPlaced(prompt_id=new_id(), state="sent" if now else "queued")
    fact: AnyEvent = queued(placed.prompt_id, command, by.name)
    writes = []
    if now:
        images = images_of(command.images)
        fact = PromptSent(placed.prompt_id, command.text, by.name, command.client_message_id, images)
        writes = [supervisor.driver.prompt(fact)]
    facts = [fact, *supervisor.driver.settled()]
    audit = _audit("input", supervisor, by, f"{len(command.text)} characters")
    reply = StoredReply.to(envelope, placed)
    committed = supervisor.log(facts, writes=writes, audit=[audit], reply=reply)
    supervisor.guarding.heard(set(map(type, facts)))
    supervisor.touch()
    await supervisor.ledger.answer(committed)
    return placed


async def _answer(
    supervisor: Supervisor, command: AnswerPermission | AnswerQuestion, by: Actor, store: DaemonStore
) -> None:
    request = await _find(supervisor, command.request_id, store)
    try:
        match command:
            case AnswerPermission():
                await _answer_permission(supervisor, command, by, request)
            case AnswerQuestion():
                await _answer_question(supervisor, command, by, request)
    except AlreadyAnswered:
        await supervisor.ledger.settled()  # the first answer may still be on its way to the store
        if not await is_repeated(store, command, by, request):
            raise


async def _answer_permission(
    supervisor: Supervisor, command: AnswerPermission, by: Actor, request: RequestRecord | None
) -> None:
    request = check_open(request, command.request_id, "permission", command.input_sha256)
    asked = asked_permission(request)
    answer = permission_answer(asked, command, by.name)
    facts: list[AnyEvent] = []
    remembered: list[SessionRule] = []
    if command.remember:
        rule = rule_for(asked, supervisor.ledger.record.cwd)
        answer = PermissionAnswered(
            answer.request_id, answer.decision, answer.by, answer.option, words(rule), answer.message
        )
        facts.append(RuleAdded(encode_rule(rule), words(rule), by.name))
        remembered.append(rule)
    facts.append(answer)
    facts += reason_as_message(asked, command, by.name, supervisor.ledger.pending.queue)
    audit = answer_audit(supervisor.ledger.record.session_id, asked, answer, by)
    write = supervisor.driver.answer_permission(asked, answer)  # may refuse; nothing has changed until here
    supervisor.rules += remembered
    reply = reply_to(command, by, request)
    committed = supervisor.log(facts, writes=[write], audit=[audit], reply=reply)
    supervisor.send_next()
    supervisor.touch()
    await supervisor.ledger.answer(committed)


async def _answer_question(
    supervisor: Supervisor, command: AnswerQuestion, by: Actor, request: RequestRecord | None
) -> None:
    request = check_open(request, command.request_id, "question", command.input_sha256)
    asked = asked_question(request)
    answer = question_answer(asked, command, by.name)
    audit = answer_audit(supervisor.ledger.record.session_id, asked, answer, by)
    write = supervisor.driver.answer_question(asked, answer)
    reply = reply_to(command, by, request)
    committed = supervisor.log([answer], writes=[write], audit=[audit], reply=reply)
    supervisor.touch()
    await supervisor.ledger.answer(committed)


async def _find(supervisor: Supervisor, request_id: str, store: DaemonStore) -> RequestRecord | None:
    """The request: from memory while it can be answered, else from the store, to say why not.

    Nothing may be awaited between this look-up and the answer, so an open one is never read from the store:
    it opened meanwhile, and nobody had seen it when they answered.
    """
    known = supervisor.ledger.requests.get(request_id)
    if known is not None:
        return known
    stored = await store.request(supervisor.ledger.record.session_id, request_id)
    return None if stored is not None and stored.state == "open" else stored


async def _interrupt(supervisor: Supervisor, command: Interrupt, by: Actor) -> None:
    _check_running(supervisor)
    if supervisor.ledger.record.phase is not Phase.RUNNING:
        return  # nothing runs, or it is being interrupted already: the command is met
    write = supervisor.driver.interrupt(f"interrupt:{new_id()}")
    audit = _audit("interrupt", supervisor, by, "")
    facts: list[AnyEvent] = [Interrupted(by.name)]
    if command.hold and next_to_send(supervisor.ledger.pending) is not None:
        facts.append(QueueHeld(by.name))
    facts += supervisor.driver.settled()
    committed = supervisor.log(facts, writes=[write], audit=[audit])
    supervisor.send_next()  # what is interrupted before it was sent is over at once
    await supervisor.ledger.answer(committed)


async def _change_queue(supervisor: Supervisor, command: QueueChange, by: Actor) -> None:
    limit = supervisor.limits.prompt_chars
    changed = queue_changes(command, supervisor.ledger.pending, by.name, limit)
    committed = supervisor.log(changed)
    supervisor.send_next()
    await supervisor.ledger.answer(committed)


async def _tell_agent(supervisor: Supervisor, command: SetMode | SetModel, by: Actor) -> None:
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
    committed = supervisor.log(facts, writes=[write], audit=[_audit("mode", supervisor, by, word)])
    await supervisor.ledger.answer(committed)


def _check_running(supervisor: Supervisor) -> None:
    if supervisor.ledger.record.phase in OVER:
        raise SessionOver("This session has ended. Resume it to go on.")


def _audit(action: AuditAction, supervisor: Supervisor, by: Actor, detail: str) -> AuditRecord:
    return AuditRecord.of(by, action, supervisor.ledger.record.session_id, detail)
