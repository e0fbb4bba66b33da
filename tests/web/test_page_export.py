"""A session as a web page of its own: read as a person would, in both themes, on a phone and on paper."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from playwright.async_api import Browser, Page, expect
from tests.hub.running_hub import RunningHub
from tests.hub.scripted_device import append
from tests.parts import Part
from tests.web.axe import AXE, RUN
from tests.web.chrome import DESKTOP, LAPTOP, PHONE, needs_chromium, open_tab

from bascule.model.event_values import Usage
from bascule.model.events import (
    AnyEvent,
    Diff,
    Interrupted,
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    SessionEnded,
    TextSaid,
    ToolChanged,
    ToolStarted,
    TurnEnded,
)

pytestmark = [pytest.mark.anyio, needs_chromium]

ANSWER = f"""## What changes

The *parser* reads **one** line at a time, see [the docs](https://docs.example/x) and `src/app.py:12`.

| file | lines |
|:--|--:|
| `a.py` https://docs.example/{"a" * 160} | 3 |

- [x] done
- [ ] open

```python
def greet(name): ...
```

![far](https://elsewhere.example/x.png) <b onclick="alert(1)">not bold</b>

مرحبا بالعالم
"""
PATCH = "@@ -1,2 +1,2 @@ def greet\n same\n-old\n+new\n"
DEEP = (
    "src/deeply/nested/very/long/path/for/testing/the/cut/of/folders/and/of/nothing/else/at/all/settings.py"
)
LONG = "\n".join(f"line {n} of a long paste" for n in range(40))


def call(tool_id: str, name: str, kind: Any, **fields: Any) -> ToolStarted:
    return ToolStarted(tool_id, name, name, kind, Raw(json.dumps(fields).encode()))


def conversation() -> list[AnyEvent]:
    command = Raw(json.dumps({"command": "pytest -q"}).encode())
    return [
        PromptSent("p1", "Make it greet people", "owner"),
        TextSaid("m0", "thinking", "I should look first."),
        call("t1", "Read", "read", file_path="/tmp/src/app.py"),
        ToolChanged("t1", "done", "1\tone\n2\ttwo"),
        call("t2", "Edit", "edit", file_path="/tmp/src/app.py", old_string="old", new_string="new"),
        ToolChanged("t2", "done", diffs=(Diff("/tmp/src/app.py", PATCH, 1, 1),)),
        call("t3", "Bash", "execute", command='pytest -q "tests"'),
        PermissionRequested("r1", "Bash", "pytest -q", "execute", command, "0" * 64, (), tool_id="t3"),
        PermissionAnswered("r1", "allow", "Mira"),
        ToolChanged("t3", "failed", "\x1b[31mboom\x1b[0m"),
        call("t4", "Read", "read", file_path=f"/tmp/{DEEP}"),
        ToolChanged("t4", "done", "one"),
        TextSaid("m1", "assistant", ANSWER),
        TurnEnded("end_turn", Usage(1200, 340), 0.1, 4200),
        PromptSent("p2", LONG, "Mira"),
        Interrupted("owner"),
        TurnEnded("interrupted"),
        SessionEnded("closed"),
    ]


async def exported(hub: RunningHub, folder: Path) -> Path:
    await hub.session("s1")
    await append(hub.store, "s1", *conversation())
    async with hub.client(hub.tokens["viewer"]) as client:
        answer = await client.get("/api/sessions/s1/export", params={"format": "html"})
    file = folder / "export.html"
    file.write_text(answer.text)
    return file


async def opened(browser: Browser, file: Path, size: Any = DESKTOP, **options: Any) -> Page:
    context = await browser.new_context(viewport=size, **options)
    page = await context.new_page()
    await page.goto(file.as_uri())
    return page


@pytest.mark.row("R12")
async def test_an_export_is_read_as_the_page_is(
    hub: RunningHub, browser: Browser, tmp_path: Path, part: Part
) -> None:
    page = await opened(browser, await exported(hub, tmp_path))
    cut = "(one) => one.scrollWidth > one.clientWidth"
    for size in (DESKTOP, LAPTOP, PHONE):
        with part(f"{size['width']} wide"):
            await page.set_viewport_size(size)
            words = await page.inner_text("body")
            # Markdown is drawn, and the agent's own markup is text.
            await expect(page.locator(".agent-message h2")).to_have_text("What changes")
            await expect(page.locator(".agent-message td[align=right]")).to_have_text("3")
            await expect(page.locator(".agent-message strong")).to_have_text("one")
            await expect(page.locator("li.task")).to_have_count(2)
            await expect(page.locator(".code-block header")).to_have_text("python")
            assert '<b onclick="alert(1)">not bold</b>' in words
            assert "[far: picture from elsewhere.example, not loaded]" in words
            assert (
                await page.locator("p", has_text="مرحبا").evaluate("(one) => getComputedStyle(one).direction")
                == "rtl"
            )
            # Nothing of how it is stored: no raw times, names of programs or stop reasons.
            for raw in ("T12:", "Z\n", "end_turn", "owner", "claude-code", '\\"', "file_path"):
                assert raw not in words
            assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            # A path too long loses folders, never its file's name; an address in a table is broken.
            folder, name = page.locator(".is-path > span").last, page.locator(".is-path > b").last
            await expect(name).to_have_text("settings.py")
            assert [await folder.evaluate(cut), await name.evaluate(cut)] == [True, False]
            assert not await page.locator(".data-table").evaluate(cut)
            assert await page.locator("script, link, iframe, [style], [onclick]").count() == 0


async def test_tool_calls_are_lines_that_open_and_diffs_are_coloured(
    hub: RunningHub, browser: Browser, tmp_path: Path
) -> None:
    page = await opened(browser, await exported(hub, tmp_path))
    edit = page.locator("details.tool", has_text="src/app.py").nth(1)
    assert (await edit.locator("summary").text_content() or "").startswith("Editsrc/app.py")
    await expect(edit.locator(".diff")).to_be_hidden()
    await edit.locator("summary").click()
    colours = "(one) => getComputedStyle(one).backgroundColor"
    added = await edit.locator(".is-added").evaluate(colours)
    deleted = await edit.locator(".is-deleted").evaluate(colours)
    assert len({added, deleted, "rgba(0, 0, 0, 0)"}) == 3
    run = page.locator("details.k-execute")
    await run.locator("summary").click()
    await expect(run.locator(".tool__command")).to_have_text('$ pytest -q "tests"')
    await expect(run.locator(".tool__output")).to_have_text("boom")
    # A long paste is folded, and whole once it is opened.
    await expect(page.get_by_text("line 39 of")).to_be_hidden()
    await page.get_by_text("Show all 40 lines").click()
    await expect(page.get_by_text("line 39 of")).to_be_visible()


async def test_it_follows_the_theme_prints_whole_and_passes_axe(
    hub: RunningHub, browser: Browser, tmp_path: Path
) -> None:
    page = await opened(browser, await exported(hub, tmp_path), bypass_csp=True)
    ground = "() => getComputedStyle(document.documentElement).backgroundColor"
    seen: set[str] = set()
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        seen.add(await page.evaluate(ground))
        if AXE.is_file():
            await page.evaluate(AXE.read_text())
            assert await page.evaluate(RUN) == []
    assert len(seen) == 2
    await page.emulate_media(media="print", color_scheme="dark")
    assert await page.evaluate("() => getComputedStyle(document.body).color") == "rgb(42, 49, 84)"
    await expect(page.locator(".diff").first).to_be_visible()
    await expect(page.get_by_text("line 39 of")).to_be_visible()


async def test_print_opens_the_whole_conversation_and_nothing_of_the_shell(
    hub: RunningHub, browser: Browser
) -> None:
    await hub.session("s1")
    await append(hub.store, "s1", *conversation())
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    await tab.says("What changes")
    async with tab.page.context.expect_page() as waiting:
        await tab.page.get_by_role("button", name="More", exact=True).click()
        await tab.page.get_by_role("menuitem", name="Print").click()
    paper = await waiting.value
    await expect(paper.locator(".user-message")).to_have_count(2)
    await expect(paper.locator(".composer, nav, button")).to_have_count(0)
    async with tab.page.context.expect_page() as waiting:
        await tab.page.keyboard.press("Control+p")
    await expect((await waiting.value).locator(".user-message")).to_have_count(2)
    # The ticket in its address opened it once.
    answer = await paper.context.request.get(paper.url)
    assert answer.status == 401
    # What the browser itself prints of the page is the transcript, with a word about the rest.
    await tab.page.emulate_media(media="print")
    await expect(tab.page.locator("#well")).to_be_visible()
    for part in ("#side", "#composer", "#tabs", "#sbar"):
        await expect(tab.page.locator(part)).to_be_hidden()
    assert tab.errors == []
