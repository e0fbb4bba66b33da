"""An older copy of the database, at two nodes: what machines report of it, and which grants it opens."""

import asyncio
from pathlib import Path

import pytest
from tests.store.conftest import Clock
from tests.store.postgres_server import Server, reason_to_skip
from tests.store.postgres_store import Opener

from bascule.store.database import DatabaseStore
from bascule.store.grants import GrantBook
from bascule.store.restores import RestoreBook
from bascule.store.revoked_grants import RevokedGrants

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(reason_to_skip() is not None, reason=reason_to_skip() or ""),
]

CHANGES = "SELECT n::int FROM bascule.book_changes WHERE book = 'restores'"


@pytest.mark.row("X11")
async def test_machines_that_report_a_restore_at_two_nodes_are_all_told_at_each(
    hub: DatabaseStore, open_postgres: Opener, server: Server, url: str
) -> None:
    other = await open_postgres()
    here, there = await RestoreBook.open(hub), await RestoreBook.open(other)
    assert await asyncio.gather(here.sent_again("d-1", 3), there.sent_again("d-2", 4)) == [True, True]
    assert not await here.sent_again("d-2", 4)  # it had said so, at the other node
    assert await asyncio.to_thread(server.run, CHANGES, url=url) == [[(2,)]]  # by which nodes read it again
    await there.reload()
    for book in (here, there, await RestoreBook.open(other)):
        assert book.shown is not None
        assert book.shown.sent_again == {"d-1": 3, "d-2": 4}
    lines = b"".join(await hub.audit_lines())
    assert [lines.count(one) for one in (b"3 rows of d-1", b"4 rows of d-2")] == [1, 1]


@pytest.mark.row("X11", "REL-43")
async def test_what_one_node_revoked_another_remembers_and_revokes_again_in_an_older_copy(
    hub: DatabaseStore, open_postgres: Opener, server: Server, url: str, tmp_path: Path, clock: Clock
) -> None:
    def remembered(node: str) -> RevokedGrants:
        (tmp_path / node).mkdir(exist_ok=True)
        return RevokedGrants(tmp_path / node, clock())

    other = await open_postgres()
    here = await GrantBook.open(hub, clock, remembered("a"))
    gone, secret = await here.create("ana", "viewer")
    kept, other_secret = await here.create("ben", "viewer")
    there = await GrantBook.open(other, clock, remembered("b"))
    assert there.authenticate(secret) is not None
    await asyncio.to_thread(server.run, "CREATE TABLE older AS SELECT * FROM bascule.grants", url=url)
    await asyncio.gather(here.revoke(gone.id), here.reload())
    await there.reload()
    assert there.authenticate(secret) is None
    older = ("DELETE FROM bascule.grants", "INSERT INTO bascule.grants SELECT * FROM older")
    await asyncio.to_thread(server.run, *older, url=url)
    new = await GrantBook.open(hub, clock, remembered("new"))
    assert new.authenticate(secret) is not None  # nobody has told this one
    ended: list[str] = []
    new.on_revoked(lambda grant: ended.append(grant.id))
    again = await GrantBook.open(other, clock, remembered("b"))
    assert again.authenticate(secret) is None
    assert again.authenticate(other_secret) is not None
    await new.reload()
    assert new.authenticate(secret) is None
    assert [one.id for one in new.list()] == [kept.id]
    assert ended == [gone.id]
    audited = b"".join(await hub.audit_lines())
    assert audited.count(b"revoked again") == 1
