"""The first visit to the empty page, as a bundle and as single modules, here and over a slow line."""

import os
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import uvloop
from page import USABLE
from playwright.async_api import Browser
from streaming import Sizes
from table import Figure, spread
from tests.hub.page_forms import FORMS
from tests.hub.running_hub import RunningHub
from tests.web.chrome import DESKTOP, chromium
from tests.web.lantern import lantern

from bascule.hub.page.web_files import PageFiles

Line = dict[str, Any] | None
Visit = tuple[float, int, int]

ROUNDS = 5
SPEED = 10_000_000 / 8
# Chromium's own emulation: the delay is one round trip for each request.
LINES: dict[str, Line] = {
    "this machine": None,
    "100 ms, 10 Mbit/s": {"latency": 100, "downloadThroughput": SPEED, "uploadThroughput": SPEED},
}


async def visit(browser: Browser, hub: RunningHub, line: Line) -> Visit:
    """Milliseconds until a field can be typed into; requests and bytes that were answered by then."""
    context = await browser.new_context(viewport=DESKTOP)
    page = await context.new_page()
    devtools = await context.new_cdp_session(page)
    sizes: list[float] = []
    devtools.on("Network.loadingFinished", lambda done: sizes.append(done["encodedDataLength"]))
    await devtools.send("Network.enable")
    if line:
        await devtools.send("Network.emulateNetworkConditions", {"offline": False, **line})
    await page.add_init_script(f"({USABLE})()")
    await page.goto(f"{hub.url}/#token={hub.tokens['Mira']}", wait_until="commit")
    took: float = await page.evaluate("() => window.usableAt")
    asked = len(sizes), int(sum(sizes))
    await context.close()
    return took, *asked


async def measured(form: Callable[[], PageFiles], browser: Browser, line: Line) -> Visit:
    with tempfile.TemporaryDirectory() as folder:
        async with lantern(Path(folder), empty=True, page=form) as hub:
            return await visit(browser, hub, line)


async def _slow_line(rounds: int) -> list[float]:
    async with chromium() as browser:
        line = LINES["100 ms, 10 Mbit/s"]
        return [(await measured(FORMS["bundle"], browser, line))[0] for _ in range(rounds)]


def page_over_slow_line(sizes: Sizes) -> Iterator[Figure]:
    times = uvloop.run(_slow_line(sizes.rounds))
    seen = f"{spread(times, 0)} ms until a field can be typed into"
    yield Figure("page over 100 ms and 10 Mbit/s", statistics.median(times) / 1000, " s", seen, most=1.2)


def said(name: str, rounds: list[Visit]) -> None:
    times = [took for took, _, _ in rounds]
    _, requests, sent = rounds[-1]
    middle = f"{statistics.median(times):.0f} ({min(times):.0f}..{max(times):.0f}) ms"
    print(f"{name}: usable in {middle}, {requests} requests, {sent / 1000:.0f} KB")


async def main() -> None:
    print(f"load {os.getloadavg()[0]:.1f}")
    async with chromium() as browser:
        for name, line in LINES.items():
            found: dict[str, list[Visit]] = {form: [] for form in FORMS}
            for _ in range(ROUNDS):  # interleaved, so that a busy moment hits both alike
                for form, make in FORMS.items():
                    found[form].append(await measured(make, browser, line))
            for form, rounds in found.items():
                said(f"{name}, {form}", rounds)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    uvloop.run(main())  # the loop the server has
