"""The page in Chromium: opening short and long sessions, streaming, switching tabs, the empty page.

`CLOUDCLI=/path/to/node_modules/@siteboon/claude-code-ui` measures that page beside ours, in the same run.
"""

import asyncio
import contextlib
import os
import socket
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import uvloop
from playwright.async_api import Browser, BrowserContext, Frame
from tests.hub.running_hub import RunningHub
from tests.hub.scripted_device import append
from tests.web.chrome import DESKTOP, Tab, chromium, open_tab
from tests.web.lantern import begin, lantern

from bascule.model.events import (
    AnyEvent,
    EntryClosed,
    EntryOpened,
    PromptSent,
    TextAppended,
    ToolChanged,
    ToolStarted,
)

SIZES = (400, 8_000, 100_000)  # events; four of them make one entry
ROUNDS = 5
STREAM_SECONDS, STREAM_RATE, STREAM_STEP = 20, 2_000, 100
WORDS = "words with `code` and **bold** in them. " * 3
# In the frame that will hold the session: when is the text there, and the frame after it drawn?
WATCH_TEXT = """(text) => {
  window.seenAt = new Promise((seen) => {
    const look = () => {
      if (!document.getElementById('col').textContent.includes(text)) return requestAnimationFrame(look);
      requestAnimationFrame(() => setTimeout(() => seen(performance.timeOrigin + performance.now())));
    };
    look();
  });
}"""
GO = """(path) => {
  const began = performance.timeOrigin + performance.now();
  history.pushState(null, '', path);
  dispatchEvent(new PopStateEvent('popstate'));
  return began;
}"""
WATCH_FRAMES = """() => {
  window.frameTimes = [];
  let last = performance.now();
  const next = () => {
    const now = performance.now();
    window.frameTimes.push(now - last);
    last = now;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}"""
SWITCH = """async (n) => {
  const began = performance.now();
  document.querySelectorAll('[role=tab]')[n].click();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return performance.now() - began;
}"""
# A field somebody could type into, and a turn of the event loop that came back at once.
USABLE = """() => {
  const visible = (one) => one.checkVisibility?.() && one.getBoundingClientRect().width > 40;
  window.usableAt = new Promise((done) => {
    const look = () => {
      const fields = [...document.querySelectorAll('input, textarea')];
      if (!fields.some(visible)) return requestAnimationFrame(look);
      const began = performance.now();
      setTimeout(() => (performance.now() - began < 50 ? done(performance.now()) : look()));
    };
    look();
  });
}"""


def entry(n: int) -> list[AnyEvent]:
    name = f"x{n}"
    text = TextAppended(name, "assistant", f"answer {n}: {WORDS}")
    return [EntryOpened(name, "assistant"), text, TextAppended(name, "assistant", "more"), EntryClosed(name)]


async def fill(hub: RunningHub, size: int) -> None:
    start = [*begin("/code/long", f"{size} events"), PromptSent("p", "go", "Mira")]
    await append(hub.store, f"s{size}", *start)
    for first in range(0, size, 2_000):
        rows = [one for n in range(first, min(size, first + 2_000), 4) for one in entry(n)]
        await append(hub.store, f"s{size}", *rows)


def frame_of(tab: Tab) -> Frame:
    return next(one for one in tab.page.frames if "/portlet" in one.url)


async def opening(browser: Browser, hub: RunningHub, size: int) -> float:
    """Milliseconds from the click to the last answer painted, in a page that is already there."""
    tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/settings/general")
    await tab.page.wait_for_selector(".segments")
    await tab.page.wait_for_selector("#well iframe", state="attached")
    await tab.page.wait_for_timeout(600)  # a person needs longer to choose
    frame = frame_of(tab)
    await frame.evaluate(WATCH_TEXT, f"answer {size - 4}:")
    began = await tab.page.evaluate(GO, f"/sessions/s{size}")
    took = await frame.evaluate("() => window.seenAt") - began
    await tab.page.context.close()
    return took


def stream_step(number: int) -> list[AnyEvent]:
    """A hundred events: mostly text, now and then a new message and a tool call."""
    name = f"big{number}"
    texts = [f"word{n} and `x`.\n\n" if n % 25 == 0 else f"word{n} " for n in range(STREAM_STEP - 4)]
    return [
        EntryOpened(name, "assistant"),
        *(TextAppended(name, "assistant", text) for text in texts),
        EntryClosed(name),
        ToolStarted(f"t{number}", "Bash", "make", "execute"),
        ToolChanged(f"t{number}", "done", "ok\n" * 40),
    ]


