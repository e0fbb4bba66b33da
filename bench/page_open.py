"""How long it takes to open a long history, a longer one and another tab, and to start a server."""

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import uvloop
from page import GO, SWITCH, answers, fill, opening
from playwright.async_api import Browser
from streaming import Sizes
from table import Figure, spread
from tests.live import LiveServer
from tests.web.chrome import chromium, open_tab
from tests.web.lantern import lantern

PLAIN, LONG = 8_000, 100_000  # events; four of them make one entry
SWITCHES = 20


async def opened(browser: Browser, folder: Path, rounds: int) -> tuple[list[float], list[float], list[float]]:
    """Milliseconds until the end of a history is painted, of 2,000 entries and of 25,000; and of a switch."""
    async with lantern(folder) as hub:
        for size in (PLAIN, LONG):
            await fill(hub, size)
        plain, long = list[float](), list[float]()
        for _ in range(rounds):  # interleaved, so that a busy moment hits both alike
            plain.append(await opening(browser, hub, PLAIN))
            long.append(await opening(browser, hub, LONG))
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path=f"/sessions/s{PLAIN}")
        await tab.says(f"answer {PLAIN - 4}:")
        await tab.page.evaluate(GO, f"/sessions/s{LONG}")
        await tab.says(f"answer {LONG - 4}:")
        return plain, long, [await tab.page.evaluate(SWITCH, n % 2) for n in range(SWITCHES)]


async def start(folder: Path) -> float:
    """Milliseconds from the command to the first answer of a server with an empty state folder."""
    server = LiveServer(folder)
    began = time.monotonic()
    try:
        await server.start()
        async with httpx.AsyncClient() as client:
            assert await answers(client, f"{server.url}/health")
        return (time.monotonic() - began) * 1000
    finally:
        await server.stop()
        await server.end_keeper()


async def _starts(rounds: int) -> list[float]:
    times: list[float] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(dir="/tmp", prefix="b-") as folder:
            times.append(await start(Path(folder)))
    return times


async def _measured(rounds: int) -> tuple[list[float], list[float], list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        async with chromium() as browser:
            return await opened(browser, Path(folder), rounds)


def page_opening(sizes: Sizes) -> Iterator[Figure]:
    plain, long, switches = uvloop.run(_measured(sizes.rounds))
    middle = statistics.median(plain)
    yield Figure(
        "history of 2,000 entries", middle, " ms", f"{spread(plain, 0)} ms from the click to paint", most=500
    )
    seen = f"{spread(long, 0)} ms for 25,000 entries"
    yield Figure("a history 12 times as long", statistics.median(long) / middle, " ×", seen, most=1.5)
    yield Figure("switching tabs, the slowest", max(switches), " ms", f"{spread(switches, 0)} ms", most=100)
    times = uvloop.run(_starts(sizes.rounds))
    yield Figure(
        "start of a server", statistics.median(times) / 1000, " s", f"{spread(times, 0)} ms", most=1.5
    )
