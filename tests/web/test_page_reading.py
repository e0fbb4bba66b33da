"""Reading a session: paths that open, what was asked in sight, lines that wrap, waiting that is no work."""

import base64
import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from playwright.async_api import Browser, Locator, Page, expect
from tests.hub.running_hub import RunningHub, until
from tests.hub.scripted_device import append
from tests.parts import Part
from tests.web.chrome import DESKTOP, PHONE, SIZES, needs_chromium, open_tab

from bascule.daemon.files.confined import ConfinedFolder
from bascule.daemon.files.folder_listing import list_files
from bascule.link.files import ReadFile
from bascule.model.codec import timestamp
from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    SessionReady,
    TextSaid,
    ToolChanged,
    ToolStarted,
    TurnEnded,
)
from bascule.store.base import Batch

pytestmark = [pytest.mark.anyio, needs_chromium]

SMALL = {"width": 1280, "height": 720}
WIDE = "x = " + "+".join(f"value_{n}" for n in range(60))
LINK = "https://example.com/" + "a" * 160
ANSWER = f"""See `src/app.py:12`, or src/app.py:3 in a sentence; http://127.0.0.1:8080/a.html:3 is an address.

| what | where |
|---|---|
| [{LINK}]({LINK}) | last column |

```text
{WIDE}
```
"""
LONG = "\n\n".join(f"Paragraph {n} of a long answer." for n in range(120))


def call(tool_id: str, name: str, kind: Any, **fields: Any) -> ToolStarted:
    return ToolStarted(tool_id, name, name, kind, Raw(json.dumps(fields).encode()))


async def told(hub: RunningHub, *events: AnyEvent) -> None:
    await hub.session("s1")
    await append(hub.store, "s1", SessionReady("abc"), *events)


@pytest.mark.parametrize("size", [DESKTOP, SMALL, PHONE])
async def test_a_path_in_text_or_in_a_tool_line_opens_the_file_beside_it(
    hub: RunningHub, browser: Browser, size: Any
) -> None:
    await told(
        hub,
        PromptSent("p1", "Where is it?", "ana"),
        call("t1", "Read", "read", file_path="/tmp/src/app.py"),
        ToolChanged("t1", "done", "one"),
        TextSaid("m1", "assistant", ANSWER),
        TurnEnded("end_turn"),
    )
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=size)
    await tab.says("See ")
    links = tab.well.locator(".path-link")
    await expect(links).to_have_text(["src/app.py:12", "src/app.py:3"])
    await tab.well.locator("summary", has_text="app.py").click()
    await expect(links).to_have_count(3)
    await links.nth(1).click()
    panel = tab.page.locator("#panel")
    await expect(panel.get_by_role("tree", name="Files")).to_be_visible()
    await expect(panel.get_by_label("Filter files")).to_be_visible()

    def asked() -> list[str]:
        return [one.path for one in hub.device.commands if isinstance(one, ReadFile)]

    await until(lambda: bool(asked()))
    assert asked()[-1:] == ["src/app.py"]
    assert tab.errors == []


async def test_wide_tables_and_code_stay_in_the_column_and_code_wraps(
    hub: RunningHub, browser: Browser
) -> None:
    await told(hub, PromptSent("p1", "Wide", "ana"), TextSaid("m1", "assistant", ANSWER))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=SMALL)
    await tab.says("last column")
    inside = """(one) => { const box = one.closest('.data-table').getBoundingClientRect();
      const mine = one.getBoundingClientRect(); return mine.right <= box.right + 1; }"""
    assert await tab.well.locator("td", has_text="last column").evaluate(inside)
    pre = tab.well.locator(".code-block pre")
    wide = "(one) => one.scrollWidth > one.clientWidth"
    assert await pre.evaluate(wide)
    wrap = tab.well.get_by_role("button", name="Wrap long lines")
    await expect(wrap).to_have_css("opacity", "0")
    await pre.hover()
    await expect(wrap).to_have_css("opacity", "1")
    await wrap.click()
    assert not await pre.evaluate(wide)


