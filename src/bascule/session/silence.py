"""Detects a hung agent: it works on a prompt, waits for nobody, and prints nothing."""

import asyncio
from collections.abc import Callable


class Silence:
    """Half the time without a byte, `ask` it something; the other half too, and it is `over`.

    An agent that only thinks for long answers and is left in peace. `watching` says whether silence means
    anything right now: while a person is asked or a tool runs it does not.
    """

    def __init__(
        self, seconds: float, watching: Callable[[], bool], ask: Callable[[], None], over: Callable[[], None]
    ) -> None:
        self._half = seconds / 2
        self._watching = watching
        self._ask = ask
        self._over = over
        self._asked = False
        self._timer: asyncio.TimerHandle | None = None

    def heard(self) -> None:
        """It said something: the clock starts again."""
        self.stop()
        self.look()

    def look(self) -> None:
        """Something changed: watch from here, or stop watching."""
        if self._half <= 0:
            return
        if not self._watching():
            self.stop()
        elif self._timer is None:
            self._set()

    def stop(self) -> None:
        self._asked = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._half, self._due)

    def _due(self) -> None:
        self._timer = None
        if not self._watching():
            self._asked = False
        elif self._asked:
            self._over()
        else:
            self._asked = True
            self._set()
            self._ask()
