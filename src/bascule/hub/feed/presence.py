"""Presence: tells a session's viewers who else is viewing or typing, at most every 0.5 s."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple, Protocol

from bascule.api.pushes import SessionViewers
from bascule.model.codec import encode

EVERY_SECONDS = 0.5  # at most one message for a session in this time
TYPING_SECONDS = 6.0  # without another report that a user still types
MAX_NAMES = 50
ELSEWHERE_SECONDS = 5.0  # that the word of another node counts


SendToOthers = Callable[[str, list[str], list[str]], None]


class Viewer(Protocol):
    """A socket that shows sessions."""

    def tell(self, message: bytes) -> None: ...


class _SessionViewers:
    def __init__(self) -> None:
        self.viewers: dict[Viewer, str] = {}
        self.typing: dict[str, float] = {}  # until when, by name
        self.timer: asyncio.TimerHandle | None = None
        self.due = 0.0  # when the timer fires; not every loop's handles can be asked
        self.sent = b""
        self.sent_at = float("-inf")
        self.elsewhere: dict[str, _Elsewhere] = {}  # by node
        self.said: _Here | None = None  # to other nodes, last

    def here(self) -> "_Here":
        return _Here(sorted(Counter(self.viewers.values()))[:MAX_NAMES], sorted(self.typing)[:MAX_NAMES])


class _Here(NamedTuple):
    """Who views and types at this node."""

    viewers: list[str]
    typing: list[str]


class _Elsewhere(NamedTuple):
    """Who views and types at another node of this hub."""

    viewers: tuple[str, ...]
    typing: tuple[str, ...]
    until: float


class SessionPresence:
    """`steady` is the clock its waits are measured by."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._rooms: dict[str, _SessionViewers] = {}
        self.send_to_others: SendToOthers | None = None  # None: this hub is one process

    def enter(self, session_id: str, viewer: Viewer, name: str) -> None:
        room = self._rooms.setdefault(session_id, _SessionViewers())
        room.viewers[viewer] = name
        room.sent = b""  # the newcomer has got nothing yet
        self._soon(session_id, room)

    def leave(self, session_id: str, viewer: Viewer) -> None:
        room = self._rooms.get(session_id)
        if room is None:
            return
        name = room.viewers.pop(viewer, None)
        if name is not None and name not in room.viewers.values():
            room.typing.pop(name, None)
        if room.viewers:
            self._soon(session_id, room)
        else:
            if room.timer is not None:
                room.timer.cancel()
            del self._rooms[session_id]
            if self.send_to_others is not None:
                self.send_to_others(session_id, [], [])

    def types(self, session_id: str, name: str, typing: bool) -> None:
        """Record that a viewer types, or has stopped typing."""
        room = self._rooms.get(session_id)
        if room is None:
            return
        if typing:
            room.typing[name] = self._steady() + TYPING_SECONDS
        else:
            room.typing.pop(name, None)
        self._soon(session_id, room)

    # Other nodes

    def elsewhere(
        self, node: str, session_id: str, viewers: tuple[str, ...], typing: tuple[str, ...]
    ) -> None:
        """What another node says of a session; it says so again every few seconds."""
        room = self._rooms.get(session_id)
        if room is not None:
            until = self._steady() + ELSEWHERE_SECONDS
            known = room.elsewhere.get(node)
            room.elsewhere[node] = said = _Elsewhere(viewers[:MAX_NAMES], typing[:MAX_NAMES], until)
            if known is None or known[:2] != said[:2]:
                self._soon(session_id, room)

    def forget_node(self, node: str) -> None:
        for session_id, room in self._rooms.items():
            if room.elsewhere.pop(node, None) is not None:
                self._soon(session_id, room)

    def say_again(self) -> None:
        """To the other nodes, of all sessions that a user views here; and drop what is no longer reported."""
        now = self._steady()
        for session_id, room in self._rooms.items():
            self._send_to_others(session_id, room.here())
            if any(one.until <= now for one in room.elsewhere.values()):
                self._soon(session_id, room)

    def _send_to_others(self, session_id: str, here: _Here) -> None:
        if self.send_to_others is not None:
            self.send_to_others(session_id, here.viewers, here.typing)

    def _soon(self, session_id: str, room: _SessionViewers) -> None:
        wait = max(0.0, room.sent_at + EVERY_SECONDS - self._steady())
        self._at(session_id, room, wait)

    def _at(self, session_id: str, room: _SessionViewers, wait: float) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + wait
        if room.timer is not None:
            if room.due <= due:
                return
            room.timer.cancel()
        room.due = due
        room.timer = loop.call_later(wait, self._tell, session_id, room)

    def _tell(self, session_id: str, room: _SessionViewers) -> None:
        room.timer = None
        now = self._steady()
        room.typing = {name: until for name, until in room.typing.items() if until > now}
        here = room.here()
        if here != room.said:  # another node's word, which brought us here, is no news for it
            room.said = here
            self._send_to_others(session_id, here)
        room.elsewhere = {node: one for node, one in room.elsewhere.items() if one.until > now}
        there = [name for one in room.elsewhere.values() for name in one.viewers]
        types = [name for one in room.elsewhere.values() for name in one.typing]
        names = sorted({*room.viewers.values(), *there})[:MAX_NAMES]
        typing = sorted({*room.typing, *types})[:MAX_NAMES]
        message = encode(SessionViewers(session_id=session_id, viewers=names, typing=typing))
        if message != room.sent:
            room.sent, room.sent_at = message, now
            for viewer in list(room.viewers):
                viewer.tell(message)
        if room.typing:  # a page that goes silent no longer counts as typing
            self._at(session_id, room, max(EVERY_SECONDS, min(room.typing.values()) - now + 0.01))
