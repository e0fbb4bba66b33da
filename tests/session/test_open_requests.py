"""Open requests: what a step says about requests, before the ledger has folded it."""

import pytest
from msgspec import Raw
from tests.session.playbook import Playbook

from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    TurnEnded,
)
from bascule.session.open_requests import OpenRequests

pytestmark = pytest.mark.anyio


def permission(request_id: str, tool_id: str | None = None) -> PermissionRequested:
    return PermissionRequested(request_id, "Bash", "ls", "execute", Raw(b"{}"), "0", (), tool_id=tool_id)


def question(request_id: str, tool_id: str | None = None) -> QuestionAsked:
    return QuestionAsked(request_id, (), Raw(b"{}"), "0", tool_id=tool_id)


ALLOWED = PermissionAnswered("p", "allow", "ana")
ANSWERED = QuestionAnswered("q", "ana")


@pytest.mark.parametrize(
    ("before", "event", "new"),
    [
        ([], permission("p"), True),
        ([], question("q"), True),
        ([permission("p")], permission("p"), False),
        ([permission("p")], question("p"), False),
        ([permission("p"), ALLOWED], permission("p"), False),  # answered: it is not asked again
        ([permission("p")], ALLOWED, True),
        ([permission("p")], PermissionWithdrawn("p", "agent"), True),
        ([question("q")], ANSWERED, True),
        ([question("q")], QuestionWithdrawn("q", "agent"), True),
        ([], ALLOWED, False),
        ([], ANSWERED, False),
        ([], PermissionWithdrawn("p", "agent"), False),
        ([], QuestionWithdrawn("q", "agent"), False),
        ([permission("p"), ALLOWED], PermissionWithdrawn("p", "agent"), False),  # the answer stands
        ([], TurnEnded("end_turn"), True),
    ],
)
async def test_an_event_that_says_nothing_new_is_left_out(before: list[AnyEvent], event: AnyEvent, new: bool):
    assert OpenRequests(Playbook(*before).ledger).follow(event) is new


async def test_what_was_followed_in_this_step_counts_before_it_is_logged():
    requests = OpenRequests(Playbook().ledger)
    assert requests.follow(permission("p"))
    assert not requests.follow(permission("p"))
    assert requests.follow(ALLOWED)
    assert not requests.follow(PermissionWithdrawn("p", "agent"))
    assert requests.withdraw_all("ended") == []


async def test_a_tool_that_is_over_takes_back_its_own_requests_once():
    requests = OpenRequests(Playbook(permission("old", "t1"), permission("other", "t2")).ledger)
    for event in (question("new", "t1"), permission("none")):
        requests.follow(event)
    assert requests.withdraw_of("t1") == [
        PermissionWithdrawn("old", "agent"),
        QuestionWithdrawn("new", "agent"),
    ]
    assert requests.withdraw_of("t1") == []
    assert requests.withdraw_all("lost") == [
        PermissionWithdrawn("other", "lost"),
        PermissionWithdrawn("none", "lost"),
    ]
    assert requests.withdraw_all("lost") == []
