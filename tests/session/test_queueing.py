"""Queueing: which prompts are refused, and which event a change of the queue becomes."""

import base64
from collections.abc import Sequence

import pytest
from msgspec import structs
from tests.policy.test_attachments import PNG

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
from bascule.session.queueing import (
    MAX_QUEUE,
    MAX_QUEUE_BYTES,
    check_prompt,
    check_room,
    images_of,
    next_to_send,
    queue_changes,
    queued,
)

IMAGE = SentImage("image/png", base64.b64encode(PNG).decode())
LOGGED = Image("image/png", IMAGE.data)


def pending(*prompts: PromptQueued) -> Pending:
    waiting = Pending()
    waiting.queue.extend(prompts)
    return waiting


def waiting(prompt_id: str, text: str = "x", images: tuple[Image, ...] = ()) -> PromptQueued:
    return PromptQueued(prompt_id, text, "ana", None, images)


def send(text: str, images: tuple[SentImage, ...] = ()) -> SendPrompt:
    return SendPrompt(session_id="s", text=text, client_message_id="c", images=images)


@pytest.mark.parametrize(
    ("text", "images"), [("x", ()), ("x" * 10, ()), ("", (IMAGE,)), ("a\nb\x1b", (IMAGE,))]
)
def test_a_prompt_of_text_or_images_is_taken(text: str, images: tuple[SentImage, ...]):
    check_prompt(text, images, 10)


@pytest.mark.parametrize(
    ("text", "images", "words"),
    [
        ("", (), "The message is empty."),
        ("x" * 11, (), "The message is longer than 10 characters."),
        ("a\x00", (), "The message contains a NUL character."),
    ],
)
def test_a_prompt_is_refused_in_words(text: str, images: tuple[SentImage, ...], words: str):
    with pytest.raises(InvalidInput) as refused:
        check_prompt(text, images, 10)
    assert refused.value.message == words


def test_an_image_that_is_none_is_refused():
    with pytest.raises(InvalidInput):
        check_prompt("x", (SentImage("image/png", "bm8="),), 10)


@pytest.mark.parametrize(("count", "room"), [(MAX_QUEUE - 1, True), (MAX_QUEUE, False)])
def test_a_queue_holds_so_many_prompts(count: int, room: bool):
    full = pending(*(waiting(str(number)) for number in range(count)))
    if room:
        check_room(full, send("x"))
        return
    with pytest.raises(LimitReached, match=r"^100 messages are waiting already\. Withdraw some first\.$"):
        check_room(full, send("x"))


HALF = MAX_QUEUE_BYTES // 2


@pytest.mark.parametrize(
    ("before", "text", "images", "room"),
    [
        ([waiting("1", "x" * HALF)], "x" * HALF, (), True),
        ([waiting("1", "x" * HALF)], "x" * (HALF + 1), (), False),
        ([waiting("1", "", (Image("image/png", "x" * HALF),))], "x" * HALF, (), True),
        ([waiting("1", "", (Image("image/png", "x" * HALF),))], "x" * (HALF + 1), (), False),
        ([waiting("1", "x" * HALF)], "x", (SentImage("image/png", "x" * (HALF - 1)),), True),
        ([waiting("1", "x" * HALF)], "x", (SentImage("image/png", "x" * HALF),), False),
        ([], "x" * MAX_QUEUE_BYTES, (), True),
    ],
)
def test_a_queue_holds_so_many_bytes_of_text_and_images(
    before: Sequence[PromptQueued], text: str, images: tuple[SentImage, ...], room: bool
):
    if room:
        check_room(pending(*before), send(text, images))
        return
    words = "^The messages that wait hold 12288 KiB; 24576 KiB is the most. Withdraw some first, or wait"
    with pytest.raises(LimitReached, match=words):
        check_room(pending(*before), send(text, images))


def test_a_prompt_that_waits_is_logged_whole():
    assert images_of((IMAGE, IMAGE)) == (LOGGED, LOGGED)
    assert queued("p", send("x", (IMAGE,)), "ben") == PromptQueued("p", "x", "ben", "c", (LOGGED,))


QUEUE = pending(waiting("p1"), waiting("p2"))


@pytest.mark.parametrize(
    ("command", "event"),
    [
        (EditPrompt(session_id="s", prompt_id="p2", text="new"), PromptEdited("p2", "new", "ben")),
        (WithdrawPrompt(session_id="s", prompt_id="p1"), PromptWithdrawn("p1", "ben")),
        (ReorderPrompts(session_id="s", order=("p2", "p1")), PromptsReordered(("p2", "p1"), "ben")),
        (ReorderPrompts(session_id="s", order=("p2",)), PromptsReordered(("p2",), "ben")),
    ],
)
def test_a_change_of_the_queue_becomes_this_event(command: QueueChange, event: AnyEvent):
    assert queue_changes(command, QUEUE, "ben", 10) == [event]


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        (EditPrompt(session_id="s", prompt_id="p3", text="new"), "p3"),
        (WithdrawPrompt(session_id="s", prompt_id="p3"), "p3"),
        (ReorderPrompts(session_id="s", order=("p4", "p1", "p3")), "p3, p4"),
        (ReorderPrompts(session_id="s", order=("x" * 300,)), "x" * 200),
        (ReleasePrompts(session_id="s", prompt_ids=("p1", "p3")), "p3"),
    ],
)
def test_a_prompt_that_does_not_wait_is_not_found(command: QueueChange, missing: str):
    with pytest.raises(PromptNotFound) as refused:
        queue_changes(command, QUEUE, "ben", 10)
    assert refused.value.message == f"No message {missing} waits in this session; it may have been sent."


@pytest.mark.parametrize("text", ["", "x" * 11])
def test_an_edit_is_checked_as_a_prompt_is(text: str):
    with pytest.raises(InvalidInput):
        queue_changes(EditPrompt(session_id="s", prompt_id="p1", text=text), QUEUE, "ben", 10)


def test_what_is_held_is_released_or_discarded_by_a_person_and_passed_over_until_then():
    held = pending(held_back("p1"), held_back("p2"), waiting("p3"))
    one, both = ReleasePrompts(session_id="s", prompt_ids=("p1",)), ReleasePrompts(session_id="s")
    assert queue_changes(one, held, "ben", 10) == [QueueReleased("ben", ("p1",))]
    assert queue_changes(both, held, "ben", 10) == [QueueReleased("ben")]
    discarded = [PromptWithdrawn("p1", "ben"), PromptWithdrawn("p2", "ben")]
    assert queue_changes(DiscardHeld(session_id="s"), held, "ben", 10) == discarded
    assert next_to_send(held) == waiting("p3")
    assert next_to_send(pending(held_back("p1"))) is None
    assert queue_changes(both, QUEUE, "ben", 10) == []
    assert queue_changes(DiscardHeld(session_id="s"), QUEUE, "ben", 10) == []


def held_back(prompt_id: str) -> PromptQueued:
    return structs.replace(waiting(prompt_id), held=True)
