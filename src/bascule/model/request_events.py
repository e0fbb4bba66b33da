"""Events of an agent's requests: permissions and questions, with their answers and rules."""

from msgspec import Raw

from bascule.model.event import Event
from bascule.model.event_values import (
    Decision,
    PermissionOption,
    Question,
    ToolKind,
)


class PermissionRequested(Event, frozen=True):
    request_id: str
    tool: str
    title: str
    kind: ToolKind
    input: Raw
    input_sha256: str
    options: tuple[PermissionOption, ...]
    tool_id: str | None = None
    note: str = ""  # the agent's own words about it: never Bascule's
    blocked_path: str | None = None
    suggestions: tuple[Raw, ...] = ()  # as the agent sent them; options refer to them by position
    reason_follows: bool = False  # a no carries no words to this agent: a reason is sent as the next message


class PermissionAnswered(Event, frozen=True):
    request_id: str
    decision: Decision
    by: str
    option: str | None = None
    rule: str | None = None  # the rule, in words, when policy answered or one was made
    message: str | None = None
    rule_ids: tuple[str, ...] = ()  # of the lasting rules that answered


class PermissionWithdrawn(Event, frozen=True):
    request_id: str
    reason: str  # "agent", "interrupted", "ended", "lost", "restored" (answered after an older copy was made)


class QuestionAsked(Event, frozen=True):
    request_id: str
    questions: tuple[Question, ...]
    input: Raw
    input_sha256: str
    tool_id: str | None = None


class QuestionAnswered(Event, frozen=True):
    """`answers` maps the full question text to the answer. Empty with a message: declined."""

    request_id: str
    by: str
    answers: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it
    notes: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it
    message: str | None = None


class QuestionWithdrawn(Event, frozen=True):
    request_id: str
    reason: str


class AnswerDelivered(Event, frozen=True):
    """The answer's bytes are in the agent's stdin."""

    request_id: str


class RuleAdded(Event, frozen=True):
    """A session-scoped rule a person made by "remember". `rule` is policy's own encoding."""

    rule: Raw
    words: str
    by: str
