"""Landlock: what the kernel lets a process and all its descendants read, write, run and connect to.

Linux only, by system call: there is no wrapper in the C library. A rule set can't be taken off again.
"""

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable, Sequence

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_VERSION = 1
_PATH, _PORT = 1, 2

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_MAKE_SOCK, _MAKE_FIFO, _MAKE_SYM = 1 << 9, 1 << 10, 1 << 12
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_ALL_OF_1 = (1 << 13) - 1  # devices can be made by nobody in a cage, so no rule names those rights
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_BIND, _CONNECT = 1 << 0, 1 << 1
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1

RIGHTS = {
    "r": _READ_FILE | _READ_DIR,
    "w": _WRITE_FILE
    | _TRUNCATE
    | _REMOVE_DIR
    | _REMOVE_FILE
    | _MAKE_DIR
    | _MAKE_REG
    | _MAKE_SOCK
    | _MAKE_FIFO
    | _MAKE_SYM
    | _REFER,
    "x": _EXECUTE,
    "i": _IOCTL,
}
LEAST = 3  # before it, truncate(2) was not covered: a file outside could be emptied
PORTS = 4  # the first that knows TCP ports

_libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The kernel's version of it; 0 where there is none."""
    return 0 if sys.platform != "linux" else max(0, _libc.syscall(_CREATE, None, 0, _VERSION))


def restrict(rules: Iterable[tuple[str, bytes]], ports: Sequence[int] | None) -> None:
    """From here on this process may do only what the rules name: letters of `RIGHTS`, and a path.

    A path that does not exist gets no rule. `ports`: it listens on no TCP port and connects to these only;
    None leaves TCP as it is. Needs `no_new_privs`. Raises OSError.
    """
    version = abi()
    filesystem = _filesystem_rights(version)
    network = 0 if ports is None else _BIND | _CONNECT
    ruleset = _create(version, filesystem, network)
    for letters, path in rules:
        _add_path(ruleset, letters, path, filesystem)
    for port in ports or ():
        _call(_ADD_RULE, ruleset, _PORT, struct.pack("=QQ", _CONNECT, port), 0)
    _call(_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _filesystem_rights(version: int) -> int:
    rights = _ALL_OF_1
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL)):
        rights |= right if version >= since else 0
    return rights


def _create(version: int, filesystem: int, network: int) -> int:
    """Also cut off where the kernel can: abstract sockets of, and signals to, processes outside."""
    scoped = _ABSTRACT_SOCKETS | _SIGNALS
    if version >= 6:
        attributes = struct.pack("=QQQ", filesystem, network, scoped)
    elif version >= PORTS:
        attributes = struct.pack("=QQ", filesystem, network)
    else:
        attributes = struct.pack("=Q", filesystem)
    return _call(_CREATE, attributes, len(attributes), 0)


def _add_path(ruleset: int, letters: str, path: bytes, handled: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    allowed = 0
    for letter in letters:
        allowed |= RIGHTS[letter]
    if not stat.S_ISDIR(os.fstat(fd).st_mode):
        allowed &= _ON_FILES
    _call(_ADD_RULE, ruleset, _PATH, struct.pack("=Qi", allowed & handled, fd), 0)
    os.close(fd)


def _call(number: int, *arguments: int | bytes) -> int:
    wide = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    result = _libc.syscall(ctypes.c_long(number), *wide)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
