"""Adds to an agent's events what follows from them at once: policy's answers and withdrawn requests."""

from collections.abc import Iterable

from bascule.drivers.base import Driver
from bascule.model.commands import Actor
from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    QuestionWithdrawn,
    ToolChanged,
    TurnEnded,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import Write
from bascule.policy.decide import Ruling
from bascule.policy.session_rules import SessionRule
from bascule.session.answer_deadlines import answer_audit
from bascule.session.ledger import Ledger
from bascule.session.open_requests import OpenRequests
from bascule.store.base import AuditRecord

POLICY = "policy"
WITHDRAWALS: frozenset[type[AnyEvent]] = frozenset({PermissionWithdrawn, QuestionWithdrawn})


class PolicyAnswers:
    """`rules` is the session's own list, which grows when a person answers with "remember"."""

    def __init__(self, ledger: Ledger, driver: Driver, ruling: Ruling, rules: list[SessionRule]) -> None:
        self._ledger = ledger
        self._driver = driver
        self._ruling = ruling
        self._rules = rules

    def follow(
        self, events: Iterable[AnyEvent], writes: list[Write], audit: list[AuditRecord]
    ) -> list[AnyEvent]:
        """The events with what follows from them, and without those that repeat what is known."""
        requests = OpenRequests(self._ledger)
        facts: list[AnyEvent] = []
        for event in events:
            if not requests.follow(event):
                continue
            if isinstance(event, TurnEnded) and event.stop_reason == "interrupted":
                facts += requests.withdraw_all("interrupted")
            elif isinstance(event, ToolChanged) and event.status != "running":
                facts += requests.withdraw_of(event.tool_id)
            facts.append(self._as_it_was_meant(event))
            if isinstance(event, PermissionRequested):
                answer = self._answer(event)
                if answer is not None:
                    requests.follow(answer)
                    facts.append(answer)
                    writes.append(self._driver.answer_permission(event, answer))
                    session_id = self._ledger.record.session_id
                    audit.append(answer_audit(session_id, event, answer, Actor(POLICY)))
        return facts

    def _as_it_was_meant(self, event: AnyEvent) -> AnyEvent:
        """Attributes a withdrawal to the person, if the agent withdrew because that person interrupted it."""
        if type(event) not in WITHDRAWALS or self._ledger.record.phase is not Phase.INTERRUPTED:
            return event
        match event:
            case PermissionWithdrawn(request_id=request_id):
                return PermissionWithdrawn(request_id, "interrupted")
            case QuestionWithdrawn(request_id=request_id):
                return QuestionWithdrawn(request_id, "interrupted")
            case _:
                return event

    def _answer(self, event: PermissionRequested) -> PermissionAnswered | None:
        verdict = self._ruling(event, self._ledger.record, self._rules)
        if verdict is None:
            return None
        return PermissionAnswered(
            event.request_id,
            verdict.decision,
            POLICY,
            rule=verdict.rule,
            message=verdict.message,
            rule_ids=verdict.rule_ids,
        )
