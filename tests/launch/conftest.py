"""What tests of launches share: a desk; and for those in a browser, web sites and one Chromium."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.launch.desk import Desk
from tests.launch.sites import Neighbourhood, OpenStreet, neighbourhood, street_of


@pytest.fixture
def desk(short_dir: Path) -> Iterator[Desk]:
    made = Desk(short_dir)
    yield made
    made.close()


@pytest.fixture(scope="session")
async def around(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Neighbourhood]:
    """For the whole run of a worker: a start of Chromium takes more than a second of processor time."""
    async with neighbourhood(tmp_path_factory.mktemp("certificate")) as made:
        yield made


@pytest.fixture
def street(around: Neighbourhood, desk: Desk) -> OpenStreet:
    return street_of(around, desk)
