"""Machines that ask to join: each waits, under a short code, until the owner allows or denies it."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from bascule.api.bodies import PairingBody
from bascule.hub.door.buckets import Buckets
from bascule.model.errors import CallerError, LimitReached

LIFETIME = 600.0
MAX_PAIRINGS = 32
MAX_PER_ADDRESS = 4
PER_MINUTE, BURST = 6, 6
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # no vowels: no words; nothing that looks like a digit


class PairingNotFound(CallerError):
    code = "PAIRING_NOT_FOUND"

    def __init__(self) -> None:
        super().__init__(
            "This request to join is over: it was answered, or 10 minutes have passed. Ask again."
        )


@dataclass
class Pairing:
    id: str
    code: str
    asked: PairingBody
    address: str
    ends: float
    state: Literal["waiting", "allowed", "denied"] = "waiting"
    by: str = ""  # who decided
    replaces: str = ""  # the device that this machine was before
    decided: asyncio.Event = field(default_factory=asyncio.Event)


class Pairings:
    """In memory only. `changed` is called whenever the list of those who wait is another."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._rate = Buckets(PER_MINUTE, BURST, steady)
        self._by_hash: dict[str, Pairing] = {}
        self.changed: Callable[[], None] = lambda: None

    def ask(self, asked: PairingBody, address: str) -> tuple[Pairing, str]:
        """A request to join, and the secret by which the machine hears what became of it."""
        self._sweep()
        if not self._rate.of(address).take():
            raise LimitReached("Too many requests to join from this address; wait a minute.", retry_after=60)
        # A machine that asks again has given up its earlier request.
        self._by_hash = {key: one for key, one in self._by_hash.items() if one.asked.device != asked.device}
        near = [one for one in self._by_hash.values() if one.address == address]
        if len(self._by_hash) >= MAX_PAIRINGS or len(near) >= MAX_PER_ADDRESS:
            raise LimitReached("Too many machines wait to join; answer or deny those first.", retry_after=60)
        secret = secrets.token_urlsafe(32)
        ends = self._steady() + LIFETIME
        pairing = Pairing(secrets.token_hex(8), _code(), asked, address, ends)
        self._by_hash[_hashed(secret)] = pairing
        self.changed()
        return pairing, secret

    def waiting(self) -> list[Pairing]:
        self._sweep()
        return [one for one in self._by_hash.values() if one.state == "waiting"]

    def left(self, pairing: Pairing) -> float:
        """The seconds until it is over."""
        return max(0.0, pairing.ends - self._steady())

    def answer(self, pairing_id: str, code: str, *, allow: bool, by: str, replaces: str = "") -> Pairing:
        """Raises `PairingNotFound`, also when the code is another than that request's."""
        for pairing in self.waiting():
            if pairing.id == pairing_id and pairing.code == code:
                pairing.state, pairing.by = "allowed" if allow else "denied", by
                pairing.replaces = replaces
                pairing.decided.set()
                self.changed()
                return pairing
        raise PairingNotFound

    async def outcome(self, secret: str, wait: float) -> Pairing:
        """What became of a request, after a while at most; a decision is given once."""
        self._sweep()
        pairing = self._by_hash.get(_hashed(secret))
        if pairing is None:
            raise PairingNotFound
        if pairing.state == "waiting" and wait:
            try:
                async with asyncio.timeout(min(wait, self.left(pairing))):
                    await pairing.decided.wait()
            except TimeoutError:
                return pairing
        if pairing.state != "waiting" and self._by_hash.pop(_hashed(secret), None) is None:
            raise PairingNotFound  # two asked at once, and the other one has it
        return pairing

    def _sweep(self) -> None:
        now, before = self._steady(), len(self._by_hash)
        self._by_hash = {key: one for key, one in self._by_hash.items() if one.ends > now}
        if len(self._by_hash) != before:
            self.changed()


def _code() -> str:
    letters = "".join(secrets.choice(LETTERS) for _ in range(8))
    return f"{letters[:4]}-{letters[4:]}"


def _hashed(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
