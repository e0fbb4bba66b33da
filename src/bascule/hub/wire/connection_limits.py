"""Connection limits: a total, and one per address for connections that have shown no grant.

A newcomer may be the owner, whose token has not been read yet. So it is let in, and the connection
that has been silent for longest is closed: a stranger can fill the room, but not keep others out of it.
"""

import asyncio
import resource
import time
from collections.abc import Callable

from msgspec import Struct

from bascule.hub.wire.peer_uid import Name, peer_uid
from bascule.hub.wire.tally import Tally


class WireLimits(Struct, frozen=True):
    """What one connection may cost before and after it is known. Seconds and bytes."""

    header_bytes: int = 64 * 1024
    header_count: int = 100
    target_bytes: int = 8000
    header_seconds: float = 10
    first_byte_seconds: float = 1  # when there is little room left
    body_seconds: float = 60
    body_bytes: int = 16 * 1024 * 1024  # on the wire, chunk framing included
    keep_alive_seconds: int = 15
    message_bytes: int = 8 * 1024 * 1024
    fragments: int = 1024
    unsent_bytes: int = 1024 * 1024
    ping_seconds: float = 20
    pings_per_minute: float = 600  # from one peer
    behind_seconds: float = 60  # for one that fell behind to read what it was sent, and where to go on
    linger_seconds: float = 5  # for a peer that does not read our goodbye
    strangers_per_address: int = 256
    settle_seconds: float = 0.05  # before a stranger may be dropped: its first request is read by then
    connections: int = 4096


Strangers = dict[asyncio.Transport, float]  # since when, the longest silent first


class _Address:
    """The strangers of one address. On this machine, once there are many, by the user behind each."""

    def __init__(self) -> None:
        self.users: dict[int | None, Strangers] = {}
        self.trimming: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return sum(map(len, self.users.values()))

    def crowd(self) -> Strangers:
        """Of the user who has most: nobody is dropped for another's sake."""
        return max(self.users.values(), key=len)

    def forget(self, transport: asyncio.Transport, user: int | None) -> None:
        strangers = self.users[user]
        del strangers[transport]
        if not strangers:
            del self.users[user]


class ConnectionCounter:
    """The open connections. One that shows a valid grant no longer counts as a stranger's."""

    def __init__(self, limits: WireLimits, user_of: Callable[[Name, Name], int | None] = peer_uid) -> None:
        self.limits = limits
        self._user_of = user_of
        self.not_text = Tally("message(s) that are not UTF-8", time.monotonic)
        self._open: dict[asyncio.Transport, tuple[str, int | None] | None] = {}
        self._addresses: dict[str, _Address] = {}
        # Those who come in one burst are all let in and looked at a moment later, as far as files allow.
        most, files = limits.strangers_per_address, resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._burst = max(most, min(8 * most, files // 2))
        # The rest of the files is for the database, and for what agents say.
        self._most = min(limits.connections, files * 7 // 10)

    def __len__(self) -> int:
        return len(self._open)

    def enter(self, transport: asyncio.Transport, address: str) -> bool:
        """Count a new connection; False when there is no room, and no stranger who could make some."""
        if len(self._open) >= self._most and not self._make_room():
            return False
        strangers = self._addresses.setdefault(address, _Address())
        user = self._user(transport) if self.crowded(address) else None
        self._open[transport] = (address, user)
        strangers.users.setdefault(user, {})[transport] = asyncio.get_running_loop().time()
        if len(strangers) > self._burst:
            self._drop(strangers.crowd())
        elif len(strangers) > self.limits.strangers_per_address and strangers.trimming is None:
            self._trim_later(address)
        return True

    def crowded(self, address: str) -> bool:
        """Whether strangers use half of their address's limit."""
        strangers = self._addresses.get(address)
        return strangers is not None and len(strangers) >= self.limits.strangers_per_address // 2

    def heard(self, transport: asyncio.Transport) -> None:
        """It sent a whole request: the last to be dropped for being silent."""
        place = self._open.get(transport)
        if place is not None:
            strangers = self._addresses[place[0]].users[place[1]]
            strangers[transport] = strangers.pop(transport)

    def known(self, transport: asyncio.Transport) -> None:
        place = self._open.get(transport)
        if place is not None:
            self._open[transport] = None
            self._forget(transport, *place)

    def leave(self, transport: asyncio.Transport) -> None:
        place = self._open.pop(transport, None)
        if place is not None:
            self._forget(transport, *place)

    def _user(self, transport: asyncio.Transport) -> int | None:
        ours, peer = transport.get_extra_info("sockname"), transport.get_extra_info("peername")
        return self._user_of(ours[:2], peer[:2]) if ours and peer else None

    def _make_room(self) -> bool:
        """Drop a stranger of the address that has most of them."""
        if not self._addresses:
            return False
        self._drop(max(self._addresses.values(), key=len).crowd())
        return True

    def _drop(self, crowd: Strangers) -> None:
        transport = next(iter(crowd))
        self.leave(transport)
        transport.abort()

    def _trim_later(self, address: str) -> None:
        loop = asyncio.get_running_loop()
        strangers = self._addresses[address]
        strangers.trimming = loop.call_later(self.limits.settle_seconds, self._settle, address)

    def _settle(self, address: str) -> None:
        """Once more through the loop, which reads what came from all who are here now."""
        loop = asyncio.get_running_loop()
        self._addresses[address].trimming = loop.call_later(0.001, self._trim, address, loop.time())

    def _trim(self, address: str, late: float) -> None:
        """Drop the longest silent connections, but none whose first request could not be read yet."""
        strangers = self._addresses[address]
        strangers.trimming = None
        for _ in range(len(strangers) - self.limits.strangers_per_address):
            crowd = strangers.crowd()
            if next(iter(crowd.values())) > late:
                break
            self._drop(crowd)
        if address in self._addresses and len(strangers) > self.limits.strangers_per_address:
            self._trim_later(address)

    def _forget(self, transport: asyncio.Transport, address: str, user: int | None) -> None:
        strangers = self._addresses[address]
        strangers.forget(transport, user)
        if not strangers:
            if strangers.trimming is not None:
                strangers.trimming.cancel()
            del self._addresses[address]
