"""Who of a terminal's viewers decides its size, and whose terminal answers the program's questions."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from bascule.hub.switchboard import Switchboard
from bascule.model.commands import Actor, Redraw, Resize
from bascule.model.errors import BasculeError
from bascule.model.settings import TerminalSettings

log = logging.getLogger("bascule.hub")

Size = tuple[int, int]
REDRAW_PAUSE = 0.5
TYPING_PAUSE = 1.0  # between two words to the others that somebody types
SMALLEST = 1
LARGEST = 1000
MAX_REMEMBERED = 10_000


class Viewer(Protocol):
    """One viewer, as the arbiter sees it. A read-only one is told the size and decides nothing."""

    @property
    def actor(self) -> Actor: ...
    @property
    def may_write(self) -> bool: ...

    def arranged(self, size: Size, *, owner: bool, by: str, replies: bool) -> None:
        """The size is this now. Do you decide it, or who does (nobody: ""), and do you answer?"""
        ...

    def elected(self) -> None:
        """From now on this one answers."""
        ...

    def told_typing(self, name: str) -> None:
        """Somebody else types."""
        ...


class Arbiter:
    def __init__(
        self,
        session_id: str,
        device: str | None,
        size: Size,
        board: Switchboard,
        rule: str,
        steady: Callable[[], float],
        empty: Callable[[], object],
    ) -> None:
        self._session_id, self._device, self._board = session_id, device, board
        self.rule, self._empty = rule, empty
        self._steady = steady
        self._typing_told = 0.0
        self._viewers: list[Viewer] = []
        self._sizes: dict[Viewer, Size] = {}
        self._claimed: Viewer | None = None
        self._typed: Viewer | None = None
        self._responder: Viewer | None = None
        self.size: Size = size  # what the terminal has
        self._wanted: Size = size
        self._resizing: asyncio.Task[None] | None = None
        self._redrawing: asyncio.Task[None] | None = None

    @property
    def responder(self) -> Viewer | None:
        return self._responder

    def enter(self, viewer: Viewer) -> None:
        self._viewers.append(viewer)
        self._arrange()

    def leave(self, viewer: Viewer) -> None:
        self._viewers.remove(viewer)
        self._sizes.pop(viewer, None)
        if not self._viewers:
            self._empty()
        else:
            self._arrange()

    def resized(self, viewer: Viewer, cols: int, rows: int) -> None:
        self._sizes[viewer] = _clamped(cols), _clamped(rows)
        self._arrange()

    def claim(self, viewer: Viewer) -> None:
        """Whoever looks at it now decides, until they leave or another claims."""
        self._claimed = viewer
        self._arrange()

    def typed(self, viewer: Viewer) -> None:
        now, another = self._steady(), self._typed is not viewer
        if another or now - self._typing_told >= TYPING_PAUSE:
            self._typing_told = now
            for other in self._viewers:
                if other is not viewer:
                    other.told_typing(viewer.actor.name)
        if another:
            self._typed = viewer
            self._arrange()

    def redraw(self, viewer: Viewer) -> None:
        """Somebody has just come: full-screen programs draw again, once for all who come together."""
        if self._redrawing is None or self._redrawing.done():
            work = self._redraw(viewer.actor)
            self._redrawing = asyncio.create_task(work, name=f"redraw {self._session_id}")

    # Deciding

    def _arrange(self) -> None:
        writers = [one for one in self._viewers if one.may_write]
        sized = [one for one in writers if one in self._sizes]
        owner = self._choose_owner(sized)
        if owner is not None:
            self._wanted = self._size_by(owner, sized)
        self._choose_responder(writers)
        for viewer in self._viewers:
            by = owner.actor.name if owner is not None else ""
            viewer.arranged(self.size, owner=viewer is owner, by=by, replies=viewer is self._responder)
        busy = self._resizing is not None and not self._resizing.done()
        if owner is not None and self._wanted != self.size and not busy:
            work = self._resize(owner.actor)
            self._resizing = asyncio.create_task(work, name=f"resize {self._session_id}")

    def _choose_owner(self, sized: list[Viewer]) -> Viewer | None:
        if self._claimed in sized:
            return self._claimed
        if self.rule == "typing":
            return self._typed if self._typed in sized else next(iter(sized), None)
        return min(sized, key=lambda one: self._sizes[one][0] * self._sizes[one][1], default=None)

    def _size_by(self, owner: Viewer, sized: list[Viewer]) -> Size:
        if self.rule == "smallest" and owner is not self._claimed:
            cols, rows = zip(*(self._sizes[one] for one in sized), strict=True)
            return min(cols), min(rows)
        return self._sizes[owner]

    def _choose_responder(self, writers: list[Viewer]) -> None:
        """Stays with one viewer while it is there: a change in the middle of a question answers twice."""
        wanted = self._claimed if self._claimed in writers else self._responder
        if wanted not in writers:
            wanted = next(iter(writers), None)
        if wanted is not self._responder:
            self._responder = wanted
            if wanted is not None:
                wanted.elected()

    # Telling the device

    async def _resize(self, by: Actor) -> None:
        """One at a time; what changes meanwhile is asked for next, only the last of it."""
        while self._wanted != self.size:
            asked = self._wanted
            wish = Resize(session_id=self._session_id, by=by, cols=asked[0], rows=asked[1])
            if not await self._ask(wish):
                return
            self.size = asked
            self._arrange()

    async def _redraw(self, by: Actor) -> None:
        await self._ask(Redraw(session_id=self._session_id, by=by))
        await asyncio.sleep(REDRAW_PAUSE)

    async def _ask(self, wish: Resize | Redraw) -> bool:
        try:
            await self._board.ask(wish, device=self._device)
        except BasculeError as error:  # it has ended, or its device is away; the viewers hear that elsewhere
            log.debug("terminal %s: %s", self._session_id, error.message)
            return False
        return True


class Arbiters:
    """One arbiter a terminal, as long as somebody views it."""

    def __init__(self, board: Switchboard, settings: TerminalSettings, steady: Callable[[], float]) -> None:
        self._board, self._settings, self._steady = board, settings, steady
        self._arbiters: dict[tuple[str, int], Arbiter] = {}
        self._answered: dict[tuple[str, int], None] = {}

    def first_to_answer(self, session_id: str, run: int) -> bool:
        """True once for each run: to the first viewer whose terminal may answer its program."""
        key = (session_id, run)
        if key in self._answered:
            return False
        self._answered[key] = None
        if len(self._answered) > MAX_REMEMBERED:
            del self._answered[next(iter(self._answered))]
        return True

    def of(self, session_id: str, run: int, device: str | None, size: Size) -> Arbiter:
        key = (session_id, run)
        arbiter = self._arbiters.get(key)
        if arbiter is None:
            arbiter = self._arbiters[key] = Arbiter(
                session_id,
                device,
                size,
                self._board,
                self._settings.size_owner,
                self._steady,
                lambda: self._arbiters.pop(key, None),
            )
        return arbiter


def _clamped(side: int) -> int:
    return min(max(SMALLEST, side), LARGEST)
