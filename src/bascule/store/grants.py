"""Grants: named secrets with a role and an expiry, stored hashed, cached in memory, revocable at once.

A revoked grant opens nothing; its hash stays for a while, so that a holder of its secret gets the reason. Its
id also stands in a file of this node (`RevokedGrants`), so that an older database does not open it again.
"""

import asyncio
import contextlib
import hmac
import secrets
from collections.abc import Callable, Container
from hashlib import sha256
from typing import Literal, get_args

import msgspec
from msgspec import Struct, structs

from bascule.model.codec import encode
from bascule.model.errors import InvalidInput, StorageFailed, StoreConflict, StoreDamaged
from bascule.store.base import AuditRecord
from bascule.store.connection import Connection
from bascule.store.protocols import BookStore
from bascule.store.revoked_grants import RevokedGrant, RevokedGrants
from bascule.store.rows import check, checksum
from bascule.store.transaction import Transaction

Role = Literal["owner", "operator", "viewer", "session", "daemon", "site", "node"]
GRANTED = tuple(role for role in get_args(Role) if role != "node")  # nodes show a key of their own
GrantKind = Literal["kept", "start_link", "ephemeral"]

SECRET_BYTES = 32
MAX_SECRET = 256  # longer ones are not even hashed
MAX_NAME = 100
MAX_FORMER = 20  # names
MAX_REVOKED = 200  # whose holders still get the reason
TOUCH_SECONDS = 60
REVOKED_AGAIN = "revoked again"  # an older copy of the database had it as valid

_ALL = "SELECT id, secret_sha256, body, crc FROM grants"
_INSERT = "INSERT INTO grants (id, secret_sha256, body, crc) VALUES (?, ?, ?, ?)"
_UPDATE = "UPDATE grants SET body = ?, crc = ? WHERE id = ?"
_ONE = "SELECT body FROM grants WHERE id = ?"
_DELETE = "DELETE FROM grants WHERE id = ?"


class Grant(Struct, frozen=True):
    """What a secret allows, and until when. Times are seconds since the epoch."""

    id: str
    name: str
    role: Role
    kind: GrantKind
    created_at: float
    session_id: str | None = None  # the only session it reaches
    expires_at: float | None = None
    last_used_at: float | None = None
    by: str = ""  # who made it
    former_names: tuple[str, ...] = ()  # the log keeps what was done under them
    revoked_at: float | None = None  # it is over (`expires_at` says so too, for older versions)
    device: str | None = None  # the only machine that may connect with it
    keeps_secrets: bool = False  # of a link to one session: what looks like a secret is not hidden


_decoder = msgspec.json.Decoder(Grant)


