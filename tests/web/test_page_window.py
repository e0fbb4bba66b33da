"""A long conversation in its frame: following, staying, loading both ways, finding, jumping; bounded."""

import pytest
from playwright.async_api import Browser
from tests.hub.running_hub import RunningHub
from tests.web.chrome import needs_chromium
from tests.web.portlet import Portlet, portlet_alone, prompt, said, tool

pytestmark = [pytest.mark.anyio, needs_chromium]

AT_END = "document.scrollingElement.scrollHeight - scrollY - innerHeight < 49"
# What the reader sees first, and where, once it stands still: heights of what was never drawn are guesses,
# and a frame or two after a scroll the true ones take their place.
HERE = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const here = () => {
    const all = [...document.querySelectorAll('#col > .block')];
    const seen = all.find((one) => one.getBoundingClientRect().bottom > 0);
    return [Number(seen.dataset.seq), seen.getBoundingClientRect().top];
  };
  let [still, last] = [0, here()];
  for (let frames = 0; still < 5 && frames < 300; frames++) {
    await frame();
    const now = here();
    still = String(now) === String(last) ? still + 1 : 0;
    last = now;
  }
  return last;
}"""
# A mark stays for seconds only.
NOTE_MARKS = """() => {
  window.marks = [];
  new MutationObserver(() => {
    for (const one of document.querySelectorAll('.marked')) window.marks.push(one.textContent);
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ['class'] });
}"""
JUMP_SHOWN = "!document.querySelector('.jump').hidden"


def conversation(length: int) -> list[dict[str, object]]:
    """Numbered lines ten apart, with own prompts at 100 and in the middle, and one needle near the start."""
    middle = length // 2 * 10
    entries = [said(n * 10, f"line {n}. " + "It goes on a little. " * 4) for n in range(1, length + 1)]
    entries[9] = prompt(100, "the first question")
    entries[length // 2 - 1] = prompt(middle, "the middle question")
    entries[4] = tool(50, output="a needle in the hay", input={"file_path": "/code/hay.txt"})
    return entries


def streamed(seq: int, text: str) -> list[dict[str, object]]:
    name = f"n{seq}"
    events = [
        {"type": "entry_opened", "entry_id": name, "kind": "assistant"},
        {"type": "text_appended", "entry_id": name, "kind": "assistant", "text": text},
        {"type": "entry_closed", "entry_id": name},
    ]
    return [{"seq": seq + n, "at": "2026-11-12T15:00:00Z", "event": one} for n, one in enumerate(events)]


async def bounded(portlet: Portlet) -> None:
    assert await portlet.frame.evaluate("document.querySelectorAll('#col > .block').length") <= 451


@pytest.mark.row("TC-3.6a", "TC-3.6b", "TC-3.6c", "X5", "A7", "A11")
async def test_the_reader_follows_stays_and_comes_back(hub: RunningHub, browser: Browser) -> None:
    async with portlet_alone(browser, hub.url, conversation(2000)) as portlet:
        await portlet.open()
        await portlet.sees("line 2000.")
        await portlet.until(AT_END)
        await portlet.tell("events", entries=streamed(20_010, "fresh one. " * 200))
        await portlet.sees("fresh one.")
        await portlet.until(AT_END)  # it followed
        # Somebody reads further up: nothing moves under their eyes.
        await portlet.frame.evaluate("scrollBy(0, -600)")
        await portlet.until(JUMP_SHOWN)
        before = await portlet.frame.evaluate(HERE)
        await portlet.tell("events", entries=streamed(20_020, "fresh two. " * 200))
        await portlet.until("document.querySelector('.jump').classList.contains('fresh')")
        assert await portlet.frame.evaluate(HERE) == pytest.approx(before, abs=2)
        await portlet.frame.locator(".jump").click()
        await portlet.sees("fresh two.")
        await portlet.until(AT_END)
        await portlet.until("document.querySelector('.jump').hidden")
        # Up through the pages: the line in sight stays in sight, and old ends are forgotten.
        for _ in range(14):
            held = await portlet.frame.evaluate("Number(document.querySelector('#col > .block').dataset.seq)")
            await portlet.frame.evaluate("scrollTo(0, 300)")
            await portlet.until(f"Number(document.querySelector('#col > .block').dataset.seq) < {held}")
            await portlet.until(f"scrollY > 300 || {held} <= 70")
            await bounded(portlet)
        assert "fresh two" not in await portlet.frame.locator("#col").inner_text()
        await portlet.tell("events", entries=streamed(20_030, "fresh three."))
        # The live end was let go. Going down brings it back page by page; the button, at once.
        last = "Number(document.querySelector('#col > .block:last-child').dataset.seq)"
        held = await portlet.frame.evaluate(last)
        await portlet.frame.evaluate("scrollTo(0, document.scrollingElement.scrollHeight)")
        await portlet.until(f"{last} > {held}")
        await bounded(portlet)
        portlet.entries += [
            said(20_010, "fresh one."),
            said(20_020, "fresh two."),
            said(20_030, "fresh three."),
        ]
        await portlet.frame.locator(".jump").click()
        await portlet.sees("fresh three.")
        await portlet.until(AT_END)
        await portlet.tell("events", entries=streamed(20_040, "fresh four."))
        await portlet.sees("fresh four.")


@pytest.mark.row("X4", "A10")
async def test_finding_going_and_jumping_reach_what_is_not_loaded(hub: RunningHub, browser: Browser) -> None:
    async with portlet_alone(browser, hub.url, conversation(3000)) as portlet:
        await portlet.open()
        await portlet.sees("line 3000.")
        # Find: the server names an entry far up; the frame asks for what is around it, and opens its line.
        await portlet.tell("find", text="needle", step=0)
        await portlet.hears(type="search", text="needle")
        await portlet.tell("hits", text="needle", seqs=[50])
        await portlet.hears(type="more", around=50)
        await portlet.sees("a needle in the hay")
        await portlet.hears(type="found", count=1, at=1)
        await portlet.until("CSS.highlights.get('here')?.size === 1")
        await portlet.tell("find", text="", step=0)
        await portlet.until("CSS.highlights.size === 0")
        # Go to a message that a search in the list found: nearest at or before its number, and marked.
        await portlet.frame.evaluate(NOTE_MARKS)
        await portlet.tell("goto", seq=15_505)
        await portlet.sees("line 1550.")
        await portlet.until("window.marks.some((one) => one.includes('line 1550.'))")
        # From own prompt to own prompt, loading on the way.
        await portlet.tell("prompt", step=-1)
        await portlet.sees("the middle question")
        await portlet.tell("prompt", step=-1)
        await portlet.sees("the first question")
        await bounded(portlet)
        await portlet.tell("prompt", step=1)
        await portlet.sees("the middle question")
        # A reader who may not search everything finds all the same, page by page.
        portlet.asked.clear()
        await portlet.tell("find", text="line 12. ", step=0)
        await portlet.hears(type="search", text="line 12. ")
        await portlet.tell("hits", text="line 12. ", seqs=None)
        await portlet.sees("line 12. ")
        await portlet.hears(type="found", count=1, at=1)
        # A refused page is asked for again, not forgotten.
        portlet.answers = False
        portlet.asked.clear()
        await portlet.tell("goto", seq=29_990)
        await portlet.hears(type="more", around=29_990)
        question = next(one for one in portlet.asked if one.get("around") == 29_990)
        await portlet.tell("page", number=question["number"], page=None)
        portlet.answers = True
        await portlet.tell("goto", seq=29_990)
        await portlet.sees("line 2999.")
