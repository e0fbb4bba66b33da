"""Logs of another machine, as rows to take in."""

from collections.abc import Sequence
from hashlib import sha256

from msgspec import Raw
from tests.store.logs import AT

from bascule.model.codec import encode_logged
from bascule.model.events import AnyEvent, PermissionRequested, SessionStarted
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
