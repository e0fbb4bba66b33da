"""The values that events are made of: reasons, kinds, images, differences, options, choices."""

from typing import Literal

from msgspec import Raw, Struct

from bascule.model.capability import Capability
from bascule.model.fields import Name, Seq

EMPTY_OBJECT = Raw(b"{}")

EndReason = Literal[
    "closed",  # a person ended it
    "exited",  # the agent went by itself
    "killed",  # the panic button
    "user_terminated",  # from the notification that it was started here
    "idle_limit",
    "time_limit",
    "size_limit",
    "lost",  # the keeper or the machine died under it
    "disconnected",  # its process went away unasked; the agent is started again and the conversation resumed
    "elsewhere",  # it ran outside Bascule and is over
]

PermissionMode = Literal["relay", "auto_read", "auto", "deny"]

Decision = Literal["allow", "deny"]


GuardDecision = Literal["go_on", "end"]


class StartOptions(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How a person wants an agent to run: from the command through the log to the process's arguments."""

    model: str | None = None
    permission_mode: PermissionMode = "relay"
    mode: str | None = None  # the agent's own mode to start in, such as "plan"
    cols: int | None = None  # of a terminal
    rows: int | None = None
    capability: Capability | None = None  # how much of the machine it may reach; None: the owner's ceiling
    skip_permissions: bool = False  # a person chose that this agent asks nothing in its terminal


class CopiedFrom(Struct, frozen=True, forbid_unknown_fields=True):
    """The session whose conversation another one began as a copy of, and the first number not in the copy."""

    session: Name
    seq: Seq


class Image(Struct, frozen=True):
    media_type: str
    data: str  # base64


class Usage(Struct, frozen=True, omit_defaults=True):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


StopReason = Literal["end_turn", "interrupted", "error", "max_tokens", "refusal", "other"]

TextKind = Literal["assistant", "thinking"]

ToolKind = Literal[
    "execute", "edit", "read", "search", "fetch", "think", "agent", "plan", "question", "other"
]

ToolStatus = Literal["running", "done", "failed", "denied"]


class Diff(Struct, frozen=True, omit_defaults=True):
    """One file's change. `patch` is unified-diff hunks (`@@ … @@` and lines), without file headers."""

    path: str
    patch: str
    added: int = 0
    removed: int = 0


class Location(Struct, frozen=True, omit_defaults=True):
    path: str
    line: int | None = None


class PlanItem(Struct, frozen=True, omit_defaults=True):
    text: str
    status: Literal["pending", "in_progress", "completed"] = "pending"
    active_form: str | None = None


OptionKind = Literal["allow_once", "allow_always", "deny"]


class PermissionOption(Struct, frozen=True, omit_defaults=True):
    """One way to answer. `scope` says in words how far it reaches."""

    option_id: str
    kind: OptionKind
    name: str
    scope: str = ""


class QuestionOption(Struct, frozen=True, omit_defaults=True):
    label: str
    description: str = ""
    preview: str | None = None


class Question(Struct, frozen=True, omit_defaults=True):
    question: str
    header: str = ""
    options: tuple[QuestionOption, ...] = ()
    multi_select: bool = False


class SlashCommand(Struct, frozen=True, omit_defaults=True):
    name: str
    description: str = ""
    hint: str = ""


class ModelChoice(Struct, frozen=True, omit_defaults=True):
    value: str
    name: str = ""
    description: str = ""
