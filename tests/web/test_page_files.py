"""What a browser asks for: each file once, all in one wave, and nothing on a second visit; in both forms."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.hub.page_forms import FORMS
from tests.web.chrome import needs_chromium, open_tab
from tests.web.lantern import lantern

FETCHED = """() => performance.getEntriesByType('resource')
  .filter((one) => one.transferSize > 0).map((one) => new URL(one.name).pathname)"""
pytestmark = [pytest.mark.anyio, needs_chromium]


def announced(page: str) -> list[str]:
    return [part.split('"')[0] for part in page.split('rel="modulepreload" href="')[1:]]


LOADED = """() => performance.getEntriesByType('resource')
  .filter((one) => one.name.endsWith('.js')).map((one) => new URL(one.name).pathname)"""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("path", ["/", "/portlet", "/terminal", "/editor"])
async def test_a_page_asks_once_for_each_module_and_announced_them_all(
    tmp_path: Path, browser: Browser, path: str, form: str
) -> None:
    files = FORMS[form]()
    async with lantern(tmp_path, page=lambda: files) as hub:
        tab = await open_tab(browser, hub.url, None)
        told: list[str] = []
        tab.page.on("console", lambda message: told.append(message.text))
        # A browser remembers 250 requests unless it is told otherwise; the page has more modules.
        await tab.page.add_init_script("performance.setResourceTimingBufferSize(1000)")
        await tab.go(path)
        await tab.page.wait_for_load_state("networkidle")
        page = files.documents["index.html" if path == "/" else f"{path[1:]}.html"].body.decode()
        entry = page.split('<script type="module" src="')[1].split('"')[0]
        loaded = await tab.page.evaluate(LOADED)
        assert sorted(loaded) == sorted([entry, *announced(page)])
        assert (len(loaded) == 1) == (form == "bundle")
        assert [words for words in told if "preload" in words] == []


@pytest.mark.parametrize("form", FORMS)
async def test_a_session_and_a_terminal_are_drawn_in_either_form(
    tmp_path: Path, browser: Browser, form: str
) -> None:
    async with lantern(tmp_path, page=FORMS[form]) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"], path="/sessions/python310")
        await tab.says("Removed the shims")
        frame = tab.page.locator("#well iframe:not(.away)")
        sandbox = await frame.get_attribute("sandbox")
        assert sandbox == "allow-scripts"
        await tab.go("/terminal")
        await tab.page.locator(".xterm-screen").wait_for(state="attached")
        assert tab.errors == []


@pytest.mark.parametrize("form", FORMS)
async def test_a_second_visit_asks_the_server_for_the_page_alone(
    tmp_path: Path, browser: Browser, form: str
) -> None:
    async with lantern(tmp_path, page=FORMS[form]) as hub:
        tab = await open_tab(browser, hub.url, hub.tokens["Mira"])
        await expect(tab.page.locator("#task")).to_be_visible()
        await tab.page.wait_for_load_state("networkidle")
        await tab.go("/inbox")
        await expect(tab.page.get_by_role("heading", name="Inbox")).to_be_visible()
        assert [path for path in await tab.page.evaluate(FETCHED) if path.startswith("/assets/")] == []
