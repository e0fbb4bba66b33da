"""Logs what happens again and again, by address, once a minute."""

import logging
from collections.abc import Callable

log = logging.getLogger("bascule.access")

REPORT_SECONDS = 60.0
MAX_ADDRESSES = 1024


class Tally:
    """How often something happened, by address: one line in the log for each, at most once a minute."""

    def __init__(self, what: str, steady: Callable[[], float]) -> None:
        self._what, self._steady = what, steady
        self._counts: dict[str, int] = {}
        self._reported = steady() - REPORT_SECONDS

    def add(self, address: str) -> None:
        if len(self._counts) < MAX_ADDRESSES or address in self._counts:
            self._counts[address] = self._counts.get(address, 0) + 1
        if self._steady() - self._reported < REPORT_SECONDS:
            return
        self._reported = self._steady()
        for one, count in self._counts.items():
            log.warning("%d %s from %s", count, self._what, one)
        self._counts = {}