class GrantBook:
    """All grants, cached by the hash of their secret. A change is on disk before it is reported."""

    def __init__(
        self, store: BookStore, clock: Callable[[], float], remembered: RevokedGrants | None = None
    ) -> None:
        self._store = store
        self._remembered = remembered
        self.clock = clock
        self._by_hash: dict[str, Grant] = {}
        self._hashes: dict[str, str] = {}  # by id
        self._revoked: set[str] = set()  # ids that no longer hold and are not yet so on the disk
        self._past: dict[str, Grant] = {}  # revoked ones, by the hash of their secret, oldest first
        self._callbacks: dict[object, Callable[[Grant], None]] = {}

    @classmethod
    async def open(
        cls,
        store: BookStore,
        clock: Callable[[], float] | None = None,
        remembered: RevokedGrants | None = None,
    ) -> "GrantBook":
        """`clock` is what grants run out by. What is `remembered` as revoked opens nothing, whatever the
        database says of it."""
        book = cls(store, clock or store.clock, remembered)
        sound, damaged = await store.query(_load)
        store.remember(damaged)
        book._take(sound)
        await book._revoke_again()
        return book

    async def _revoke_again(self) -> None:
        """Revoke what an older copy of the database brought back; remember what only the database knows."""
        if self._remembered is None:
            return
        back = [one for one in self.list() if one.id in self._remembered and one.id not in self._revoked]
        with contextlib.suppress(StorageFailed):  # they open nothing, and the next start finds them again
            await self._remove(back, REVOKED_AGAIN, "this machine")
        await self._remember(list(self._past.values()))

    def _take(self, stored: "list[tuple[str, Grant]]") -> None:
        for secret_hash, grant in sorted(stored, key=lambda one: one[1].revoked_at or 0.0):
            if grant.revoked_at is None:
                self._keep(secret_hash, grant)
            else:
                self._past[secret_hash] = grant

    async def reload(self) -> None:
        """Take over what other nodes of this hub have changed. What they revoked stops working here."""
        # In the order of our own changes, so that none of them is taken back.
        sound, damaged = await self._store.transact(lambda writing: _load(writing.connection), sync=False)
        self._store.remember(damaged)
        valid = {grant.id for _, grant in sound if grant.revoked_at is None}
        gone = [one for one in self.list() if one.kind != "ephemeral" and one.id not in valid]
        self._past = {}
        self._take(sound)
        self._tell([one for one in gone if one.id not in self._revoked])
        for grant in gone:
            self._forget(grant)
        await self._revoke_again()

    def admit(self, secret: str, grant: Grant) -> None:
        """A grant that is stored nowhere, for a secret that is kept elsewhere."""
        self._keep(_hashed(secret), grant)

    async def create(
        self,
        name: str,
        role: Role,
        session_id: str | None = None,
        expires_in: float | None = None,
        ephemeral: bool = False,
        *,
        start_link: bool = False,
        device: str | None = None,
        by: str = "this machine",
        keeps_secrets: bool = False,
    ) -> tuple[Grant, str]:
        """A new grant and its secret, shown only now. An ephemeral one ends with the process."""
        now = self.clock()
        grant = Grant(
            id=secrets.token_hex(8),
            name=_checked(name, role, session_id, device),
            role=role,
            kind="ephemeral" if ephemeral else "start_link" if start_link else "kept",
            created_at=now,
            session_id=session_id,
            expires_at=None if expires_in is None else now + expires_in,
            by=by,
            device=device,
            keeps_secrets=keeps_secrets,
        )
        secret = secrets.token_urlsafe(SECRET_BYTES)
        secret_hash = _hashed(secret)
        audited = _audit(grant, "created", by)

        def write(transaction: Transaction) -> None:
            if not ephemeral:
                transaction.connection.execute(_INSERT, (grant.id, secret_hash, *_body(grant)))
            transaction.audit([audited])

        await self._store.transact(write)
        self._keep(secret_hash, grant)
        return grant, secret

    def authenticate(self, secret: str) -> Grant | None:
        """The grant this secret opens, if it is one, not revoked and not over. Notes that it was used."""
        if len(secret) > MAX_SECRET or not secret.isascii():
            return None
        secret_hash = _hashed(secret)
        grant = self._by_hash.get(secret_hash)
        if grant is None or not hmac.compare_digest(self._hashes[grant.id], secret_hash):
            return None
        return self._touched(secret_hash, grant) if self._holds(grant) else None

    def ended(self, secret: str) -> Grant | None:
        """The grant that this very secret opened once: revoked, or expired. A guess learns nothing."""
        if len(secret) > MAX_SECRET or not secret.isascii():
            return None
        secret_hash = _hashed(secret)
        grant = self._past.get(secret_hash) or self._by_hash.get(secret_hash)
        if grant is None or self._holds(grant):
            return None
        return _over(grant, self.clock()) if grant.id in self._revoked else grant

    def get(self, grant_id: str) -> Grant | None:
        """A valid grant by its id, for open streams and tickets."""
        grant = self._by_hash.get(self._hashes.get(grant_id, ""))
        return grant if grant is not None and self._holds(grant) else None

    def list(self) -> list[Grant]:
        """All of them, the expired ones too, oldest first; but not that of other nodes, which nobody made."""
        given = (grant for grant in self._by_hash.values() if grant.role != "node")
        return sorted(given, key=lambda grant: (grant.created_at, grant.id))

    async def revoke(self, id_or_name: str, *, by: str = "this machine") -> "list[Grant]":
        """End the grant with this id, or every one with this name. They stop working before this returns."""
        found = [one for one in self.list() if one.id == id_or_name]
        found = found or [one for one in self.list() if one.name == id_or_name]
        await self._remove(found, "revoked", by)
        return found

    def revoked_elsewhere(self, grant_id: str) -> None:
        """Another node of this hub has revoked it. The next `reload` finds it in the database."""
        secret_hash = self._hashes.get(grant_id)
        if secret_hash is not None and grant_id not in self._revoked:
            self._revoked.add(grant_id)
            self._tell([self._by_hash[secret_hash]])

    async def rename(self, grant_id: str, name: str, *, by: str = "this machine") -> Grant:
        """What is done with it from now on is done under this name."""
        secret_hash = self._hashes[grant_id]
        before = self._by_hash[secret_hash]
        name = _checked(name, before.role, before.session_id, before.device)
        if name == before.name:
            return before
        former = tuple(one for one in (*before.former_names, before.name) if one != name)[-MAX_FORMER:]
        grant = structs.replace(before, name=name, former_names=former)

        def write(transaction: Transaction) -> None:
            if before.kind != "ephemeral" and not _replaced(transaction, grant):
                raise StoreConflict("This grant was revoked meanwhile.")
            transaction.audit([_audit(grant, f"renamed from {before.name}", by)])

        await self._store.transact(write)
        self._by_hash[secret_hash] = grant
        return grant

    async def sweep_unused_start_links(self, older_than: float = 0.0) -> "list[Grant]":
        """Links printed at an earlier start, so many seconds ago, that nobody followed."""
        made_by = self.clock() - older_than
        unused = [
            one
            for one in self.list()
            if one.kind == "start_link" and one.last_used_at is None and one.created_at <= made_by
        ]
        await self._remove(unused, "swept unused", "this machine")
        return unused

    def on_revoked(self, callback: Callable[[Grant], None]) -> Callable[[], None]:
        """Call `callback` with each revoked grant, to close its connections. The returned call stops it."""
        name = object()
        self._callbacks[name] = callback
        return lambda: self._callbacks.pop(name, None) and None

    async def _remove(self, grants: "list[Grant]", what: str, by: str) -> None:
        if not grants:
            return
        # In memory first: from here on nobody gets in, even if the disk is slow or full. In the latter case
        # it is still listed, because it would be back after a restart, and can be revoked again.
        self._revoked.update(grant.id for grant in grants)
        self._tell(grants)
        kept = [grant for grant in grants if grant.kind != "ephemeral"]
        await self._remember(kept)
        ended = [_over(grant, self.clock()) for grant in kept if what in ("revoked", REVOKED_AGAIN)]
        oldest = [
            one.id for one in list(self._past.values())[: max(0, len(self._past) + len(ended) - MAX_REVOKED)]
        ]
        gone = [grant.id for grant in grants if all(one.id != grant.id for one in ended)] + oldest

        def write(transaction: Transaction) -> None:
            transaction.connection.executemany(_DELETE, [(one,) for one in gone])
            transaction.connection.executemany(_UPDATE, [(*_body(one), one.id) for one in ended])
            transaction.audit([_audit(grant, what, by) for grant in grants])

        await self._store.transact(write)
        self._past = {at: one for at, one in self._past.items() if one.id not in oldest}
        self._past |= {self._hashes[one.id]: one for one in ended}
        for grant in grants:
            self._forget(grant)

    async def _remember(self, grants: "list[Grant]") -> None:
        """Where an older copy of the database can't undo it."""
        if self._remembered is None:
            return
        now = self.clock()
        lines = [RevokedGrant(grant.id, grant.revoked_at or now, _runs_out(grant)) for grant in grants]
        await asyncio.to_thread(self._remembered.add, lines)

    def _tell(self, revoked: "list[Grant]") -> None:
        for grant in revoked:
            for callback in list(self._callbacks.values()):
                callback(grant)

    def _touched(self, secret_hash: str, grant: Grant) -> Grant:
        now = self.clock()
        first = grant.last_used_at is None
        if grant.last_used_at is not None and 0 <= now - grant.last_used_at < TOUCH_SECONDS:
            return grant
        used = structs.replace(grant, last_used_at=now)
        self._by_hash[secret_hash] = used
        if grant.kind != "ephemeral":
            written = self._store.transact(
                lambda transaction: _replaced(transaction, used),
                sync=first,  # a start link that was followed must not be swept after a power cut
            )
            # Best effort: a full disk is shown by the store itself and must not lock its owner out.
            written.add_done_callback(lambda done: done.cancelled() or done.exception())
        return used

    def _holds(self, grant: Grant) -> bool:
        if grant.id in self._revoked or grant.revoked_at is not None:
            return False
        return grant.expires_at is None or self.clock() < grant.expires_at

    def _keep(self, secret_hash: str, grant: Grant) -> None:
        self._by_hash[secret_hash] = grant
        self._hashes[grant.id] = secret_hash

    def _forget(self, grant: Grant) -> None:
        self._revoked.discard(grant.id)
        secret_hash = self._hashes.pop(grant.id, "")
        self._by_hash.pop(secret_hash, None)


