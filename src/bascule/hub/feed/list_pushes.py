"""Pushes to lists of sessions: what a list shows at once, everything else at most every few seconds."""

import asyncio
from collections.abc import Callable, Iterator, Sequence

from msgspec import structs

from bascule.api.pushes import (
    RequestChanged,
    SessionArchived,
    SessionChanged,
    SessionCreated,
    SessionTitled,
    ToLists,
)
from bascule.hub.views import request_view, session_view
from bascule.model.codec import encode
from bascule.model.records import RequestRecord, SessionRecord
from bascule.store.base import Committed

EVERY_SECONDS = 5.0  # that a session is active, how full its context is, what it cost

Notify = Callable[[str | None, bytes], None]


class _Sent:
    """The record last pushed to listeners, and when a small change may be pushed again."""

    def __init__(self, record: SessionRecord, due: float) -> None:
        self.record, self.due = record, due
        self.newest = record
        self.timer: asyncio.TimerHandle | None = None


class ListPushes:
    def __init__(self, notify: Notify) -> None:
        self._notify = notify
        self._sent: dict[str, _Sent] = {}

    def forget(self) -> None:
        """Nobody listens: the next listener reads a list first."""
        for sent in self._sent.values():
            _stop(sent)
        self._sent.clear()

    def begun_again(self, session_id: str) -> None:
        """The next commit of this session is of another log: it is pushed like a new session."""
        sent = self._sent.pop(session_id, None)
        if sent is not None:
            _stop(sent)

    def committed(self, committed: Committed) -> None:
        record, rows, requests, changed, _ = committed
        sent = self._sent.get(record.session_id)
        if sent is None or (changed and not _listed_alike(sent.newest, record)):
            self._push(sent, record, new=bool(rows) and rows[0].seq == 1)
        else:
            sent.newest = record
            self._push_later(sent)
        if requests:
            self._tell_requests(record, requests)

    def _push(self, sent: _Sent | None, now: SessionRecord, *, new: bool = False) -> None:
        before = None if sent is None else sent.record
        if sent is not None:
            _stop(sent)
        due = asyncio.get_running_loop().time() + EVERY_SECONDS
        self._sent[now.session_id] = _Sent(now, due)
        for message in _news(before, now, new=new):
            self._notify(now.session_id, encode(message))

    def _push_later(self, sent: _Sent) -> None:
        if sent.timer is None:
            loop = asyncio.get_running_loop()
            sent.timer = loop.call_at(max(sent.due, loop.time()), self._push_newest, sent)

    def _push_newest(self, sent: _Sent) -> None:
        sent.timer = None
        self._push(sent, sent.newest)

    def _tell_requests(self, record: SessionRecord, requests: Sequence[RequestRecord]) -> None:
        for request in requests:
            message = RequestChanged(
                session_id=record.session_id,
                request_id=request.request_id,
                open=record.open_requests,
                gone=request.state != "open",
                request=request_view(request, record.title),
            )
            self._notify(record.session_id, encode(message))


def _stop(sent: _Sent) -> None:
    if sent.timer is not None:
        sent.timer.cancel()
        sent.timer = None


def _listed_alike(before: SessionRecord, now: SessionRecord) -> bool:
    """Whether a list would show both alike, but for their activity and how much they used."""
    return now == structs.replace(
        before,
        seq=now.seq,
        updated_at=now.updated_at,
        context_used=now.context_used,
        context_size=now.context_size,
        cost_usd=now.cost_usd,
        cents=now.cents,
        tokens=now.tokens,
        turn_tokens=now.turn_tokens,
        spent=now.spent,
    )


def _news(before: SessionRecord | None, now: SessionRecord, *, new: bool) -> Iterator[ToLists]:
    name = now.session_id
    kind = SessionCreated if new else SessionChanged
    yield kind(session_id=name, session=session_view(now))
    if before is not None and before.title != now.title:
        yield SessionTitled(session_id=name, title=now.title)
    if before is not None and before.archived != now.archived:
        yield SessionArchived(session_id=name, archived=now.archived)
