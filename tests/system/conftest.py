"""What the system tests share: servers of their own for tests that stop, kill or configure them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.live import LiveServer


@pytest.fixture
async def make_server(short_dir: Path) -> AsyncIterator[Callable[..., LiveServer]]:
    """Makes servers that are not started yet; each is stopped, with its keeper, when the test is over."""
    made: list[LiveServer] = []

    def make(name: str = "s", **options: Any) -> LiveServer:
        folder = short_dir / name
        folder.mkdir(mode=0o700)
        made.append(LiveServer(folder, **options))
        return made[-1]

    yield make
    async with AsyncExitStack() as closing:
        for server in made:
            closing.push_async_callback(server.end_keeper)
            if server.process is not None:
                closing.push_async_callback(server.stop)
