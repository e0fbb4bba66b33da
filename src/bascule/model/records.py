"""A session's state as small records, kept beside its log so that nobody has to read the whole log.

`session_fold` makes them from the log; this file only says what is in them.
"""

from typing import Literal

from msgspec import Raw, Struct

from bascule.model.capability import Capability
from bascule.model.events import (
    CopiedFrom,
    GuardAsked,
    PermissionAnswered,
    PermissionMode,
    PromptQueued,
    QuestionAnswered,
    RuleAdded,
)
from bascule.model.lifecycle import Phase


class Write(Struct, frozen=True):
    """Bytes for an agent's stdin. The id makes a repeated delivery harmless."""

    write_id: str
    data: bytes


class Spent(Struct, frozen=True, omit_defaults=True):
    """What a session spent on one day."""

    cents: float = 0.0
    tokens: int = 0


class SessionRecord(Struct, omit_defaults=True):
    """One row of the session list."""

    session_id: str
    agent: str = ""
    driver: str = ""
    cwd: str = ""
    device: str = ""
    title: str = ""
    titled: bool = False  # a person chose the title, so the agent's ideas of one no longer count
    phase: Phase = Phase.STARTING
    model: str | None = None
    mode: str | None = None
    permission_mode: PermissionMode = "relay"
    agent_session_id: str | None = None
    agent_version: str | None = None
    created_at: str = ""
    updated_at: str = ""
    created_by: str = ""
    seq: int = 0
    generation: int = 0  # how often the log was begun again; `seq` is of this one
    started_at: str = ""  # when this run of the agent began
    started_seq: int = 0  # of the newest session_started: names this run of the agent
    spawned: bool = False  # this run's process has been started
    open_requests: int = 0
    worked_ms: int = 0  # in stretches of work that are over; nobody works while a person is waited for
    working_since: str = ""  # when the present one began; empty: it waits for a person, or has ended
    queued: int = 0
    held: int = 0  # of those queued: kept back since a turn was stopped
    turns: int = 0
    cost_usd: float | None = None
    cents: float = 0.0  # spent, over all starts of its agent
    tokens: int = 0  # spent in turns that are over: input that was not cached, and output
    turn_tokens: int = 0  # of this turn so far, as its context grew
    spent: dict[str, Spent] = {}  # by day, of the last month it was used in
    guard: GuardAsked | None = None  # what holds its agent until a person decides
    raised: dict[str, int] = {}  # caps that a person raised for this session
    context_used: int | None = None
    context_size: int | None = None
    end_reason: str | None = None
    end_message: str | None = None
    code: int | None = None
    signal: int | None = None
    attempt: int = 0  # of starting a lost agent again, until it is back; zero: it is not being reconnected
    attempts: int = 0  # how many tries there are
    ends_at: str | None = None  # when a limit ends it, once that has been announced
    ends_for: str | None = None  # the limit: idle_limit or time_limit
    kept_at: str = ""  # when somebody last said that this run shall go on; its age counts from then
    archived: bool = False
    demo: bool = False
    cols: int | None = None  # of a terminal
    rows: int | None = None
    skip_permissions: bool = False
    capability: Capability = "full"  # how much of the machine its agent may reach
    process: str = ""  # the keeper's name of a process that is shared with other sessions
    worktree_of: str | None = None  # the folder this session's work is meant for, when it has a work tree
    added: int = 0  # lines its own edits added and removed, all in all
    removed: int = 0
    forks_after: int = 0  # of the turns after this number the agent can copy its conversation up to one
    copied_from: CopiedFrom | None = None  # the session whose conversation this one began as a copy of
    pull_request: str | None = None  # the newest one a command of its own ended by naming
    # Begun outside Bascule and read from the agent's own files, until it is continued here.
    found: bool = False


class Pending(Struct):
    """A session's queued prompts, and the rules a person made for it by "remember"."""

    queue: list[PromptQueued] = []
    rules: list[RuleAdded] = []


RequestState = Literal["open", "answered", "delivered", "confirmed", "withdrawn"]

# Of an answer that was given while its machine was away. refused: by the machine; expired: an allow that
# was too old; revoked: its grant no longer holds.
AnswerState = Literal["waiting", "applied", "refused", "expired", "revoked", "taken_back"]


class RequestRecord(Struct, omit_defaults=True):
    """A permission request or a question, from asked to done. The only place an answer is built from."""

    session_id: str
    request_id: str
    kind: Literal["permission", "question"]
    state: RequestState
    input_sha256: str
    asked: Raw  # the event as logged
    opened_at: str
    seq: int
    tool_id: str | None = None
    answer: PermissionAnswered | QuestionAnswered | None = None
    answered_at: str | None = None
    answered_by: str | None = None
    reason: str | None = None  # of a withdrawal
