"""Past and live as one stream, for any number of followers, each at its own pace."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from bascule.store.base import Committed, Row

MAX_LIVE_ROWS = 4096
MAX_LIVE_BYTES = 1024 * 1024

ReadSome = Callable[[str, int], Awaitable[tuple[list[Row], bool]]]


class _Tap:
    """The newest rows of a session for one follower. When it holds too many, it holds none: read the log."""

    def __init__(self) -> None:
        self.behind = True
        self.closed = False
        self._rows: list[Row] = []
        self._size = 0
        self._something = asyncio.Event()

    def collect(self) -> None:
        self.behind = False
        self._rows, self._size = [], 0

    def offer(self, rows: list[Row]) -> None:
        if not self.behind:
            self._rows += rows
            self._size += sum(len(row.body) for row in rows)
            if len(self._rows) > MAX_LIVE_ROWS or self._size > MAX_LIVE_BYTES:
                self.collect()
                self.behind = True
        self._something.set()

    def close(self) -> None:
        self.closed = True
        self._something.set()

    async def take(self) -> list[Row]:
        """What came in; empty when the log must be read or the store closes."""
        while not self._rows and not self.behind and not self.closed:
            self._something.clear()
            await self._something.wait()
        rows, self._rows, self._size = self._rows, [], 0
        return rows


class Followers:
    """Hands each commit to those who follow its session."""

    def __init__(self, read_some: ReadSome) -> None:
        self._read_some = read_some
        self._taps: dict[str, set[_Tap]] = {}
        self._closed = False

    def committed(self, commit: Committed) -> None:
        for tap in self._taps.get(commit.record.session_id, ()):
            tap.offer(commit.rows)

    def close(self) -> None:
        self._closed = True
        for taps in self._taps.values():
            for tap in taps:
                tap.close()

    async def follow(self, session_id: str, after: int) -> AsyncGenerator[list[Row], None]:
        tap = self._join(session_id)
        position = max(after, 0)
        try:
            while not tap.closed:
                if tap.behind:
                    tap.collect()  # first, so that nothing falls between the past and what comes
                    more = True
                    while more and not tap.closed:
                        rows, more = await self._read_some(session_id, position)
                        if rows:
                            position = rows[-1].seq
                            yield rows
                rows = await tap.take()
                fresh = (
                    rows if rows and rows[0].seq > position else [row for row in rows if row.seq > position]
                )
                if fresh and fresh[0].seq != position + 1:
                    tap.behind = True
                elif fresh:
                    position = fresh[-1].seq
                    yield fresh
        finally:
            self._leave(session_id, tap)

    def _join(self, session_id: str) -> _Tap:
        tap = _Tap()
        self._taps.setdefault(session_id, set()).add(tap)
        if self._closed:
            tap.close()
        return tap

    def _leave(self, session_id: str, tap: _Tap) -> None:
        taps = self._taps[session_id]
        taps.discard(tap)
        if not taps:
            del self._taps[session_id]
