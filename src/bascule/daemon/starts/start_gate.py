"""The gate for starts from elsewhere: judges each, holds it until it is approved, tells people, audits it."""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from bascule.daemon.device import Device
from bascule.daemon.handlers import Handlers, widens_nothing
from bascule.daemon.repeated_audit import RepeatedAudit
from bascule.daemon.starts.start_memory import StartMemory
from bascule.daemon.starts.start_notices import StartNotices
from bascule.daemon.starts.start_views import described, prompt_of, session_of
from bascule.daemon.starts.trusted_browsers import SignatureCheck
from bascule.daemon.starts.waiting_starts import Held, WaitingStarts
from bascule.link.machine import ReconnectAgent
from bascule.link.starts import (
    AnswerStartLink,
    BlockStarts,
    DecideStart,
    ListStarts,
    ReadStartLink,
    StartByLink,
    StartList,
    StartsState,
    WithdrawStart,
)
from bascule.model.commands import Actor, Done, Envelope, ResumeSession, SessionBegun, StartSession
from bascule.model.errors import ApprovalPending, BasculeError, OwnerNeeded, StartRefused
from bascule.model.records import SessionRecord
from bascule.model.settings import StartsSettings
from bascule.model.starts import StartDecision, WaitingStart
from bascule.policy.scrub import scrub
from bascule.policy.start_approval import Signed, is_remote, judge, needs_approval
from bascule.policy.unusual import StartFacts, asked, learnt, unusual
from bascule.store.base import AuditAction, AuditRecord
from bascule.store.protocols import DaemonStore

log = logging.getLogger(__name__)

HERE = Actor("the person at the machine")
# What a caller on another machine can cause as often as they like.
REPEATED: tuple[AuditAction, ...] = ("start_refused", "start_unusual")
CarryOut = Callable[[Envelope[Any]], Awaitable[Struct]]


@dataclass(frozen=True)
class Does:
    """What the host does for the gate."""

    carry_out: CarryOut  # in its turn, as it was asked for
    carry_out_later: CarryOut  # once it was approved
    check: Callable[[Envelope[Any]], Awaitable[None]]  # raises what the start would be refused with anyhow
    end: Callable[[str], Awaitable[None]]  # a session, because the person at the machine said so
    changed: Callable[[], None]  # the starts that hubs know of have changed
    why_not: Callable[[Envelope[Any]], str]  # it would widen what runs unasked, and a hub asks for it


