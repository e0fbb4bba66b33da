"""A real desktop for tests of launches: an X server without a monitor, a session bus, or Wayland."""

import asyncio
import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
from msgspec import Struct
from tests.launch.desk import Desk
from tests.waiting import PATIENCE

SMALL = 100  # pixels: what is narrower or lower is no terminal, but a helper window of some toolkit
_CHILD = re.compile(r"^\s+(0x[0-9a-f]+) .*?\s(\d+)x(\d+)\+", re.MULTILINE)


class RealTerminal(Struct, frozen=True):
    """A terminal of the table: its program, and the Debian package that has it."""

    program: str
    package: str
    wayland: bool = False


# Small ones are part of every run; `make terminals` takes all of them.
LIGHT = (
    RealTerminal("xterm", "xterm"),
    RealTerminal("urxvt", "rxvt-unicode"),
    RealTerminal("stterm", "stterm"),
)
HEAVY = (
    RealTerminal("kitty", "kitty"),
    RealTerminal("alacritty", "alacritty"),
    RealTerminal("xfce4-terminal", "xfce4-terminal"),
    RealTerminal("mate-terminal", "mate-terminal"),
    RealTerminal("terminator", "terminator"),
    RealTerminal("gnome-terminal", "gnome-terminal"),
    RealTerminal("kgx", "gnome-console"),
    RealTerminal("konsole", "konsole"),
    RealTerminal("foot", "foot", wayland=True),
)
TERMINALS = LIGHT + (HEAVY if os.environ.get("BASCULE_TEST_TERMINALS") == "all" else ())


def require(*programs: tuple[str, str]) -> None:
    """Skip, and say which package is missing; each is a program and its package."""
    missing = [package for program, package in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"needs a real terminal: sudo apt install {' '.join(missing)}")


class RealDesktop(Desk):
    """A desk with a screen. Its processes have the desk's home and end with it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (self.bin / "xterm").unlink()  # the scripted one
        self.program("claude", "terminal_agent.py", str(self.notes), "stay")
        self._own: list[subprocess.Popen[bytes]] = []
        self._session: dict[str, str] = {}

    @property
    def environ(self) -> dict[str, str]:
        return {**super().environ, "DISPLAY": "", "TERMINAL": "", **self._session}

    def open_screen(self) -> None:
        """Start an X server on a display number that is free, and a session bus whose programs see it."""
        told, tell = os.pipe()
        words = ["Xvfb", "-displayfd", str(tell), "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
        self._start(words, pass_fds=(tell,))
        os.close(tell)
        with os.fdopen(told) as said:
            number = said.readline().strip()
        assert number.isdigit(), "Xvfb did not start"
        self._session["DISPLAY"] = f":{number}"
        bus = self._start(["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE)
        assert bus.stdout is not None
        with bus.stdout:
            self._session["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().decode().strip()

    async def open_wayland(self) -> None:
        """Start a compositor in a window of the X server, so that it has a keyboard; only it is told of."""
        self.open_screen()
        name = "wayland-desk"
        log = (self.folder / "weston.log").open("wb")
        self._start(
            ["weston", "--backend=x11-backend.so", "--use-pixman", f"--socket={name}", "--debug"],
            stdout=log,
            stderr=log,
        )
        log.close()
        async with asyncio.timeout(PATIENCE):
            while not (self.runtime / name).is_socket():  # noqa: ASYNC110 - another program's file
                await asyncio.sleep(0.02)
        del self._session["DISPLAY"]
        self._session["WAYLAND_DISPLAY"] = name

    def _start(self, words: list[str], **how: object) -> "subprocess.Popen[bytes]":
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process: subprocess.Popen[bytes] = subprocess.Popen(words, env=self.environ, **{**quiet, **how})  # type: ignore[call-overload]
        self._own.append(process)
        return process

    def close(self) -> None:
        super().close()  # the terminals, which are not children of ours
        for one in self._own:
            with contextlib.suppress(ProcessLookupError):
                one.kill()
            one.wait()

    def windows(self) -> set[str]:
        """The top windows on the screen that are large enough for a terminal."""
        if "DISPLAY" not in self._session:
            shown = self._ask("weston-debug", "scene-graph")
            return set(re.findall(r"role xdg_toplevel, (PID \d+, surface ID \d+)", shown))
        told = self._ask("xwininfo", "-root", "-children")
        large = [name for name, wide, high in _CHILD.findall(told) if min(int(wide), int(high)) > SMALL]
        return {name for name in large if "IsViewable" in self._ask("xwininfo", "-id", name)}

    def _ask(self, *words: str) -> str:
        done = subprocess.run(words, env=self.environ, capture_output=True, timeout=PATIENCE)
        return done.stdout.decode("utf-8", "replace")

    async def new_window(self, before: set[str]) -> str:
        """A window that was not there before, once it is on the screen."""
        async with asyncio.timeout(PATIENCE):
            while not (new := await asyncio.to_thread(self.windows) - before):  # noqa: ASYNC110 - a screen
                await asyncio.sleep(0.05)
        return min(new)


@contextlib.contextmanager
def real_desktop(folder: Path) -> Generator[RealDesktop]:
    desktop = RealDesktop(folder)
    try:
        yield desktop
    finally:
        desktop.close()
