"""A hub with a scripted device, a real server, and a browser, ready for a test of the page."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser
from tests.hub.stage import Stage, stage
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
async def world(tmp_path: Path) -> AsyncIterator[Stage]:
    async with stage(tmp_path) as made:
        yield made


@pytest.fixture
async def server(short_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(short_dir) as running:
        yield running