class StartGate:
    def __init__(
        self,
        store: DaemonStore,
        repeated: RepeatedAudit,
        settings: StartsSettings,
        device: Device,
        memory: StartMemory,
        signatures: SignatureCheck,
        notices: StartNotices,
        does: Does,
        clock: Callable[[], float],
    ) -> None:
        self._store, self._repeated = store, repeated
        self._settings, self._device = settings, device
        self._memory, self._signatures, self._notices = memory, signatures, notices
        self._does, self._clock = does, clock
        self._waiting = WaitingStarts(clock, does.changed)
        self._timers: set[asyncio.TimerHandle] = set()

    def register(self, handlers: Handlers) -> None:
        handlers.add(ListStarts, self._list, reads=True)
        handlers.add(DecideStart, self._decide, urgent=True, widens=widens_nothing)  # refused there
        handlers.add(WithdrawStart, self._withdraw, urgent=True, widens=widens_nothing)
        handlers.add(BlockStarts, self._block, urgent=True, widens=widens_nothing)  # refused there
        handlers.add(ReadStartLink, self._read_link, reads=True)
        handlers.add(AnswerStartLink, self._answer_link, urgent=True, widens=widens_nothing)  # refused there

    async def close(self) -> None:
        for timer in self._timers:
            timer.cancel()
        await self._notices.close()

    @property
    def state(self) -> StartsState:
        blocked = self._memory.blocked_until(self._clock())
        return StartsState(self._settings.approval, blocked, self._waiting.views())

    # A start ---------------------------------------------------------------------------------------------

    async def admit(self, envelope: Envelope[Any]) -> Struct:
        """Carries it out, holds it or refuses it. Whatever becomes of one from elsewhere is in the audit."""
        if not is_remote(envelope.by):
            return await self._does.carry_out(envelope)
        before = self._waiting.with_key(envelope.key)
        if before is not None:
            return _pending(before.view, self._device.name)
        view, scrubbed = self._look_at(envelope, await self._known(envelope.command))
        try:
            return await self._judged(envelope, view, scrubbed)
        except ApprovalPending:
            raise
        except BasculeError as error:
            await self._audit(envelope.by, "start_refused", view, error.message)
            raise

    async def _judged(self, envelope: Envelope[Any], view: WaitingStart, scrubbed: WaitingStart) -> Struct:
        signed = self._signed(envelope.command)
        verdict = judge(
            self._settings,
            self._device.name,
            remote=True,
            blocked=self._blocked_words(),
            signed=signed,
            reasons=view.reasons,
        )
        if view.reasons:
            await self._audit(envelope.by, "start_unusual", view, "; ".join(view.reasons))
        match verdict.does:
            case "refuse":
                raise StartRefused(verdict.why)
            case "hold":
                await self._does.check(envelope)
                return await self._hold(envelope, view, scrubbed, outside=verdict.confirm == "oob_confirm")
            case "start":
                # A trusted browser signed how it is to run, and what is held is approved as it is.
                why_not = "" if signed.browser else self._does.why_not(envelope)
                if why_not:
                    raise OwnerNeeded(why_not)
                return await self._start(envelope, scrubbed, notify=verdict.notify)

    def check_at_rest(self, by: Actor) -> None:
        """A message would bring back an agent that does not run: that is a start, and this is not the way."""
        if is_remote(by) and (needs_approval(self._settings) or self._blocked_words()):
            raise StartRefused(
                f"No agent runs in this session, and {self._device.name} does not start one for a message "
                "from elsewhere. Resume the session first."
            )

    async def _known(self, command: Any) -> SessionRecord | None:
        """The session that is to go on, as it is stored here: an id says nothing to who approves it."""
        match command:
            case ResumeSession() | ReconnectAgent() if command.session_id:
                return await self._store.session(command.session_id)
            case StartSession(resume=str(conversation)):
                found = await self._store.sessions_of((command.agent, conversation))
                return max(found, key=lambda one: one.updated_at, default=None)
            case _:
                return None

    def _look_at(
        self, envelope: Envelope[Any], known: SessionRecord | None
    ) -> tuple[WaitingStart, WaitingStart]:
        """As people see it on this machine, and without secrets for what leaves it."""
        facts, history = self._facts(envelope), self._memory.history
        reasons = unusual(history, facts, self._settings.risky_words)
        self._memory.keep(asked(history, facts.now))
        expires = facts.now + self._settings.wait_seconds
        start_id, ceiling = secrets.token_hex(4), self._settings.ceiling
        view, scrubbed = (
            described(envelope, start_id, facts.now, expires, reasons, known, ceiling=ceiling, hide=hide)
            for hide in (str, scrub)
        )
        return view, scrubbed

    def _facts(self, envelope: Envelope[Any]) -> StartFacts:
        by, now = envelope.by, self._clock()
        hour = time.localtime(now).tm_hour
        return StartFacts(by.grant_id, by.user_agent, by.address, hour, now, prompt_of(envelope.command))

    def _signed(self, command: Any) -> Signed:
        if isinstance(command, StartSession | ResumeSession):
            return self._signatures.check(command)
        problem = (
            f"{self._device.name} takes only signed starts, and this can't be signed. Start one session."
        )
        return Signed(problem=problem)

    def _blocked_words(self) -> str:
        until = self._memory.blocked_until(self._clock())
        return "" if until is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(until))

    async def _start(self, envelope: Envelope[Any], scrubbed: WaitingStart, *, notify: bool) -> Struct:
        result = await self._does.carry_out(envelope)
        self._memory.keep(learnt(self._memory.history, self._facts(envelope)))
        if notify:
            session_id = session_of(envelope.command)
            self._notices.started(scrubbed, lambda: self._does.end(session_id))
        return result

    async def _hold(
        self, envelope: Envelope[Any], view: WaitingStart, scrubbed: WaitingStart, *, outside: bool
    ) -> Struct:
        held, token = self._waiting.add(view, scrubbed, envelope)
        await self._audit(envelope.by, "start_asked", view, "waits for approval")
        self._notices.asked(scrubbed, lambda decision: self._by_notification(held, decision))
        if outside:
            self._notices.send(scrubbed, token, lambda why: self._waiting.note(held, why))
        delay = max(0.0, view.expires_at - self._clock())
        loop = asyncio.get_running_loop()
        self._timers = {
            timer for timer in self._timers if not timer.cancelled() and timer.when() > loop.time()
        }
        self._timers.add(loop.call_later(delay + 0.1, self.look))
        return _pending(view, self._device.name)

    # Answers ---------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Refuse those that the owner did not approve in time."""
        for held in self._waiting.look():
            log.info("a start by %s was not approved in time", held.view.by)
            asyncio.get_running_loop().create_task(
                self._audit(held.envelope.by, "start_refused", held.view, held.view.message), name="audit"
            ).add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _by_notification(self, held: Held, decision: StartDecision) -> None:
        try:
            await self.decide(self._waiting.get(held.view.id), decision, HERE, "by its notification")
        except BasculeError as error:
            log.info("the answer to a start came to nothing: %s", error.message)

    async def decide(self, held: Held, decision: StartDecision, by: Actor, how: str) -> None:
        """The first answer counts. An approved start begins before this returns, or raises why it can't."""
        if decision == "approve":
            await self._approve(held, by, how)
            return
        also = self._waiting.waiting() if decision == "block" else [held]
        if decision == "block":
            await self._set_block(blocked=True, by=by)
        for one in also:
            self._waiting.settle(one, "denied", f"Denied on {self._device.name}.")
            await self._audit(by, "start_decided", one.view, f"{how}: {asked_by(one.view)}", "deny")

    async def _approve(self, held: Held, by: Actor, how: str) -> None:
        self._waiting.settle(held, "starting", "")
        await self._audit(by, "start_decided", held.view, f"{how}: {asked_by(held.view)}", "allow")
        try:
            await self._does.carry_out_later(held.envelope)
        except BasculeError as error:
            self._waiting.settle(held, "failed", error.message)
            await self._audit(held.envelope.by, "start_refused", held.view, error.message)
            raise
        self._memory.keep(learnt(self._memory.history, self._facts(held.envelope)))
        self._waiting.started(held)

    async def _list(self, envelope: Envelope[ListStarts]) -> StartList:
        self._only_here(envelope.by)
        self.look()
        state = self.state
        return StartList(starts=state.waiting, approval=state.approval, blocked_until=state.blocked_until)

    async def _decide(self, envelope: Envelope[DecideStart]) -> Done:
        self._only_here(envelope.by)
        held = self._waiting.get(envelope.command.start_id)
        await self.decide(held, envelope.command.decision, envelope.by, "on this machine")
        return Done()

    async def _withdraw(self, envelope: Envelope[WithdrawStart]) -> Done:
        held, by = self._waiting.get(envelope.command.start_id), envelope.by
        if is_remote(by) and by.grant_id != held.envelope.by.grant_id:
            raise StartRefused("Somebody else asked for this start; they can withdraw it.")
        self._waiting.withdraw(held)
        await self._audit(by, "start_decided", held.view, "withdrawn", "deny")
        return Done()

    async def _block(self, envelope: Envelope[BlockStarts]) -> Done:
        self._only_here(envelope.by)
        await self._set_block(blocked=envelope.command.blocked, by=envelope.by)
        if envelope.command.blocked:
            for one in self._waiting.waiting():
                self._waiting.settle(one, "denied", f"Denied on {self._device.name}.")
        return Done()

    async def _set_block(self, *, blocked: bool, by: Actor) -> None:
        self._memory.block(self._clock() + self._settings.block_seconds if blocked else None)
        self._does.changed()
        detail = (
            f"starts from elsewhere blocked until {self._blocked_words()}" if blocked else "starts unblocked"
        )
        await self._store.audit([AuditRecord.of(by, "mode", detail=detail)])

    async def _read_link(self, envelope: Envelope[ReadStartLink]) -> StartByLink:
        self._only_own_server(envelope.by)
        held = self._waiting.by_token(envelope.command.token)
        return StartByLink(
            device=self._device.name, start=held.scrubbed, block_seconds=self._settings.block_seconds
        )

    async def _answer_link(self, envelope: Envelope[AnswerStartLink]) -> Done:
        self._only_own_server(envelope.by)
        held = self._waiting.by_token(envelope.command.token)
        by = Actor("the one-time link", address=envelope.by.address, user_agent=envelope.by.user_agent)
        await self.decide(held, envelope.command.decision, by, "by its one-time link")
        return Done()

    def _only_here(self, by: Actor) -> None:
        if is_remote(by):
            raise StartRefused(
                f"Starts on {self._device.name} are approved there: by its notification, with "
                "`bascule starts`, or in a browser on that machine."
            )

    def _only_own_server(self, by: Actor) -> None:
        """The link leads to this machine's own server. A hub that saw one can't use it."""
        if by.via:
            raise StartRefused(f"Links for starts on {self._device.name} are opened at its own address.")

    async def _audit(
        self, by: Actor, action: AuditAction, view: WaitingStart, why: str, decision: str | None = None
    ) -> None:
        via = f", by the hub {by.via}" if by.via else ""
        detail = f"{view.what} in {view.folder or 'no folder'} on {self._device.name}{via}: {why}"
        record = AuditRecord(
            action,
            by.name,
            view.session_id or None,
            by.grant_id,
            by.address,
            by.user_agent,
            decision=decision,
            detail=detail,
            via=by.via,
        )
        if action in REPEATED:
            await self._repeated.add(record)
        else:
            await self._store.audit([record])


def asked_by(view: WaitingStart) -> str:
    return f"asked for by {view.by}, {view.browser} ({view.address})"


def _pending(view: WaitingStart, device: str) -> SessionBegun:
    """The answer to a caller that waits; of a start that was refused meanwhile, the reason."""
    if view.state not in ("waiting", "starting"):
        raise StartRefused(view.message)
    if view.plain:
        return SessionBegun(session_id=view.session_id, waiting=view)
    raise ApprovalPending(
        f"Waiting for approval on {device}. It goes on by itself once it is approved there.", start_id=view.id
    )
