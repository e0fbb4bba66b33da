"""A database of every earlier version opens with all that was in it, also after `kill -9` in the middle."""

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.store.conftest import Opener
from tests.store.logs import STARTED, append_all, asked, numbers, opened, step, text
from tests.store.older_database import FILES, old_database
from tests.waiting import PATIENCE

from bascule.model.commands import Actor
from bascule.model.events import EntryClosed, PermissionAnswered, PromptSent, TurnEnded
from bascule.model.prompts import Delta, DeltaOp, PromptContent
from bascule.model.records import Write
from bascule.store import schema
from bascule.store.base import AuditRecord, StoredReply
from bascule.store.grants import GrantBook
from bascule.store.projects import ProjectBook
from bascule.store.prompts import PromptBook
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio

KILLS = 20
# Enough for the folded entries to be written and for search to have something to owe.
LOG = [
    STARTED,
    PromptSent("p1", "find the heron", "ana"),
    opened(),
    text("a heron "),
    EntryClosed("e"),
    asked(),
]


async def fill(store: SqliteStore) -> str:
    """What the first version could hold already; gives a grant's secret."""
    for n in range(5):
        await append_all(store, LOG, session_id=f"s{n}", size=len(LOG))
        answered = step(7, PermissionAnswered("r1", "allow", "ana"), session_id=f"s{n}", out_offset=1234)
        answered.driver_state = b'{"a":1}'
        answered.writes = [Write("answer:r1", b"yes\n")]
        answered.audit = [AuditRecord("permission", "ana", f"s{n}", request_id="r1", decision="allow")]
        answered.reply = StoredReply(f"k{n}", "0" * 64, b"{}")
        await store.append(answered)
        await store.append(step(8, TurnEnded("end_turn"), session_id=f"s{n}"))
    _, secret = await (await GrantBook.open(store)).create("ana", "owner")
    return secret


async def check_contents(store: SqliteStore, secret: str) -> None:
    assert sorted(one.session_id for one in await store.sessions()) == [f"s{n}" for n in range(5)]
    for n in range(5):
        assert numbers(await store.read(f"s{n}", 0)) == list(range(1, 9))
        point = await store.resume_point(f"s{n}")
        assert point is not None
        assert (point.out_offset, point.state_offset, point.driver_state) == (1234, 1234, b'{"a":1}')
        assert point.outbox == [Write("answer:r1", b"yes\n")]
        assert [one.state for one in point.requests] == ["answered"]
        assert len((await store.page(f"s{n}")).entries) >= 3
        assert await store.stored_reply(f"k{n}") is not None
    assert (await store.verify_audit()).bad is None
    assert len(await store.audit_lines()) >= 5
    assert (await GrantBook.open(store)).authenticate(secret) is not None
    await store.searchable()
    assert {hit.session_id for hit in (await store.search("heron")).hits} == {f"s{n}" for n in range(5)}
    assert len(store.epoch) == 16
    assert await ProjectBook(store).list() == []
    assert store.damaged_sessions == {}


@pytest.mark.row("F11")
@pytest.mark.parametrize("version", range(1, len(FILES) + 1))
async def test_a_database_of_every_version_opens_with_all_that_was_in_it(
    version: int, open_store: Opener, tmp_path: Path
) -> None:
    new = await open_store(tmp_path / "new" / "bascule.db")
    secret = await fill(new)
    await new.close()
    old = tmp_path / "old" / "bascule.db"
    old.parent.mkdir()
    old_database(new.path, old, version)
    store = await open_store(old)
    await check_contents(store, secret)
    await store.append(step(9, text("it goes on"), session_id="s1"))
    await store.close()
    with closing(sqlite3.connect(old)) as closed:
        assert schema.version_of(closed) == len(FILES)


@pytest.mark.row("F11", "X4")
@pytest.mark.parametrize(
    "block", ["block", "zeroblob(7)", "randomblob(length(block))", "substr(block, 1, 5)"]
)
async def test_an_index_of_words_that_sqlite_made_is_made_again_however_damaged(
    open_store: Opener, tmp_path: Path, block: str
) -> None:
    new = await open_store(tmp_path / "new" / "bascule.db")
    secret = await fill(new)
    words = "Ещё\n\nthe reeds"
    made = PromptContent(title="Ещё", delta=Delta(ops=(DeltaOp(insert="the reeds\n"),)))
    prompt = await PromptBook(new).add(made, "the reeds", Actor("ana", "g1"), shared=True)
    await new.close()
    old = tmp_path / "old" / "bascule.db"
    old.parent.mkdir()
    old_database(new.path, old, 14)
    with closing(sqlite3.connect(old, isolation_level=None)) as before:
        before.execute("ATTACH ? AS source", (str(new.path),))
        before.execute("INSERT INTO main.prompts SELECT * FROM source.prompts")
        before.execute("INSERT INTO main.prompt_words (rowid, words) SELECT n, ? FROM prompts", (words,))
        before.execute("INSERT INTO main.search_text (rowid, words) VALUES (1, 'otter'), (2, 'pelican')")
        before.execute(f"UPDATE main.search_text_data SET block = {block}")
    store = await open_store(old)
    await check_contents(store, secret)
    assert (await store.search("otter")).hits == []
    assert await PromptBook(store).search("еще", 9) == {prompt.id: ["", "Ещё", " the reeds"]}
    assert list(await PromptBook(store).search("reed", 9)) == [prompt.id]


@pytest.mark.row("F11")
async def test_kill_9_in_the_middle_of_migrating_is_recovered_from_each_time(
    open_store: Opener, tmp_path: Path
) -> None:
    new = await open_store(tmp_path / "new" / "bascule.db")
    secret = await fill(new)
    await new.close()
    old = tmp_path / "old" / "bascule.db"
    old.parent.mkdir()
    old_database(new.path, old, 1)
    killed = 0
    for n in range(KILLS):
        with closing(sqlite3.connect(old)) as before:
            version = schema.version_of(before)
        if version == len(FILES):  # it got to the end: begin again
            old.unlink()
            for side in old.parent.glob("bascule.db*"):
                side.unlink()
            old_database(new.path, old, 1)
        child = await asyncio.create_subprocess_exec(
            sys.executable, str(Path(__file__).with_name("dying_migration.py")), str(old), str(n % 7)
        )
        killed += await asyncio.wait_for(child.wait(), PATIENCE) == -9
        with closing(sqlite3.connect(old)) as after:
            assert after.execute("PRAGMA quick_check").fetchone() == ("ok",)
            assert schema.version_of(after) >= min(version, 1)
    assert killed >= KILLS // 2
    await check_contents(await open_store(old), secret)
