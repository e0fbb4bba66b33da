"""What the system tests share: a real server per module, or a fresh one per test."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.live import LiveServer


@pytest.fixture(scope="module")
def module_dir() -> Iterator[Path]:
    """A short, private folder for all tests of a module."""
    folder = Path(tempfile.mkdtemp(prefix="b-", dir="/tmp")).resolve()
    yield folder
    shutil.rmtree(folder)


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
