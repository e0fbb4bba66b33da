"""Servers for tests, forked from a process that has imported Bascule already: imports are half of a start.

What is forked is a process of its own like any other, with the command's arguments, environment and output.
Its imports are the only thing that it did not do itself. Tests of the command line start it the long way.
"""

import asyncio
import atexit
import ctypes
import functools
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

LARGEST = 1 << 20  # bytes of an order; an environment can be long
# What the interpreter or the loader reads at its own start is not read again by a fork.
READ_AT_START = ("PYTHON", "LD_", "DYLD_", "LC_", "LANG", "MALLOC_")
# What `bascule up` imports until it serves.
IMPORTED = (
    "bascule.cli",
    "bascule.commands.up",
    "bascule.app",
    "bascule.this_machine",
    "uvicorn.lifespan.off",
)
# Of <sched.h> and <sys/mount.h>.
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_RDONLY, MS_REC, MS_PRIVATE = 1, 1 << 14, 1 << 18


class WarmProcess:
    """As much of `asyncio.subprocess.Process` as tests use. `stdout` is a pipe."""

    def __init__(self, source: "Source", pid: int, stdout: asyncio.StreamReader) -> None:
        self.pid = pid
        self.stdout: asyncio.StreamReader | None = stdout
        self.returncode: int | None = None
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = self._loop.create_future()
        self._watch = os.pidfd_open(pid)
        self._loop.add_reader(self._watch, self._reap)

    def _reap(self) -> None:
        self._loop.remove_reader(self._watch)
        os.close(self._watch)
        self.returncode = self._source.reap(self.pid)
        self._ended.set_result(self.returncode)

    def send_signal(self, sign: int) -> None:
        if self.returncode is None:  # until then the pid is its own: only we reap it
            os.kill(self.pid, sign)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)


class _Output(asyncio.StreamReaderProtocol):
    def eof_received(self) -> bool:
        super().eof_received()
        return False  # so that the pipe is closed


class Source:
    """The process that servers are forked from, one for each worker."""

    def __init__(self, environment: dict[str, str]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, __file__, str(theirs.fileno())]
        fds = (theirs.fileno(),)
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=fds
        )
        theirs.close()
        self._orders = ours
        atexit.register(self._end)

    def _end(self) -> None:
        self._orders.close()
        self._process.wait()

    def _ask(self, order: dict[str, Any], *fds: int) -> int:
        socket.send_fds(self._orders, [json.dumps(order).encode()], fds)
        return int(self._orders.recv(64))

    def reap(self, pid: int) -> int:
        return self._ask({"reap": pid})

    async def start(
        self, words: list[str], environment: dict[str, str], stderr: int, hidden: Sequence[str] = ()
    ) -> WarmProcess:
        """`python -m bascule WORDS`, for which the hidden folders are empty."""
        order = {"words": words, "env": environment, "cwd": os.getcwd(), "hidden": hidden}
        ours, theirs = os.pipe()
        try:
            pid = self._ask(order, theirs, stderr)
        finally:
            os.close(theirs)
        output = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: _Output(output), os.fdopen(ours, "rb", buffering=0)
        )
        return WarmProcess(self, pid, output)


@functools.cache
def source() -> Source:
    """With nothing of the worker's own environment but where to find programs."""
    return Source({"PATH": os.environ["PATH"]})


def can_be_warm(environment: dict[str, str]) -> bool:
    return not any(name.startswith(READ_AT_START) for name in environment)


@functools.cache
def reason_not_to_hide() -> str | None:
    """Why a folder can't be hidden from a process here, if it can't."""
    tried = subprocess.run([sys.executable, __file__, "hide", "/tmp"], capture_output=True, text=True)
    return tried.stderr.strip().rpartition("\n")[2] if tried.returncode else None


# In the process that is forked


def hide(folders: Sequence[str]) -> None:
    """Lay an empty folder over each, for this process alone."""
    libc = ctypes.CDLL(None, use_errno=True)

    def call(name: str, *words: Any) -> None:
        if getattr(libc, name)(*words) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")

    user, group = os.geteuid(), os.getegid()
    if user == 0:
        call("unshare", CLONE_NEWNS)
    else:  # mounting is for root, which anybody is in a namespace of their own
        call("unshare", CLONE_NEWNS | CLONE_NEWUSER)
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    call("mount", None, b"/", None, MS_REC | MS_PRIVATE, None)
    for folder in folders:
        call("mount", b"hidden", folder.encode(), b"tmpfs", MS_RDONLY, None)


def _take_orders(orders: socket.socket) -> dict[str, Any] | None:
    """In the source, nothing, when the worker is gone; in each fork, what it is to run."""
    while True:
        data, fds, _, _ = socket.recv_fds(orders, LARGEST, 2)
        if not data:
            return None
        order = json.loads(data)
        if "reap" in order:
            _, status = os.waitpid(order["reap"], 0)
            orders.send(str(os.waitstatus_to_exitcode(status)).encode())
            continue
        pid = os.fork()
        if pid == 0:
            for number, fd in enumerate(fds, 1):
                os.dup2(fd, number)
                os.close(fd)
            orders.close()
            return order
        for fd in fds:
            os.close(fd)
        orders.send(str(pid).encode())


def main() -> None:
    if sys.argv[1] == "hide":
        hide(sys.argv[2:])
        return
    sys.path[0] = ""
    for name in IMPORTED:
        importlib.import_module(name)
    order = _take_orders(socket.socket(fileno=int(sys.argv[1])))
    if order is None:
        return
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    if order["hidden"]:
        hide(order["hidden"])
    sys.argv[1:] = order["words"]
    runpy.run_module("bascule", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
