"""Answers to requests that wait for a machine that is away, and what became of them."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bascule.model.codec import encode
from bascule.model.commands import Actor
from bascule.model.records import AnswerState
from bascule.store.base import AuditRecord
from bascule.store.connection import Connection
from bascule.store.protocols import BookStore
from bascule.store.transaction import Transaction

log = logging.getLogger(__name__)

COLUMNS = (
    *("id", "device", "session_id", "request_id", "input_sha256", "decision", "body", "by", "made_at"),
    *("expires_at", "sent_at", "state", "outcome", "settled_at"),
)
NAMES = ", ".join(COLUMNS)
ALL = f"SELECT {NAMES} FROM answers_waiting ORDER BY n"
INSERT = f"INSERT INTO answers_waiting ({NAMES}) VALUES ({', '.join('?' for _ in COLUMNS)})"
# One that another node has settled stays as it is.
CHANGE = """
UPDATE answers_waiting SET sent_at = ?, state = ?, outcome = ?, settled_at = ?
WHERE id = ? AND state = 'waiting' RETURNING id
"""
DELETE = "DELETE FROM answers_waiting WHERE id = ?"
MAX_SETTLED = 200  # kept, to be shown

_actors = msgspec.json.Decoder(Actor)


class WaitingAnswer(Struct, frozen=True):
    """`body` is the command as JSON. `expires_at` is in seconds since the epoch."""

    id: str
    device: str
    session_id: str
    request_id: str
    input_sha256: str
    decision: str  # allow, deny or answered
    body: bytes
    by: Actor
    made_at: str
    expires_at: float | None = None
    sent_at: str = ""
    state: AnswerState = "waiting"
    outcome: str = ""
    settled_at: str = ""


class AnswerBook:
    """In memory, too: what waits must be at hand the moment its machine says hello."""

    def __init__(self, store: BookStore, answers: Iterable[WaitingAnswer]) -> None:
        self._store = store
        self._answers = {answer.id: answer for answer in answers}

    @classmethod
    async def open(cls, store: BookStore) -> "AnswerBook":
        return cls(store, await store.query(_load))

    async def reload(self) -> None:
        """Take over what other nodes of this hub have changed."""
        stored = await self._store.transact(lambda transaction: _load(transaction.connection), sync=False)
        before, self._answers = self._answers, {one.id: one for one in stored}
        for known in before.values():
            newer = self._answers.get(known.id)
            is_new = newer is None and known.state == "waiting"  # and not stored yet
            if is_new or (newer is not None and newer.state == "waiting" and _is_further(known)):
                self._answers[known.id] = known

    def all(self) -> list[WaitingAnswer]:
        """Those that wait and the newest of the others, in the order they were given."""
        return list(self._answers.values())

    def waiting(self) -> list[WaitingAnswer]:
        return [answer for answer in self._answers.values() if answer.state == "waiting"]

    def get(self, answer_id: str) -> WaitingAnswer | None:
        return self._answers.get(answer_id)

    def find(self, session_id: str, request_id: str) -> WaitingAnswer | None:
        """The one that waits for this request."""
        wanted = (session_id, request_id)
        return next((one for one in self.waiting() if (one.session_id, one.request_id) == wanted), None)

    async def add(self, answer: WaitingAnswer, audit: AuditRecord) -> None:
        """It counts at once, and is on the disk when this returns. Raises `StorageFailed`: it is not kept."""
        self._answers[answer.id] = answer

        def write(transaction: Transaction) -> None:
            transaction.connection.execute(INSERT, _values(answer))
            transaction.audit([audit])

        try:
            await asyncio.shield(self._store.transact(write))
        except Exception:
            self._answers.pop(answer.id, None)
            raise

    def note_sent(self, answer: WaitingAnswer, at: str) -> WaitingAnswer:
        """It leaves for its machine. A power cut may lose the note."""
        sent = replace(answer, sent_at=at)
        self._change(sent, None)
        return sent

    def settle(
        self, answer: WaitingAnswer, state: AnswerState, outcome: str, at: str, audit: AuditRecord
    ) -> "asyncio.Future[None]":
        """It no longer waits; what is returned is done once that is on the disk.

        The oldest that were settled are forgotten.
        """
        settled = replace(answer, state=state, outcome=outcome, settled_at=at)
        return self._change(settled, audit)

    def wait_again(self, answer: WaitingAnswer) -> None:
        """How it was settled could not be stored."""
        self._answers[answer.id] = answer

    def _change(self, changed: WaitingAnswer, audit: AuditRecord | None) -> "asyncio.Future[None]":
        self._answers[changed.id] = changed
        past = [answer.id for answer in self._answers.values() if answer.state != "waiting"]
        forgotten = past[: max(0, len(past) - MAX_SETTLED)]
        for answer_id in forgotten:
            del self._answers[answer_id]
        values = (changed.sent_at, changed.state, changed.outcome, changed.settled_at, changed.id)

        def write(transaction: Transaction) -> None:
            changed = transaction.connection.execute(CHANGE, values).fetchall()
            transaction.connection.executemany(DELETE, [(one,) for one in forgotten])
            if audit is not None and changed:
                transaction.audit([audit])

        writing = self._store.transact(write, sync=audit is not None)
        writing.add_done_callback(_written)
        return writing


def _written(done: "asyncio.Future[None]") -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        log.warning("what became of an answer could not be stored: %s", error)


def _is_further(answer: WaitingAnswer) -> bool:
    return answer.state != "waiting" or bool(answer.sent_at)


def _values(answer: WaitingAnswer) -> tuple[object, ...]:
    columns = {name: getattr(answer, name) for name in COLUMNS}
    return tuple((columns | {"by": encode(answer.by)}).values())


def _load(connection: Connection) -> list[WaitingAnswer]:
    rows = (dict(zip(COLUMNS, values, strict=True)) for values in connection.execute(ALL))
    return [_answer(columns) for columns in rows if columns["state"] in get_args(AnswerState)]


def _answer(columns: dict[str, Any]) -> WaitingAnswer:
    columns["by"] = _actors.decode(columns["by"])
    return WaitingAnswer(**columns)
