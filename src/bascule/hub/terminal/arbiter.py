"""Arbiter of a terminal's viewers: decides whose window sets the size, and whose terminal answers queries."""

import logging
from collections.abc import Callable
from typing import Protocol

from bascule.hub.terminal.size_policy import SIZE_POLICIES, Size, SizePolicy
from bascule.link.tape import Tape
from bascule.model.commands import Actor
from bascule.model.errors import BasculeError
from bascule.model.settings import TerminalSettings

log = logging.getLogger("bascule.hub")

REDRAW_PAUSE = 0.5  # viewers who arrive within this time share one redraw
TYPING_PAUSE = 1.0  # between two messages to the other viewers that somebody types
SMALLEST = 1
LARGEST = 1000
MAX_REMEMBERED = 10_000


class Viewer(Protocol):
    """One viewer, as the arbiter sees it. A read-only viewer gets the size and never decides it."""

    @property
    def actor(self) -> Actor: ...
    @property
    def may_write(self) -> bool: ...
    @property
    def tape(self) -> Tape: ...

    def arranged(self, size: Size, *, owner: bool, by: str, replies: bool) -> None:
        """The terminal has this size. `owner`: this viewer's window decides it; `by`: whose does, or "".

        `replies`: this viewer's terminal answers the program's queries.
        """
        ...

    def elected(self) -> None:
        """From now on this viewer's terminal answers the program's queries."""
        ...

    def told_typing(self, name: str) -> None:
        """Another viewer types."""
        ...


class Arbiter:
    def __init__(
        self,
        session_id: str,
        size: Size,
        policy: SizePolicy,
        steady: Callable[[], float],
        empty: Callable[[], object],
    ) -> None:
        self.policy, self._empty = policy, empty
        self._session_id = session_id
        self._steady = steady
        self._typing_told = 0.0
        self._redrawn = -REDRAW_PAUSE
        self._viewers: list[Viewer] = []
        self._windows: dict[Viewer, Size] = {}
        self._claimed: Viewer | None = None
        self._typist: Viewer | None = None
        self._responder: Viewer | None = None
        self.size: Size = size  # of the terminal

    @property
    def responder(self) -> Viewer | None:
        return self._responder

    def enter(self, viewer: Viewer) -> None:
        self._viewers.append(viewer)
        self._arrange()

    def leave(self, viewer: Viewer) -> None:
        self._viewers.remove(viewer)
        self._windows.pop(viewer, None)
        if not self._viewers:
            self._empty()
        else:
            self._arrange()

    def resized(self, viewer: Viewer, cols: int, rows: int) -> None:
        self._windows[viewer] = _clamped(cols), _clamped(rows)
        self._arrange()

    def claim(self, viewer: Viewer) -> None:
        """This viewer's window and answers count, whatever the policy, until it leaves or another claims."""
        self._claimed = viewer
        self._arrange()

    def typed(self, viewer: Viewer) -> None:
        now, another = self._steady(), self._typist is not viewer
        if another or now - self._typing_told >= TYPING_PAUSE:
            self._typing_told = now
            for other in self._viewers:
                if other is not viewer:
                    other.told_typing(viewer.actor.name)
        if another:
            self._typist = viewer
            self._arrange()

    def redraw(self, viewer: Viewer) -> None:
        """Have a full-screen program redraw for a viewer who has just come, at most every 0.5 s."""
        now = self._steady()
        if now - self._redrawn >= REDRAW_PAUSE:
            self._redrawn = now
            self._try(viewer.tape.redraw)

    def _arrange(self) -> None:
        """Decide the size and the responder again, and tell every viewer."""
        owner = self._set_size()
        self._choose_responder()
        by = owner.actor.name if owner is not None else ""
        for viewer in list(self._viewers):
            viewer.arranged(self.size, owner=viewer is owner, by=by, replies=viewer is self._responder)

    def _set_size(self) -> Viewer | None:
        """Resize the terminal if need be. Returns the viewer whose window decides its size."""
        writers = [one for one in self._viewers if one.may_write]
        windows = {one: self._windows[one] for one in writers if one in self._windows}
        if not windows:
            return None
        if self._claimed is not None and self._claimed in windows:
            owner, size = self._claimed, windows[self._claimed]
        else:
            owner, size = self.policy.choose(windows, self._typist)
        if size != self.size and self._try(lambda: owner.tape.resize(*size, owner.actor)):
            self.size = size
        return owner

    def _choose_responder(self) -> None:
        """Keep the responder while it is there: a change in the middle of a query would answer it twice."""
        writers = [one for one in self._viewers if one.may_write]
        wanted = self._claimed if self._claimed in writers else self._responder
        if wanted not in writers:
            wanted = next(iter(writers), None)
        if wanted is not self._responder:
            self._responder = wanted
            if wanted is not None:
                wanted.elected()

    def _try(self, change: Callable[[], None]) -> bool:
        try:
            change()
        except BasculeError as error:  # it has ended, or its device is away; the viewers hear that elsewhere
            log.debug("terminal %s: %s", self._session_id, error.message)
            return False
        return True


class Arbiters:
    """One arbiter for each run of a terminal, as long as it has viewers."""

    def __init__(self, settings: TerminalSettings, steady: Callable[[], float]) -> None:
        self._settings, self._steady = settings, steady
        self._arbiters: dict[tuple[str, int], Arbiter] = {}
        self._answered: dict[tuple[str, int], None] = {}

    def first_to_answer(self, session_id: str, run: int) -> bool:
        """True once for each run: for the first viewer whose terminal may answer its program's queries."""
        key = (session_id, run)
        if key in self._answered:
            return False
        self._answered[key] = None
        if len(self._answered) > MAX_REMEMBERED:
            del self._answered[next(iter(self._answered))]
        return True

    def of(self, session_id: str, run: int, size: Size) -> Arbiter:
        key = (session_id, run)
        arbiter = self._arbiters.get(key)
        if arbiter is None:
            policy = SIZE_POLICIES[self._settings.size_owner]
            arbiter = self._arbiters[key] = Arbiter(
                session_id, size, policy, self._steady, lambda: self._arbiters.pop(key, None)
            )
        return arbiter


def _clamped(side: int) -> int:
    return min(max(SMALLEST, side), LARGEST)
