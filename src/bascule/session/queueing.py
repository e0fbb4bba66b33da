"""Checks changes to a session's prompt queue and turns them into events. Pure."""

from typing import assert_never

from bascule.model.commands import (
    DiscardHeld,
    EditPrompt,
    QueueChange,
    ReleasePrompts,
    ReorderPrompts,
    SendPrompt,
    SentImage,
    WithdrawPrompt,
)
from bascule.model.errors import InvalidInput, LimitReached, PromptNotFound
from bascule.model.events import (
    AnyEvent,
    Image,
    PromptEdited,
    PromptQueued,
    PromptsReordered,
    PromptWithdrawn,
    QueueReleased,
)
from bascule.model.records import Pending
from bascule.policy.attachments import objection

MAX_QUEUE = 100
MAX_QUEUE_BYTES = 24 * 1024 * 1024


def images_of(sent: tuple[SentImage, ...]) -> tuple[Image, ...]:
    """A prompt's images as the log has them."""
    return tuple(image.logged() for image in sent)


def check_prompt(text: str, images: tuple[SentImage, ...], limit: int) -> None:
    """Raises `InvalidInput` for a prompt that no agent is sent."""
    if not text and not images:
        raise InvalidInput("The message is empty.")
    if 0 < limit < len(text):
        raise InvalidInput(f"The message is longer than {limit} characters.")
    if "\x00" in text:
        raise InvalidInput("The message contains a NUL character.")
    wrong = objection(images_of(images))
    if wrong is not None:
        raise InvalidInput(wrong)


def check_room(pending: Pending, command: SendPrompt) -> None:
    """Raises `LimitReached` when this prompt may not wait with the others.

    The queue is read, kept and written as one, so it is bounded by its size too.
    """
    if len(pending.queue) >= MAX_QUEUE:
        raise LimitReached(f"{MAX_QUEUE} messages are waiting already. Withdraw some first.")
    waiting = sum(len(prompt.text) + _bytes(prompt.images) for prompt in pending.queue)
    if waiting + len(command.text) + _bytes(command.images) > MAX_QUEUE_BYTES:
        raise LimitReached(
            f"The messages that wait hold {waiting // 1024} KiB; {MAX_QUEUE_BYTES // 1024} KiB is the most. "
            "Withdraw some first, or wait until the agent has taken one."
        )


def _bytes(images: tuple[Image, ...] | tuple[SentImage, ...]) -> int:
    return sum(len(image.data) for image in images)


def queued(prompt_id: str, command: SendPrompt, by: str) -> PromptQueued:
    return PromptQueued(prompt_id, command.text, by, command.client_message_id, images_of(command.images))


def queue_changes(command: QueueChange, pending: Pending, by: str, prompt_chars: int) -> list[AnyEvent]:
    """The events for edited, withdrawn, moved or released prompts. Raises `PromptNotFound`."""
    missing = _named(command) - {prompt.prompt_id for prompt in pending.queue}
    if missing:
        words = ", ".join(sorted(missing))[:200]
        raise PromptNotFound(f"No message {words} waits in this session; it may have been sent.")
    held = [prompt.prompt_id for prompt in pending.queue if prompt.held]
    match command:
        case EditPrompt():
            check_prompt(command.text, (), prompt_chars)
            return [PromptEdited(command.prompt_id, command.text, by)]
        case WithdrawPrompt():
            return [PromptWithdrawn(command.prompt_id, by)]
        case ReorderPrompts():
            return [PromptsReordered(command.order, by)]
        case ReleasePrompts():
            return [QueueReleased(by, command.prompt_ids)] if held else []  # asked for twice: it is met
        case DiscardHeld():
            return [PromptWithdrawn(prompt_id, by) for prompt_id in held]
        case _:
            assert_never(command)


def next_to_send(pending: Pending) -> PromptQueued | None:
    """The first prompt that waits and is not held."""
    return next((prompt for prompt in pending.queue if not prompt.held), None)


def _named(command: QueueChange) -> set[str]:
    match command:
        case ReorderPrompts(order=order):
            return set(order)
        case ReleasePrompts(prompt_ids=prompt_ids):
            return set(prompt_ids)
        case DiscardHeld():
            return set()
        case EditPrompt(prompt_id=prompt_id) | WithdrawPrompt(prompt_id=prompt_id):
            return {prompt_id}
        case _:
            assert_never(command)
