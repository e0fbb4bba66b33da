"""Output and input of a command: styled text that can be held back, and lines read without blocking."""

import asyncio
import os
import sys
import termios
from typing import Literal, TextIO

Style = Literal["plain", "dim", "bold", "red", "green", "yellow", "cyan"]
_CODES: dict[Style, str] = {"dim": "2", "bold": "1", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_RESET = "\x1b[0m"
COLOURS = frozenset((_RESET, *(f"\x1b[{code}m" for code in _CODES.values())))  # all that we ever print


class Console:
    """Output that can be held back while a question waits for its answer."""

    def __init__(
        self, out: TextIO | None = None, *, colour: bool | None = None, interactive: bool | None = None
    ) -> None:
        self._out = out or sys.stdout
        on_terminal = self._out.isatty()
        allowed = "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        self.colour = on_terminal and allowed if colour is None else colour
        self.interactive = on_terminal and sys.stdin.isatty() if interactive is None else interactive
        self._held: list[str] | None = None
        self._at_line_start = True

    def style(self, text: str, style: Style) -> str:
        code = _CODES.get(style)
        return f"\x1b[{code}m{text}{_RESET}" if self.colour and code and text else text

    def write(self, text: str, style: Style = "plain") -> None:
        if not text:
            return
        if self._held is not None:
            self._held.append(self.style(text, style))
        else:
            self._print(self.style(text, style))
        self._at_line_start = text.endswith("\n")

    def line(self, text: str = "", style: Style = "plain") -> None:
        """A line of its own, whatever was being written before."""
        self.fresh_line()
        self.write(f"{self.style(text, style)}\n")

    def fresh_line(self) -> None:
        if not self._at_line_start:
            self.write("\n")

    def say(self, text: str) -> None:
        """Print even while other output is held: the question itself, and what became of it."""
        self._print(text)

    def hold(self) -> None:
        if self._held is None:
            self.fresh_line()
            self._held = []

    def release(self) -> None:
        held, self._held = self._held or [], None
        self._print("".join(held))

    def _print(self, text: str) -> None:
        # What the terminal's encoding can't show is written out rather than raised.
        encoding = self._out.encoding or "utf-8"
        self._out.write(text.encode(encoding, "backslashreplace").decode(encoding))
        self._out.flush()


class Keyboard:
    """Lines from stdin, cancellable: an answer given elsewhere takes the question away."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor

    def forget_typed_ahead(self) -> None:
        """Keys pressed before the question was shown are no answer to it."""
        if os.isatty(self._descriptor):
            termios.tcflush(self._descriptor, termios.TCIFLUSH)

    async def line(self) -> str | None:
        """The next line without its end; None when stdin is closed."""
        loop = asyncio.get_running_loop()
        arrived: asyncio.Future[bytes] = loop.create_future()

        def readable() -> None:
            loop.remove_reader(self._descriptor)
            if not arrived.done():
                try:
                    arrived.set_result(os.read(self._descriptor, 65536))
                except OSError as error:
                    arrived.set_exception(error)

        loop.add_reader(self._descriptor, readable)
        try:
            data = await arrived
        finally:
            loop.remove_reader(self._descriptor)
        return data.decode(errors="replace").rstrip("\r\n") if data else None
