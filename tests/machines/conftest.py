"""A hub, and a laptop that has joined it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.machines.machines import Hub, Machine


@pytest.fixture
async def hub(short_dir: Path) -> AsyncIterator[Hub]:
    folder = short_dir / "h"
    folder.mkdir(mode=0o700)
    async with Hub(folder) as made:
        yield made


@pytest.fixture
async def laptop(short_dir: Path, hub: Hub) -> AsyncIterator[Machine]:
    folder = short_dir / "l"
    folder.mkdir(mode=0o700)
    made = Machine(folder, "d-laptop", env={"SHELL": "/bin/sh"})
    await made.join(hub)
    async with made:
        await hub.until_device("d-laptop", online=True)
        yield made
