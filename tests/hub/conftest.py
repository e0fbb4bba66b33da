"""The stage, ready for a test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.hub.stage import Stage, stage


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[Stage]:
    async with stage(tmp_path) as made:
        yield made
