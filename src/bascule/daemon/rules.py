"""This machine's lasting rules: answers requests by them; lists, changes, tries and imports them."""

import asyncio
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import msgspec

from bascule.daemon.allow_lists import proposals_in
from bascule.daemon.files.directories import check_directory
from bascule.daemon.files.hidden_names import hidden_in
from bascule.daemon.handlers import Handlers
from bascule.link.rules import (
    AddRule,
    DryRun,
    ListRules,
    Outcome,
    PastAnswer,
    Proposals,
    ProposeRules,
    RemoveRule,
    RuleView,
    RuleViews,
    TryRequest,
    TryRule,
)
from bascule.model.codec import timestamp
from bascule.model.commands import Done, Envelope
from bascule.model.errors import InvalidInput
from bascule.model.events import PermissionAnswered, PermissionRequested
from bascule.model.records import RequestRecord, SessionRecord
from bascule.model.rules import RuleSpec, StandingRule, Tried, spec_of
from bascule.policy.decide import Verdict, decide, judged
from bascule.policy.disk import Disk
from bascule.policy.fitting import RequestOrigin
from bascule.policy.lasting_rules import check, words
from bascule.policy.session_rules import SessionRule
from bascule.policy.subject import subject_of
from bascule.policy.trying import overall, tried, typed_subject
from bascule.store.base import Devices
from bascule.store.rules import Past, RuleBook

MAX_PAST = 2000  # requests a dry run looks at
MAX_SHOWN = 50
MAX_TEXT = 300
ALLOWS = "add a rule that allows"
GUARDS = "remove a rule that denies or asks"
DAMAGED = "A rule can't be read, so until it is removed no rule allows anything. `bascule doctor` says more."


def real_path(path: str) -> str | None:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return None


DISK = Disk(real_path, hidden_in)


