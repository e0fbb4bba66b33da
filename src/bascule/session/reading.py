"""Reads an agent's output from the spool and turns it into committed events."""

import asyncio
from collections.abc import Callable

from bascule.drivers.base import Driver
from bascule.model.events import AnyEvent, StderrWritten
from bascule.session.agent import AgentProcess, Exit
from bascule.session.ledger import Ledger
from bascule.session.spool_pump import SpoolPump
from bascule.store.base import ResumePoint

CHUNK = 256 * 1024
TRIM_EVERY = 4 * 1024 * 1024  # bytes between two syncs that let the keeper forget
STATE_EVERY = 1024 * 1024  # bytes that are read again after a crash, at most
TELL_EVERY = 256 * 1024  # bytes between two notes of how far we are; the keeper waits only after far more
STDERR_KEPT = 256 * 1024  # bytes of stderr that become events; the rest is counted
STDERR_PIECE = 16 * 1024
TAIL_KEPT = 4096


def bring_up(driver: Driver, process: AgentProcess, point: ResumePoint) -> None:
    """Give a driver the output between its stored state and the end of the log once more.

    Nothing but reading happened in between (a step with anything else stores the state), so the driver says
    what the log holds already, and owes nobody anything. Less output may be there than was read: a power cut
    takes the end of a spool. Then the driver is as far as can be, and its process is gone.
    """
    at = point.state_offset
    while at < point.out_offset:
        chunk = process.read_out(at, min(CHUNK, point.out_offset - at))
        if not chunk:
            return
        driver.receive(chunk)
        driver.data_to_send()
        at += len(chunk)


class Reader:
    """Two streams of one agent: stdout for the driver, stderr for people.

    The next read waits for the last commit. While a commit is under way bytes gather in the spool, so a
    flood is read in large pieces and a trickle byte by byte, without any timer.
    """

    def __init__(
        self,
        ledger: Ledger,
        process: AgentProcess,
        driver: Driver,
        admit: Callable[[list[AnyEvent], int], "asyncio.Future[None]"],
        store_state: Callable[[bool], "asyncio.Future[None]"],
        point: ResumePoint,
    ) -> None:
        self._out = SpoolPump(process.read_out, CHUNK, point.out_offset)
        self._err = SpoolPump(process.read_err, CHUNK, point.err_offset)
        self.stderr_tail = ""
        self.shows_stderr: Callable[[], bool] = lambda: True
        self._ledger = ledger
        self._process = process
        self._driver = driver
        self._admit = admit
        self._store_state = store_state
        self._base = point.out_offset - driver.consumed
        self._committed = point.out_offset
        self._err_committed = point.err_offset
        self._stated = self._trimmed = point.state_offset
        self._notified = point.out_offset
        # Also what was left out before a restart.
        self._stderr_dropped = max(0, point.err_offset - STDERR_KEPT)

    @property
    def out(self) -> int:
        """The offset up to which stdout was read."""
        return self._out.offset

    @property
    def err(self) -> int:
        return self._err.offset

    def wake(self, err_end: int | None = None) -> None:
        """There is, or may be, something to read; on stderr only if it has grown, where that is known."""
        self._out.wake()
        if err_end is None or err_end > self.err:
            self._err.wake()

    def exited(self, exit: Exit) -> None:
        self._out.end_at(exit.out_end)
        self._err.end_at(exit.err_end)

    async def read_out(self) -> None:
        """Until the process is over and its last byte is read."""
        await self._out.run(self._take_out)

    async def read_err(self) -> None:
        await self._err.run(self._take_err)

    async def _take_out(self, chunk: bytes) -> None:
        events = self._driver.receive(chunk)
        reached = self._base + self._driver.consumed
        if events or self._driver.owes or reached - self._committed >= CHUNK:
            await self._admit(events, reached)
            self._committed = reached
        await self._tell_position()

    async def _tell_position(self) -> None:
        trim = self._committed - self._trimmed >= TRIM_EVERY
        if trim or self._committed - self._stated >= STATE_EVERY:
            # What the keeper forgets must be on disk here first, with a state that needs none of it.
            await self._store_state(trim)
            self._stated = self._committed
        if trim:
            self._trimmed = self._committed
        if self.out - self._notified >= TELL_EVERY:
            self._notified = self.out
            self._process.position(
                out=self.out, err=self.err, trim_out=self._trimmed, trim_err=self._err_committed
            )

    async def _take_err(self, chunk: bytes) -> None:
        text = chunk.decode(errors="replace")
        self.stderr_tail = (self.stderr_tail + text)[-TAIL_KEPT:]
        room = max(0, STDERR_KEPT - (self.err - len(chunk))) if self.shows_stderr() else 0
        kept, dropped = text[:room], len(chunk) - min(room, len(chunk))
        events: list[AnyEvent] = [
            StderrWritten(kept[n : n + STDERR_PIECE]) for n in range(0, len(kept), STDERR_PIECE)
        ]
        if not self.shows_stderr():
            dropped = 0
        if dropped and not self._stderr_dropped:
            events.append(StderrWritten("", dropped=dropped))
        self._stderr_dropped += dropped
        await self._ledger.log(events, err_offset=self.err)
        self._err_committed = self.err
        self._process.position(
            out=self.out, err=self.err, trim_out=self._trimmed, trim_err=self._err_committed
        )

    def dropped_stderr(self) -> list[AnyEvent]:
        """At the end: how much of stderr was left out, if any."""
        was_left_out = self._stderr_dropped and self.shows_stderr()
        return [StderrWritten("", dropped=self._stderr_dropped)] if was_left_out else []
