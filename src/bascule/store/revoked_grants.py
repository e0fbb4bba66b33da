"""The list of revoked grants, in a file of its own: an older copy of the database lacks them.

The file is in the state folder, under a name that is not the database's, so that an older copy put in place
does not replace it. A line is added, and is on the disk, before a revocation is reported. `GrantBook`
looks here when it opens, and revokes again what the copy has as valid. Each node of a hub on PostgreSQL has a
file of its own, of what was revoked while it ran or stood in the database when it started.
"""

import logging
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from bascule.model.errors import StoreRefused

log = logging.getLogger(__name__)

FILE = "revoked-grants"
MAX_LINES = 10_000  # the oldest go first
MAX_LINE_BYTES = 200  # what is longer was not written here
NEVER = "-"


class RevokedGrant(NamedTuple):
    id: str
    at: float
    expires_at: float | None  # by itself; nobody needs the line after that


class RevokedGrants:
    """Called from any thread."""

    def __init__(self, folder: Path, now: float) -> None:
        """Raises `StoreRefused`: without this file nobody knows which links were taken back."""
        self.path = folder / FILE
        self._lock = threading.Lock()
        try:
            self._known, is_whole = _read(self.path)
            self._needed(now)
            if not is_whole:
                self._rewrite()
        except OSError as error:
            raise StoreRefused(
                f"{self.path} can't be read ({error.strerror}), so it is not known which links were revoked. "
                "Check its owner and mode. If you delete it, look through `bascule trust list` afterwards."
            ) from error

    def __contains__(self, grant_id: object) -> bool:
        return grant_id in self._known

    def add(self, revoked: Iterable[RevokedGrant]) -> None:
        """On the disk when this returns. A disk that refuses costs the line, never the revocation."""
        with self._lock:
            new = [one for one in revoked if one.id not in self._known]
            self._known.update({one.id: one for one in new})
            if not new:
                return
            try:
                if len(self._known) > MAX_LINES:
                    self._needed(max(one.at for one in new))
                    self._rewrite()
                else:
                    _append(self.path, b"".join(map(_line, new)))
            except OSError as error:
                log.warning("%s could not be written: %s", self.path, error.strerror)

    def _needed(self, now: float) -> None:
        """Drop those that have run out by themselves, and the oldest of too many."""
        lasting = [one for one in self._known.values() if one.expires_at is None or one.expires_at > now]
        self._known = {one.id: one for one in lasting[-MAX_LINES:]}

    def _rewrite(self) -> None:
        draft = self.path.with_name(f"{FILE}.new")
        draft.unlink(missing_ok=True)
        _append(draft, b"".join(map(_line, self._known.values())))
        draft.replace(self.path)
        _sync(self.path.parent)


def _line(one: RevokedGrant) -> bytes:
    expires = NEVER if one.expires_at is None else f"{one.expires_at:.3f}"
    words = f"{one.id} {one.at:.3f} {expires}"
    return f"{crc32(words.encode()):08x} {words}\n".encode()


def _append(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    is_new = not path.exists()
    descriptor = os.open(path, flags, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if is_new:
        _sync(path.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path) -> tuple[dict[str, RevokedGrant], bool]:
    """What it holds, and whether all of it could be read: a line that was cut off spoils the one after it."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}, True
    lines = data.split(b"\n")
    found = [_parsed(line) for line in lines[:-1]]
    known = {one.id: one for one in found if one is not None}
    return known, lines[-1] == b"" and None not in found and len(known) <= MAX_LINES


def _parsed(line: bytes) -> RevokedGrant | None:
    crc, _, words = line[:MAX_LINE_BYTES].partition(b" ")
    if f"{crc32(words):08x}".encode() != crc:
        return None
    grant_id, at, expires = words.decode().split(" ")
    return RevokedGrant(grant_id, float(at), None if expires == NEVER else float(expires))
