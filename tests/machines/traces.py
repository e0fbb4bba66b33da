"""What a process asked of the system, in its order: strace, attached to a server that runs."""

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from tests.waiting import PATIENCE

CALLS = "pwrite64,fdatasync,fsync,sendto,write,writev,sendmsg,openat"
# 1234 fdatasync(7</tmp/x/bascule.db-wal>) = 0; one that another thread interrupts ends with `resumed>`.
_LINE = re.compile(r"(?P<pid>\d+) +(?P<name>\w+)\((?:(?P<fd>\d+)<(?P<file>[^>]*)>)?(?P<rest>.*)")
_RESUMED = re.compile(r"(?P<pid>\d+) +<\.\.\. (?P<name>\w+) resumed>")
_DATA = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


class Call(NamedTuple):
    """`at` is its place in the trace when it began, `done` when it was over."""

    name: str
    file: str
    data: bytes
    at: int
    done: int


def reason_to_skip() -> str | None:
    program = shutil.which("strace")
    if program is None or sys.platform != "linux":
        return "strace is not installed"
    with subprocess.Popen(["sleep", "60"]) as other:
        try:
            words = [program, "-p", str(other.pid), "-o", "/dev/null"]
            with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as tracer:
                assert tracer.stderr is not None
                attached = "attached" in tracer.stderr.readline()
                tracer.terminate()
        finally:
            other.kill()
    return None if attached else "strace may not attach to other processes"


@asynccontextmanager
async def traced(pid: int, into: Path) -> AsyncGenerator[None]:
    """Every thread of a process, until the end."""
    words = ("-f", "-y", "-xx", "-s", "70000", "-e", f"trace={CALLS}", "-o", str(into), "-p", str(pid))
    tracer = await asyncio.create_subprocess_exec("strace", *words, stderr=asyncio.subprocess.PIPE)
    try:
        assert tracer.stderr is not None
        line = await asyncio.wait_for(tracer.stderr.readline(), PATIENCE)
        assert b"attached" in line, line
        yield
    finally:
        tracer.terminate()
        await asyncio.wait_for(tracer.wait(), PATIENCE)


def calls(trace: Path) -> list[Call]:
    """All calls that were over by the end of the trace, in the order they began."""
    made: list[Call] = []
    open_calls: dict[str, int] = {}  # by thread
    for at, line in enumerate(trace.read_text().splitlines()):
        resumed = _RESUMED.match(line)
        if resumed is not None and resumed["pid"] in open_calls:
            index = open_calls.pop(resumed["pid"])
            made[index] = made[index]._replace(done=at)
            continue
        match = _LINE.match(line)
        if match is None:
            continue
        data = b"".join(bytes.fromhex(part.replace("\\x", "")) for part in _DATA.findall(match["rest"]))
        if line.rstrip().endswith("<unfinished ...>"):
            open_calls[match["pid"]] = len(made)
        file = match["file"] or ""
        if file.startswith("\\x"):
            file = bytes.fromhex(file.replace("\\x", "")).decode()
        made.append(Call(match["name"], file, data, at, at))
    return made


def messages(sent: list[Call]) -> Iterator[tuple[bytes, Call]]:
    """The WebSocket messages in what one socket sent, each with the call that sent the first of its bytes."""
    stream, starts = b"", list[tuple[int, Call]]()
    for call in sent:
        starts.append((len(stream), call))
        stream += call.data
    place = 0
    while place + 2 <= len(stream):
        begin = place
        size, masked = stream[place + 1] & 0x7F, stream[place + 1] & 0x80
        place += 2
        if size >= 126:
            width = 2 if size == 126 else 8
            size = int.from_bytes(stream[place : place + width], "big")
            place += width
        mask = stream[place : place + 4] if masked else bytes(4)
        place += 4 if masked else 0
        body = bytes(byte ^ mask[n % 4] for n, byte in enumerate(stream[place : place + size]))
        place += size
        yield body, next(call for start, call in reversed(starts) if start <= begin)
