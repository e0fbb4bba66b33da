"""Makes a full-screen program redraw for a new viewer, by taking a row from its terminal for a moment."""

from collections.abc import Callable

from bascule.session.deadlines import Deadlines

QUIET_SECONDS = 0.1  # without output before the size changes
BUSY_SECONDS = 2.0  # the longest wait for that
SEEN_SECONDS = 0.05  # from the program's first output for the smaller size to the old size
UNSEEN_SECONDS = 1.0  # the same, when it draws nothing


class Redraw:
    """Waits until the program is quiet, because a signal in the middle of a write may lose the rest of it:
    vim does not write again what the terminal did not take. The old size comes back once the program has
    drawn: one that sees both changes at once sees none.
    """

    def __init__(
        self, resize: Callable[[int], None], deadlines: Deadlines, steady: Callable[[], float]
    ) -> None:
        self._resize = resize  # by this many rows
        self._deadlines = deadlines
        self._steady = steady
        self._asked_at = 0.0
        self._written_at = float("-inf")
        self._is_small = self._is_seen = False

    def ask(self) -> None:
        """Viewers who come while one redraw is under way share it."""
        if not self._deadlines.is_set("redraw"):
            self._asked_at = self._steady()
            self._look()

    def output(self) -> None:
        """The program wrote something."""
        self._written_at = self._steady()
        if self._is_small and not self._is_seen:
            self._is_seen = True
            self._deadlines.set("redraw", SEEN_SECONDS, self._restore)

    def _look(self) -> None:
        now = self._steady()
        if now - self._written_at < QUIET_SECONDS and now - self._asked_at < BUSY_SECONDS:
            self._deadlines.set("redraw", QUIET_SECONDS, self._look)
            return
        self._resize(-1)
        self._is_small, self._is_seen = True, False
        self._deadlines.set("redraw", UNSEEN_SECONDS, self._restore)

    def _restore(self) -> None:
        self._is_small = False
        self._resize(0)
