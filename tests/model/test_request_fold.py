"""The request fold: which events open a request, and which state each later event leads to."""

import pytest
from msgspec import Raw

from bascule.model.codec import Logged, encode
from bascule.model.events import (
    AnswerDelivered,
    AnyEvent,
    Bell,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    ToolChanged,
)
from bascule.model.records import RequestRecord, RequestState
from bascule.model.request_fold import opened_request, settle

AT, LATER = "2031-01-01T00:00:00.000Z", "2031-01-01T00:00:09.000Z"
INPUT = Raw(b"{}")
PERMISSION = PermissionRequested("r1", "Bash", "Run ls", "execute", INPUT, "0" * 64, (), tool_id="t1")
QUESTION = QuestionAsked("r2", (), INPUT, "1" * 64, tool_id="t2")


def record(state: RequestState) -> RequestRecord:
    asked = Raw(encode(PERMISSION))
    return RequestRecord("s", "r1", "permission", state, "0" * 64, asked, AT, 4, tool_id="t1")


@pytest.mark.parametrize(
    ("event", "request_id", "kind", "sha256", "tool_id"),
    [
        (PERMISSION, "r1", "permission", "0" * 64, "t1"),
        (QUESTION, "r2", "question", "1" * 64, "t2"),
    ],
    ids=["permission", "question"],
)
def test_a_request_is_opened_by_the_event_that_asks(
    event: PermissionRequested | QuestionAsked, request_id: str, kind: str, sha256: str, tool_id: str
):
    opened = opened_request("s", Logged(4, AT, event))
    assert opened is not None
    assert (opened.session_id, opened.request_id, opened.kind, opened.state) == (
        "s",
        request_id,
        kind,
        "open",
    )
    assert (opened.input_sha256, opened.tool_id, opened.opened_at, opened.seq) == (sha256, tool_id, AT, 4)
    assert bytes(opened.asked) == encode(event)
    assert (opened.answer, opened.answered_by, opened.answered_at, opened.reason) == (None, None, None, None)


@pytest.mark.parametrize(
    "event", [Bell(), PermissionAnswered("r1", "allow", "ana"), PermissionWithdrawn("r1", "ended")]
)
def test_no_other_event_opens_a_request(event: AnyEvent):
    assert opened_request("s", Logged(4, AT, event)) is None


ANSWERED = PermissionAnswered("r1", "allow", "ana")
REPLIED = QuestionAnswered("r1", "ben", {"Which?": "this"})
STATES: tuple[RequestState, ...] = ("open", "answered", "delivered", "confirmed", "withdrawn")
# What each event makes of each state; an event that is not here changes nothing.
NEXT: dict[tuple[str, RequestState], RequestState] = {
    ("permission answered", "open"): "answered",
    ("question answered", "open"): "answered",
    ("permission withdrawn", "open"): "withdrawn",
    ("permission withdrawn", "answered"): "withdrawn",
    ("question withdrawn", "open"): "withdrawn",
    ("question withdrawn", "answered"): "withdrawn",
    ("answer delivered", "answered"): "delivered",
    ("tool changed", "answered"): "confirmed",
    ("tool changed", "delivered"): "confirmed",
}
EVENTS: dict[str, AnyEvent] = {
    "permission answered": ANSWERED,
    "question answered": REPLIED,
    "permission withdrawn": PermissionWithdrawn("r1", "interrupted"),
    "question withdrawn": QuestionWithdrawn("r1", "ended"),
    "answer delivered": AnswerDelivered("r1"),
    "tool changed": ToolChanged("t1", "running"),
    "bell": Bell(),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", EVENTS)
def test_each_event_leads_from_each_state_to_one_state(name: str, state: RequestState):
    request = record(state)
    assert settle(request, Logged(9, LATER, EVENTS[name])) is ((name, state) in NEXT)
    assert request.state == NEXT.get((name, state), state)


@pytest.mark.parametrize(("event", "by"), [(ANSWERED, "ana"), (REPLIED, "ben")])
def test_an_answer_is_kept_with_who_gave_it_and_when(event: PermissionAnswered | QuestionAnswered, by: str):
    request = record("open")
    settle(request, Logged(9, LATER, event))
    assert (request.answer, request.answered_by, request.answered_at) == (event, by, LATER)
    assert request.reason is None


def test_a_withdrawn_request_keeps_the_reason_and_an_earlier_answer():
    request = record("open")
    settle(request, Logged(9, LATER, ANSWERED))
    settle(request, Logged(10, LATER, PermissionWithdrawn("r1", "interrupted")))
    assert (request.reason, request.answer) == ("interrupted", ANSWERED)
