"""The browsers that this machine trusts, with their secrets, and the nonces that were taken.

No command of a hub reaches the list: `bascule trust` writes the file on this machine, and the daemon reads it
for every start.
"""

import secrets
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from bascule.daemon.private_file import write_private
from bascule.model.commands import ResumeSession, StartSession
from bascule.model.errors import InvalidInput, LimitReached
from bascule.policy.start_approval import Signed
from bascule.policy.start_signing import BASE32, CODE_LENGTH, WINDOW_SECONDS, key_id, problem_of

FILE = "trusted_browsers.json"
NONCES = "start_nonces.json"
TRUST_SECONDS = 30 * 24 * 3600.0
MAX_BROWSERS = 100
MAX_NAME = 100


class TrustedBrowser(Struct, frozen=True):
    """`code` is the secret that the browser signs with."""

    id: str
    name: str
    code: str
    created_at: float
    expires_at: float


class BrowserBook:
    def __init__(self, state_folder: Path) -> None:
        self._path = state_folder / FILE

    def all(self) -> list[TrustedBrowser]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=list[TrustedBrowser])
        except FileNotFoundError:
            return []

    def get(self, key: str) -> TrustedBrowser | None:
        return next((one for one in self.all() if one.id == key), None)

    def make(self, name: str, now: float, seconds: float = TRUST_SECONDS) -> TrustedBrowser:
        tidy = " ".join(name.split())
        if not 1 <= len(tidy) <= MAX_NAME or not tidy.isprintable():
            raise InvalidInput(f"A browser's name has 1 to {MAX_NAME} printable characters.")
        kept = [one for one in self.all() if one.expires_at > now]
        if len(kept) >= MAX_BROWSERS:
            raise LimitReached(
                f"{MAX_BROWSERS} browsers are trusted already; revoke some: bascule trust list"
            )
        code = "".join(secrets.choice(BASE32) for _ in range(CODE_LENGTH))
        made = TrustedBrowser(key_id(code), tidy, code, now, now + seconds)
        self._write([*kept, made])
        return made

    def revoke(self, key: str) -> None:
        self._write([one for one in self.all() if one.id != key])

    def _write(self, browsers: list[TrustedBrowser]) -> None:
        write_private(self._path, msgspec.json.encode(browsers))


class SignatureCheck:
    """Each signature counts once, also after a restart: a nonce is on the disk before its start happens."""

    def __init__(self, state_folder: Path, device: str, name: str, clock: Callable[[], float]) -> None:
        self._book = BrowserBook(state_folder)
        self._nonces = state_folder / NONCES
        self._device, self._name, self._clock = device, name, clock

    def check(self, command: StartSession | ResumeSession) -> Signed:
        signature = command.signature
        if signature is None:
            return Signed()
        browser, now = self._book.get(signature.key), self._clock()
        if browser is None:
            return Signed(problem=f"{self._name} does not trust this browser any more. {AGAIN}")
        if browser.expires_at <= now:
            days = round((browser.expires_at - browser.created_at) / 86400)
            spell = "1 day, which is over" if days == 1 else f"{days} days, which are over"
            return Signed(problem=f"{self._name} trusted this browser for {spell}. {AGAIN}")
        used = self._used(now)
        problem = problem_of(browser.code, self._device, command, now, used)
        if problem:
            return Signed(problem=problem)
        # Once the time of a signature is out of the window it is refused by that, so its nonce may go.
        used[signature.nonce] = signature.at / 1000 + WINDOW_SECONDS
        write_private(self._nonces, msgspec.json.encode(used))
        return Signed(browser.name)

    def _used(self, now: float) -> dict[str, float]:
        try:
            kept = msgspec.json.decode(self._nonces.read_bytes(), type=dict[str, float])
        except FileNotFoundError:
            return {}
        return {nonce: until for nonce, until in kept.items() if until >= now}


AGAIN = "Make a new code there: bascule trust generate --browser NAME"
