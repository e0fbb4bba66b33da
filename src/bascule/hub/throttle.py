"""Slows down whoever shows wrong tokens, and says so in the log once a minute instead of each time."""

import logging
from collections.abc import Callable

from bascule.hub.buckets import Buckets

log = logging.getLogger("bascule.access")

PER_MINUTE = 30
BURST = 20
REPORT_SECONDS = 60.0


class Throttle:
    """Counts wrong tokens by address. A right token is never held up: it is looked at first."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._buckets = Buckets(PER_MINUTE, BURST, steady)
        self._wrong: dict[str, int] = {}
        self._reported = steady() - REPORT_SECONDS

    def wrong(self, address: str) -> bool:
        """Note a wrong token. True: it may still be answered as one; False: too many, say so."""
        if len(self._wrong) < 1024 or address in self._wrong:
            self._wrong[address] = self._wrong.get(address, 0) + 1
        self._report()
        return self._buckets.of(address).take()

    def _report(self) -> None:
        if self._steady() - self._reported < REPORT_SECONDS:
            return
        self._reported = self._steady()
        for address, count in self._wrong.items():
            log.warning("%d request(s) with a wrong token from %s", count, address)
        self._wrong = {}