def revoke_in_copy(transaction: Transaction, remembered: Container[str], now: float) -> None:
    """The same for a copy that nobody has open (`GrantBook._revoke_again`)."""
    sound, _ = _load(transaction.connection)
    back = [one for _, one in sound if one.revoked_at is None and one.id in remembered]
    if back:
        rows = [(*_body(_over(one, now)), one.id) for one in back]
        transaction.connection.executemany(_UPDATE, rows)
        transaction.audit([_audit(one, REVOKED_AGAIN, "this machine") for one in back])


def _over(grant: Grant, now: float) -> Grant:
    ends = now if grant.expires_at is None else min(now, grant.expires_at)
    return structs.replace(grant, revoked_at=now, expires_at=ends)


def _load(connection: Connection) -> "tuple[list[tuple[str, Grant]], list[StoreDamaged]]":
    """A grant that does not match its checksum is not honoured: its role or its end may be another."""
    sound: list[tuple[str, Grant]] = []
    damaged: list[StoreDamaged] = []
    for grant_id, secret_hash, body, crc in connection.execute(_ALL):
        try:
            sound.append((secret_hash, _decoder.decode(check(f"grant {grant_id}", 0, body, crc, "record"))))
        except StoreDamaged:
            damaged.append(StoreDamaged(f"The grant {grant_id} is damaged and opens nothing.", id=grant_id))
    return sound, damaged


