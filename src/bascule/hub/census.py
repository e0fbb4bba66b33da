"""Counts connections: so many in all, and only so many from one address that have shown no grant."""

import asyncio
from collections import Counter

from msgspec import Struct


class WireLimits(Struct, frozen=True):
    """What one connection may cost before and after it is known. Seconds and bytes."""

    header_bytes: int = 64 * 1024
    header_count: int = 100
    target_bytes: int = 8000
    header_seconds: float = 10
    body_seconds: float = 60
    body_bytes: int = 16 * 1024 * 1024  # on the wire, chunk framing included
    keep_alive_seconds: int = 15
    message_bytes: int = 8 * 1024 * 1024
    fragments: int = 1024
    unsent_bytes: int = 1024 * 1024
    ping_seconds: float = 20
    linger_seconds: float = 5  # for a peer that does not read our goodbye
    strangers_per_address: int = 256
    connections: int = 4096


class Census:
    """Who is connected. A connection that shows a valid grant stops counting as a stranger."""

    def __init__(self, limits: WireLimits) -> None:
        self.limits = limits
        self._open: dict[asyncio.BaseTransport, str | None] = {}
        self._strangers: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def enter(self, transport: asyncio.BaseTransport, address: str) -> bool:
        """Count a new connection; False when there is no room for it."""
        if len(self._open) >= self.limits.connections:
            return False
        if self._strangers[address] >= self.limits.strangers_per_address:
            return False
        self._open[transport] = address
        self._strangers[address] += 1
        return True

    def known(self, transport: asyncio.BaseTransport) -> None:
        address = self._open.get(transport)
        if address is not None:
            self._open[transport] = None
            self._forget(address)

    def leave(self, transport: asyncio.BaseTransport) -> None:
        address = self._open.pop(transport, None)
        if address is not None:
            self._forget(address)

    def _forget(self, address: str) -> None:
        self._strangers[address] -= 1
        if self._strangers[address] <= 0:
            del self._strangers[address]
