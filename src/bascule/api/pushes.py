"""Pushes: what the hub sends over its sockets without being asked; the tag of each is its `type` on the wire.

The page's types are made from them (`web/page_types.py`): it can't read a push that is not declared here.
"""

from typing import Literal

from msgspec import Raw

from bascule.api.machine_answers import DeviceStatus
from bascule.api.request_answers import RequestView
from bascule.api.server_answers import LimitsView, Restored
from bascule.api.session_answers import SessionView
from bascule.api.view import View
from bascule.link.machine import AgentState
from bascule.model.errors import Field
from bascule.model.projects import Project


class SessionEvents(View, frozen=True, kw_only=True, tag="session:events"):
    """Rows of a session that the socket subscribes to, as the store holds them."""

    session_id: str
    entries: list[Raw]


class Resync(View, frozen=True, kw_only=True, tag="resync", omit_defaults=True):
    """The reader can't go on from where it is: because it was too slow, or because the log is another one."""

    session_id: str
    after: int
    epoch: str
    reason: Literal["slow", "replaced", "ahead"]
    message: str = ""


class SessionCreated(View, frozen=True, kw_only=True, tag="session:created"):
    session_id: str
    session: SessionView


class SessionChanged(View, frozen=True, kw_only=True, tag="session:changed"):
    session_id: str
    session: SessionView


class SessionTitled(View, frozen=True, kw_only=True, tag="session:title-updated"):
    session_id: str
    title: str


class SessionArchived(View, frozen=True, kw_only=True, tag="session:archived"):
    session_id: str
    archived: bool


class SessionViewers(View, frozen=True, kw_only=True, tag="session:presence"):
    """The names of those who view a session, and of those who type."""

    session_id: str
    viewers: list[str]
    typing: list[str]


class RequestChanged(View, frozen=True, kw_only=True, tag="requests:changed"):
    """A request was opened, answered, delivered or withdrawn: the push that keeps an inbox up to date."""

    session_id: str
    request_id: str
    open: int  # requests of this session that still wait for an answer
    gone: bool  # it does not wait any more: no list has it
    request: RequestView


class DevicesChanged(View, frozen=True, kw_only=True, tag="agent:status", omit_defaults=True):
    """The machines there are; and, if an agent's process came up or went away, the agent on one of them."""

    devices: list[DeviceStatus]
    device: str | None = None
    agent: str | None = None
    cli_type: str | None = None
    status: AgentState | None = None
    message: str | None = None


class ProjectAdded(View, frozen=True, kw_only=True, tag="project:added"):
    project: Project


class ProjectChanged(View, frozen=True, kw_only=True, tag="project:changed"):
    project: Project


class ProjectRemoved(View, frozen=True, kw_only=True, tag="project:removed"):
    project_id: str


class PromptsChanged(View, frozen=True, kw_only=True, tag="prompts:changed", omit_defaults=True):
    """One prompt of the library, or, without a name, any of them."""

    prompt_id: str | None = None
    version: int | None = None


class LimitsChanged(LimitsView, frozen=True, kw_only=True, tag="limits:changed"):
    """The limits that are in force now."""


class AnswersChanged(View, frozen=True, kw_only=True, tag="answers:changed"):
    """Answers that wait for their machine."""


class ComparisonsChanged(View, frozen=True, kw_only=True, tag="compare:changed"):
    pass


class PairingsChanged(View, frozen=True, kw_only=True, tag="pairings:changed"):
    pass


class RulesChanged(View, frozen=True, kw_only=True, tag="rules:changed"):
    pass


class UnloggedChanged(View, frozen=True, kw_only=True, tag="unlogged:changed"):
    """Processes that run in no session."""


class ServerRestored(View, frozen=True, kw_only=True, tag="server:restored"):
    """A machine has noticed that this server's database is an older copy."""

    restored: Restored | None


class Problem(View, frozen=True, kw_only=True, tag="error", omit_defaults=True):
    """Something went wrong that nobody asked for; of one session, where it is named."""

    error: dict[str, Field]
    session_id: str | None = None


class Revoked(View, frozen=True, kw_only=True, tag="revoked"):
    """The last words of a socket: its grant was revoked."""


class Expired(View, frozen=True, kw_only=True, tag="expired"):
    """The last words of a socket: its grant has expired."""


class Shutdown(View, frozen=True, kw_only=True, tag="shutdown"):
    """The last words of a socket: the server stops."""


Ended = Revoked | Expired | Shutdown
ToEverybody = (  # who may see all sessions
    AnswersChanged
    | ComparisonsChanged
    | LimitsChanged
    | PairingsChanged
    | ProjectAdded
    | ProjectChanged
    | ProjectRemoved
    | PromptsChanged
    | RulesChanged
    | ServerRestored
    | UnloggedChanged
)
ToLists = DevicesChanged | RequestChanged | SessionArchived | SessionChanged | SessionCreated | SessionTitled
ToSubscribers = Resync | SessionEvents | SessionViewers
Push = ToEverybody | ToLists | ToSubscribers | Problem | Ended
