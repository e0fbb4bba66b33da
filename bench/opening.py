"""Measures of beginnings: the server's first answer after a cold start, a long session's first page."""

import asyncio
import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from contestants import HERE, Bascule, end, free_port
from longlogs import write_logs
from streaming import Sizes
from table import Figure, spread

PAGE = "/api/sessions/{}/entries?limit=50"


def seconds_to_answer(process: subprocess.Popen[bytes], port: int, began: float) -> float:
    """Until GET /health says 200."""
    while True:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/health")
            status = connection.getresponse().status
            connection.close()
        except ConnectionRefusedError:
            if process.poll() is not None:
                raise RuntimeError("it ended before it answered") from None
            time.sleep(0.002)
        else:
            assert status == 200, status
            return time.monotonic() - began


def _start_hello() -> float:
    port = free_port()
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, str(HERE / "hello.py"), str(port)])
    try:
        return seconds_to_answer(process, port, began)
    finally:
        end(process)


def start_bascule() -> float:
    """Nothing is there yet: no database, no keeper, no grant."""
    bascule = Bascule()
    port = free_port()
    began = time.monotonic()
    process = bascule.launch(port)
    try:
        taken = seconds_to_answer(process, port, began)
        # Only once it has said its link is it sure to have started its keeper, which must be ended.
        assert process.stdout is not None
        process.stdout.readline()
        return taken
    finally:
        bascule.remove()


def cold_start(sizes: Sizes) -> Iterator[Figure]:
    _start_hello(), start_bascule()  # so that both find their bytecode written
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(sizes.rounds):
        theirs.append(_start_hello() * 1000)
        ours.append(start_bascule() * 1000)
    ratios = [mine / yours for mine, yours in zip(ours, theirs, strict=True)]
    seen = f"{spread(ours, 0)} ms against {spread(theirs, 0)} ms"
    yield Figure("cold start to the first answer", median(ratios), " ×", seen, most=2.5)


def _forget_pages(folder: Path) -> None:
    """Have the system drop its cache of these files, so that the disk is part of what is measured."""
    for path in folder.glob("*.db*"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _first_page(data: Path, session: str, other: str) -> float:
    """On a fresh server. A page of an empty session comes first: it warms the code, not the log."""
    _forget_pages(data)
    bascule = Bascule(data)
    with bascule:
        bascule.talk("GET", PAGE.format(other))
        began = time.monotonic()
        page = bascule.talk("GET", PAGE.format(session))
        taken = time.monotonic() - began
    assert len(page["entries"]) == 50, len(page["entries"])
    return taken * 1000


def long_session(sizes: Sizes) -> Iterator[Figure]:
    folder = Path(tempfile.mkdtemp(prefix="bl-", dir="/tmp"))
    try:
        data = folder / "data"
        data.mkdir(mode=0o700)
        long, short, empty = asyncio.run(write_logs(data, [sizes.long_log, 2_000, 1]))
        times: dict[str, list[float]] = {long: [], short: []}
        _first_page(data, short, empty)
        # A disk is noisier than anything else here, and a round is short: nine of them rather than five.
        for n in range(2 * sizes.rounds - 1):
            for session in (long, short) if n % 2 == 0 else (short, long):
                times[session].append(_first_page(data, session, empty))
    finally:
        shutil.rmtree(folder)
    ratio = median(times[long]) / median(times[short])
    seen = (
        f"{spread(times[long])} ms of {sizes.long_log:,} entries against {spread(times[short])} ms of 2,000"
    )
    yield Figure("a cold page of a long session", ratio, " ×", seen, most=1.5)
