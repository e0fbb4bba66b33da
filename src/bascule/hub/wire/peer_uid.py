"""Finds the user at the other end of a loopback connection, from the kernel."""

import ipaddress
import socket
import struct

_DIAG = 4  # NETLINK_SOCK_DIAG
_BY_FAMILY = 20
_REQUEST = 1
_ALL_STATES = 0xFFFFFFFF
_NO_COOKIE = 0xFFFFFFFF
_HEAD = struct.Struct("=IHHII")
_ASKED = struct.Struct("=BBBBI")
_STATE_AT = _HEAD.size + 1
_UID_AT = _HEAD.size + 4 + 48 + 12  # and after it the inode
_LISTENING = 10
SECONDS = 0.05
GONE = -1  # the peer has closed its socket, and the kernel no longer says whose it was

Name = tuple[str, int]


def peer_uid(ours: Name, peer: Name) -> int | None:
    """The owner of the peer's socket; None when it is not on this machine, or the system does not say.

    One exact question, whatever the number of connections: reading /proc/net/tcp would cost more with
    each idle stranger, just when there are many.
    """
    try:
        near, far = ipaddress.ip_address(ours[0]), ipaddress.ip_address(peer[0])
    except ValueError:
        return None
    if not far.is_loopback or near.version != far.version or not hasattr(socket, "AF_NETLINK"):
        return None
    try:
        found = _asked((far, peer[1]), (near, ours[1]))
        if found is not None and found[1]:
            return found[0]
        # A kernel that knows our own end, or at least the listener, can answer: then the peer has gone.
        # What it says of a socket without an inode is worth nothing: it names root.
        return GONE if _asked((near, ours[1]), (far, peer[1]), listening=True) else None
    except OSError:
        return None


_End = tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]


def _asked(end: _End, other: _End, *, listening: bool = False) -> tuple[int, int] | None:
    """User and inode of the socket at this end of a connection; None when there is none."""
    family = socket.AF_INET if end[0].version == 4 else socket.AF_INET6
    identity = struct.pack("!HH", end[1], other[1])
    identity += end[0].packed.ljust(16, b"\0") + other[0].packed.ljust(16, b"\0")
    identity += struct.pack("=III", 0, _NO_COOKIE, _NO_COOKIE)
    asked = _ASKED.pack(family, socket.IPPROTO_TCP, 0, 0, _ALL_STATES) + identity
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _DIAG) as line:
        line.settimeout(SECONDS)
        line.send(_HEAD.pack(_HEAD.size + len(asked), _BY_FAMILY, _REQUEST, 1, 0) + asked)
        answer = line.recv(4096)
    if len(answer) < _UID_AT + 8 or _HEAD.unpack_from(answer)[1] != _BY_FAMILY:
        return None
    if answer[_STATE_AT] == _LISTENING and not listening:
        return None  # the kernel looks for a listener where there is no connection
    return struct.unpack_from("=II", answer, _UID_AT)
