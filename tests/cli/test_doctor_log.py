"""`bascule doctor` on the log of this machine, without a server."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.logs import STARTED, step
from tests.store.named_stores import named_stores

from bascule.commands.doctor_log import log_findings

pytestmark = pytest.mark.anyio


async def test_what_the_search_does_not_find_yet_is_said(tmp_path: Path) -> None:
    async with named_stores(tmp_path) as open_named:
        store = await open_named("a")
        await store.append(step(1, STARTED))
        await store.searchable()
    said = [one.what for one in log_findings(store.path, [])]
    assert said == ["log: 1 sessions can be read"]
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO search_owed VALUES ('s1', 1), ('s1', 2)")
    said = [one.what for one in log_findings(store.path, [])]
    assert said[1:] == ["search: 2 texts can't be found yet; a server that runs indexes them"]