async def streaming(tab: Tab, hub: RunningHub) -> None:
    frame = frame_of(tab)
    for place in (frame, tab.page):
        await place.evaluate(WATCH_FRAMES)
    heap: list[float] = []
    began, sent = time.perf_counter(), 0
    while (gone := time.perf_counter() - began) < STREAM_SECONDS:
        await append(hub.store, "s400", *stream_step(sent))
        sent += STREAM_STEP
        if sent % (STREAM_RATE * 4) == 0:
            heap.append(await frame.evaluate("performance.memory.usedJSHeapSize / 1e6"))
        await asyncio.sleep(max(0, sent / STREAM_RATE - gone))
    print(f"streamed {sent / (time.perf_counter() - began):.0f} events/s for {STREAM_SECONDS} s")
    for name, place in (("portlet", frame), ("shell", tab.page)):
        times: list[float] = sorted(await place.evaluate("window.frameTimes"))
        late = sum(one > 50 for one in times) / len(times)
        p99 = times[int(len(times) * 0.99)]
        slow = f"{late:.2%} over 50 ms, p99 {p99:.0f} ms, worst {times[-1]:.0f} ms"
        print(f"  {name}: {len(times)} frames, {slow}")
    nodes = await frame.evaluate("document.querySelectorAll('*').length")
    print(f"  heap of the frame every 4 s: {', '.join(f'{one:.0f}' for one in heap)} MB; {nodes} elements")


async def usable(browser: Browser, url: str) -> tuple[float, float]:
    """Milliseconds from the first byte to a field to type into: in a fresh browser, and once more."""
    context = await browser.new_context(viewport=DESKTOP)
    first = await visit(context, url)
    again = await visit(context, url)
    await context.close()
    return first, again


async def visit(context: BrowserContext, url: str) -> float:
    page = await context.new_page()
    await page.add_init_script(f"({USABLE})()")
    await page.goto(url, wait_until="commit")
    took: float = await page.evaluate("() => window.usableAt")
    await page.wait_for_timeout(1500)  # what comes later is not to be in the way of the next visit
    await page.close()
    return took


@contextlib.asynccontextmanager
async def cloudcli(folder: Path) -> AsyncIterator[str | None]:
    """The other page, served by its own server, when it is installed."""
    place = os.environ.get("CLOUDCLI")
    if not place:
        yield None
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = {"HOME": str(folder), "PORT": str(port), "DATABASE_PATH": str(folder / "auth.db")}
    server = await asyncio.create_subprocess_exec(
        "node", "server/index.js", cwd=place, env={**os.environ, **home, "NODE_ENV": "production"},
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}/"
    try:
        async with httpx.AsyncClient() as client, asyncio.timeout(60):
            while not await answers(client, url):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        yield url
    finally:
        server.terminate()
        await server.wait()


async def answers(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(url)).status_code < 500
    except httpx.TransportError:
        return False


def said(name: str, times: list[float]) -> None:
    best, middle, worst = min(times), statistics.median(times), max(times)
    print(f"{name}: median {middle:.0f} ms, best {best:.0f} ms, worst {worst:.0f} ms")


async def main() -> None:
    print(f"load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        async with lantern(Path(folder)) as hub, chromium() as browser, cloudcli(Path(other)) as beside:
            for size in SIZES:
                await fill(hub, size)
            times: dict[Any, list[float]] = {size: [] for size in SIZES}
            ours: list[tuple[float, float]] = []
            theirs: list[tuple[float, float]] = []
            for _ in range(ROUNDS):  # interleaved, so that a busy moment hits all alike
                for size in SIZES:
                    times[size].append(await opening(browser, hub, size))
                ours.append(await usable(browser, f"{hub.url}/#token={hub.tokens['Mira']}"))
                if beside:
                    theirs.append(await usable(browser, beside))
            for size in SIZES:
                said(f"open {size:>7} events", times[size])
            for n, when in enumerate(("in a fresh browser", "on a second visit")):
                said(f"empty page usable {when}", [one[n] for one in ours])
                if beside:
                    said(f"CloudCLI's page usable {when}", [one[n] for one in theirs])
            tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/s400")
            await tab.says("answer 396:")
            await streaming(tab, hub)
            await tab.page.evaluate(GO, "/sessions/uploads")
            await tab.says("Parts are only")
            said("switch tabs", [await tab.page.evaluate(SWITCH, n % 2) for n in range(20)])
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    uvloop.run(main())  # the loop the server has
