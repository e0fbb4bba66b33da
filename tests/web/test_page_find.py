"""Find in a conversation: far back in a long message it lands on the match, and counts every one of them."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, needs_chromium, open_tab
from tests.web.lantern import lantern, said, tell

from bascule.model.event_values import Usage
from bascule.model.events import PromptSent, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]

# Where the marked match is once the layout stands still, as a part of the window's height.
PLACE = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const place = () => {
    const [range] = [...(CSS.highlights.get('here') ?? [])];
    return range ? range.getBoundingClientRect().top / innerHeight : -1;
  };
  let [still, last] = [0, place()];
  for (let frames = 0; still < 6 && frames < 300; frames++) {
    await frame();
    const now = place();
    still = now === last ? still + 1 : 0;
    last = now;
  }
  return last;
}"""


@pytest.mark.row("X4")
async def test_a_match_far_back_in_a_long_message_is_in_sight_and_every_match_counts(
    tmp_path: Path, browser: Browser
) -> None:
    async with lantern(tmp_path) as hub:
        words = [f"Paragraph {n} goes on for a while. " * 6 for n in range(60)]
        needles = "\n\n".join([*words[:12], "needle, " * 21, *words[12:]])
        events = [
            PromptSent("p9", "Go on", "Mira"),
            *said("long", needles),
            *(one for n in range(90) for one in said(f"a{n}", f"answer {n}\n\n" * 5)),
            TurnEnded("end_turn", Usage(1, 1), 0.1, 1000),
        ]
        await tell(hub.store, "python310", events, each=0)
        await hub.store.searchable()
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/inbox")
        field, hint = tab.page.get_by_label("Find in this conversation"), tab.page.locator(".find-bar .hint")
        for size in (DESKTOP, LAPTOP, PHONE):
            # From the end of the conversation, whose middle is not loaded.
            await tab.page.set_viewport_size(size)
            await tab.go("/sessions/python310")
            await tab.says("answer 89")
            await tab.page.locator("#message").click()
            await tab.page.keyboard.press("Control+f")
            await field.fill("needle")
            await expect(hint).to_have_text("21 of 21")
            frames = [one for one in tab.page.frames if "/portlet" in one.url]
            [frame] = [one for one in frames if await one.evaluate("CSS.highlights.has('here')")]
            assert 0.2 < await frame.evaluate(PLACE) < 0.8
            await field.press("Enter")
            await expect(hint).to_have_text("20 of 21")
            assert 0.2 < await frame.evaluate(PLACE) < 0.8
        assert tab.errors == []
