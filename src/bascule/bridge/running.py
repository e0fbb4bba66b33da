"""One running program of a bridge: delivers its output, watches its timeout, reports its end."""

import asyncio
import codecs
from collections.abc import Callable

from bascule.bridge.bridge_types import BridgeSession, NoOutput, StartOptions
from bascule.drivers.terminal import TerminalDriver
from bascule.transport.keeper_messages import ExitNotice
from bascule.transport.position import Position
from bascule.transport.spool import SpoolReader

CHUNK = 64 * 1024
BUFFER_MOST, BUFFER_KEPT = 10_000, 5_000
TRUST_SECONDS = 0.5

Hook = Callable[[str, str], str | None]


class Running:
    """`press` types, `position` acknowledges output to the keeper, `hook` may reply to output."""

    def __init__(
        self,
        session: BridgeSession,
        options: StartOptions,
        spool: SpoolReader,
        driver: TerminalDriver | None,
        hook: Hook,
        press: Callable[[bytes], None],
        position: Callable[[Position], None],
    ) -> None:
        self.session = session
        self.options = options
        self.buffer = ""
        self.gone = asyncio.Event()
        self._spool = spool
        self._driver = driver
        self._hook = hook
        self._press = press
        self._position = position
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._read = 0
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def watch(self, seconds: float, kill: Callable[[], None]) -> None:
        """The watchdog: without a byte, an exit or an error it kills, and says so."""

        def bark() -> None:
            kill()
            self.options.on_error(NoOutput(f"Nothing was written for {seconds:g} s, so it was killed."))

        self._later("watchdog", seconds, bark)

    def output(self) -> None:
        while chunk := self._spool.read(self._read, CHUNK):
            self._calm("watchdog")
            self._read += len(chunk)
            self._position(Position(self._read, 0, self._read, 0))
            self._take(chunk)

    def exited(self, notice: ExitNotice) -> None:
        self.output()
        self.let_go()
        self.options.on_exit(notice.code, notice.signal)

    def failed(self, error: Exception) -> None:
        self.let_go()
        self.options.on_error(error)

    def let_go(self) -> None:
        for name in list(self._timers):
            self._calm(name)
        if self.session.kill_timeout is not None:
            self.session.kill_timeout.cancel()
            self.session.kill_timeout = None
        self.session.active = False
        self._spool.close()
        self.gone.set()

    def _take(self, chunk: bytes) -> None:
        text = self._decode(chunk)
        self.buffer += text
        if len(self.buffer) > BUFFER_MOST:
            self.buffer = self.buffer[-BUFFER_KEPT:]
        answer = self._hook(text, self.buffer)
        if answer:
            self._press(answer.encode())
        if self._driver is not None and self._driver.receive(chunk).trust_asked:
            self._later("trust", TRUST_SECONDS, self._answer_trust)
        self.options.on_output(text)

    def _answer_trust(self) -> None:
        key = self._driver.trust_step() if self._driver is not None else None
        if key is None:
            return
        self._press(key)
        if key != b"\r":
            self._later("trust", TRUST_SECONDS, self._answer_trust)

    def _later(self, name: str, seconds: float, action: Callable[[], None]) -> None:
        self._calm(name)
        self._timers[name] = asyncio.get_running_loop().call_later(seconds, action)

    def _calm(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()
