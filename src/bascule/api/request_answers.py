"""Answers of the API about agents' requests, and the answers that people gave to them."""

from msgspec import Struct, field

from bascule.api.view import View
from bascule.link.rules import DryRun
from bascule.model.commands import Done
from bascule.model.records import AnswerState, RequestRecord
from bascule.model.rules import Tried


class WaitingAnswerView(Struct, frozen=True):
    """An answer that waits for the request's machine to come back: what, by whom, and when it was given."""

    decision: str  # allow, deny or answered
    by: str
    at: str


class RequestView(RequestRecord, kw_only=True):
    """A permission request or a question, with its session's title."""

    session_title: str = ""
    waiting_answer: WaitingAnswerView | None = field(name="waitingAnswer", default=None)


class AnswerGiven(Done, frozen=True, kw_only=True):
    """The machine took the answer; or it `waits`, because the machine is away: `message` says so."""

    waits: bool = False
    answer_id: str = ""  # of an answer that waits
    message: str = ""


class EndGiven(Done, frozen=True, kw_only=True):
    """The machine ends the session; or that `waits`, because the machine is away: `message` says so."""

    waits: bool = False
    message: str = ""


class AnswerView(View, frozen=True, kw_only=True):
    """An answer that was given while its request's machine was away.

    `state` is waiting, applied, refused (by the machine), expired (an allow that was too old), revoked (its
    grant no longer holds) or taken_back; `outcome` says it in words.
    """

    id: str
    device: str
    device_name: str
    session_id: str
    session_title: str
    request_id: str
    decision: str  # allow, deny or answered
    by: str
    at: str
    expires_at: str | None = None
    sent_at: str | None = None
    state: AnswerState = "waiting"
    outcome: str = ""
    settled_at: str | None = None
    may_take_back: bool = False  # by who asks


class AnswerList(View, frozen=True, kw_only=True):
    answers: list[AnswerView]


class RequestList(View, frozen=True, kw_only=True):
    requests: list[RequestView]


class RuleTrial(View, frozen=True, omit_defaults=True, kw_only=True):
    """`dry_run` of a rule, or `tried` of a request."""

    dry_run: DryRun | None = None
    tried: Tried | None = None
