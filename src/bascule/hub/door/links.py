"""One-time links: each lets one browser in as a lasting grant, within ten minutes, and only once."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from bascule.hub.door.buckets import Buckets
from bascule.model.errors import CallerError, LimitReached

LIFETIME = 600.0
REMEMBERED = 24 * 3600.0  # in which the holder of a link learns what became of it
MAX_LINKS = 64
WRONG_PER_MINUTE, WRONG_BURST = 10, 10

LinkRole = Literal["owner", "operator", "viewer"]


class LinkNotFound(CallerError):
    code = "LINK_NOT_FOUND"

    def __init__(self) -> None:
        super().__init__("There is no such link. Was all of it copied? For a new one: bascule pair")


class LinkUsed(CallerError):
    code = "LINK_USED"

    def __init__(self) -> None:
        super().__init__("This link was used already; it lets one browser in. For a new one: bascule pair")


class LinkExpired(CallerError):
    code = "LINK_EXPIRED"

    def __init__(self) -> None:
        super().__init__("This link is over: it was not used within 10 minutes. For a new one: bascule pair")


@dataclass
class Link:
    name: str  # whose browser it is for; empty: the browser names itself
    role: LinkRole
    by: str  # who made it
    ends: float
    used: bool = False


class Links:
    """In memory only, by the hash of the secret."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._wrong = Buckets(WRONG_PER_MINUTE, WRONG_BURST, steady)
        self._by_hash: dict[str, Link] = {}

    def make(self, name: str, role: LinkRole, by: str) -> str:
        """The secret of a new link."""
        now = self._steady()
        kept = {key: one for key, one in self._by_hash.items() if one.ends + REMEMBERED > now}
        self._by_hash = dict(list(kept.items())[-(MAX_LINKS - 1) :])
        secret = secrets.token_urlsafe(24)
        self._by_hash[_hashed(secret)] = Link(name, role, by, now + LIFETIME)
        return secret

    def take(self, secret: str, address: str) -> Link:
        """The link, used from now on. Raises what is wrong with it; `LimitReached` for many wrong ones."""
        link = self._by_hash.get(_hashed(secret))
        if link is not None and not link.used and self._steady() < link.ends:
            link.used = True
            return link
        if not self._wrong.of(address).take():
            raise LimitReached("Too many links that open nothing; wait a minute.", retry_after=60)
        if link is None:
            raise LinkNotFound
        raise LinkUsed if link.used else LinkExpired

    def give_back(self, link: Link) -> None:
        """Give a link back whose redemption failed."""
        link.used = False


def _hashed(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
