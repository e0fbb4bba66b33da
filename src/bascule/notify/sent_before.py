"""What was asked before the hub started: what nobody was told of is told, and what was told is replaced."""

import logging
from collections.abc import Mapping

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
        (one.session_id, one.guard.guard_id) for one in await store.live_sessions() if one.guard is not None
    ]


async def resume(store: HubStore, decider: Decider, tags: Mapping[Key, str], at: str) -> list[Notice]:
    """Give the decider all that is open or was told, by its tag. Gives what is over meanwhile."""
    asked = [(one.session_id, one.request_id) for one in await store.open_requests()]
    asked += await open_guards(store)
    over: list[Notice] = []
    for key in dict.fromkeys([*tags, *asked]):
        try:
            record, request = await store.session(key[0]), await store.request(*key)
        except BasculeError as error:
            log.info("nobody is told of request %s of %s: %s", key[1], key[0], error.message)
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
    """As it was told."""
    if request is not None:
        return request_notice(record, request, at)
    if record.guard is not None and record.guard.guard_id == key[1]:
        return guard_notice(record, record.guard, at)
    gone = guard_notice(record, GuardAsked(key[1], "session_cents", ""), at)
    return replace(gone, title=title_of(record))  # which limit it was is no longer known
