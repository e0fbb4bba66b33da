"""Runs shell scripts on another machine over plain `ssh`: the script and its data come by stdin."""

import asyncio
import re
import shutil
import tempfile
from types import TracebackType
from typing import Self

from msgspec import Struct

from bascule.model.errors import HostError, InvalidInput
from bascule.model.stdin_file import stdin_file

SECONDS = 120.0
SSH_FAILED = 255
MAX_SAID = 2000
_DESTINATION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:%\[\]-]*")
# ssh asks for a password or a host key at the terminal by itself; nothing of ours stands in its way.
OPTIONS = ("-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=2")


class RemoteFailed(HostError):
    """The other machine can't be reached, or a step there failed; the message has its words."""

    code = "REMOTE_FAILED"


class Ran(Struct, frozen=True):
    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """For people: the end of what it printed on stderr, else on stdout."""
        return (self.err.strip() or self.out.strip())[-MAX_SAID:]


def destination(text: str) -> str:
    """`user@host` or a name of the ssh settings; nothing that ssh could take for an option."""
    if not _DESTINATION.fullmatch(text):
        raise InvalidInput(
            f"{text[:80]!r} is not a machine that ssh knows how to reach; use one such as ana@host.example"
        )
    return text


class Ssh:
    """One login for all scripts, where ssh can share a connection: a password is asked for once."""

    def __init__(self, host: str) -> None:
        self.host = destination(host)
        self._folder = ""

    async def __aenter__(self) -> Self:
        if shutil.which("ssh") is None:
            raise RemoteFailed("There is no ssh program on this machine; install OpenSSH's client.")
        self._folder = tempfile.mkdtemp(prefix="bascule-ssh-", dir="/tmp")  # a socket's path must be short
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._exec(["ssh", *self._shared(), "-O", "exit", "--", self.host], b"", 10.0)
        shutil.rmtree(self._folder, ignore_errors=True)

    async def run(self, script: str, data: bytes = b"", seconds: float = SECONDS) -> Ran:
        """Run a POSIX shell script there, with `data` on its stdin. Raises `RemoteFailed` for ssh itself."""
        text = script.encode()
        # Whatever the login shell is, it sees only this; dd takes exactly the script from the stream.
        command = f"exec sh -c 'eval \"$(dd bs=1 count={len(text)} 2>/dev/null)\"'"
        words = ["ssh", "-T", *OPTIONS, *self._shared(), "--", self.host, command]
        ran = await self._exec(words, text + data, seconds)
        if ran.code == SSH_FAILED:
            raise RemoteFailed(f"ssh {self.host} failed: {ran.said or 'it gave no reason'}")
        return ran

    def _shared(self) -> list[str]:
        path = f"ControlPath={self._folder}/%C"
        return ["-o", "ControlMaster=auto", "-o", path, "-o", "ControlPersist=60"]

    async def _exec(self, words: list[str], data: bytes, seconds: float) -> Ran:
        with stdin_file(data) as given:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=given,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        try:
            async with asyncio.timeout(seconds):
                out, err = await process.communicate()
        except TimeoutError as error:
            raise RemoteFailed(f"{self.host} did not finish a step within {seconds:.0f} s.") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return Ran(process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace"))
