"""Queues the reason of a denial as the next message, for agents whose protocol has no field for it."""

from collections.abc import Sequence

from bascule.model.commands import AnswerPermission
from bascule.model.events import AnyEvent, PermissionRequested, PromptQueued, PromptsReordered
from bascule.session.supervisor import new_id


def reason_as_message(
    asked: PermissionRequested, command: AnswerPermission, by: str, queue: Sequence[PromptQueued]
) -> list[AnyEvent]:
    """The facts that put it before all that waits; none where the answer itself carries it."""
    if command.decision != "deny" or not command.message or not asked.reason_follows:
        return []
    prompt_id = new_id()
    facts: list[AnyEvent] = [PromptQueued(prompt_id, f"I denied “{asked.title}”: {command.message}", by)]
    if queue:
        order = (prompt_id, *(one.prompt_id for one in queue))
        facts.append(PromptsReordered(order, by))
    return facts
