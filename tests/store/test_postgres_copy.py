"""Copies of a PostgreSQL store: from a file, and by pg_dump."""

import asyncio
import contextlib
import subprocess
from pathlib import Path

import pytest
from tests.store.conftest import Clock
from tests.store.copies import LAPTOP, as_rows
from tests.store.logs import AT, rest_times, text
from tests.store.postgres_server import Server, program, reason_to_skip
from tests.store.postgres_store import Opener, answers_of, open_at
from tests.store.replica_conformance import TURN
from tests.waiting import PATIENCE

from bascule.model.commands import Actor
from bascule.model.errors import StoreDamaged, StoreRefused
from bascule.model.prompts import Delta, DeltaOp, PromptContent
from bascule.store.devices import DeviceBook, DeviceRecord
from bascule.store.grants import GrantBook
from bascule.store.projects import ProjectBook
from bascule.store.prompts import PromptBook
from bascule.store.sqlite import SqliteStore

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(reason_to_skip() is not None, reason=reason_to_skip() or ""),
]


# Moving to PostgreSQL, and back from a backup ---------------------------------------------------------


async def _filled(folder: Path, clock: Clock) -> tuple[list[object], str]:
    """A hub's file with something of everything; what it answers, and a grant's secret."""
    store = SqliteStore.open(folder / "bascule.db", clock=clock, loop=asyncio.get_running_loop())
    (folder / "device").write_text("d-hub\n")
    try:
        answers = await answers_of(store, [("s1", [*TURN[1:], text("the heron \x00 lands")])], ["heron"])
        _, secret = await (await GrantBook.open(store, clock)).create("ana", "owner")
        await ProjectBook(store).add("d1", "/srv/app", "app", "ana")
        made = PromptContent(title="Review", delta=Delta(ops=(DeltaOp(insert="Look at the heron\n"),)))
        await PromptBook(store).add(made, "Look at the heron", Actor("ana", "g1"), shared=True)
        devices = await DeviceBook.open(store)
        devices.put(DeviceRecord(LAPTOP, "laptop", AT))
        await store.barrier()
        return answers, secret
    finally:
        await store.close()


@pytest.mark.row("X11")
async def test_a_hub_is_copied_from_its_file_and_answers_the_same(
    server: Server, url: str, tmp_path: Path, clock: Clock, capfd: pytest.CaptureFixture[str]
) -> None:
    from bascule.cli import build_parser

    with pytest.MonkeyPatch.context() as patch:
        rest_times(patch, 0)
        expected, secret = await _filled(tmp_path, clock)
        args = build_parser("store").parse_args(["store", "copy", "--from", str(tmp_path), "--to", url])
        assert await args.command(args) == 0
        said = capfd.readouterr()
        assert "all compared" in said.out
        assert "events: " in said.err
        copied = await open_at(url, clock)
        try:
            async with asyncio.timeout(PATIENCE):
                await copied.searchable()
            assert await answers_of(copied, [], []) == expected[:7]
            assert await copied.search("heron", limit=50) == expected[-1]
            assert [row.body for row in await copied.read("s1", 0)] == [row.body for row in expected[10]]
            assert (await GrantBook.open(copied, clock)).authenticate(secret) is not None
            assert (await copied.verify_audit()).bad is None
            assert copied.shared.hub == "d-hub"
            assert [one.path for one in await ProjectBook(copied).list()] == ["/srv/app"]
            assert len(await PromptBook(copied).search("heron", 5)) == 1
            head, _ = await copied.head_of("s1")  # and it goes on
            await copied.take_in(LAPTOP, "s1", head + 1, as_rows([text("more")], head + 1))
        finally:
            await copied.close()
        with pytest.raises(StoreRefused, match="empty"):
            await args.command(args)


async def test_a_copy_that_fails_leaves_an_empty_database(
    server: Server, url: str, tmp_path: Path, clock: Clock
) -> None:
    import sqlite3

    from bascule.store.postgres.copying import copy_store

    await _filled(tmp_path, clock)
    broken = sqlite3.connect(tmp_path / "bascule.db")
    broken.execute("DROP TRIGGER events_are_never_changed")
    broken.execute("UPDATE events SET body = replace(body, 'heron', 'eagle') WHERE seq = 3")
    broken.commit()
    broken.close()

    def copy() -> None:
        with contextlib.closing(sqlite3.connect(tmp_path / "bascule.db")) as source:
            copy_store(source, url, "d-hub", lambda table, done, total: None)

    with pytest.raises(StoreDamaged):
        await asyncio.to_thread(copy)
    (rows,) = await asyncio.to_thread(server.run, "SELECT count(*) FROM bascule.sessions", url=url)
    assert rows == [(0,)]


@pytest.mark.row("X11")
async def test_a_backup_by_pg_dump_is_restored_with_everything(
    server: Server, url: str, open_postgres: Opener, clock: Clock, tmp_path: Path
) -> None:
    hub = await open_postgres()
    await hub.take_in(LAPTOP, "s1", 1, as_rows(TURN))
    _, secret = await (await GrantBook.open(hub, clock)).create("ana", "owner")
    dumps, restores = program("pg_dump"), program("pg_restore")
    other = await asyncio.to_thread(server.new_database)

    def back_up_and_restore() -> None:
        dump = str(tmp_path / "hub.dump")
        subprocess.run([dumps, "-Fc", "-n", "bascule", "-f", dump, url], check=True)
        subprocess.run([restores, "--no-owner", "-d", other, dump], check=True)

    await asyncio.to_thread(back_up_and_restore)  # while the hub runs
    restored = await open_at(other, clock)
    try:
        assert [row.body for row in await restored.read("s1", 0)] == as_rows(TURN)
        assert (await GrantBook.open(restored, clock)).authenticate(secret) is not None
        assert (await restored.verify_audit()).bad is None
        await restored.take_in(LAPTOP, "s1", len(TURN) + 1, as_rows([text("more")], len(TURN) + 1))
    finally:
        await restored.close()
