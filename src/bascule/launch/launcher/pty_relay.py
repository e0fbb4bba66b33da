"""A pty between the terminal and the agent, so that a prompt can be typed. All else passes unchanged."""

import contextlib
import fcntl
import os
import select
import signal
import struct
import sys
import termios
import time
import tty
from collections.abc import Generator

from bascule.drivers.terminal.trust_prompt import TrustPrompt
from bascule.launch.launcher.plan_files import Reporter
from bascule.launch.launcher.typist import LOOK_SECONDS, Typist
from bascule.launch.plan import Plan

CHUNK = 65536
DEFAULT_SIZE = struct.pack("HHHH", 24, 80, 0, 0)  # rows and columns, in case nobody says


def relay(plan: Plan, prompt: str, environment: dict[str, str], report: Reporter) -> int:
    """Start the agent on a pty of its own and type the prompt; as `start` says."""
    size = _size_of(sys.stdin.fileno())
    pid, master = _spawn(plan["argv"], environment, size)
    report.started("typing")
    trust = TrustPrompt(**plan["trust"]) if plan["trust"] else None
    typist = Typist(
        prompt,
        send=plan["send"],
        trust=trust,
        input_mark=plan["input_mark"],
        size=_cols_rows(size),
        now=time.monotonic(),
    )
    with _raw(sys.stdin.fileno()), _size_changes() as changed:
        _Relay(master, typist, report, changed).run()
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


class _Relay:
    def __init__(self, master: int, typist: Typist, report: Reporter, size_changed: int) -> None:
        self._master, self._typist, self._report = master, typist, report
        self._changed = size_changed
        self._to_agent = bytearray()
        self._inputs = [sys.stdin.fileno(), master, size_changed]
        self._reported = False

    def run(self) -> None:
        """Until the agent has closed its side."""
        os.set_blocking(self._master, False)
        while True:
            outputs = [self._master] if self._to_agent else []
            wait = None if self._typist.outcome else LOOK_SECONDS
            readable, writable, _ = select.select(self._inputs, outputs, [], wait)
            if self._changed in readable:
                self._resize()
            if sys.stdin.fileno() in readable:
                self._keys()
            if self._master in readable and not self._output():
                break
            if writable:
                self._write()
            self._type()
        self._tell("not_typed")

    def _keys(self) -> None:
        keys = _read(sys.stdin.fileno())
        self._to_agent += keys or b""
        self._typist.person_typed(keys or b"")
        if not keys:  # the terminal is gone; the agent learns it from its pty
            self._inputs.remove(sys.stdin.fileno())

    def _output(self) -> bool:
        shown = _read(self._master)
        if shown is None:
            return True
        if not shown:
            return False
        _write_all(sys.stdout.fileno(), shown)
        if not self._typist.outcome:
            self._typist.saw(shown, time.monotonic())
        return True

    def _write(self) -> None:
        with contextlib.suppress(BlockingIOError):
            del self._to_agent[: os.write(self._master, self._to_agent[:CHUNK])]
        if not self._to_agent:
            self._typist.written(time.monotonic())

    def _type(self) -> None:
        if not self._typist.outcome:
            raw = not termios.tcgetattr(self._master)[3] & termios.ICANON
            self._to_agent += self._typist.due(time.monotonic(), raw=raw)
        if self._typist.outcome:
            self._tell(self._typist.outcome)

    def _tell(self, outcome: str) -> None:
        if not self._reported:
            self._reported = True
            self._report.typed(outcome)

    def _resize(self) -> None:
        os.read(self._changed, CHUNK)
        size = _size_of(sys.stdin.fileno())
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
        self._typist.resize(*_cols_rows(size))


def _spawn(argv: list[str], environment: dict[str, str], size: bytes) -> tuple[int, int]:
    """Start the agent on a new pty. Raises `OSError` when it can't be run."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
    with contextlib.suppress(termios.error):  # our own input is no terminal: the pty's defaults are fine
        termios.tcsetattr(slave, termios.TCSANOW, termios.tcgetattr(sys.stdin.fileno()))
    heard, say = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(master)
            os.login_tty(slave)
            os.execve(argv[0], argv, environment)
        except OSError as error:
            os.write(say, str(error.errno).encode())
        finally:
            os._exit(127)
    os.close(slave)
    os.close(say)
    with os.fdopen(heard, "rb") as pipe:
        number = pipe.read()
    if number:
        os.waitpid(pid, 0)
        os.close(master)
        raise OSError(int(number), os.strerror(int(number)))
    return pid, master


@contextlib.contextmanager
def _raw(descriptor: int) -> Generator[None]:
    try:
        before = termios.tcgetattr(descriptor)
    except termios.error:
        yield
        return
    tty.setraw(descriptor)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _size_changes() -> Generator[int]:
    """A descriptor that can be read whenever the window's size has changed."""
    changes, tell = os.pipe()
    os.set_blocking(tell, False)
    before = signal.signal(signal.SIGWINCH, lambda number, frame: None)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    try:
        yield changes
    finally:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGWINCH, before)
        os.close(changes)
        os.close(tell)


def _size_of(descriptor: int) -> bytes:
    try:
        size = fcntl.ioctl(descriptor, termios.TIOCGWINSZ, bytes(8))
    except OSError:
        return DEFAULT_SIZE
    return size if any(size[:4]) else DEFAULT_SIZE


def _cols_rows(size: bytes) -> tuple[int, int]:
    return int.from_bytes(size[2:4], sys.byteorder), int.from_bytes(size[:2], sys.byteorder)


def _read(descriptor: int) -> bytes | None:
    """What is there; nothing at the end, and None when there is nothing yet."""
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return None
    except OSError:  # Linux: the other side of a pty is gone
        return b""


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
