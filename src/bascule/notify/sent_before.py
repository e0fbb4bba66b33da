"""After a restart: notifies of requests not notified yet, and replaces the notifications already sent."""

import logging
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from bascule.model.errors import BasculeError
from bascule.model.events import GuardAsked
from bascule.model.records import RequestRecord, SessionRecord
from bascule.notify.due_notices import Decider, Key
from bascule.notify.notice import Notice
from bascule.notify.notice_words import guard_notice, request_notice, title_of
from bascule.store.base import Committed
from bascule.store.protocols import HubStore

log = logging.getLogger(__name__)


async def open_guards(store: HubStore) -> list[Key]:
    """What guard rails ask: only of sessions whose agent runs."""
    return [
        (session.session_id, session.guard.guard_id)
        for session in await store.live_sessions()
        if session.guard is not None
    ]


async def open_keys(store: HubStore) -> list[Key]:
    """All that is open."""
    asked = [(request.session_id, request.request_id) for request in await store.open_requests()]
    return asked + await open_guards(store)


async def resume(
    store: HubStore, decider: Decider, tags: Mapping[Key, str], asked: Iterable[Key], at: str
) -> list[Notice]:
    """Gives the decider the open requests and, by tag, the notices sent. Returns those over meanwhile."""
    over: list[Notice] = []
    for key in dict.fromkeys([*tags, *asked]):
        try:
            record, request = await store.session(key[0]), await store.request(*key)
        except BasculeError as error:
            log.info("no notice of request %s of %s is sent: %s", key[1], key[0], error.message)
            continue
        if record is None:
            continue
        if key in tags:
            decider.restored(key, _notice(record, key, request, at), tags[key])
        over += decider.committed(
            Committed(record, [], [request] if request is not None else [], changed=False)
        )
    return over


def _notice(record: SessionRecord, key: Key, request: RequestRecord | None, at: str) -> Notice:
    """The notice that was sent, made again."""
    if request is not None:
        return request_notice(record, request, at)
    if record.guard is not None and record.guard.guard_id == key[1]:
        return guard_notice(record, record.guard, at)
    gone = guard_notice(record, GuardAsked(key[1], "session_cents", ""), at)
    return replace(gone, title=title_of(record))  # which limit it was is no longer known
