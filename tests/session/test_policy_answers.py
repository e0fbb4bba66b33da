"""What follows at once from an agent's events: policy's answers, and requests that are withdrawn."""

import pytest
from msgspec import Raw
from tests.session.playbook import LineDriver

from bascule.model.codec import encode
from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    QuestionWithdrawn,
    TextSaid,
    ToolChanged,
    TurnEnded,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import Pending, RequestRecord, SessionRecord, Write
from bascule.policy.decide import Verdict
from bascule.session.ledger import Ledger
from bascule.session.policy_answers import PolicyAnswers
from bascule.store.base import AuditRecord, ResumePoint

SHA = "0" * 64
SAID = TextSaid("e", "assistant", "hi")


def asked(request_id: str, tool: str = "Bash") -> PermissionRequested:
    return PermissionRequested(
        request_id, tool, tool, "execute", Raw(b"{}"), SHA, (), tool_id=f"t {request_id}"
    )


ALLOWED = PermissionAnswered("r2", "allow", "policy", rule="reads", message="why", rule_ids=("rule1",))


class Session:
    """A session in which request `r` is open, with a policy that allows Read and decides no other tool."""

    def __init__(self, phase: Phase = Phase.RUNNING) -> None:
        opened = RequestRecord(
            "s", "r", "permission", "open", SHA, Raw(encode(asked("r"))), "", 1, tool_id="t r"
        )
        point = ResumePoint(SessionRecord("s", phase=phase), Pending(), 0, 0, None, [], [opened])
        ledger = Ledger(None, point, lambda: 0.0)  # pyright: ignore[reportArgumentType] - nothing is appended
        self.writes: list[Write] = []
        self.audit: list[AuditRecord] = []
        self.answers = PolicyAnswers(
            ledger,
            LineDriver(),  # pyright: ignore[reportArgumentType]
            lambda event, record, rules: (
                Verdict("allow", "reads", "why", ("rule1",)) if event.tool == "Read" else None
            ),
            [],
        )

    def follow(self, *events: AnyEvent) -> list[AnyEvent]:
        return self.answers.follow(events, self.writes, self.audit)


WITHDRAWN, ENDED = PermissionWithdrawn("r", "agent"), TurnEnded("end_turn")
CASES: dict[str, tuple[list[AnyEvent], list[AnyEvent]]] = {
    "text is only passed on": ([SAID, ENDED], [SAID, ENDED]),
    "a request that is known is left out": ([asked("r"), SAID], [SAID]),
    "a new request that no rule decides stays open": ([asked("r2")], [asked("r2")]),
    "a new request that a rule decides is answered": ([asked("r2", "Read")], [asked("r2", "Read"), ALLOWED]),
    "an interrupted turn withdraws what is open": (
        [TurnEnded("interrupted")],
        [PermissionWithdrawn("r", "interrupted"), TurnEnded("interrupted")],
    ),
    "an interrupted turn withdraws nothing that was answered": (
        [asked("r2", "Read"), TurnEnded("interrupted")],
        [asked("r2", "Read"), ALLOWED, PermissionWithdrawn("r", "interrupted"), TurnEnded("interrupted")],
    ),
    "a tool that ended takes its request with it": (
        [ToolChanged("t r", "failed")],
        [PermissionWithdrawn("r", "agent"), ToolChanged("t r", "failed")],
    ),
    "a tool that still runs does not": ([ToolChanged("t r", "running")], [ToolChanged("t r", "running")]),
    "another tool does not": ([ToolChanged("t", "done")], [ToolChanged("t", "done")]),
    "a withdrawal is the agent's own": ([WITHDRAWN], [WITHDRAWN]),
    "a withdrawal of what is not open is left out": ([QuestionWithdrawn("q", "agent")], []),
}


@pytest.mark.parametrize("case", CASES)
def test_facts_that_follow(case: str):
    events, facts = CASES[case]
    assert Session().follow(*events) == facts


def test_a_withdrawal_after_an_interrupt_is_the_persons():
    assert Session(Phase.INTERRUPTED).follow(WITHDRAWN) == [PermissionWithdrawn("r", "interrupted")]


def test_an_answer_of_policy_is_written_to_the_agent_and_audited():
    session = Session()
    session.follow(asked("r1"), asked("r2", "Read"))
    assert len(session.writes) == 1
    (record,) = session.audit
    assert (record.action, record.actor, record.request_id, record.decision, record.detail) == (
        "permission",
        "policy",
        "r2",
        "allow",
        "reads; Read",
    )
