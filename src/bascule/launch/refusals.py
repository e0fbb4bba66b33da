"""Logs what the bridge refuses, at most so many lines a minute: any page can ask, none can fill a disk."""

import logging
from collections.abc import Callable

from bascule.launch.errors import LaunchError
from bascule.policy.token_bucket import TokenBucket
from bascule.policy.visible import visible

log = logging.getLogger("bascule.launch")

PER_MINUTE = 60
MAX_ORIGIN = 200


class RefusalLog:
    """Errors only, and never a word of a prompt."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._bucket = TokenBucket(PER_MINUTE, PER_MINUTE, steady)
        self._unlogged = 0

    def add(self, error: LaunchError, origin: str) -> None:
        if not self._bucket.take():
            self._unlogged += 1
            return
        if self._unlogged:
            log.error("%s: %d more requests were refused and not logged", error.error, self._unlogged)
            self._unlogged = 0
        log.error("%s: %s (origin: %s)", error.error, error.message, visible(origin[:MAX_ORIGIN]))
