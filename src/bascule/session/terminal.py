"""Supervises one live terminal: its lifecycle, size and input. Viewers read its output from the tape."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress

from bascule.drivers.terminal import Signals, Tail, TerminalDriver
from bascule.model.commands import Actor
from bascule.model.errors import BasculeError, HostError, InvalidInput, SessionOver
from bascule.model.events import (
    AnyEvent,
    Bell,
    EndCancelled,
    EndReason,
    Note,
    SessionEnding,
    SessionFailed,
    SessionReady,
    TerminalResized,
    TitleChanged,
)
from bascule.model.lifecycle import Phase
from bascule.model.records import Write
from bascule.model.settings import TerminalSettings
from bascule.session.agent import Exit, SpawnPlan, TerminalProcess
from bascule.session.deadlines import Deadlines
from bascule.session.ending import OVER, ended, exit_words, spawn, stop, stop_after
from bascule.session.ledger import Ledger
from bascule.session.redrawing import Redraw
from bascule.session.retention import Retention
from bascule.session.spool_pump import SpoolPump
from bascule.session.time_limits import TimeLimits
from bascule.session.trust_prompt import Trusting
from bascule.store.base import AuditRecord, ResumePoint

CHUNK = 256 * 1024
COMMIT_EVERY = 4 * 1024 * 1024  # at most this many bytes are read again after a crash
POSITION_EVERY = 1024 * 1024
NEWS_SECONDS = 1.0  # at most one title and one bell become events in this time
CLIPBOARD_SECONDS = 60.0
AUDIT_SECONDS = 600.0  # one audit record per typist in this time, not one per key
MAX_KEYS = 1024 * 1024 + 1024  # a paste of 1 MiB, with the brackets around it
MAX_SIDE = 1000
CLIPBOARD = "The program tried to use the clipboard. That is off, so nothing was copied or read."


def clamped(side: int) -> int:
    return min(max(1, side), MAX_SIDE)


class TerminalSupervisor:
    def __init__(
        self,
        ledger: Ledger,
        process: TerminalProcess,
        driver: TerminalDriver,
        point: ResumePoint,
        settings: TerminalSettings,
        clock: Callable[[], float],
        steady: Callable[[], float],
        *,
        archive: Callable[[int, int], Awaitable[None]],
        trusts: Callable[[str], bool],
        base: int = 0,
    ) -> None:
        self.ledger = ledger
        self.driver = driver
        self.base = base  # bytes before this offset may be trimmed from the tape
        self.tape_end = point.out_offset
        self.over = False  # the program has ended and its tape is archived
        self._process = process
        self._settings = settings
        self._clock = clock
        self._steady = steady
        self._archive = archive  # keeps the bytes from one offset to another after the end
        self._committed = self._notified = point.out_offset
        self._out = SpoolPump(process.read_out, CHUNK, point.out_offset)
        self._retention = Retention(settings.tape_bytes, point.out_offset, steady)
        self._deadlines = Deadlines()
        self._redraw = Redraw(self._resize_by, self._deadlines, steady)
        self._time = TimeLimits(ledger, self._deadlines, clock, self._log, self._reach)
        self._trusting = Trusting(ledger, driver, trusts, self._press, self._deadlines)
        self._watchers: list[Callable[[], None]] = []
        self._exit: Exit | None = None
        self._silent = False
        self._title: str | None = None
        self._last: dict[str, float] = {}  # when each kind of event was last logged
        self._run_id = secrets.token_hex(4)
        self._writes = 0
        self._tasks: set[asyncio.Task[None]] = set()

    # Life

    async def run(self, plan: SpawnPlan | None) -> None:
        try:
            if plan is not None:
                failed = await spawn(self.ledger, self._process, plan)
                if failed is not None:
                    await self._end_with([failed], "failed to start")
                    return
            self._begin_waiting()
            await self._out.run(self._take)
            await self._finish()
        finally:
            self.over = True
            self._deadlines.cancel_all()
            for task in list(self._tasks):
                task.cancel()
            self._process.close()
            self._tell_watchers()

    def output(self, end: int | None = None, err_end: int | None = None) -> None:
        self.tape_end = max(self.tape_end, end or 0)
        self._tell_watchers()
        self._out.wake()

    def exited(self, exit: Exit) -> None:
        self._exit = exit
        self._out.end_at(exit.out_end)
        self.output(exit.out_end)

    def end(self, reason: EndReason, by: str) -> "asyncio.Future[None] | None":
        if self.ledger.record.phase in OVER:
            return None
        committed = self._log([SessionEnding(reason, by)], sync=True)
        self._deadlines.cancel_all()
        self._do(self._stop_after(committed), "end")
        return committed

    async def _stop_after(self, committed: "asyncio.Future[None]") -> None:
        await stop_after(committed, self.ledger, self._process)

    def _begin_waiting(self) -> None:
        limits = self._settings
        if self.ledger.record.phase is Phase.STARTING:
            self._deadlines.set("silent", limits.silent_seconds, self._was_silent)
        self._begin_clocks()

    def _begin_clocks(self) -> None:
        self._time.age(self._settings.session_seconds)
        self._time.idle(self._settings.idle_seconds)

    def _used(self) -> None:
        if self._settings.idle_seconds > 0:
            self._time.idle(self._settings.idle_seconds)

    def keep(self, by: str) -> "asyncio.Future[None]":
        """A person wants it to go on: both clocks start again."""
        committed = self._log([EndCancelled(by)], sync=True)
        self._begin_clocks()
        return committed

    def _reach(self, limit: EndReason) -> None:
        self.end(limit, "limit")

    def _was_silent(self) -> None:
        """Stop a program that hangs before its first output."""
        self._silent = True
        self._do(stop(self.ledger, self._process), "stop silent")

    async def _finish(self) -> None:
        exit = self._exit or Exit(None, None, 0, 0, lost=True)
        events: list[AnyEvent] = []
        try:
            await self._archive(
                max(self.base, self._out.offset - self._settings.tape_bytes), self._out.offset
            )
        except OSError as error:
            words = f"The screen of this terminal could not be kept: {error.strerror}."
            events.append(Note("tape_lost", words, "error"))
        events.append(ended(self.ledger.record, exit, self._failure(exit)))
        await self._end_with(events, self.ledger.record.end_reason or "exited")
        self.over = True
        await self._process.forget()

    def _failure(self, exit: Exit) -> SessionFailed | None:
        if self._silent:
            words = f"It wrote nothing for {self._settings.silent_seconds} s, so it was stopped."
            return SessionFailed("silent", words, code=exit.code, signal=exit.signal)
        if self.ledger.record.phase is not Phase.STARTING:
            return None
        words = f"The program stopped before it wrote anything ({exit_words(exit) or 'exit code 0'})."
        return SessionFailed("exited_early", words, code=exit.code, signal=exit.signal)

    async def _end_with(self, events: list[AnyEvent], detail: str) -> None:
        audit = AuditRecord("session_ended", "agent", self._id, detail=detail)
        await self._log(events, audit=[audit], sync=True)

    # Output

    async def _take(self, chunk: bytes) -> None:
        first = self.ledger.record.phase is Phase.STARTING
        self.tape_end = max(self.tape_end, self._out.offset)
        self._used()
        self._redraw.output()
        signals = self.driver.receive(chunk)
        events: list[AnyEvent] = [SessionReady()] if first else []
        if first:
            self._deadlines.cancel("silent")
        events += self._news(signals)
        if events:
            self._log(events)
        self._trusting.after(signals)
        if self._out.offset - self._notified >= POSITION_EVERY:
            await self._tell_position()
        # Let the viewers send this chunk before the next one is parsed.
        await asyncio.sleep(0)

    async def _tell_position(self) -> None:
        """Tell the keeper how far we have read (it pauses when too far ahead) and what it may trim."""
        forget = self._retention.forgettable(self._out.offset)
        if self._out.offset - self._committed >= COMMIT_EVERY or forget > self._committed:
            await self._log([], sync=True)
            self._committed = self._out.offset
        self.base = max(self.base, min(forget, self._committed))
        self._notified = self._out.offset
        self._process.position(out=self._out.offset, err=0, trim_out=self.base, trim_err=0)
        if self._out.offset - self.base > self._settings.tape_bytes:
            self._deadlines.set("trim", 30.0, lambda: self._do(self._tell_position(), "trim"))

    def _news(self, signals: Signals) -> list[AnyEvent]:
        events: list[AnyEvent] = []
        if signals.title is not None:
            self._title = signals.title
            events += self._due_title()
        if signals.bells and self._is_time("bell", NEWS_SECONDS):
            events.append(Bell())
        if signals.clipboard and self._is_time("clipboard", CLIPBOARD_SECONDS):
            events.append(Note("clipboard_refused", CLIPBOARD, "warning"))
        return events

    def _due_title(self) -> list[AnyEvent]:
        """Throttle: of all titles a program sets within a second, only the last becomes an event."""
        title, record = self._title, self.ledger.record
        if not title or record.titled or title == record.title:
            return []
        if not self._is_time("title", NEWS_SECONDS):
            self._deadlines.set("title", NEWS_SECONDS, self._tell_title)
            return []
        self._title = None
        return [TitleChanged(title)]

    def _tell_title(self) -> None:
        if events := self._due_title():
            self._log(events)

    def _is_time(self, news: str, pause: float) -> bool:
        now = self._steady()
        if now - self._last.get(news, -pause) < pause:
            return False
        self._last[news] = now
        return True

    # Input

    def type_keys(
        self, data: bytes, by: Actor, delivered: Callable[[BasculeError | None], None], *, reply: bool
    ) -> None:
        """Write to the program's input. Raises, or calls `delivered` once: see `TerminalProcess.post_write`.

        The keys are not logged, because they may be a password.
        """
        self._check_running()
        if len(data) > MAX_KEYS:
            raise InvalidInput("At most 1 MiB can be typed at once.")
        if not reply:
            self.driver.leave_question()
            self._used()
            if self._is_time(f"audit {by.grant_id}", AUDIT_SECONDS):
                self._log([], audit=[AuditRecord.of(by, "input", self._id, "types into the terminal")])
        self._process.post_write(self._write(data), delivered)

    def resize(self, cols: int, rows: int, by: Actor) -> None:
        self._check_running()
        cols, rows = clamped(cols), clamped(rows)
        record = self.ledger.record
        if (cols, rows) == (record.cols, record.rows):
            return
        self._process.post_resize(cols, rows)
        self._log([TerminalResized(cols, rows, by.name)])
        self.driver.resized(cols, rows)

    def redraw(self) -> None:
        """Have a full-screen program redraw."""
        if self.driver.full_screen and self.ledger.record.phase not in OVER:
            self._redraw.ask()

    def _resize_by(self, rows: int) -> None:
        cols, whole = self._size()
        with suppress(HostError):  # the keeper is away
            self._process.post_resize(cols, whole + rows if whole + rows > 0 else whole + 1)

    def _size(self) -> tuple[int, int]:
        record = self.ledger.record
        return record.cols or 80, record.rows or 24

    def tail(self, limit: int) -> Tail:
        return self.driver.tail(self._out.offset, self.base, limit)

    def watch(self, grew: Callable[[], None]) -> Callable[[], None]:
        """Call `grew` whenever the tape has more bytes or is over; call the returned function to stop."""
        self._watchers.append(grew)
        return lambda: self._watchers.remove(grew)

    def _tell_watchers(self) -> None:
        for grew in list(self._watchers):
            grew()

    def _check_running(self) -> None:
        if self.ledger.record.phase in OVER:
            raise SessionOver("This terminal has ended.")

    def _press(self, keys: bytes) -> None:
        try:
            self._process.post_write(self._write(keys), self._pressed)
        except HostError as error:
            self._pressed(error)

    def _pressed(self, error: BasculeError | None) -> None:
        if error is not None:  # it has ended meanwhile, and its exit says so
            self.ledger.log([Note("not_delivered", error.message, "warning")])

    def _write(self, data: bytes) -> Write:
        self._writes += 1
        return Write(f"keys:{self._run_id}:{self._writes}", data)

    def _log(
        self, events: list[AnyEvent], *, audit: list[AuditRecord] | None = None, sync: bool = False
    ) -> "asyncio.Future[None]":
        return self.ledger.log(
            events,
            out_offset=self._out.offset,
            driver_state=self.driver.state(),
            audit=audit or (),
            sync=sync,
        )

    def _do(self, work: "asyncio.Future[None] | Awaitable[None]", name: str) -> None:
        task = asyncio.ensure_future(_awaited(work))
        task.set_name(f"{name} {self._id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def _id(self) -> str:
        return self.ledger.record.session_id


async def _awaited(work: Awaitable[None]) -> None:
    await work
