"""The newest record of each session that is at work, as of its last commit: saves a read for each command."""

from collections import OrderedDict

from msgspec.structs import replace

from bascule.model.records import SessionRecord
from bascule.store.protocols import HubStore

MAX_KEPT = 1024


class SessionRecords:
    """Holds only what commits tell, in their order, so that what it holds is never older than the store."""

    def __init__(self, store: HubStore) -> None:
        self._store = store
        self._kept: OrderedDict[str, SessionRecord] = OrderedDict()

    def committed(self, record: SessionRecord) -> None:
        kept, name = self._kept, record.session_id
        if record.found:  # it may be forgotten without a commit
            kept.pop(name, None)
            return
        kept[name] = record
        kept.move_to_end(name)
        if len(kept) > MAX_KEPT:
            kept.popitem(last=False)

    def forget(self, session_id: str) -> None:
        """Another node has committed to it."""
        self._kept.pop(session_id, None)

    def clear(self) -> None:
        self._kept.clear()

    async def get(self, session_id: str) -> SessionRecord | None:
        return self._kept.get(session_id) or await self._store.session(session_id)

    async def begun_again(self, session_id: str) -> SessionRecord:
        """The record of a session whose log was set aside, until the first row of its new log says more."""
        before = self._kept.get(session_id)
        stored = await self._store.session(session_id)
        kept = self._kept.get(session_id)
        if stored is not None or kept is not before:  # the first row came meanwhile
            return stored or kept or SessionRecord(session_id)
        was = before or SessionRecord(session_id)
        begun = replace(was, generation=was.generation + 1, seq=0)
        if before is not None:
            self._kept[session_id] = begun
        return begun

    async def reaching(self, record: SessionRecord, seq: int) -> SessionRecord:
        """The record, read again if its reader is ahead of it: readers of the store see a commit a moment
        before it is reported here."""
        return record if seq <= record.seq else await self._store.session(record.session_id) or record
