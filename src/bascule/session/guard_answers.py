"""Carries out a person's answer to a guard rail: goes on with a higher cap, or ends the session."""

from bascule.model.commands import Actor, AnswerGuard
from bascule.model.errors import InvalidInput, RequestNotFound
from bascule.model.events import GuardAnswered, GuardAsked, PromptQueued
from bascule.session.queueing import next_to_send
from bascule.session.supervisor import Supervisor, new_id
from bascule.store.base import AuditRecord

GO_ON = "Go on where you were stopped."
LOOP = "You repeated the same call with the same outcome. Go on, and try something else."


async def answer_guard(supervisor: Supervisor, command: AnswerGuard, by: Actor) -> None:
    guard = supervisor.ledger.record.guard
    if guard is None or guard.guard_id != command.guard_id:
        raise RequestNotFound(command.guard_id)
    if command.decision == "end":
        answered = GuardAnswered(guard.guard_id, "end", by.name)
        supervisor.log([answered], audit=[_audit(supervisor, by, f"{guard.kind}: ended")])
        ending = supervisor.end("closed", by.name)
        if ending is not None:
            await supervisor.ledger.answer(ending)
        return
    most = _raised(guard, command)
    answered = GuardAnswered(guard.guard_id, "go_on", by.name, most)
    supervisor.guarding.answered()
    detail = f"{guard.kind}: raised to {most}" if most else f"{guard.kind}: goes on"
    committed = supervisor.log([answered], audit=[_audit(supervisor, by, detail)])
    _go_on(supervisor, guard, by)
    await supervisor.ledger.answer(committed)


def _raised(guard: GuardAsked, command: AnswerGuard) -> int:
    """The cap from now on; 0 for a loop, which has none."""
    if guard.kind == "loop":
        return 0
    most = command.allowed or max(guard.allowed * 2, guard.spent + guard.allowed)
    if most <= guard.spent:
        raise InvalidInput(
            f"{guard.spent} are spent already: raise the limit above that, or end the session.",
            field="allowed",
        )
    return most


def _go_on(supervisor: Supervisor, guard: GuardAsked, by: Actor) -> None:
    """What waits is sent. Where nothing does and the turn was cut short, the agent is asked to go on."""
    if guard.cut_short and next_to_send(supervisor.ledger.pending) is None:
        supervisor.log([PromptQueued(new_id(), LOOP if guard.kind == "loop" else GO_ON, by.name)])
    supervisor.send_next()


def _audit(supervisor: Supervisor, by: Actor, detail: str) -> AuditRecord:
    return AuditRecord.of(by, "limit", supervisor.ledger.record.session_id, detail)
