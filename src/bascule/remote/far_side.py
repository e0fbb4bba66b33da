"""The other machine: its Python, its platform, the PATH of its person, and the scripts that find them out."""

import json
import platform
import shlex
import sys
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bascule.remote.ssh import Ran, RemoteFailed, Ssh

MARK = "BASCULE-MARK"
PATH_SECONDS = 30.0
NO_PYTHON = 9
_PYTHONS = "python3 python3.14 python3.13 python3.12 python3.11 python"
# Between marks: settings of a shell often print something of their own.
_PATH_SCRIPT = f'"${{SHELL:-/bin/sh}}" -ilc "echo {MARK}; printenv PATH; echo {MARK}" </dev/null 2>/dev/null'
_FIND_PYTHON = f"""new_enough() {{
    "$1" -c "import sys; sys.exit(sys.version_info < (3, 11))" >/dev/null 2>&1
}}
for name in {_PYTHONS} "$(uv python find ">=3.11" 2>/dev/null)"; do
    if [ -n "$name" ] && new_enough "$name"; then command -v "$name"; exit 0; fi
done
exit {NO_PYTHON}"""


class FarSide(Struct, frozen=True):
    """What its Python says of itself and of the machine."""

    python: str
    version: tuple[int, int]
    implementation: str
    system: str
    machine: str
    libc: tuple[str, str] = ("", "")
    release: str = ""
    musl: bool = False
    installed: bool = False  # Bascule is there already
    state: bool = False  # and so are sessions of it

    @property
    def libc_version(self) -> tuple[int, int]:
        major, _, minor = self.libc[1].partition(".")
        return (int(major), int(minor.partition(".")[0])) if major.isdecimal() and minor else (0, 0)

    @property
    def words(self) -> str:
        return f"{self.system} {self.machine} with Python {self.version[0]}.{self.version[1]}"

    def same_kind(self, other: "FarSide") -> bool:
        """What is compiled for one is for the other, too, apart from the age of its C library."""

        def kind(one: FarSide) -> tuple[object, ...]:
            return (one.version, one.implementation, one.system, one.machine, one.musl)

        return kind(self) == kind(other)


@cache
def here() -> FarSide:
    """This machine, in the same words."""
    libc = platform.libc_ver()
    version = (sys.version_info[0], sys.version_info[1])
    return FarSide(
        sys.executable,
        version,
        sys.implementation.name,
        platform.system(),
        platform.machine(),
        libc,
        platform.mac_ver()[0],
        musl=platform.system() == "Linux" and libc[0] != "glibc",
    )


def path_in(said: str) -> str:
    """The PATH between the marks; empty when the shell did not say it."""
    parts = said.split(f"{MARK}\n")
    return parts[1].strip() if len(parts) >= 3 else ""


class Far:
    """Runs things there, with the PATH of its person once that is known."""

    def __init__(self, ssh: Ssh) -> None:
        self.ssh = ssh
        self._path = ""
        self._python = ""

    async def user_path(self) -> str:
        """Read once from the login shell: programs of agents are found by it. Empty if that did not work."""
        try:
            self._path = path_in((await self.ssh.run(_PATH_SCRIPT, seconds=PATH_SECONDS)).out)
        except RemoteFailed:
            self._path = ""  # a shell that waits for something: the plain PATH has to do
        return self._path

    async def look(self) -> FarSide:
        """Find its Python, and ask that about the machine."""
        found = await self._run(_FIND_PYTHON)
        if found.code != 0:
            raise RemoteFailed(
                f"There is no Python 3.11 or newer on {self.ssh.host}; looked for: {_PYTHONS}, and uv's. "
                f"Searched: {self._path or 'the PATH of a plain ssh command'}."
            )
        self._python = found.out.strip()
        try:
            return msgspec.convert(await self.program("facts"), FarSide)
        except msgspec.ValidationError as error:
            raise RemoteFailed(f"{self.ssh.host} answers something strange: {error}") from error

    async def program(self, *words: str, data: bytes = b"", python: str = "") -> dict[str, Any]:
        """One action of `far_program`, and its answer."""
        source = (Path(__file__).parent / "far_program.py").read_text()
        argv = [python or self._python, "-c", source, *words]
        ran = await self._run(f"exec {shlex.join(argv)}", data, seconds=600.0)
        try:
            return json.loads(ran.out.strip().rpartition("\n")[2])
        except ValueError as error:
            raise RemoteFailed(
                f"A step on {self.ssh.host} failed: {ran.said or 'it said nothing'}"
            ) from error

    async def bascule(self, *words: str, data: bytes = b"") -> Ran:
        """The command that was installed there."""
        return await self._run(
            f'exec "$HOME/.local/share/bascule/venv/bin/python" -m bascule {shlex.join(words)}', data
        )

    async def log_tail(self) -> str:
        folder = '"${XDG_STATE_HOME:-$HOME/.local/state}/bascule'
        script = f'tail -n 20 {folder}/server.log" {folder}/daemon.log" 2>/dev/null'
        return (await self._run(script)).out.strip()

    async def _run(self, script: str, data: bytes = b"", seconds: float = 180.0) -> Ran:
        found = f"PATH={shlex.quote(self._path)}; export PATH\n" if self._path else ""
        return await self.ssh.run(found + script, data, seconds)
