"""The reason of a denial, as the next message to an agent whose protocol has no field for it."""

from typing import Any

import pytest
from msgspec import Raw

from bascule.model.commands import AnswerPermission
from bascule.model.events import PermissionRequested, PromptQueued, PromptsReordered
from bascule.session.reasons import reason_as_message


def asked(*, reason_follows: bool = True) -> PermissionRequested:
    return PermissionRequested(
        "r1", "Bash", "Run rm", "execute", Raw(b"{}"), "0" * 64, (), reason_follows=reason_follows
    )


def answer(decision: Any, message: str | None) -> AnswerPermission:
    return AnswerPermission(session_id="s", request_id="r1", decision=decision, message=message)


@pytest.mark.parametrize(
    ("decision", "message", "reason_follows"),
    [
        ("allow", "go on", True),
        ("deny", None, True),
        ("deny", "", True),
        ("deny", "use git rm", False),
    ],
    ids=["allowed", "without words", "empty words", "carried by the answer"],
)
def test_nothing_is_queued_for(decision: str, message: str | None, reason_follows: bool):
    assert reason_as_message(asked(reason_follows=reason_follows), answer(decision, message), "ana", ()) == []


def test_a_reason_is_queued_in_the_name_of_the_person_who_gave_it():
    (queued,) = reason_as_message(asked(), answer("deny", "use git rm"), "ana", ())
    assert isinstance(queued, PromptQueued)
    assert (queued.text, queued.by) == ("I denied “Run rm”: use git rm", "ana")
    assert queued.prompt_id


def test_a_reason_goes_before_every_prompt_that_waits():
    waiting = (PromptQueued("p1", "then this", "ben"), PromptQueued("p2", "and this", "ben"))
    queued, order = reason_as_message(asked(), answer("deny", "no"), "ana", waiting)
    assert isinstance(queued, PromptQueued)
    assert order == PromptsReordered((queued.prompt_id, "p1", "p2"), "ana")
