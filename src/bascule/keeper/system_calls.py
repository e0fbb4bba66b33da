"""A filter on system calls for a process in a cage: it reaches no Unix socket by its name.

Landlock does not cover connecting to one, and behind such sockets are programs that run commands outside the
cage: this keeper, a container service, the user's service manager, an agent that holds SSH keys.
"""

import ctypes
import os
import struct
import sys

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_EACCES, _ENOSYS = 13, 38
_AF_UNIX, _DATAGRAM = 1, 2
_IO_URING_SETUP = 425  # it can open sockets that no filter sees; programs go on without it
_X32 = 0x40000000  # the other way to call the same kernel on x86-64
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
# machine -> audit architecture, socket, socketpair
_MACHINES = {"x86_64": (0xC000003E, 41, 53), "aarch64": (0xC00000B7, 198, 199)}

_libc = ctypes.CDLL(None, use_errno=True)


def known() -> bool:
    """Whether there is a filter for this machine's processor."""
    return sys.platform == "linux" and os.uname().machine in _MACHINES


def no_new_privileges() -> None:
    """No program that is run from here on gains rights, such as sudo's. Raises OSError."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, None)


def restrict() -> None:
    """Needs `no_new_privileges`. Raises OSError."""
    program = _program(*_MACHINES[os.uname().machine])
    buffer = ctypes.create_string_buffer(program)
    header = ctypes.create_string_buffer(
        struct.pack("=H6xQ", len(program) // 8, ctypes.addressof(buffer)), 16
    )
    _prctl(_PR_SET_SECCOMP, _FILTER, header)


def _program(architecture: int, socket: int, socketpair: int) -> bytes:
    """The filter: load a field of the call, compare, jump so many steps on when true or false."""
    absent, refused = _ERRNO | _ENOSYS, _ERRNO | _EACCES
    steps = [
        (_LOAD, 0, 0, 4),  # 0: the architecture
        (_EQUAL, 0, 12, architecture),  # 1: another one -> absent
        (_LOAD, 0, 0, 0),  # 2: the number of the call
        (_AT_LEAST, 10, 0, _X32),  # 3 -> absent
        (_EQUAL, 9, 0, _IO_URING_SETUP),  # 4 -> absent
        (_EQUAL, 0, 2, socket),  # 5: no -> 8
        (_LOAD, 0, 0, 16),  # 6: its first argument, the family
        (_EQUAL, 5, 4, _AF_UNIX),  # 7 -> refused, else allowed
        (_EQUAL, 0, 3, socketpair),  # 8: no -> allowed
        (_LOAD, 0, 0, 24),  # 9: its second argument, the type; a datagram one can be sent anywhere
        (_AND, 0, 0, 0xF),  # 10
        (_EQUAL, 1, 0, _DATAGRAM),  # 11 -> refused, else allowed
        (_RETURN, 0, 0, _ALLOW),  # 12
        (_RETURN, 0, 0, refused),  # 13
        (_RETURN, 0, 0, absent),  # 14
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _prctl(option: int, value: int, pointer: "ctypes.Array[ctypes.c_char] | None") -> None:
    if _libc.prctl(option, ctypes.c_ulong(value), pointer, ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
