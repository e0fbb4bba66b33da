"""Starts a program with exactly the given environment, folder, descriptors and terminal."""

import errno
import fcntl
import os
import resource
import select
import signal
import struct
import sys
import termios
from typing import NamedTuple, NoReturn

from bascule.keeper import cage
from bascule.keeper.request_checks import Refused, Size, SpawnRequest

_EXEC_TIMEOUT_MS = 10_000
_F_SETPIPE_SZ = 1031
_PIPE_BYTES = 256 * 1024


class ChildSettings(NamedTuple):
    """Process settings that the keeper changed for itself and restores in its children."""

    umask: int
    open_files: tuple[int, int]


class Launched(NamedTuple):
    """The keeper's descriptors of a process. A terminal's is duplicated, one for each direction."""

    pid: int
    stdin: int
    out: int
    err: int | None


def launch(request: SpawnRequest, settings: ChildSettings) -> Launched:
    """Fork and exec; when the program did not start, raise Refused and leave nothing behind."""
    opened: list[int] = []
    try:
        theirs, ours = _terminal(request.pty, opened) if request.pty else _pipes(opened)
        report, notice = os.pipe()
        opened += [report, notice]
        pid = _fork(request, settings, theirs, notice)
        for fd in {*theirs, notice}:
            os.close(fd)
            opened.remove(fd)
        _await_exec(pid, report)
    except OSError as error:
        _close(opened)
        raise Refused(errno.errorcode.get(error.errno or 0, "EIO"), f"cannot start: {error}") from error
    except Refused:
        _close(opened)
        raise
    os.close(report)
    for fd in ours:
        os.set_blocking(fd, False)
    return Launched(pid, ours[0], ours[1], ours[2] if len(ours) == 3 else None)


def set_size(fd: int, size: Size) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", size.rows, size.cols, 0, 0))


def _pipes(opened: list[int]) -> tuple[list[int], list[int]]:
    their_in, our_in = os.pipe()
    opened += [their_in, our_in]
    our_out, their_out = os.pipe()
    opened += [our_out, their_out]
    our_err, their_err = os.pipe()
    opened += [our_err, their_err]
    if sys.platform == "linux":
        try:
            fcntl.fcntl(our_out, _F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError as error:
            # Past the user's allowance of pipe memory the default size does the job, with more wake-ups.
            if error.errno not in (errno.EPERM, errno.EBUSY):
                raise
    return [their_in, their_out, their_err], [our_in, our_out, our_err]


def _terminal(size: Size, opened: list[int]) -> tuple[list[int], list[int]]:
    ours, theirs = os.openpty()
    opened += [ours, theirs]
    twin = os.dup(ours)
    opened.append(twin)
    set_size(ours, size)
    return [theirs, theirs, theirs], [ours, twin]


def _fork(request: SpawnRequest, settings: ChildSettings, theirs: list[int], notice: int) -> int:
    # Blocked across the fork, so that no handler of ours ever runs in the child.
    blocked = signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    try:
        pid = os.fork()
        if pid == 0:
            _become(request, settings, theirs, notice)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return pid


def _become(request: SpawnRequest, settings: ChildSettings, theirs: list[int], notice: int) -> NoReturn:
    """In the child: never returns, and tells its parent through `notice` when it could not exec."""
    stage = "start"
    try:
        os.setsid()
        if request.pty:
            fcntl.ioctl(theirs[0], termios.TIOCSCTTY, 0)
        # High numbers first: a descriptor being placed must not be one still to be copied.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (*theirs, notice)]
        for number, fd in enumerate(high[:3]):
            os.dup2(fd, number)
        notice = os.dup2(high[3], 3, inheritable=False)
        close_above(3)
        stage = "cwd"
        _enter(request)
        stage = "exec"
        os.umask(settings.umask if request.umask is None else request.umask)
        resource.setrlimit(resource.RLIMIT_NOFILE, settings.open_files)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        if request.cage is not None:
            stage = "cage"
            cage.enter(request.cage, terminal=request.pty is not None)
            stage = "exec"
        _exec(request)
    except Exception as error:  # noqa: BLE001 - reported to the parent; this process has no other voice
        number = error.errno if isinstance(error, OSError) else None
        os.write(notice, f"{stage} {number or errno.EIO}".encode())
    finally:
        os._exit(127)


def _enter(request: SpawnRequest) -> None:
    fd = os.open(request.cwd, getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC)
    facts = os.fstat(fd)
    if request.cwd_stat is not None and request.cwd_stat != (facts.st_dev, facts.st_ino):
        raise OSError(errno.ESTALE, "folder changed")
    os.fchdir(fd)
    os.close(fd)


def _exec(request: SpawnRequest) -> NoReturn:
    program = request.argv[0]
    if b"/" in program:
        os.execve(program, request.argv, request.env)
    failure = OSError(errno.ENOENT, "not found")
    for folder in request.env.get(b"PATH", os.fsencode(os.defpath)).split(b":"):
        # An empty or relative entry would run a program out of the project's own folder.
        if folder.startswith(b"/"):
            try:
                os.execve(os.path.join(folder, program), request.argv, request.env)
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                    failure = error
    raise failure


def close_above(last: int) -> None:
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        os.closerange(last + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        return
    for number in numbers:
        if number > last:
            os.closerange(number, number + 1)


def _await_exec(pid: int, report: int) -> None:
    """EOF means the exec happened: the child's end closed by itself. Anything else is why it did not."""
    poller = select.poll()
    poller.register(report, select.POLLIN)
    if not poller.poll(_EXEC_TIMEOUT_MS):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise Refused("timeout", "the program did not start within 10 s")
    reason = os.read(report, 100).decode()
    if not reason:
        return
    os.waitpid(pid, 0)
    stage, _, number = reason.partition(" ")
    words = os.strerror(int(number))
    if stage == "cage":
        raise Refused("no_cage", f"the kernel does not close it in: {words}")
    if stage != "cwd":
        raise Refused(errno.errorcode.get(int(number), "EIO"), f"cannot start: {words}")
    if int(number) == errno.ESTALE:
        raise Refused("cwd_changed", "the working folder is not the one that was checked")
    raise Refused("bad_cwd", f"cannot enter the working folder: {words}")


def _close(opened: list[int]) -> None:
    for fd in opened:
        os.close(fd)
