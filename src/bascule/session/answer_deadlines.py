"""Denies a request that nobody answers in time, and makes the audit record of an answer."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from msgspec.structs import replace

from bascule.drivers.base import Driver
from bascule.model.commands import Actor
from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    QuestionAnswered,
    QuestionAsked,
)
from bascule.model.records import RequestRecord, Write
from bascule.model.settings import Limits
from bascule.policy.answer_checks import asked_permission, asked_question
from bascule.policy.asked_words import recorded_words
from bascule.policy.scrub import scrub
from bascule.session.deadlines import Deadlines
from bascule.session.ending import seconds
from bascule.session.ledger import Ledger
from bascule.store.base import AuditRecord

NO_ANSWER = "Nobody answered in time, so it was denied. Send a message to let it try again."
TIMEOUT = "timeout"
MAX_DETAIL = 500


class Log(Protocol):
    """`Supervisor.log`: facts, the bytes they cause and their audit, in one step."""

    def __call__(
        self, events: Sequence[AnyEvent], *, writes: Sequence[Write], audit: Sequence[AuditRecord]
    ) -> Any: ...


class AnswerDeadlines:
    """One deadline for each open request, counted from when it was asked, also after a restart."""

    def __init__(
        self, ledger: Ledger, driver: Driver, deadlines: Deadlines, clock: Callable[[], float], log: Log
    ) -> None:
        self._ledger = ledger
        self._driver = driver
        self._deadlines = deadlines
        self._clock = clock
        self._log = log

    def set_all(self, limits: Limits) -> None:
        for request in self._ledger.open_requests():
            self.set(request.request_id, limits)

    def set(self, request_id: str, limits: Limits) -> None:
        """Set the request's deadline again, by these limits; none for a request that is not open."""
        request = self._ledger.requests.get(request_id)
        if request is None or request.state != "open":
            return
        allowed = limits.permission_seconds if request.kind == "permission" else limits.question_seconds
        name = f"answer {request_id}"
        self._deadlines.cancel(name)
        if allowed > 0:
            waited = max(0.0, self._clock() - seconds(request.opened_at))
            self._deadlines.set(name, max(0.01, allowed - waited), lambda: self._deny(request))

    def _deny(self, request: RequestRecord) -> None:
        if request.state != "open":
            return
        session_id = self._ledger.record.session_id
        by = Actor(TIMEOUT)
        if request.kind == "permission":
            asked = asked_permission(request)
            answer = PermissionAnswered(request.request_id, "deny", TIMEOUT, message=NO_ANSWER)
            write = self._driver.answer_permission(asked, answer)
            self._log([answer], writes=[write], audit=[answer_audit(session_id, asked, answer, by)])
        else:
            question = asked_question(request)
            reply = QuestionAnswered(request.request_id, TIMEOUT, message=NO_ANSWER)
            write = self._driver.answer_question(question, reply)
            self._log([reply], writes=[write], audit=[answer_audit(session_id, question, reply, by)])


def answer_audit(
    session_id: str,
    asked: PermissionRequested | QuestionAsked,
    answer: PermissionAnswered | QuestionAnswered,
    by: Actor,
) -> AuditRecord:
    """Who answered what: when it was given, the rule that answered, and last what was asked for.

    A command can hold any words, so nothing of ours follows it.
    """
    permission = isinstance(answer, PermissionAnswered)
    given = f"given at {by.given_at}" if by.given_at else ""  # the record's own time is when it arrived
    rule = scrub(answer.rule or "") if isinstance(answer, PermissionAnswered) else ""
    detail = "; ".join(filter(None, (given, rule, recorded_words(asked, MAX_DETAIL))))
    return replace(
        AuditRecord.of(by, "permission" if permission else "question", session_id, detail),
        request_id=answer.request_id,
        decision=answer.decision if isinstance(answer, PermissionAnswered) else "answered",
        input_sha256=asked.input_sha256,
    )
