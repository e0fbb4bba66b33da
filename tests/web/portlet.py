"""The transcript's frame alone: a page that plays the shell to it, with a conversation made in Python."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from playwright.async_api import Browser, Frame, Page
from tests.waiting import PATIENCE, PATIENCE_MS
from tests.web.chrome import DESKTOP

PLAY_SHELL = """() => {
  const frame = document.createElement('iframe');
  frame.sandbox = 'allow-scripts';
  frame.src = '/portlet#dark';
  frame.className = 'alone';
  return new Promise((ready) => {
    addEventListener('message', (event) => {
      if (event.source !== frame.contentWindow) return;
      window.port = event.ports[0];
      window.port.onmessage = (message) => window.heard(message.data);
      ready(true);
    });
    document.body.replaceChildren(frame);
  });
}"""
IN_SIGHT = """(text) => [...document.querySelectorAll('.block')].some((one) => {
  const { top, bottom } = one.getBoundingClientRect();
  return bottom > 0 && top < innerHeight && one.textContent.includes(text);
})"""
AT = "2026-11-12T14:00:00Z"


def said(seq: int, text: str, **more: Any) -> dict[str, Any]:
    base = {"kind": "text", "voice": "assistant", "entry_id": f"m{seq}", "at": AT, "text": text}
    return {**base, "first_seq": seq, "last_seq": seq, **more}


def prompt(seq: int, text: str) -> dict[str, Any]:
    base = {"kind": "prompt", "prompt_id": f"p{seq}", "at": AT, "text": text, "by": "ana"}
    return {**base, "first_seq": seq, "last_seq": seq}


def tool(seq: int, kind: str = "read", **more: Any) -> dict[str, Any]:
    base = {"kind": "tool", "tool_id": f"t{seq}", "name": "Read", "title": f"call {seq}", "tool_kind": kind}
    return {**base, "at": AT, "first_seq": seq, "last_seq": seq, "status": "done", **more}


class Portlet:
    """A frame, what it asked for, and answers to what it asks from a list of entries."""

    def __init__(self, page: Page, entries: list[dict[str, Any]], most: int = 60) -> None:
        self.page, self.entries, self.most = page, entries, most
        self.asked: list[dict[str, Any]] = []
        self.answers = True
        self.news = asyncio.Event()
        self._answering: set[asyncio.Task[None]] = set()

    @property
    def frame(self) -> Frame:
        return next(one for one in self.page.frames if "/portlet" in one.url)

    @property
    def seq(self) -> int:
        return max((one["last_seq"] for one in self.entries), default=0)

    async def tell(self, kind: str, **fields: Any) -> None:
        await self.page.evaluate("(message) => window.port.postMessage(message)", {"type": kind, **fields})

    async def heard(self, message: dict[str, Any]) -> None:
        self.asked.append(message)
        self.news.set()
        if message["type"] == "more" and self.answers:
            task = asyncio.create_task(self.answer(message), name="answer the frame")
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

    async def end(self) -> None:
        """No more answers: one that is under way must not meet a closed page."""
        self.answers = False
        await asyncio.gather(*self._answering, return_exceptions=True)

    async def answer(self, message: dict[str, Any]) -> None:
        place = {name: message[name] for name in ("before", "after", "around") if name in message}
        await self.tell("page", number=message["number"], page=self.read(**place))

    def read(
        self, before: int | None = None, after: int | None = None, around: int | None = None
    ) -> dict[str, Any]:
        """A page, as the server cuts it."""
        firsts = [one["first_seq"] for one in self.entries]
        below: Callable[[int], int] = lambda seq: sum(one < seq for one in firsts)  # noqa: E731
        if around is not None:
            start = max(0, below(around) - self.most // 2)
            stop = min(len(firsts), start + self.most)
        elif after is not None:
            start = below(after + 1)
            stop = min(len(firsts), start + self.most)
        else:
            stop = len(firsts) if before is None else below(before)
            start = max(0, stop - self.most)
        chosen = self.entries[start:stop]
        return {
            "seq": self.seq,
            "entries": chosen,
            "before": chosen[0]["first_seq"] if chosen and start > 0 else None,
            "after": chosen[-1]["first_seq"] if chosen and stop < len(firsts) else None,
        }

    async def open(self) -> None:
        await self.tell("open", cwd="/code", **self.read())

    async def until(self, script: str, arg: Any = None) -> None:
        """Wait until something is true in the frame. Playwright's own wait needs `eval`: forbidden there."""
        async with asyncio.timeout(PATIENCE):
            while not await self.frame.evaluate(script, arg):  # noqa: ASYNC110
                await asyncio.sleep(0.03)  # there is no event to wait for

    async def sees(self, text: str) -> None:
        """Wait until a line with this text is on the screen."""
        await self.until(IN_SIGHT, text)

    async def hears(self, **fields: Any) -> None:
        """Wait until the frame has said this to the shell."""
        async with asyncio.timeout(PATIENCE):
            while not any(fields.items() <= one.items() for one in self.asked):
                await self.news.wait()
                self.news.clear()


@contextlib.asynccontextmanager
async def portlet_alone(
    browser: Browser, url: str, entries: list[dict[str, Any]], size: Any = DESKTOP
) -> AsyncIterator[Portlet]:
    context = await browser.new_context(viewport=size)
    page = await context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.goto(url + "/")
    made = Portlet(page, entries)
    await page.expose_function("heard", made.heard)
    await page.evaluate(PLAY_SHELL)
    await page.evaluate("document.querySelector('.alone').setAttribute('width', innerWidth - 40)")
    await page.evaluate("document.querySelector('.alone').setAttribute('height', innerHeight - 40)")
    try:
        yield made
    finally:
        await made.end()
        await context.close()
