"""A gate for starts from elsewhere, with its notifications and messages caught."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from msgspec import Struct
from tests.waiting import PATIENCE

from bascule.daemon.device import Device
from bascule.daemon.handlers import Handlers
from bascule.daemon.repeated_audit import RepeatedAudit
from bascule.daemon.starts.start_gate import Does, StartGate
from bascule.daemon.starts.start_memory import StartMemory
from bascule.daemon.starts.start_notices import StartNotices
from bascule.daemon.starts.trusted_browsers import BrowserBook, SignatureCheck
from bascule.model.commands import Actor, Command, Envelope, SessionBegun, StartSession
from bascule.model.records import SessionRecord
from bascule.model.settings import StartsSettings
from bascule.model.starts import StartSignature, WaitingStart
from bascule.policy.start_signing import key_id, mac_of, signed_text
from bascule.store.base import AuditRecord

CHROME = "Mozilla/5.0 (X11; Linux x86_64) Chrome/126.0 Safari/537.36"
MIRA = Actor("Mira", "grant-7", "203.0.113.9", CHROME, via="office hub")
HERE = Actor("me", "grant-1", "127.0.0.1", "bascule")
Actions = Mapping[str, Callable[[], Awaitable[None]]]


@dataclass
class Audit:
    """What a gate asks of its store: the sessions that it knows, and the audit log."""

    records: list[AuditRecord] = field(default_factory=list[AuditRecord])
    sessions: list[SessionRecord] = field(default_factory=list[SessionRecord])

    async def audit(self, records: list[AuditRecord]) -> None:
        self.records += records

    async def session(self, session_id: str) -> SessionRecord | None:
        return next((one for one in self.sessions if one.session_id == session_id), None)

    async def sessions_of(self, conversation: tuple[str, str]) -> list[SessionRecord]:
        return [one for one in self.sessions if (one.agent, one.agent_session_id) == conversation]

    @property
    def actions(self) -> list[str]:
        return [one.action for one in self.records]


@dataclass
class Shown:
    title: str
    body: str
    actions: Actions
    seconds: float


class Gate:
    """A gate with everything around it made up: what was started, shown, sent and audited is noted."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder, self.settings = folder, StartsSettings(**settings)
        self.now = 1_767_000_000.0
        self.audit, self.changes = Audit(), 0
        self.started: list[Command[Any]] = []
        self.ended: list[str] = []
        self.opened: list[str] = []
        self.shown: asyncio.Queue[Shown] = asyncio.Queue()
        self.sent: asyncio.Queue[tuple[WaitingStart, str, str]] = asyncio.Queue()
        self.refusal: Exception | None = None
        self.widens = ""  # why a hub may not ask for this
        self.unsent: OSError | None = None
        self.book = BrowserBook(folder)
        self.make()

    def make(self) -> None:
        """Also: again, as after a restart."""
        notices = StartNotices(
            self.settings,
            "laptop",
            self._show,
            lambda token: f"http://l/#approve={token}",
            self._open,
            self._send,
        )
        does = Does(
            self._carry_out, self._carry_out, self._check, self._end, self._changed, lambda _: self.widens
        )
        signatures = SignatureCheck(self.folder, "d-1", "laptop", lambda: self.now)
        device, memory = Device("d-1", "laptop"), StartMemory(self.folder)
        store = cast("Any", self.audit)
        self.repeated = RepeatedAudit(store, lambda: self.now)
        self.gate = StartGate(
            store,
            self.repeated,
            self.settings,
            device,
            memory,
            signatures,
            notices,
            does,
            lambda: self.now,
        )
        self.handlers = Handlers()
        self.gate.register(self.handlers)

    async def _carry_out(self, envelope: Envelope[Any]) -> Struct:
        if self.refusal is not None:
            raise self.refusal
        self.started.append(envelope.command)
        return SessionBegun(session_id=envelope.command.session_id, seq=2)

    async def _check(self, envelope: Envelope[Any]) -> None:
        if self.refusal is not None:
            raise self.refusal

    async def _end(self, session_id: str) -> None:
        self.ended.append(session_id)

    async def _open(self, session_id: str) -> None:
        self.opened.append(session_id)

    async def _show(self, title: str, body: str, actions: Actions, seconds: float) -> None:
        self.shown.put_nowait(Shown(title, body, actions, seconds))

    async def _send(
        self, settings: StartsSettings, start: WaitingStart, link: str, text: str
    ) -> tuple[str, ...]:
        if self.unsent is not None:
            raise self.unsent
        self.sent.put_nowait((start, link, text))
        return ()

    def _changed(self) -> None:
        self.changes += 1

    async def start(
        self, session_id: str = "s1", by: Actor = MIRA, key: str | None = None, **more: Any
    ) -> SessionBegun:
        fields: dict[str, Any] = {"agent": "claude-code", "cwd": "/srv/app", "prompt": "Fix the bug", **more}
        command = StartSession(session_id=session_id, **fields)
        return cast("SessionBegun", await self.gate.admit(Envelope(command, by, key)))

    def signed(self, code: str, nonce: str = "n" * 16, **more: Any) -> dict[str, Any]:
        """The fields of a start with this browser's signature."""
        fields: dict[str, Any] = {"agent": "claude-code", "cwd": "/srv/app", "prompt": "Fix the bug", **more}
        key, at = key_id(code), round(self.now * 1000)
        text = signed_text("d-1", StartSession(session_id="any", **fields), key, at, nonce)
        return {**fields, "signature": StartSignature(key, at, nonce, mac_of(code, text))}

    async def ask(self, command: Command[Any], by: Actor = HERE) -> Any:
        return await self.handlers.of(command).run(Envelope(command, by))

    async def next_shown(self) -> Shown:
        return await asyncio.wait_for(self.shown.get(), PATIENCE)

    async def next_sent(self) -> tuple[WaitingStart, str, str]:
        return await asyncio.wait_for(self.sent.get(), PATIENCE)


MakeGate = Callable[..., Gate]
