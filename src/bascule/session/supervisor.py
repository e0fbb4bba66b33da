"""One live session: steps its lifecycle, sends its prompts, decides which answer counts, and ends it."""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Raw

from bascule.drivers.base import Driver
from bascule.model.codec import encode
from bascule.model.commands import (
    Actor,
    AnswerPermission,
    AnswerQuestion,
    EditPrompt,
    EndSession,
    Interrupt,
    ReorderPrompts,
    SendPrompt,
    SetMode,
    SetModel,
    SetPermissionMode,
    WithdrawPrompt,
)
from bascule.model.errors import (
    AgentFailed,
    InvalidInput,
    LimitReached,
    NotSupported,
    PromptNotFound,
    SessionOver,
    StorageFull,
)
from bascule.model.events import (
    AgentSpawned,
    AnyEvent,
    EndReason,
    Interrupted,
    Note,
    PermissionAnswered,
    PermissionModeChanged,
    PermissionRequested,
    PermissionWithdrawn,
    PromptEdited,
    PromptQueued,
    PromptSent,
    PromptsReordered,
    PromptWithdrawn,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    RuleAdded,
    SessionEnded,
    SessionEnding,
    SessionFailed,
    TurnEnded,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import RequestRecord, Write
from bascule.model.settings import Limits
from bascule.policy.decide import decide
from bascule.policy.limits import TokenBucket
from bascule.policy.rules import Rule, decode_rule, encode_rule, rule_for, words
from bascule.session.agent import AgentProcess, Exit, SpawnPlan
from bascule.session.answers import (
    asked_permission,
    asked_question,
    check_open,
    permission_answer,
    question_answer,
)
from bascule.session.deadlines import Deadlines
from bascule.session.ledger import Ledger
from bascule.session.outbox import ANSWER, Outbox
from bascule.session.reading import Reader
from bascule.store.base import AuditRecord, EventStore, StoredReply

NO_ANSWER = "Nobody answered in time, so it was denied. Send a message to let it try again."
POLICY = Actor("policy")
SENDABLE = frozenset({Phase.STARTING, Phase.WAITING})

# A wish the supervisor can carry out.
SessionWish = (
    SendPrompt
    | EditPrompt
    | ReorderPrompts
    | WithdrawPrompt
    | Interrupt
    | AnswerPermission
    | AnswerQuestion
    | SetMode
    | SetModel
    | SetPermissionMode
    | EndSession
)
