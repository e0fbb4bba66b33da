"""This machine's terminals as viewers read them: live ones from the spool, ended ones from the shelf."""

import os
from collections.abc import Callable

from bascule.daemon.live_sessions import LiveSessions, kept_name, process_name
from bascule.daemon.tape_archive import ArchivedTape
from bascule.drivers.terminal.mode_tracker import AT_START, prelude
from bascule.link.tape import Tape, TapeCut, TapeTail
from bascule.model.errors import SessionNotFound
from bascule.policy.screening import safe_start
from bascule.session.terminal import TerminalSupervisor
from bascule.transport.errors import SpoolTrimmed
from bascule.transport.spool import SpoolReader


class LocalTapes:
    def __init__(self, sessions: LiveSessions) -> None:
        self._sessions = sessions

    async def open(self, session_id: str, run: int, grew: Callable[[], None]) -> Tape:
        name = kept_name(session_id, run)
        live = self._sessions.terminal(session_id)
        if live is not None and live.ledger.record.started_seq == run:
            spool = self._sessions.spool(process_name(live.ledger.record))
            return LiveTape(live, spool, lambda: self._sessions.shelf.find(name), grew)
        kept = self._sessions.shelf.find(name)
        if kept is None:
            raise SessionNotFound(session_id)
        return ShelvedTape(kept)


class ShelvedTape:
    """A terminal that has ended."""

    over = True

    def __init__(self, kept: ArchivedTape) -> None:
        self.base, self.end = kept.start, kept.end
        self._file = open(kept.path, "rb")  # noqa: SIM115 - closed by `close`, when its viewer leaves

    async def read(self, offset: int, limit: int) -> bytes:
        if offset < self.base:
            raise TapeCut
        return os.pread(self._file.fileno(), limit, offset - self.base)

    async def tail(self, limit: int) -> TapeTail:
        start = max(self.base, self.end - limit)
        piece = await self.read(start, limit)
        cut = start + safe_start(piece) if start > self.base else start
        return TapeTail(cut, prelude(AT_START))

    def close(self) -> None:
        self._file.close()


class LiveTape:
    """A terminal that runs; when it ends under its viewer, the viewer reads on from the shelf."""

    def __init__(
        self,
        live: TerminalSupervisor,
        spool: SpoolReader,
        find: Callable[[], ArchivedTape | None],
        grew: Callable[[], None],
    ) -> None:
        self._live = live
        self._spool = spool
        self._find = find
        self._shelved: ShelvedTape | None = None
        self._unwatch = live.watch(grew)

    @property
    def base(self) -> int:
        return self._shelved.base if self._shelved else self._live.base

    @property
    def end(self) -> int:
        return self._shelved.end if self._shelved else self._live.tape_end

    @property
    def over(self) -> bool:
        return self._live.over

    async def read(self, offset: int, limit: int) -> bytes:
        if self._live.over and self._shelved is None:
            kept = self._find()
            self._shelved = ShelvedTape(kept) if kept else None
        if self._shelved is not None:
            return await self._shelved.read(offset, limit)
        try:
            return self._spool.read(offset, limit)
        except SpoolTrimmed:
            raise TapeCut from None

    async def tail(self, limit: int) -> TapeTail:
        tail = self._live.tail(limit)
        return TapeTail(tail.offset, tail.prelude)

    def close(self) -> None:
        self._unwatch()
        self._spool.close()
        if self._shelved is not None:
            self._shelved.close()
