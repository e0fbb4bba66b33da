"""This machine's terminals for viewers: live ones are read from the spool, ended ones from the archive."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bascule.daemon.handlers import Handlers, widens_nothing
from bascule.daemon.sessions.live_sessions import LiveSessions, kept_name, process_name
from bascule.daemon.terminals.arbiter import Arbiters
from bascule.daemon.terminals.tape_archive import ArchivedTape
from bascule.drivers.terminal.mode_tracker import AT_START, prelude
from bascule.link.tape import (
    Delivered,
    Participant,
    ParticipantEvents,
    ReadTape,
    Tape,
    TapeCut,
    TapeRead,
    TapeTail,
)
from bascule.model.commands import Actor, Envelope
from bascule.model.errors import BasculeError, SessionNotFound, SessionOver
from bascule.model.settings import TerminalSettings
from bascule.policy.screening import safe_start
from bascule.session.terminal import TerminalSupervisor
from bascule.transport.errors import SpoolTrimmed
from bascule.transport.spool import SpoolReader
from bascule.transport.times import read_times

MAX_READ = 1024 * 1024
ENDED = "This session has ended. Resume it to go on."


class LocalTapes:
    """`check_storage` raises while the disk is full: input that can't be audited is refused."""

    def __init__(
        self,
        sessions: LiveSessions,
        check_storage: Callable[[], None],
        settings: TerminalSettings,
        clock: Callable[[], float],
        steady: Callable[[], float],
    ) -> None:
        self._sessions = sessions
        self._check_storage = check_storage
        self._arbiters = Arbiters(settings, clock, steady)

    def register(self, handlers: Handlers) -> None:
        handlers.add(ReadTape, self._read, widens=widens_nothing)

    async def _read(self, envelope: Envelope[ReadTape]) -> TapeRead:
        asked = envelope.command
        tape = await self._open(asked.session_id, asked.run, lambda: None, lambda _, __: None)
        try:
            limit = max(0, min(asked.limit, MAX_READ))
            offset = max(tape.base, asked.offset)
            try:
                data = read_all(tape, offset, min(tape.end, offset + limit))
            except TapeCut:  # trimmed while it was read: what is left begins later
                offset = tape.base
                data = read_all(tape, offset, min(tape.end, offset + limit))
            times = tuple(tape.times())
            return TapeRead(base=tape.base, end=tape.end, offset=offset, data=data, times=times)
        finally:
            tape.close()

    async def open(
        self,
        session_id: str,
        run: int,
        grew: Callable[[], None],
        delivered: Delivered,
        after: int | None = None,
        *,
        skips: bool = True,
    ) -> Tape:
        """All output that is kept can be read here, whatever `after` and `skips` are."""
        return await self._open(session_id, run, grew, delivered)

    async def _open(
        self, session_id: str, run: int, grew: Callable[[], None], delivered: Delivered
    ) -> "EndedTape | LiveTape":
        name = kept_name(session_id, run)
        find = partial(self._sessions.archive.find, name)
        live = self._sessions.terminal(session_id)
        if live is not None and live.ledger.record.started_seq == run:
            process = process_name(live.ledger.record)
            spool, times = self._sessions.spool(process), self._sessions.times(process)
            return LiveTape(live, spool, times, find, self._check_storage, self._arbiters, grew, delivered)
        kept = find()
        if kept is None:
            raise SessionNotFound(session_id)
        return EndedTape(kept, delivered)


class EndedTape:
    """The tape of a terminal that has ended, read from the archive."""

    over = True

    def __init__(self, kept: ArchivedTape, delivered: Delivered) -> None:
        self.base, self.end = kept.start, kept.end
        self._delivered = delivered
        self._times = kept.times
        self._file = open(kept.path, "rb")  # noqa: SIM115 - closed by `close`, when its viewer leaves

    def read(self, offset: int, limit: int) -> bytes:
        if offset < self.base:
            raise TapeCut
        return os.pread(self._file.fileno(), limit, offset - self.base)

    def times(self) -> list[tuple[int, int]]:
        return read_times(self._times)

    async def tail(self, limit: int) -> TapeTail:
        start = max(self.base, self.end - limit)
        piece = self.read(start, limit)
        cut = start + safe_start(piece) if start > self.base else start
        return TapeTail(cut, prelude(AT_START))

    def type(self, data: bytes, by: Actor, *, reply: bool = False) -> None:
        self._delivered(len(data), SessionOver(ENDED))

    async def first_to_answer(self) -> bool:
        return False

    def join(self, by: Actor, may_write: bool, events: ParticipantEvents) -> Participant:
        raise SessionOver(ENDED)

    def close(self) -> None:
        self._file.close()


class LiveTape:
    """The tape of a running terminal. When the terminal ends, its viewer reads on from the archive."""

    def __init__(
        self,
        live: TerminalSupervisor,
        spool: SpoolReader,
        times: Path,
        find: Callable[[], ArchivedTape | None],
        check_storage: Callable[[], None],
        arbiters: Arbiters,
        grew: Callable[[], None],
        delivered: Delivered,
    ) -> None:
        self._arbiters = arbiters
        self._live = live
        self._spool = spool
        self._times = times
        self._find = find
        self._check_storage = check_storage
        self._delivered: Delivered | None = delivered
        self._ended: EndedTape | None = None
        self._unwatch = live.watch(grew)

    @property
    def base(self) -> int:
        return self._ended.base if self._ended else self._live.base

    @property
    def end(self) -> int:
        return self._ended.end if self._ended else self._live.tape_end

    @property
    def over(self) -> bool:
        return self._live.over

    def read(self, offset: int, limit: int) -> bytes:
        if self._live.over and self._ended is None:
            kept = self._find()
            self._ended = EndedTape(kept, self._tell) if kept else None
        if self._ended is not None:
            return self._ended.read(offset, limit)
        try:
            return self._spool.read(offset, limit)
        except SpoolTrimmed:
            raise TapeCut from None

    def times(self) -> list[tuple[int, int]]:
        if self._ended is not None or self._live.over:
            kept = self._find()
            return read_times(kept.times) if kept else []
        return read_times(self._times)

    async def tail(self, limit: int) -> TapeTail:
        tail = self._live.tail(limit)
        return TapeTail(tail.offset, tail.prelude)

    def type(self, data: bytes, by: Actor, *, reply: bool = False) -> None:
        delivered = partial(self._tell, len(data))
        try:
            self._check_storage()
            self._live.type_keys(data, by, delivered, reply=reply)
        except BasculeError as error:
            delivered(error)

    async def first_to_answer(self) -> bool:
        return self._arbiters.first_to_answer(self._live.ledger.record)

    def join(self, by: Actor, may_write: bool, events: ParticipantEvents) -> Participant:
        return self._arbiters.of(self._live.ledger.record).join(by, may_write, events, self)

    def resize(self, cols: int, rows: int, by: Actor) -> None:
        self._check_storage()
        self._live.resize(cols, rows, by)

    def redraw(self) -> None:
        self._check_storage()
        self._live.redraw()

    def close(self) -> None:
        self._unwatch()
        self._delivered = None
        self._spool.close()
        if self._ended is not None:
            self._ended.close()

    def _tell(self, length: int, error: BasculeError | None) -> None:
        if self._delivered is not None:
            self._delivered(length, error)


def read_all(tape: Tape, start: int, stop: int) -> bytes:
    pieces: list[bytes] = []
    while start < stop and (piece := tape.read(start, stop - start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)
