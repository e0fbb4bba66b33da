"""The page while things happen, in Chromium: the first token of an answer, and coming back after a restart.

`PYTHONPATH=. python bench/page_live.py`. A token's time runs from before it is given to the store until the
frame after it is drawn. Coming back runs from the moment the restarted server answers until a number that the
agent counted meanwhile is painted: what the page says about its connection proves nothing.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import uvloop
from page import WATCH_TEXT, answers, frame_of, said
from playwright.async_api import Browser
from streaming import Sizes
from table import Figure, spread
from tests.hub.scripted_device import append
from tests.live import LiveServer
from tests.web.chrome import chromium, open_tab
from tests.web.lantern import begin, lantern

from bascule.model.events import EntryClosed, EntryOpened, PromptSent, TextAppended

Returns = dict[float, list[float]]  # milliseconds, by the seconds for which the server was away

TOKENS = 30
OUTAGES = (0.2, 2, 6, 12)  # seconds for which the server is away
ROUNDS = 2
# In the frame of a session whose agent counts: when is a higher number painted than the one there now?
WATCH_NUMBER = """() => {
  const newest = () => {
    const said = [...document.querySelectorAll('.agent-message')].at(-1)?.textContent ?? '';
    return Number(said.match(/\\d+/g)?.at(-1) ?? 0);
  };
  const before = newest();
  window.goneOnAt = new Promise((seen) => {
    const look = () => {
      if (newest() <= before) return requestAnimationFrame(look);
      requestAnimationFrame(() => setTimeout(() => seen(performance.timeOrigin + performance.now())));
    };
    look();
  });
  return before;
}"""


async def first_tokens(browser: Browser, folder: Path, tokens: int) -> list[float]:
    """Milliseconds until each is painted."""
    async with lantern(folder) as hub:
        await append(hub.store, "live", *begin("/code/live", "Live"), PromptSent("p", "go", "Mira"))
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/live")
        await tab.says("go")
        times: list[float] = []
        for n in range(tokens):
            frame, name, token = frame_of(tab), f"a{n}", f"token-{n}-first"
            await frame.evaluate(WATCH_TEXT, token)
            began = time.time() * 1000
            await append(
                hub.store, "live", EntryOpened(name, "assistant"), TextAppended(name, "assistant", token)
            )
            times.append(await frame.evaluate("() => window.seenAt") - began)
            await append(hub.store, "live", EntryClosed(name))
        await tab.page.context.close()
        return times


async def coming_back(browser: Browser, server: LiveServer, outage: float) -> float:
    """Milliseconds from the restarted server's first answer until the page shows what was said since."""
    session = await server.create("count 100000 50")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("3 4 5")
    await server.kill()
    await tab.told("Trying again")
    frame = frame_of(tab)
    assert await frame.evaluate(WATCH_NUMBER) >= 5
    await asyncio.sleep(outage)
    starting = asyncio.create_task(server.start())
    async with httpx.AsyncClient() as client:
        while not await answers(client, f"{server.url}/health"):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    answered = time.time() * 1000
    took = await frame.evaluate("() => window.goneOnAt") - answered
    assert took > 0, "painted before the server was there: that was text from before"
    await starting
    await server.http.delete(f"/api/sessions/{session}")
    await tab.page.context.close()
    return took


async def _measured(tokens: int, outages: tuple[float, ...], rounds: int) -> tuple[list[float], Returns]:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory(dir="/tmp", prefix="b-") as other:
        async with chromium() as browser:
            painted = await first_tokens(browser, Path(one), tokens)
            async with LiveServer(Path(other)) as server:
                back = {
                    outage: [await coming_back(browser, server, outage) for _ in range(rounds)]
                    for outage in outages
                }
    return painted, back


def page_while_live(sizes: Sizes) -> Iterator[Figure]:
    """Both are promises about every time, so that the slowest one counts."""
    quick = sizes.quick
    painted, back = uvloop.run(
        _measured(5 if quick else TOKENS, OUTAGES[:1] if quick else OUTAGES, 1 if quick else ROUNDS)
    )
    seen = f"{spread(painted, 0)} ms from the store to the screen"
    yield Figure("first token painted, the slowest", max(painted) / 1000, " s", seen, most=0.25)
    times = [took for rounds in back.values() for took in rounds]
    away = f"{min(back):g} to {max(back):g} s" if len(back) > 1 else f"{min(back):g} s"
    seen = f"{spread(times, 0)} ms after the answer of a server that was away for {away}"
    yield Figure("usable again after a restart, the slowest", max(times) / 1000, " s", seen, most=2)


async def main() -> None:
    print(f"load {os.getloadavg()[0]:.1f}")
    painted, back = await _measured(TOKENS, OUTAGES, ROUNDS)
    said("first token painted", painted)
    for outage, times in back.items():
        said(f"usable again after {outage:g} s away", times)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    uvloop.run(main())
