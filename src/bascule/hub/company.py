"""Who looks at a session and who types in it, told to those who look; often enough, and no oftener."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from bascule.model.codec import encode

EVERY_SECONDS = 0.5  # at most one message for a session in this time
TYPING_SECONDS = 6.0  # without another word that somebody still types
MOST_NAMES = 50


class Onlooker(Protocol):
    """A socket that watches sessions."""

    def tell(self, message: bytes) -> None: ...


class _Room:
    def __init__(self) -> None:
        self.onlookers: dict[Onlooker, str] = {}
        self.typing: dict[str, float] = {}  # until when, by name
        self.timer: asyncio.TimerHandle | None = None
        self.due = 0.0  # when the timer fires; not every loop's handles can be asked
        self.told = b""
        self.told_at = float("-inf")


class Company:
    """`steady` is the clock its waits are measured by."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._rooms: dict[str, _Room] = {}

    def enter(self, session_id: str, onlooker: Onlooker, name: str) -> None:
        room = self._rooms.setdefault(session_id, _Room())
        room.onlookers[onlooker] = name
        room.told = b""  # the newcomer has been told nothing
        self._soon(session_id, room)

    def leave(self, session_id: str, onlooker: Onlooker) -> None:
        room = self._rooms.get(session_id)
        if room is None:
            return
        name = room.onlookers.pop(onlooker, None)
        if name is not None and name not in room.onlookers.values():
            room.typing.pop(name, None)
        if room.onlookers:
            self._soon(session_id, room)
        else:
            if room.timer is not None:
                room.timer.cancel()
            del self._rooms[session_id]

    def types(self, session_id: str, name: str, typing: bool) -> None:
        """Somebody types, or has stopped. Nobody needs to know when nobody looks."""
        room = self._rooms.get(session_id)
        if room is None:
            return
        if typing:
            room.typing[name] = self._steady() + TYPING_SECONDS
        else:
            room.typing.pop(name, None)
        self._soon(session_id, room)

    def _soon(self, session_id: str, room: _Room) -> None:
        wait = max(0.0, room.told_at + EVERY_SECONDS - self._steady())
        self._at(session_id, room, wait)

    def _at(self, session_id: str, room: _Room, wait: float) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + wait
        if room.timer is not None:
            if room.due <= due:
                return
            room.timer.cancel()
        room.due = due
        room.timer = loop.call_later(wait, self._tell, session_id, room)

    def _tell(self, session_id: str, room: _Room) -> None:
        room.timer = None
        now = self._steady()
        room.typing = {name: until for name, until in room.typing.items() if until > now}
        viewers = sorted(Counter(room.onlookers.values()))[:MOST_NAMES]
        typing = sorted(room.typing)[:MOST_NAMES]
        message = encode(
            {"type": "session:presence", "sessionId": session_id, "viewers": viewers, "typing": typing}
        )
        if message != room.told:
            room.told, room.told_at = message, now
            for onlooker in list(room.onlookers):
                onlooker.tell(message)
        if room.typing:  # somebody who goes silent stops typing by that
            self._at(session_id, room, max(EVERY_SECONDS, min(room.typing.values()) - now + 0.01))
