"""The stored lasting rules, cached in memory."""

import secrets
from collections.abc import Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bascule.model.codec import encode, timestamp
from bascule.model.commands import Actor
from bascule.model.errors import CallerError, InvalidInput, LimitReached, StoreDamaged
from bascule.model.records import RequestRecord, SessionRecord
from bascule.model.rules import RuleSpec, StandingRule, spec_of
from bascule.store import reader
from bascule.store.base import AuditRecord, Devices
from bascule.store.connection import Connection
from bascule.store.protocols import BookStore
from bascule.store.rows import check, checksum, decode_request
from bascule.store.transaction import Transaction

ALL = "SELECT id, body, crc, used, used_at FROM rules ORDER BY n"
INSERT = "INSERT INTO rules (id, body, crc) VALUES (?, ?, ?)"
REMOVE = "DELETE FROM rules WHERE id = ?"
USED = "UPDATE rules SET used = used + 1, used_at = ? WHERE id = ?"
PAST = """
SELECT session_id, seq, body, crc FROM requests WHERE (session_id, request_id) IN
(SELECT session_id, request_id FROM requests {of} ORDER BY opened_at DESC LIMIT ?) ORDER BY opened_at DESC
"""
OF_DEVICES = "WHERE session_id IN (SELECT session_id FROM session_index WHERE device IN ({}))"
MAX_RULES = 500

_decoder = msgspec.json.Decoder(StandingRule)


class RuleNotFound(CallerError):
    code = "RULE_NOT_FOUND"


class Past(Struct, frozen=True):
    """An earlier permission request, and its session."""

    request: RequestRecord
    session: SessionRecord


class RuleBook:
    """Over the same database as the logs; every change is on disk, and audited, before it is reported."""

    def __init__(self, store: BookStore, rules: Sequence[StandingRule], damaged: int) -> None:
        self._store = store
        self._rules = {rule.id: rule for rule in rules}
        self.damaged = damaged

    @classmethod
    async def open(cls, store: BookStore) -> "RuleBook":
        rules, damaged = await store.query(_load)
        store.remember(damaged)
        return cls(store, rules, len(damaged))

    def list(self) -> "list[StandingRule]":
        """All rules, expired ones too: only a person removes them."""
        return list(self._rules.values())

    def holding(self) -> "list[StandingRule]":
        """The rules that count now. While one can't be read, it may have denied: then none allows."""
        now = timestamp(self._store.clock())
        return [
            rule
            for rule in self._rules.values()
            if (rule.expires_at is None or rule.expires_at > now)
            and not (self.damaged and rule.answer == "allow")
        ]

    async def add(self, spec: RuleSpec, words: str, by: Actor, replaces: str | None = None) -> StandingRule:
        """A changed rule is a new one: the log names rules by id, and an id always means the same."""
        if replaces is not None:
            self._known(replaces)
        if any(spec_of(one) == spec and one.id != replaces for one in self._rules.values()):
            raise InvalidInput("There is such a rule already.")
        if len(self._rules) >= MAX_RULES:
            raise LimitReached(f"There are {MAX_RULES} rules already; remove some first.")
        fields = {name: getattr(spec, name) for name in RuleSpec.__struct_fields__}
        now = timestamp(self._store.clock())
        rule = StandingRule(**fields, id=secrets.token_hex(4), created_at=now, created_by=by.name)
        body = encode(rule)

        def write(transaction: Transaction) -> None:
            if replaces is not None:
                transaction.connection.execute(REMOVE, (replaces,))
                transaction.audit([AuditRecord.of(by, "rule", detail=f"{replaces} gave way to {rule.id}")])
            transaction.connection.execute(INSERT, (rule.id, body, checksum(f"rule {rule.id}", 0, body)))
            transaction.audit([AuditRecord.of(by, "rule", detail=f"{rule.id}: {words}")])

        if replaces is not None and self._rules[replaces].answer != "allow":
            await self._store.transact(write)  # what denies goes on denying until the new one holds
            self._rules.pop(replaces, None)
        else:
            before = self._rules.pop(replaces, None) if replaces is not None else None
            try:
                await self._store.transact(write)
            except BaseException:
                if before is not None:
                    self._rules[before.id] = before
                raise
        self._rules[rule.id] = rule
        return rule

    async def remove(self, rule_id: str, words: str, by: Actor) -> None:
        rule = self._known(rule_id)
        if rule.answer == "allow":  # it allows nothing from this moment, whatever the disk says
            self._rules.pop(rule_id)

        def write(transaction: Transaction) -> None:
            transaction.connection.execute(REMOVE, (rule_id,))
            transaction.audit([AuditRecord.of(by, "rule", detail=f"{rule_id} removed: {words}")])

        try:
            await self._store.transact(write)
        except BaseException:
            self._rules[rule_id] = rule
            raise
        self._rules.pop(rule_id, None)

    def get(self, rule_id: str) -> StandingRule:
        """Raises `RuleNotFound`."""
        return self._known(rule_id)

    def used(self, rule_ids: Sequence[str]) -> None:
        """Count an answer given by these. Best effort: the log has the truth."""
        now = timestamp(self._store.clock())
        for rule_id in rule_ids:
            rule = self._rules.get(rule_id)
            if rule is not None:
                self._rules[rule_id] = replace(rule, used=rule.used + 1, used_at=now)

        def write(transaction: Transaction) -> None:
            transaction.connection.executemany(USED, [(now, one) for one in rule_ids])

        written = self._store.transact(write, sync=False)
        written.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def past(self, limit: int, devices: Devices = None) -> "list[Past]":
        """The newest permissions that were asked for, whatever became of them; of some machines or all."""
        return await self._store.query(lambda connection: _past(connection, limit, devices))

    def _known(self, rule_id: str) -> StandingRule:
        rule = self._rules.get(rule_id)
        if rule is None:
            raise RuleNotFound("There is no such rule; it may have been removed.")
        return rule


def _load(connection: Connection) -> "tuple[list[StandingRule], list[StoreDamaged]]":
    sound: list[StandingRule] = []
    damaged: list[StoreDamaged] = []
    for rule_id, body, crc, used, used_at in connection.execute(ALL):
        try:
            rule = _decoder.decode(check(f"rule {rule_id}", 0, body, crc, "record"))
        except StoreDamaged:
            text = f"The rule {rule_id} is damaged. Until it is removed, no rule allows anything."
            damaged.append(StoreDamaged(text, id=rule_id))
        else:
            sound.append(replace(rule, used=used, used_at=used_at))
    return sound, damaged


def _past(connection: Connection, limit: int, devices: Devices) -> list[Past]:
    sessions: dict[str, SessionRecord | None] = {}
    found: list[Past] = []
    of = "" if devices is None else OF_DEVICES.format(", ".join("?" for _ in devices))
    for values in connection.execute(PAST.format(of=of), (*(devices or ()), limit)):
        try:
            request = decode_request(*values)
            if request.session_id not in sessions:
                sessions[request.session_id] = reader.record(connection, request.session_id)
        except StoreDamaged:
            continue  # it is shown as damaged where its session is shown
        session = sessions[request.session_id]
        if request.kind == "permission" and session is not None:
            found.append(Past(request, session))
    return found
