"""Grants: a secret opens what it says, until it ends."""

import sqlite3
from pathlib import Path

import pytest
from tests.store.conftest import Clock, Opener

from bascule.model.errors import InvalidInput, StorageFailed
from bascule.store.grants import TOUCH_SECONDS, Grant, GrantBook
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


@pytest.fixture
async def book(store: SqliteStore) -> GrantBook:
    return await GrantBook.open(store)


async def test_a_secret_opens_its_grant_and_nothing_else_does(book: GrantBook) -> None:
    grant, secret = await book.create("Ana's phone", "operator")
    found = book.authenticate(secret)
    assert found is not None
    assert (found.id, found.name, found.role) == (grant.id, "Ana's phone", "operator")
    assert len(secret) >= 43
    for wrong in ("", secret[:-1], secret + "x", grant.id, "é" * 43, "x" * 1_000_000):
        assert book.authenticate(wrong) is None


async def test_the_secret_itself_is_nowhere_on_disk(
    store: SqliteStore, book: GrantBook, database: Path
) -> None:
    _, secret = await book.create("laptop", "owner")
    book.authenticate(secret)
    await store.close()
    for file in database.parent.iterdir():
        assert secret.encode() not in file.read_bytes()


async def test_grants_are_there_after_a_restart_and_ephemeral_ones_are_not(open_store: Opener) -> None:
    store = await open_store()
    book = await GrantBook.open(store)
    _, kept = await book.create("laptop", "viewer")
    _, passing = await book.create("this machine", "owner", ephemeral=True)
    assert book.authenticate(passing) is not None
    await store.close()
    book = await GrantBook.open(await open_store())
    assert book.authenticate(kept) is not None
    assert book.authenticate(passing) is None
    assert [one.name for one in book.list()] == ["laptop"]


async def test_a_grant_gets_another_name_keeps_the_former_ones_and_opens_the_same(open_store: Opener) -> None:
    store = await open_store()
    book = await GrantBook.open(store)
    grant, secret = await book.create("owner", "owner")
    for name in ("Mira", " Mira Lund ", "Mira Lund"):
        await book.rename(grant.id, name)
    with pytest.raises(InvalidInput):
        await book.rename(grant.id, "two\nlines")
    lines = await store.audit_lines(0, 10)
    await store.close()
    book = await GrantBook.open(await open_store())
    found = book.authenticate(secret)
    assert found is not None
    assert (found.id, found.name, found.former_names) == (grant.id, "Mira Lund", ("owner", "Mira"))
    assert [b"renamed from" in one for one in lines] == [False, True, True]


async def test_a_grant_ends_at_its_time(book: GrantBook, clock: Clock) -> None:
    grant, secret = await book.create("guest", "viewer", expires_in=60)
    clock.now += 59
    assert book.authenticate(secret) is not None
    clock.now += 1
    assert book.authenticate(secret) is None
    assert book.get(grant.id) is None
    assert [one.id for one in book.list()] == [grant.id]


async def test_revoking_works_at_once_and_for_good_and_tells_those_who_asked(open_store: Opener) -> None:
    store = await open_store()
    book = await GrantBook.open(store)
    told: list[Grant] = []
    stop = book.on_revoked(told.append)
    grant, secret = await book.create("phone", "owner")
    twins = [(await book.create("tablet", "viewer"))[1] for _ in range(2)]
    assert [one.id for one in await book.revoke(grant.id)] == [grant.id]
    assert book.authenticate(secret) is None
    assert [one.id for one in told] == [grant.id]
    stop()
    assert len(await book.revoke("tablet")) == 2
    assert [book.authenticate(one) for one in twins] == [None, None]
    assert await book.revoke("nobody") == []
    assert len(told) == 1
    await store.close()
    assert (await GrantBook.open(await open_store())).list() == []


async def test_a_revocation_that_could_not_be_stored_holds_and_can_be_repeated(
    store: SqliteStore, book: GrantBook
) -> None:
    grant, secret = await book.create("phone", "owner")
    await store.transact(lambda group: group.connection.execute("PRAGMA query_only = ON") and None)
    with pytest.raises(StorageFailed):
        await book.revoke("phone")
    assert book.authenticate(secret) is None
    assert [one.id for one in book.list()] == [grant.id]
    store.engine.connection.execute("PRAGMA query_only = OFF")
    await store.writable()
    assert len(await book.revoke("phone")) == 1
    assert book.list() == []


async def test_last_use_is_noted_at_most_once_a_minute(
    open_store: Opener, database: Path, clock: Clock
) -> None:
    store = await open_store()
    book = await GrantBook.open(store)
    _, secret = await book.create("phone", "owner")
    first = clock.now
    for _ in range(100):
        clock.now += TOUCH_SECONDS / 200
        book.authenticate(secret)
    assert book.list()[0].last_used_at == first + TOUCH_SECONDS / 200
    clock.now += TOUCH_SECONDS
    book.authenticate(secret)
    last = clock.now
    await store.close()
    book = await GrantBook.open(await open_store())
    assert book.list()[0].last_used_at == last


async def test_start_links_nobody_followed_go_at_the_next_start(open_store: Opener) -> None:
    store = await open_store()
    book = await GrantBook.open(store)
    _, unused = await book.create("start link", "owner", start_link=True)
    _, used = await book.create("start link", "owner", start_link=True)
    _, plain = await book.create("laptop", "owner")
    book.authenticate(used)
    await store.close()
    book = await GrantBook.open(await open_store())
    assert len(await book.sweep_unused_start_links()) == 1
    assert book.authenticate(unused) is None
    assert book.authenticate(used) is not None
    assert book.authenticate(plain) is not None


async def test_a_grant_says_what_it_is_for(book: GrantBook) -> None:
    grant, _ = await book.create("share", "session", session_id="s1")
    assert grant.session_id == "s1"
    for name, role, session_id in [
        ("", "owner", None),
        ("a\nb", "owner", None),
        ("x" * 101, "owner", None),
        ("share", "session", None),
        ("share", "owner", "s1"),
        ("share", "king", None),
    ]:
        with pytest.raises(InvalidInput):
            await book.create(name, role, session_id=session_id)  # type: ignore[arg-type]


async def test_every_change_is_audited(store: SqliteStore, book: GrantBook) -> None:
    grant, _ = await book.create("phone", "owner", by="ana")
    await book.create("passing", "viewer", ephemeral=True)
    await book.revoke("phone", by="bob")
    lines = b"\n".join(await store.audit_lines())
    assert lines.count(b'"decision":"created"') == 2
    assert lines.count(b'"decision":"revoked"') == 1
    assert lines.count(grant.id.encode()) == 2
    assert (await store.verify_audit()).checked == 3


@pytest.mark.row("REL-21")
async def test_a_grant_with_a_flipped_bit_opens_nothing(open_store: Opener, database: Path) -> None:
    store = await open_store()
    book = await GrantBook.open(store)
    grant, viewer = await book.create("viewer", "viewer")
    _, other = await book.create("other", "owner")
    await store.close()
    with sqlite3.connect(database) as connection:
        connection.execute(
            "UPDATE grants SET body = CAST(replace(body, 'viewer', 'owner') AS BLOB) WHERE id = ?",
            (grant.id,),
        )
    connection.close()
    store = await open_store()
    book = await GrantBook.open(store)
    assert book.authenticate(viewer) is None
    assert book.authenticate(other) is not None
    assert len(store.damaged) == 1
