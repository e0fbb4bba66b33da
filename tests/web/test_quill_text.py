"""Quill's own `getText()` as the judge of plain documents, in a real browser."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Route
from tests.waiting import PATIENCE_MS
from tests.web.chrome import needs_chromium

pytestmark = needs_chromium

ROOT = Path(__file__).parents[2]
WEB = ROOT / "src" / "bascule" / "web"
CASES = json.loads((ROOT / "tests" / "fixtures" / "delta.json").read_text())
ORIGIN = "http://quill.test"
SCRIPT = """async (cases) => {
  const [{ default: Quill }, { deltaToText, deltaToMarkdown }] =
    await Promise.all([import('/vendor/quill.js'), import('/js/delta.js')]);
  return cases.map((delta) => {
    const quill = new Quill(document.createElement('div'));
    quill.setContents(delta);
    const held = quill.getContents();
    return { text: quill.getText(), ours: deltaToText(held), markdown: deltaToMarkdown(held) };
  });
}"""


def is_text_only(case: dict[str, Any]) -> bool:
    return "error" not in case and "[Image]" not in case["text"] and '"insert": {' not in json.dumps(case)


async def serve(route: Route) -> None:
    path = route.request.url.removeprefix(f"{ORIGIN}/")
    if path:
        await route.fulfill(path=WEB / path)
    else:
        await route.fulfill(body="<!doctype html>", content_type="text/html")


@pytest.mark.row("L9")
async def test_a_text_only_document_is_what_quill_says_it_is(browser: Browser) -> None:
    cases = [case for case in CASES if is_text_only(case)]
    assert len(cases) > 25
    page = await browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.route(f"{ORIGIN}/**", serve)
    await page.goto(ORIGIN)
    said = await page.evaluate(SCRIPT, [case["delta"] for case in cases])
    for case, one in zip(cases, said, strict=True):
        assert one["ours"] == one["text"], case["name"]
        # Quill ends every document with a line break and writes carriage returns as line breaks.
        if "\r" not in case["text"] and case["text"].endswith("\n"):
            assert one["text"] == case["text"], case["name"]
