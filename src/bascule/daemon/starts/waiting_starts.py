"""Starts that wait for approval; how each ended is kept for some minutes."""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from bascule.model.commands import Envelope
from bascule.model.errors import LimitReached, StartNotWaiting
from bascule.model.starts import StartState, WaitingStart

MAX_WAITING = 20
SHOWN_SECONDS = 600.0  # after its end


@dataclass(eq=False)
class Held:
    """`token` opens it for who has the link; only its digest is kept. `scrubbed` is the start as it was when
    it was asked for, without secrets: for what leaves this machine."""

    view: WaitingStart
    scrubbed: WaitingStart
    envelope: Envelope[Any]
    token_sha256: str = ""
    over_at: float | None = None
    withdrawn: bool = False

    @property
    def waits(self) -> bool:
        return self.view.state == "waiting"


class WaitingStarts:
    """In memory: after a restart nothing waits, and the caller asks again."""

    def __init__(self, clock: Callable[[], float], changed: Callable[[], None]) -> None:
        self._clock, self._changed = clock, changed
        self._held: dict[str, Held] = {}

    def views(self) -> tuple[WaitingStart, ...]:
        return tuple(one.view for one in self._held.values())

    def waiting(self) -> list[Held]:
        return [one for one in self._held.values() if one.waits]

    def add(self, view: WaitingStart, scrubbed: WaitingStart, envelope: Envelope[Any]) -> tuple[Held, str]:
        """The start, and the token of its link."""
        if sum(map(self._takes_room, self._held.values())) >= MAX_WAITING:
            raise LimitReached(
                f"{MAX_WAITING} starts already wait for approval there, or were just withdrawn; "
                "answer those first, or try again in a few minutes."
            )
        token = secrets.token_urlsafe(32)
        held = self._held[view.id] = Held(view, scrubbed, envelope, _digest(token))
        self._changed()
        return held, token

    def _takes_room(self, held: Held) -> bool:
        """One that was withdrawn has reached its owner already: no more of those than of any others."""
        return held.waits or (held.withdrawn and held.view.expires_at > self._clock())

    def with_key(self, key: str | None) -> Held | None:
        """The one that came with this idempotency key."""
        return next((one for one in self._held.values() if key and one.envelope.key == key), None)

    def get(self, start_id: str) -> Held:
        """One that still waits. Raises when it does not."""
        return self._open(self._held.get(start_id))

    def by_token(self, token: str) -> Held:
        sha = _digest(token)
        found = (one for one in self._held.values() if secrets.compare_digest(one.token_sha256, sha))
        return self._open(next(found, None))

    def _open(self, held: Held | None) -> Held:
        self.look()
        if held is None:
            raise StartNotWaiting(
                "No such start waits here; it was answered long ago, or Bascule was restarted."
            )
        if not held.waits:
            raise StartNotWaiting(held.view.message or "This start was approved already.")
        return held

    def settle(self, held: Held, state: StartState, message: str) -> None:
        held.view = replace(held.view, state=state, message=message)
        held.over_at = None if state == "starting" else self._clock()
        self._changed()

    def withdraw(self, held: Held) -> None:
        held.withdrawn = True
        self.settle(held, "denied", "Withdrawn by who asked for it.")

    def note(self, held: Held, message: str) -> None:
        """For those who wait: no notice could be sent."""
        if held.waits:
            held.view = replace(held.view, message=message)
            self._changed()

    def started(self, held: Held) -> None:
        """The session is there, and says the rest."""
        self._held.pop(held.view.id, None)
        self._changed()

    def look(self) -> list[Held]:
        """Those whose time is over by now; what ended long ago is dropped."""
        now = self._clock()
        over = [one for one in self.waiting() if one.view.expires_at <= now]
        for one in over:
            self.settle(one, "expired", "Nobody approved this start in time.")
        old = [
            one
            for one in self._held.values()
            if one.over_at is not None and now - one.over_at > SHOWN_SECONDS
        ]
        for one in old:
            self.started(one)
        return over


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
