"""The page while things happen, in Chromium: the first token of an answer, and coming back after a restart.

`PYTHONPATH=. python bench/page_live.py`. A token's time runs from before it is given to the store until the
frame after it is drawn. Coming back runs from the moment the restarted server answers until the page no
longer says that the connection is lost.
"""

import asyncio
import os
import tempfile
import time
from pathlib import Path

import httpx
import uvloop
from page import WATCH_TEXT, answers, frame_of, said
from playwright.async_api import Browser
from tests.hub.scripted_device import append
from tests.live import LiveServer
from tests.web.chrome import chromium, open_tab
from tests.web.lantern import begin, lantern

from bascule.model.events import EntryClosed, EntryOpened, PromptSent, TextAppended

TOKENS = 30
OUTAGES = (0.2, 2, 6, 12)  # seconds for which the server is away
ROUNDS = 2
# Connected again: no word of a lost connection any more.
WATCH_LINE = """() => {
  window.backAt = new Promise((back) => {
    const look = () => {
      const words = document.querySelector('#banner')?.textContent ?? '';
      if (/[Tt]rying|lost|can’t be reached/.test(words)) return requestAnimationFrame(look);
      back(performance.timeOrigin + performance.now());
    };
    look();
  });
}"""


async def first_tokens(browser: Browser, folder: Path) -> list[float]:
    async with lantern(folder) as hub:
        await append(hub.store, "live", *begin("/code/live", "Live"), PromptSent("p", "go", "Mira"))
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/live")
        await tab.says("go")
        times: list[float] = []
        for n in range(TOKENS):
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
    session = await server.create("count 100000 50")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("3 4 5")
    await server.kill()
    await tab.told("Trying again")
    await tab.page.evaluate(WATCH_LINE)
    await asyncio.sleep(outage)
    starting = asyncio.create_task(server.start())
    async with httpx.AsyncClient() as client:
        while not await answers(client, f"{server.url}/health"):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    answered = time.time() * 1000
    took = await tab.page.evaluate("() => window.backAt") - answered
    await starting
    await server.http.delete(f"/api/sessions/{session}")
    await tab.page.context.close()
    return took


async def main() -> None:
    print(f"load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory(dir="/tmp", prefix="b-") as other:
        async with chromium() as browser:
            said("first token painted", await first_tokens(browser, Path(one)))
            async with LiveServer(Path(other)) as server:
                for outage in OUTAGES:
                    times = [await coming_back(browser, server, outage) for _ in range(ROUNDS)]
                    said(f"usable again after {outage:g} s away", times)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    uvloop.run(main())