@SIZES
async def test_an_edge_beyond_which_code_or_a_table_goes_on_is_shaded(
    hub: RunningHub, browser: Browser, sizes: Any, part: Part
) -> None:
    cells = [[f"number {row} {n}" for n in range(40)] for row in range(3)]
    table = "\n".join(" | ".join(row) for row in (cells[0], ["---"] * 40, *cells[1:]))
    text = f"{table}\n\n```text\n{WIDE}\n```\n\n```text\nshort\n```\n"
    await told(hub, PromptSent("p1", "Wide", "ana"), TextSaid("m1", "assistant", text))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=sizes[0])
    await tab.says("short")
    blank = await browser.new_page()
    for size, theme in itertools.product(sizes, ("dark", "light")):
        with part(f"{size['width']} wide, {theme}"):
            await tab.page.set_viewport_size(size)
            await tab.page.emulate_media(color_scheme=theme)
            for one in (tab.well.locator(".data-table"), tab.well.locator(".code-block pre").first):
                await one.scroll_into_view_if_needed()
                await one.evaluate("(one) => { one.scrollLeft = 0; }")
                assert await shaded(blank, one) == [False, True]
                await one.evaluate("(one) => { one.scrollLeft = one.scrollWidth / 2; }")
                assert await shaded(blank, one) == [True, True]
                await one.evaluate("(one) => { one.scrollLeft = one.scrollWidth; }")
                assert await shaded(blank, one) == [True, False]
            assert await shaded(blank, tab.well.locator(".code-block pre").last) == [False, False]


# Of the free strip at the foot of a picture: how much each edge differs from the middle.
EDGES = """async (png) => {
  const picture = new Image();
  picture.src = `data:image/png;base64,${png}`;
  await picture.decode();
  const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
  canvas.drawImage(picture, 0, 0);
  const at = (x) => canvas.getImageData(x, picture.height - 6, 1, 1).data.slice(0, 3);
  const [left, middle, right] = [5, picture.width >> 1, picture.width - 6].map(at);
  const apart = (one) => Math.max(...one.map((value, n) => Math.abs(value - middle[n])));
  return [apart(left), apart(right)];
}"""


async def shaded(blank: Page, box: Locator) -> list[bool]:
    """Whether its left and its right edge are shaded, by what is painted. An empty page reads the picture."""
    png = base64.b64encode(await box.screenshot()).decode()
    apart = await blank.evaluate(EDGES, png)
    return [one > 6 for one in apart]


@pytest.mark.parametrize("size", [SMALL, PHONE])
async def test_what_was_asked_stays_in_sight_while_its_answer_is_read(
    hub: RunningHub, browser: Browser, size: Any
) -> None:
    await told(hub, PromptSent("p1", "Tell me all about herons", "ana"), TextSaid("m1", "assistant", LONG))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=size)
    await tab.says("Paragraph 119")
    line = tab.well.get_by_role("button", name="Go to what was asked: Tell me all about herons")
    await expect(line).to_be_visible()
    await line.click()
    await expect(tab.well.locator(".user-message")).to_be_in_viewport()
    await expect(line).to_be_hidden()


async def test_the_time_a_person_took_is_not_the_agents(hub: RunningHub, browser: Browser) -> None:
    command = Raw(json.dumps({"command": "make"}).encode())
    events: list[tuple[float, AnyEvent]] = [
        (60, SessionReady("abc")),
        (59, PromptSent("p1", "Build", "ana")),
        (58, call("t1", "Bash", "execute", command="make")),
        (58, PermissionRequested("r1", "Bash", "make", "execute", command, "0" * 64, (), tool_id="t1")),
        (41, PermissionAnswered("r1", "allow", "ana")),
        (40.7, ToolChanged("t1", "done", "ok")),
        (40, TurnEnded("end_turn", duration_ms=19_000)),
    ]
    await hub.session("s1")
    record = await hub.store.session("s1")
    assert record is not None
    first = record.seq + 1
    now = float(int(time.time()))
    for n, (ago, event) in enumerate(events):
        await hub.store.append(Batch("s1", first + n, timestamp(now - ago), [event]))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    await expect(tab.well.locator(".tool .meta")).to_have_text("300 ms · waited 17 s")
    await expect(tab.well.locator(".turn__foot .meta")).to_have_text("2 s · waited 17 s")


def test_the_repositorys_own_folder_is_not_listed(tmp_path: Path) -> None:
    for name in (".git", "src", ".github"):
        (tmp_path / name).mkdir()
    listed = list_files(ConfinedFolder(str(tmp_path), ()), "")
    assert [item.name for item in listed.items] == [".github", "src"]
