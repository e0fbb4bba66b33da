"""Logs of another machine, as rows to take in."""

import asyncio
from collections.abc import Sequence
from hashlib import sha256

from msgspec import Raw
from tests.store.logs import AT
from tests.waiting import PATIENCE

from bascule.model.codec import encode_logged
from bascule.model.events import AnyEvent, PermissionRequested, SessionStarted
from bascule.store.database import DatabaseStore
from bascule.store.protocols import Log

LAPTOP = "laptop"
ASKED = PermissionRequested("r1", "Bash", "ls", "execute", Raw(b"{}"), "0" * 64, ())
BEGUN = SessionStarted("demo", "stream_json", "/home/ana", "ana", device=LAPTOP)


def as_rows(events: Sequence[AnyEvent], first: int = 1) -> list[bytes]:
    return [encode_logged(seq, AT, event) for seq, event in enumerate(events, first)]


async def log_hash(store: Log, session_id: str) -> str:
    """Of a whole log, with the numbers of its rows."""
    digest = sha256()
    for row in await store.read(session_id, 0, 1 << 30):
        digest.update(b"%d %d %s" % (row.seq, len(row.body), row.body))
    return digest.hexdigest()


async def answers_of(
    store: DatabaseStore, logs: list[tuple[str, list[AnyEvent]]], queries: list[str]
) -> list[object]:
    """Everything a hub asks, after these rows."""
    for name, log in logs:
        head, _ = await store.head_of(name)
        events = log if head else [BEGUN, *log]
        await store.take_in(LAPTOP, name, head + 1, as_rows(events, head + 1))
    async with asyncio.timeout(PATIENCE):
        await store.searchable()
    said: list[object] = [
        await store.list_sessions(),
        await store.open_requests(),
        await store.session_counts(),
    ]
    said += [
        await store.usage(5),
        await store.recent_folders(9),
        await store.heads_of(LAPTOP),
        await store.found(),
    ]
    for name in sorted({name for name, _ in logs}):
        said += [
            await store.page(name, 5),
            await store.page(name, 3, after=2),
            await store.page(name, 4, around=3),
        ]
        said += [await store.read(name, 0), await store.edited(name), await store.session(name)]
        said += [await store.resume_point(name), await store.head_of(name)]
    for query in queries:
        said.append(await store.search(query, limit=50))
    return said
