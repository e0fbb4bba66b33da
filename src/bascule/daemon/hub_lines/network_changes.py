"""Notices that this machine woke up, or that its network changed: what was connected may lead nowhere now."""

import asyncio
from collections.abc import Callable
from pathlib import Path

WAKE_SECONDS = 10.0  # a sleep that took so much longer was the machine's own
LOOK_SECONDS = 1.0
ROUTES = Path("/proc/net/route")
ADDRESSES = Path("/proc/net/fib_trie")
IPV6_ROUTES = Path("/proc/net/ipv6_route")
COUNTERS = slice(6, 8)  # columns of it that count uses, and change with them

Routes = tuple[bytes, ...]


def routes(system: Callable[[Path], bytes] = Path.read_bytes) -> Routes:
    """Where packets go, and this machine's addresses. Only Linux says it here, and there may be no IPv6."""
    found: list[bytes] = []
    for path in (ROUTES, ADDRESSES, IPV6_ROUTES):
        try:
            text = system(path)
        except OSError:
            continue
        found.append(_without_counters(text) if path is IPV6_ROUTES else text)
    return tuple(found)


def _without_counters(text: bytes) -> bytes:
    lines = [line.split() for line in text.splitlines()]
    for words in lines:
        del words[COUNTERS]
    return b"\n".join(b" ".join(words) for words in lines)


class NetworkChanges:
    """`steady` goes on while the machine sleeps. The routes are compared with those of the last look."""

    def __init__(self, steady: Callable[[], float], routes: Callable[[], Routes] = routes) -> None:
        self._steady = steady
        self._routes = routes
        self._last = routes()

    async def within(self, seconds: float) -> bool:
        """Wait so long, or until the machine woke up or its network changed: then it is true at once."""
        ends = self._steady() + seconds
        while (left := ends - self._steady()) > 0:
            slept, began = min(left, LOOK_SECONDS), self._steady()
            await asyncio.sleep(slept)
            woke = self._steady() - began > slept + WAKE_SECONDS
            last, self._last = self._last, self._routes()
            if woke or self._last != last:
                return True
        return False
