"""The desk that tests of launches share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.launch.desk import Desk


@pytest.fixture
def desk(short_dir: Path) -> Iterator[Desk]:
    made = Desk(short_dir)
    yield made
    made.close()
