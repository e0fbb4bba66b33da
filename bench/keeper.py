"""Throughput through the keeper against a bare read loop, pipe and pty, interleaved in one run."""

import asyncio
import os
import pty
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tty
from pathlib import Path

from bascule.transport.keeper import KeeperConnection, ensure_keeper
from bascule.transport.keeper_messages import ExitNotice, Notice, PtySize
from bascule.transport.position import Position
from bascule.transport.spool import SpoolReader

ROUNDS = 5
MEGABYTES = {"pipe": 200, "pty": 20}
CHUNK = 65536


def child(kind: str) -> list[str]:
    raw = "import tty; tty.setraw(1)\n" if kind == "pty" else ""
    writes = f"import os\nfor _ in range({MEGABYTES[kind] * 16}):\n  v = memoryview(b'x' * {CHUNK})\n"
    return [sys.executable, "-S", "-c", raw + writes + "  while v: v = v[os.write(1, v):]"]


def bare(kind: str) -> float:
    """A blocking read loop that throws the bytes away."""
    ours, theirs = pty.openpty() if kind == "pty" else os.pipe()
    if kind == "pty":
        tty.setraw(theirs)
    began = time.perf_counter()
    process = subprocess.Popen(child(kind), stdout=theirs)
    os.close(theirs)
    total = 0
    while True:
        try:
            data = os.read(ours, 262144)
        except OSError:
            break
        if not data:
            break
        total += len(data)
    process.wait()
    os.close(ours)
    return total / (time.perf_counter() - began) / 1e6


async def kept(keeper: KeeperConnection, folder: Path, kind: str, session: str) -> float:
    """The daemon's way: notices, pread, positions, trimming."""
    news, ended = asyncio.Event(), [-1]

    def on_notice(notice: Notice) -> None:
        if notice.session == session and isinstance(notice, ExitNotice):
            ended[0] = notice.out
        news.set()

    await keeper.watch(on_notice)
    began = time.perf_counter()
    size = PtySize(80, 24) if kind == "pty" else None
    await keeper.spawn(session, child(kind), {"PATH": os.environ["PATH"]}, "/", spawn_id="x", pty=size)
    reader, offset = SpoolReader(folder, session, "out"), 0
    while offset != ended[0]:
        await news.wait()
        news.clear()
        while data := reader.read(offset, 262144):
            offset += len(data)
        keeper.post_position(session, Position(offset, 0, offset, 0))
    reader.close()
    rate = offset / (time.perf_counter() - began) / 1e6
    await keeper.forget(session)
    return rate


async def main() -> None:
    with tempfile.TemporaryDirectory(prefix="bkb-", dir="/tmp") as name:
        folder = Path(name)
        await ensure_keeper(folder)
        keeper = await KeeperConnection.connect(folder)
        pid = (await keeper.hello()).pid
        for kind in ("pipe", "pty"):
            rates: dict[str, list[float]] = {"bare": [], "kept": []}
            for number in range(ROUNDS):
                rates["bare"].append(bare(kind))
                rates["kept"].append(await kept(keeper, folder, kind, f"{kind}-{number}"))
            one, two = statistics.median(rates["bare"]), statistics.median(rates["kept"])
            print(f"{kind}: bare {one:.0f} MB/s, through the keeper {two:.0f} MB/s, ratio {two / one:.2f}")
        print(f"keeper: {rss(pid):.1f} MB resident, {cpu(pid):.1f} s of CPU in all")
        own = resource.getrusage(resource.RUSAGE_SELF)
        print(f"this process (reader and bare loops): {own.ru_utime + own.ru_stime:.1f} s of CPU")
        before = rss(pid)
        for number in range(100):
            await keeper.spawn(f"idle-{number}", ["/bin/cat"], {}, "/", spawn_id="x")
        print(f"idle session: {(rss(pid) - before) / 100 * 1000:.0f} kB each in the keeper, at 100")
        os.kill(pid, 15)
        await keeper.wait_closed()
        await keeper.aclose()


def rss(pid: int) -> float:
    text = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(text) * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    asyncio.run(main())
