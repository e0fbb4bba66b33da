"""Diagrams and formulas: drawn in frames of their own, loaded only when needed, shown without any script."""

import re

import pytest
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub
from tests.hub.scripted_device import append
from tests.web.chrome import needs_chromium, open_tab

from bascule.model.events import PromptSent, SessionReady, TextSaid

pytestmark = [pytest.mark.anyio, needs_chromium]

GRAPH = (
    '```mermaid\ngraph TD\n  A["Ask <img src=x onerror=alert(1)>"] --> B[Answer]\n'
    '  click A "javascript:alert(1)"\n```\n'
)
BROKEN = "```mermaid\ngraph TD\n  A[[[ -->\n```\n"
MATH = (
    "The area is $\\pi r^2$, it costs $5 or $10, and \\(a \\le b\\).\n\n"
    "$$\n\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}\n$$\n\n"
    "Cut off: $\\frac{1$ stays as it was written. A link, $\\href{javascript:alert(1)}{x}$, leads nowhere.\n"
)


async def told(hub: RunningHub, text: str) -> None:
    await hub.session("s1")
    await append(
        hub.store,
        "s1",
        SessionReady("abc"),
        PromptSent("p1", "Draw it", "ana"),
        TextSaid("m1", "assistant", text),
    )


async def test_a_diagram_is_an_image_drawn_when_it_is_needed(hub: RunningHub, browser: Browser) -> None:
    await told(hub, f"Look:\n\n{GRAPH}\n{BROKEN}\nDone.")
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    image = tab.well.locator("img.diagram__picture")
    await expect(image).to_have_count(1)
    assert (await image.get_attribute("src") or "").startswith("data:image/svg+xml;base64,")
    size = "(one) => one.decode().then(() => [one.naturalWidth > 50, one.naturalHeight > 50])"
    assert await image.evaluate(size) == [True, True]
    # What can't be drawn stays what it was, and says so.
    await expect(tab.well.get_by_text("mermaid · not drawn")).to_be_visible()
    await expect(tab.well.get_by_text("A[[[ -->")).to_be_visible()
    await tab.well.get_by_role("button", name="Source", exact=True).click()
    await expect(tab.well.get_by_text("B[Answer]")).to_be_visible()
    await expect(image).to_be_hidden()
    await tab.well.get_by_role("button", name="Diagram", exact=True).click()
    # The theme changes, and the drawing with it.
    before = await image.get_attribute("src")
    await tab.page.emulate_media(color_scheme="dark")
    await expect(image).not_to_have_attribute("src", before or "")
    assert await tab.page.locator("iframe.drawing-frame").count() == 1
    assert tab.errors == []
    assert tab.strangers == []


async def test_formulas_are_mathml_and_prices_stay_prices(hub: RunningHub, browser: Browser) -> None:
    await told(hub, MATH)
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    await expect(tab.well.locator("math")).to_have_count(4)
    await expect(
        tab.well.locator(".math.is-display math munderover, .math.is-display math mfrac").first
    ).to_be_attached()
    text = await tab.well.locator(".agent-message").inner_text()
    assert "it costs $5 or $10" in text
    assert "\\frac{1" in text
    assert await tab.well.locator("math a, math [href], annotation").count() == 0
    assert tab.errors == []


async def test_without_a_diagram_or_a_formula_nothing_of_them_is_loaded(
    hub: RunningHub, browser: Browser
) -> None:
    await told(hub, "Plain words, and $5.")
    loaded: list[str] = []
    tab = await open_tab(browser, hub.url, None)
    tab.page.on("request", lambda request: loaded.append(request.url))
    await tab.go(f"/sessions/s1#token={hub.tokens['owner']}")
    await tab.says("Plain words")
    assert not [
        url for url in loaded if re.search(r"vendor/(mermaid|katex)|/(diagram|math)(\.js)?$|/drawing/", url)
    ]


async def test_the_drawing_frames_can_run_no_script_of_an_agent(hub: RunningHub) -> None:
    async with hub.client() as client:
        for path in ("/diagram", "/math"):
            policy = (await client.get(path)).headers["content-security-policy"]
            for rule in (
                "default-src 'none'",
                "script-src 'self'",
                "connect-src 'none'",
                "sandbox allow-scripts",
            ):
                assert rule in policy
            assert "unsafe-eval" not in policy
            assert "script-src 'self' 'unsafe-inline'" not in policy
            assert "require-trusted-types-for 'script'" in policy
        portlet = (await client.get("/portlet")).headers["content-security-policy"]
        assert "style-src 'self'" in portlet
        assert "unsafe-inline" not in portlet
