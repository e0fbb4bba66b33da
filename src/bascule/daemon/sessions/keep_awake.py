"""Keeps this machine awake while a turn runs, by the system's own program for that."""

import asyncio
import contextlib
import logging
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence

from bascule.model.lifecycle import Phase
from bascule.model.records import SessionRecord
from bascule.session.live import LiveSession
from bascule.session.supervisor import Supervisor
from bascule.store.base import Committed

log = logging.getLogger(__name__)

LINGER_SECONDS = 10.0  # after the last turn: the next message often follows at once
STOP_SECONDS = 5.0
WHY = "An agent is working"


def awake_command(which: Callable[[str], str | None] = shutil.which) -> list[str]:
    """What holds the machine awake until its stdin ends, also when we die; empty where there is nothing."""
    if found := which("systemd-inhibit"):
        return [found, "--what=idle:sleep", "--who=Bascule", f"--why={WHY}", "--mode=block", "cat"]
    if sys.platform == "darwin" and (found := which("caffeinate")):
        return [found, "-i", "-s", "cat"]
    return []


class KeepAwake:
    """Hears every commit. Where the program is missing or fails once, nothing is held in this run."""

    def __init__(
        self,
        command: Sequence[str],
        live: Callable[[str], LiveSession | None],
        linger: float = LINGER_SECONDS,
    ) -> None:
        self._command, self._live, self._linger = command, live, linger
        self._turns: set[str] = set()  # sessions of this machine with a turn
        self._busy, self._idle = asyncio.Event(), asyncio.Event()
        self._holding: asyncio.Task[None] | None = None
        self._off = not command

    def open(self, records: Iterable[SessionRecord]) -> None:
        """Sessions that were taken up may be in the middle of a turn."""
        for record in records:
            self._look(record)

    def committed(self, committed: Committed) -> None:
        if committed.changed:
            self._look(committed.record)

    async def close(self) -> None:
        self._off = True
        if self._holding is not None:
            self._holding.cancel()
            await asyncio.gather(self._holding, return_exceptions=True)

    def _look(self, record: SessionRecord) -> None:
        """Terminals do not count: their programs run whether or not somebody wants something of them."""
        name = record.session_id
        runs = record.phase is Phase.RUNNING and isinstance(self._live(name), Supervisor)
        if self._off or runs == (name in self._turns):
            return
        (self._turns.add if runs else self._turns.discard)(name)
        if self._turns:
            self._busy.set()
            self._idle.clear()
            self._start()
        else:
            self._busy.clear()
            self._idle.set()

    def _start(self) -> None:
        if self._holding is None:
            self._holding = asyncio.create_task(self._hold(), name="keep awake")

    async def _hold(self) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C in our terminal is not meant for it
            )
        except OSError as error:
            self._give_up(str(error))
            return
        try:
            await self._until_idle(process)
        finally:
            await _end(process)
            self._holding = None
        if self._turns and not self._off:
            self._start()

    async def _until_idle(self, process: asyncio.subprocess.Process) -> None:
        ended = asyncio.create_task(process.wait(), name="keep awake: its program")
        try:
            while True:
                await _first(ended, self._idle)
                if not ended.done() and self._linger:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(self._linger):
                            await _first(ended, self._busy)
                if ended.done():
                    self._give_up(f"it ended with status {ended.result()}")
                    return
                if self._idle.is_set():
                    return
        finally:
            ended.cancel()

    def _give_up(self, why: str) -> None:
        self._off = True
        self._holding = None
        log.info("the machine is not kept awake while agents work: %s: %s", self._command[0], why)


async def _first(ended: "asyncio.Task[int]", event: asyncio.Event) -> None:
    waiting = asyncio.create_task(event.wait(), name="keep awake: turns")
    try:
        await asyncio.wait({ended, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
