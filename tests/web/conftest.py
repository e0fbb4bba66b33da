"""A browser and a whole server, for tests of the page. `hub`, with a scripted device, is everybody's."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser
from tests.live import LiveServer
from tests.web.chrome import chromium


@pytest.fixture(scope="session")
async def chrome() -> AsyncIterator[Browser]:
    """One Chromium for the whole run of a worker: each start takes a second of processor time."""
    async with chromium() as running:
        yield running


@pytest.fixture
async def browser(chrome: Browser) -> AsyncIterator[Browser]:
    """The worker's Chromium; what a test opened in it is gone with the test."""
    yield chrome
    for context in chrome.contexts:
        await context.close()


@pytest.fixture(scope="module")
async def module_server(module_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(module_dir) as running:
        yield running


@pytest.fixture
async def shared_server(module_server: LiveServer) -> AsyncIterator[LiveServer]:
    """The module's server, with an empty list: what the test before left there has ended and is archived."""
    yield module_server
    await module_server.clear()


@pytest.fixture
async def server(short_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(short_dir) as running:
        yield running
