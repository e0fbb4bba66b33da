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
_UID_AT = _HEAD.size + 4 + 48 + 12
SECONDS = 0.05

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
    family = socket.AF_INET if far.version == 4 else socket.AF_INET6
    identity = (
        struct.pack("!HH", peer[1], ours[1]) + far.packed.ljust(16, b"\0") + near.packed.ljust(16, b"\0")
    )
    identity += struct.pack("=III", 0, _NO_COOKIE, _NO_COOKIE)
    asked = _ASKED.pack(family, socket.IPPROTO_TCP, 0, 0, _ALL_STATES) + identity
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _DIAG) as line:
            line.settimeout(SECONDS)
            line.send(_HEAD.pack(_HEAD.size + len(asked), _BY_FAMILY, _REQUEST, 1, 0) + asked)
            answer = line.recv(4096)
    except OSError:
        return None
    if len(answer) < _UID_AT + 4 or _HEAD.unpack_from(answer)[1] != _BY_FAMILY:
        return None
    return int(struct.unpack_from("=I", answer, _UID_AT)[0])