class Rules:
    def __init__(
        self,
        book: RuleBook,
        roots: Callable[[], tuple[str, ...]],
        own: tuple[str, ...],
        clock: Callable[[], float],
        devices: Devices = None,
    ) -> None:
        """`devices`: whose earlier requests a rule is tried on."""
        self._book = book
        self._devices = devices
        self._roots = roots
        self._own = own
        self._clock = clock

    def verdict(
        self, asked: PermissionRequested, record: SessionRecord, rules: Sequence[SessionRule]
    ) -> Verdict | None:
        """The rules' answer to a live session's request, before a person is asked."""
        place = RequestOrigin(record.session_id, record.cwd, record.agent, record.worktree_of)
        found = decide(asked, record.permission_mode, rules, record.cwd, self._book.holding(), place, DISK)
        if found is not None and found.rule_ids:
            self._book.used(found.rule_ids)
        return found

    def register(self, handlers: Handlers) -> None:
        handlers.add(ListRules, self._list, reads=True)
        handlers.add(AddRule, self._add, widens=self._widened_by_rule)
        handlers.add(RemoveRule, self._remove, widens=self._widened_without)
        handlers.add(TryRule, self._try_rule, reads=True)
        handlers.add(TryRequest, self._try_request, reads=True)
        handlers.add(ProposeRules, self._propose, reads=True)

    def _widened_by_rule(self, command: AddRule) -> str:
        if command.rule.answer == "allow":
            return ALLOWS
        return self._widened_without_rule(command.replaces) if command.replaces else ""

    def _widened_without(self, command: RemoveRule) -> str:
        return self._widened_without_rule(command.rule_id)

    def _widened_without_rule(self, rule_id: str) -> str:
        """A rule that can't be read counts, too: while it is there, no rule allows anything."""
        known = {rule.id: rule.answer for rule in self._book.list()}
        return "" if known.get(rule_id) == "allow" else GUARDS

    async def _list(self, envelope: Envelope[ListRules]) -> RuleViews:
        views = [self._view(rule) for rule in self._book.list()]
        return RuleViews(views, DAMAGED if self._book.damaged else None)

    async def _add(self, envelope: Envelope[AddRule]) -> RuleView:
        command = envelope.command
        spec = self._settled(command.rule)
        return self._view(await self._book.add(spec, words(spec), envelope.by, command.replaces))

    async def _remove(self, envelope: Envelope[RemoveRule]) -> Done:
        rule = self._book.get(envelope.command.rule_id)
        await self._book.remove(rule.id, words(rule), envelope.by)
        return Done()

    def _view(self, rule: StandingRule) -> RuleView:
        over = rule.expires_at is not None and rule.expires_at <= timestamp(self._clock())
        return RuleView(**msgspec.structs.asdict(rule), words=words(rule), expired=over)

    def _settled(self, spec: RuleSpec) -> RuleSpec:
        """With its folder and path as they really are. Raises `InvalidInput`, `BadDirectory`."""
        if spec.folder is not None and spec.session_id is not None:
            raise InvalidInput("A rule is for one session or for a folder, not both.")
        if spec.folder is not None:
            spec = msgspec.structs.replace(spec, folder=self._checked(spec.folder))
        if spec.path is not None and spec.path.startswith("~/"):
            spec = msgspec.structs.replace(spec, path=os.path.expanduser("~") + spec.path[1:])
        if spec.expires_at is not None:
            spec = msgspec.structs.replace(spec, expires_at=self._later(spec.expires_at))
        check(spec)
        return spec

    def _checked(self, folder: str) -> str:
        return check_directory(folder, self._roots(), self._own)[0]

    def _later(self, text: str) -> str:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise InvalidInput("A rule ends at a time such as 2031-05-01T12:00:00Z.") from None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        if moment.timestamp() <= self._clock():
            raise InvalidInput("That time is over already; choose a later one.")
        return timestamp(moment.timestamp())

    async def _try_rule(self, envelope: Envelope[TryRule]) -> DryRun:
        spec = self._settled(envelope.command.rule)
        past = await self._book.past(MAX_PAST, self._devices)
        return await asyncio.to_thread(_dry_run, spec, past, timestamp(self._clock()))

    async def _try_request(self, envelope: Envelope[TryRequest]) -> Tried:
        return await asyncio.to_thread(self._tried, envelope.command)

    def _tried(self, command: TryRequest) -> Tried:
        folder = command.folder or os.path.expanduser("~")
        place = RequestOrigin("", self._checked(folder), command.agent or "")
        subject = typed_subject(command.tool_class, command.text.strip())
        return tried(subject, self._book.holding(), place, DISK)

    async def _propose(self, envelope: Envelope[ProposeRules]) -> Proposals:
        named = envelope.command.folder
        folder = self._checked(named) if named is not None else None
        found = await asyncio.to_thread(proposals_in, os.path.expanduser("~"), folder, self._own)
        known = [spec_of(rule) for rule in self._book.list()]
        marked = [
            msgspec.structs.replace(proposal, known=proposal.rule in known) if proposal.rule else proposal
            for proposal in found.proposals
        ]
        return msgspec.structs.replace(found, proposals=marked)


def _dry_run(spec: RuleSpec, past: Sequence[Past], now: str) -> DryRun:
    fields = {name: getattr(spec, name) for name in RuleSpec.__struct_fields__}
    rule = StandingRule(**fields, id="new", created_at=now, created_by="")
    fits = [one for one in (_answered(rule, old) for old in past) if one is not None]
    differs = sum(one.then in ("allow", "deny") and one.then != one.now for one in fits)
    return DryRun(words(spec), len(past), len(fits), differs, fits[:MAX_SHOWN], len(fits) > MAX_SHOWN)


def _answered(rule: StandingRule, old: Past) -> PastAnswer | None:
    """How this rule alone would have answered an earlier request; None if it does not match."""
    asked = msgspec.json.decode(old.request.asked, type=PermissionRequested)
    subject = subject_of(asked)
    if subject is None:
        return None
    session = old.session
    place = RequestOrigin(session.session_id, session.cwd, session.agent, session.worktree_of)
    parts = judged(subject, [rule], place, DISK)
    if all(part.answer is None for part in parts):
        return None
    answer = overall(parts)
    if answer == "ask" and rule.answer == "allow":
        return None  # it covers only a part of a chain, so a person is asked as before
    then, by = _became(old.request)
    text = (subject.text or asked.title)[:MAX_TEXT]
    return PastAnswer(
        session.session_id,
        session.title,
        old.request.request_id,
        session.agent,
        text,
        old.request.opened_at,
        then,
        by,
        answer,
    )


def _became(request: RequestRecord) -> tuple[Outcome, str]:
    if isinstance(request.answer, PermissionAnswered):
        return request.answer.decision, request.answer.by
    return ("withdrawn", "") if request.state == "withdrawn" else ("open", "")
