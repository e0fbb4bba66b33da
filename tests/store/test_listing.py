"""Lists of sessions, on both databases."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.conftest import Opener
from tests.store.listing_conformance import ListingConformance
from tests.store.postgres_server import Server, reason_to_skip
from tests.store.postgres_store import Opener as OpenPostgres

pytestmark = pytest.mark.anyio


class TestSqliteLists(ListingConformance):
    @pytest.fixture
    def opener(self, open_store: Opener) -> Opener:
        return open_store

    @pytest.fixture
    def damage(self, database: Path) -> Callable[[str], None]:
        def spoil(session_id: str) -> None:
            with closing(sqlite3.connect(database)) as connection, connection:
                connection.execute("UPDATE sessions SET record = x'7b00' WHERE session_id = ?", (session_id,))

        return spoil


@pytest.mark.skipif(reason_to_skip() is not None, reason=reason_to_skip() or "")
@pytest.mark.row("X11")
class TestPostgresLists(ListingConformance):
    sessions = 2_000

    @pytest.fixture
    def opener(self, open_postgres: OpenPostgres) -> OpenPostgres:
        return open_postgres

    @pytest.fixture
    def damage(self, server: Server, url: str) -> Callable[[str], None]:
        def spoil(session_id: str) -> None:
            spoilt = f"UPDATE bascule.sessions SET record = '\\x7b00' WHERE session_id = '{session_id}'"
            server.run(spoilt, url=url)

        return spoil
