"""Answers of the API about this server: who you are to it, its settings, and prompts offered to it."""

from msgspec import field

from bascule.api.view import View
from bascule.model.settings import Limits, TerminalSettings


class Waits(View, frozen=True, kw_only=True):
    """Seconds that a request waits before it is answered with no."""

    permission: int
    question: int


class SentAgain(View, frozen=True, kw_only=True):
    """Rows that this server had of a machine's logs, and that the machine sent again."""

    device: str
    name: str
    rows: int


class Restored(View, frozen=True, kw_only=True):
    """An older copy of the database was put in place: what was made since is gone, but for machines' logs."""

    at: str  # when it was noticed
    records: int = 0  # of the audit log, that are missing
    backup_at: str | None = None  # when the backup was made, after `bascule restore`
    machines: list[SentAgain] = field(default_factory=list[SentAgain])


class Hello(View, frozen=True, kw_only=True):
    """Who the socket's grant says it is, and which Bascule answers."""

    name: str
    former_names: list[str]  # of the same grant
    role: str
    session_id: str | None
    grant_id: str
    made_by: str
    expires_at: str | None
    version: str
    waits: Waits
    boot: str  # names this run of the server
    epoch: str
    device: str = ""  # the machine this server runs on; empty when it has no sessions of its own
    restored: Restored | None = None  # for a month after it was noticed


class LimitsView(View, frozen=True, kw_only=True):
    """`changed` names the limits whose value in force is not that of the settings (`configured`)."""

    limits: Limits
    configured: Limits
    changed: list[str]


class SettingsView(View, frozen=True, kw_only=True):
    """What this Bascule runs with, and the file in which a person changes it."""

    limits: Limits
    terminal: TerminalSettings
    roots: list[str]
    config_file: str


class OfferedPrompt(View, frozen=True, kw_only=True):
    """A prompt from a web page, and which page it was; what the page left open is null."""

    origin: str
    prompt: str
    mode: str | None = None
    agent: str | None = None
    cwd: str | None = None


class Health(View, frozen=True, kw_only=True):
    status: str
