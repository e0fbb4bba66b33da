"""The keeper's folder: made private, locked by one keeper, with its socket."""

import fcntl
import hashlib
import json
import os
import socket
import stat
import struct

from bascule.keeper.layout import LOCK, SOCKET, SPOOL


class FolderError(Exception):
    """The folder cannot be used; the message says what to do."""


class AlreadyRunning(Exception):
    """Another keeper holds the lock."""


def prepare(path: str) -> str:
    """Make the folder if missing, refuse one that others could enter, and return its real path."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    path = os.path.realpath(path)
    facts = os.stat(path)
    if facts.st_uid != os.geteuid():
        raise FolderError(f"{path} belongs to uid {facts.st_uid}, not to you; choose another --dir")
    if stat.S_IMODE(facts.st_mode) & 0o077:
        raise FolderError(
            f"{path} is open to others (mode {stat.S_IMODE(facts.st_mode):o}); run chmod 700 on it"
        )
    if len(os.fsencode(os.path.join(path, SOCKET))) > 100:
        raise FolderError(f"{path} is too long for a unix socket; choose a shorter --dir")
    os.makedirs(os.path.join(path, SPOOL), mode=0o700, exist_ok=True)
    return path


def marker_of(path: str) -> str:
    """The value of BASCULE_KEEPER in the environment of this keeper's children."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:32]


def lock(path: str) -> int:
    """Take the lock for as long as this process lives; the kernel lets go of it however we end."""
    fd = os.open(os.path.join(path, LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(fd, 1024, 0).decode(errors="replace").strip()
        os.close(fd)
        raise AlreadyRunning(holder) from None
    return fd


def sign_lock(fd: int, pid: int, started: int, boot: str) -> None:
    line = json.dumps({"pid": pid, "started": started, "boot": boot}).encode() + b"\n"
    os.ftruncate(fd, 0)
    os.pwrite(fd, line, 0)


def listen(path: str) -> socket.socket:
    """Only the holder of the lock comes here, so a socket file that exists is a dead keeper's."""
    address = os.path.join(path, SOCKET)
    if os.path.lexists(address):
        os.unlink(address)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(address)
    os.chmod(address, 0o600)
    listener.listen(64)
    listener.setblocking(False)
    return listener


def peer_uid(connection: socket.socket) -> int:
    if hasattr(socket, "SO_PEERCRED"):
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return struct.unpack("3i", raw)[1]
    # The BSDs and macOS: struct xucred begins with a version and the uid (SOL_LOCAL 0, LOCAL_PEERCRED 1).
    return struct.unpack("Ii", connection.getsockopt(0, 1, 76)[:8])[1]