def _body(grant: Grant) -> tuple[bytes, int]:
    body = encode(grant)
    return body, checksum(f"grant {grant.id}", 0, body)


def _replaced(transaction: Transaction, grant: Grant) -> bool:
    """Store it, unless it was revoked: another node may have done that meanwhile, and that must stay."""
    stored = transaction.connection.execute(_ONE, (grant.id,)).fetchone()
    if stored is None or _decoder.decode(bytes(stored[0])).revoked_at is not None:
        return False
    transaction.connection.execute(_UPDATE, (*_body(grant), grant.id))
    return True


def _runs_out(grant: Grant) -> float | None:
    """When it ends by itself. That of a revoked one was overwritten, so it counts as one that never does."""
    return grant.expires_at if grant.revoked_at is None else None


def _hashed(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _checked(name: str, role: Role, session_id: str | None, device: str | None) -> str:
    if role not in GRANTED:
        raise InvalidInput(f"There is no role {role!r}; there are {', '.join(GRANTED)}.")
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise InvalidInput(f"A grant's name is 1 to {MAX_NAME} printable characters.")
    if role == "session" and session_id is None:
        raise InvalidInput("A grant for one session names it.")
    if session_id is not None and role not in ("session", "viewer"):
        raise InvalidInput("Only a session's own grant or a viewer's can be for one session.")
    if (device is None) == (role == "daemon"):
        raise InvalidInput("A machine's grant names the machine, and no other grant does.")
    return name.strip()


def _audit(grant: Grant, what: str, by: str) -> AuditRecord:
    reach = f" of session {grant.session_id}" if grant.session_id else ""
    reach += f" of machine {grant.device}" if grant.device else ""
    return AuditRecord(
        "grant",
        by,
        session_id=grant.session_id,
        grant_id=grant.id,
        decision=what,
        detail=f"{grant.role}{reach}, {grant.kind}: {grant.name}",
    )
