"""Runs the real `python -m bascule` for tests: over pipes, or on a terminal of its own."""

import asyncio
import json
import os
import pty
import signal
import sys
from pathlib import Path
from typing import NamedTuple

from tests.client.scripted import TOKEN
from tests.waiting import PATIENCE


class Finished(NamedTuple):
    code: int
    out: str
    err: str


def environment(data: Path, **more: str) -> dict[str, str]:
    return {
        "HOME": str(data),
        "PATH": os.environ.get("PATH", ""),
        "BASCULE_DATA_DIR": str(data),
        "BASCULE_CONFIG_DIR": str(data / "config"),
        "TERM": "xterm",
        "LANG": "C.UTF-8",
        **more,
    }


def leave_server_file(data: Path, url: str) -> None:
    """As a running server would: the test's own process stands for it."""
    data.mkdir(mode=0o700, exist_ok=True)
    path = data / "server.json"
    path.write_text(json.dumps({"pid": os.getpid(), "url": url, "key": TOKEN}))
    path.chmod(0o600)


async def bascule(
    data: Path, *words: str, stdin: bytes = b"", seconds: float = PATIENCE, **more: str
) -> Finished:
    # A pipe only for what is typed: a program that ends at once would close it before we could.
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bascule",
        *words,
        stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(data, **more),
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(stdin or None), seconds)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return Finished(process.returncode, out.decode(), err.decode())


class OnTerminal:
    """The program on a pseudo-terminal: wait for text, type lines, press Ctrl-C."""

    def __init__(self, data: Path, *words: str, **more: str) -> None:
        self._data = data
        self._words = words
        self._more = more
        self.text = ""
        self._seen = 0
        self._grew = asyncio.Event()
        self._master = -1

    async def __aenter__(self) -> "OnTerminal":
        self._master, slave = pty.openpty()
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bascule",
            *self._words,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**environment(self._data), **self._more},
            start_new_session=True,
        )
        os.close(slave)
        asyncio.get_running_loop().add_reader(self._master, self._read)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        asyncio.get_running_loop().remove_reader(self._master)
        os.close(self._master)

    def _read(self) -> None:
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the other side of a pseudo-terminal is gone
            data = b""
        if data:
            self.text += data.decode(errors="replace")
        else:
            asyncio.get_running_loop().remove_reader(self._master)
        self._grew.set()

    async def sees(self, words: str) -> None:
        """Wait until the program has printed this, after what was waited for before."""
        async with asyncio.timeout(PATIENCE):
            while (found := self.text.find(words, self._seen)) < 0:
                self._grew.clear()
                await self._grew.wait()
        self._seen = found + len(words)

    def type(self, line: str) -> None:
        os.write(self._master, line.encode() + b"\n")

    def press_ctrl_c(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def hang_up(self) -> None:
        """As when its window is closed."""
        self._process.send_signal(signal.SIGHUP)

    async def code(self) -> int:
        return await asyncio.wait_for(self._process.wait(), PATIENCE)
