"""The details of a session say what its agent listens on, and warn of what the network reaches."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.daemon.test_listening import noted
from tests.live import LiveServer
from tests.web.chrome import DESKTOP, PHONE, needs_chromium, open_tab
from tests.web.spills import spills

pytestmark = [pytest.mark.anyio, needs_chromium]
REACHABLE = "Reachable from the network: programs on other machines may connect to it."


@pytest.fixture(scope="module")
async def module_server(module_dir: Path) -> AsyncIterator[LiveServer]:
    made = LiveServer(module_dir)
    (module_dir / "notes").mkdir()
    made.add_agent("listens", "listens.py", str(module_dir / "notes"))
    async with made:
        yield made


@pytest.mark.row("S11")
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_session_details_name_the_addresses_and_warn_of_the_network(
    shared_server: LiveServer, browser: Browser, size: dict[str, int]
) -> None:
    notes = shared_server.folder / "notes"
    (notes / "ports").unlink(missing_ok=True)
    session = await shared_server.create("hello", agent="listens")
    (own, _), (network, _) = await noted(notes)
    tab = await open_tab(
        browser, shared_server.url, shared_server.token, path=f"/sessions/{session}", size=size
    )
    await tab.page.get_by_role("button", name="More", exact=True).click()
    lines = tab.page.locator(".menu__listens p")
    await expect(lines).to_have_count(2)
    await expect(lines.nth(0)).to_contain_text(f"Listens on 0.0.0.0:{network} (web")
    await expect(lines.nth(0).locator("b")).to_have_text(REACHABLE)
    await expect(lines.nth(1)).to_contain_text(f"Listens on 127.0.0.1:{own} (")
    await expect(lines.nth(1).locator("b")).to_have_count(0)
    assert "\u202e" not in await lines.nth(0).inner_text()
    assert await lines.locator("a").count() == 0
    assert await spills(tab.page) == []
    assert tab.errors == []
