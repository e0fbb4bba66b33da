"""Reports read positions to the keeper, coalesced to one request in flight per session."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from bascule.keeper.frames import Message


@dataclass(frozen=True)
class Position:
    """Read up to `out` and `err`; durably committed up to `trim_out` and `trim_err`."""

    out: int
    err: int
    trim_out: int
    trim_err: int


class PositionPost:
    def __init__(self, send: Callable[[Message], asyncio.Future[Message]]) -> None:
        self._send = send
        self._in_flight: set[str] = set()
        self._next: dict[str, tuple[Position, asyncio.Future[None]]] = {}

    def post(self, session: str, position: Position) -> asyncio.Future[None]:
        """The newest position wins; all who posted since the last request share its answer."""
        _, reported = self._next.get(session, (None, None))
        if reported is None:
            reported = asyncio.get_running_loop().create_future()
            # Posting without waiting is the usual way: a failure then shows on the next request anyway.
            reported.add_done_callback(_look)
        self._next[session] = (position, reported)
        if session not in self._in_flight:
            self._dispatch(session)
        return reported

    def _dispatch(self, session: str) -> None:
        position, reported = self._next.pop(session)
        self._in_flight.add(session)
        reply = self._send(
            {
                "op": "position",
                "session": session,
                "out": position.out,
                "err": position.err,
                "trim_out": position.trim_out,
                "trim_err": position.trim_err,
            }
        )
        reply.add_done_callback(lambda reply: self._answered(session, reply, reported))

    def _answered(self, session: str, reply: asyncio.Future[Message], reported: asyncio.Future[None]) -> None:
        self._in_flight.discard(session)
        failure = None if reply.cancelled() else reply.exception()
        if not reported.done():
            if failure is None:
                reported.set_result(None)
            else:
                reported.set_exception(failure)
        if session in self._next:
            self._dispatch(session)


def _look(reported: asyncio.Future[None]) -> None:
    if not reported.cancelled():
        reported.exception()
