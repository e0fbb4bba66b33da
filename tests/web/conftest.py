"""A browser and a whole server, for tests of the page. `hub`, with a scripted device, is everybody's."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser
from tests.live import LiveServer
from tests.web.chrome import chromium


@pytest.fixture(scope="module")
async def chrome() -> AsyncIterator[Browser]:
    async with chromium() as running:
        yield running


@pytest.fixture
async def browser(chrome: Browser) -> AsyncIterator[Browser]:
    """The module's Chromium; what a test opened in it is gone with the test."""
    yield chrome
    for context in chrome.contexts:
        await context.close()


@pytest.fixture
async def server(short_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(short_dir) as running:
        yield running
