"""The page in Chromium: opening short and long sessions, streaming 2,000 events a second, switching tabs."""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from playwright.async_api import Browser
from tests.hub.stage import Stage, append
from tests.web.chrome import Tab, chromium, open_tab
from tests.web.lantern import begin, lantern

from bascule.model.events import AnyEvent, EntryClosed, EntryOpened, PromptSent, TextAppended

SIZES = (400, 8_000, 100_000)  # events; four of them make one entry
ROUNDS = 5
STREAM_SECONDS, STREAM_RATE, STREAM_STEP = 10, 2_000, 100
WORDS = "words with `code` and **bold** in them. " * 3
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


def entry(n: int) -> list[AnyEvent]:
    name = f"x{n}"
    text = TextAppended(name, "assistant", f"answer {n}: {WORDS}")
    return [EntryOpened(name, "assistant"), text, TextAppended(name, "assistant", "more"), EntryClosed(name)]


async def fill(world: Stage, size: int) -> None:
    start = [*begin("/code/long", f"{size} events"), PromptSent("p", "go", "Mira")]
    await append(world.store, f"s{size}", *start)
    for first in range(0, size, 2_000):
        rows = [one for n in range(first, min(size, first + 2_000), 4) for one in entry(n)]
        await append(world.store, f"s{size}", *rows)


async def go(tab: Tab, session: str) -> None:
    await tab.page.evaluate(
        "(path) => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')); }",
        f"/sessions/{session}",
    )


async def opening(browser: Browser, world: Stage, size: int) -> float:
    """Milliseconds from the click to the last answer in sight, in a page that is already there."""
    tab = await open_tab(browser, world.url, world.tokens["Mira"], path="/settings/general")
    await tab.page.wait_for_selector(".seg")
    await tab.page.wait_for_selector("#well iframe", state="attached")
    await tab.page.wait_for_timeout(400)  # a person needs longer to choose
    began = time.perf_counter()
    await go(tab, f"s{size}")
    await tab.says(f"answer {size - 4}:")
    took = (time.perf_counter() - began) * 1000
    await tab.page.context.close()
    return took


async def streaming(tab: Tab, world: Stage) -> None:
    frame = next(one for one in tab.page.frames if "/portlet" in one.url)
    for place in (frame, tab.page):
        await place.evaluate(WATCH_FRAMES)
    await append(world.store, "s400", EntryOpened("big", "assistant"))
    began, sent = time.perf_counter(), 0
    while (gone := time.perf_counter() - began) < STREAM_SECONDS:
        texts = (f"word{n} and `x`.\n\n" if n % 25 == 0 else f"word{n} " for n in range(STREAM_STEP))
        await append(world.store, "s400", *(TextAppended("big", "assistant", text) for text in texts))
        sent += STREAM_STEP
        await asyncio.sleep(max(0, sent / STREAM_RATE - gone))
    print(f"streamed {sent / (time.perf_counter() - began):.0f} events/s for {STREAM_SECONDS} s")
    for name, place in (("portlet", frame), ("shell", tab.page)):
        times = sorted(await place.evaluate("window.frameTimes"))
        late = sum(one > 50 for one in times) / len(times)
        heap = await place.evaluate("performance.memory.usedJSHeapSize / 1e6")
        p99 = times[int(len(times) * 0.99)]
        print(f"  {name}: {len(times)} frames, {late:.1%} over 50 ms, p99 {p99:.0f} ms, heap {heap:.0f} MB")


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with lantern(Path(folder)) as world, chromium() as browser:
            for size in SIZES:
                await fill(world, size)
            times: dict[int, list[float]] = {size: [] for size in SIZES}
            for _ in range(ROUNDS):  # interleaved, so that a busy moment hits all alike
                for size in SIZES:
                    times[size].append(await opening(browser, world, size))
            for size, took in times.items():
                print(
                    f"open {size:>7} events: median {statistics.median(took):.0f} ms, best {min(took):.0f} ms"
                )
            tab = await open_tab(browser, world.url, world.tokens["Mira"], path="/sessions/s400")
            await tab.says("answer 396:")
            await streaming(tab, world)
            await go(tab, "uploads")
            await tab.says("Parts are only")
            switched = [await tab.page.evaluate(SWITCH, n % 2) for n in range(20)]
            print(f"switch tabs: median {statistics.median(switched):.0f} ms, worst {max(switched):.0f} ms")


if __name__ == "__main__":
    asyncio.run(main())
