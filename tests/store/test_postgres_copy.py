"""`bascule store copy`: all that a hub keeps comes to PostgreSQL, is compared, and is used from there."""

import asyncio
import contextlib
import re
import shutil
import sqlite3
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from msgspec import Raw
from tests.store.audit_copies import chain, walked
from tests.store.conftest import Clock
from tests.store.copies import ASKED, LAPTOP, as_rows
from tests.store.logs import AT, rest_times, text
from tests.store.postgres_server import Server, program, reason_to_skip, running_server
from tests.store.postgres_store import Opener, answers_of, open_at
from tests.store.replica_conformance import TURN
from tests.waiting import PATIENCE

import bascule
from bascule.model.commands import Actor
from bascule.model.errors import StorageFailed, StoreDamaged, StoreRefused
from bascule.model.event_values import Diff
from bascule.model.events import ToolChanged, ToolStarted, TurnEnded
from bascule.model.prompts import Delta, DeltaOp, PromptContent
from bascule.notify.book import DENY_KEY, NotifyBook
from bascule.notify.channels import Channel
from bascule.notify.quiet_hours import QuietHours
from bascule.notify.web_push import FILE as PUSH_KEY
from bascule.notify.web_push import b64
from bascule.store import restores
from bascule.store.answers import AnswerBook, WaitingAnswer
from bascule.store.audit import MISSING_END
from bascule.store.base import AuditRecord
from bascule.store.devices import DeviceBook, DeviceRecord
from bascule.store.grants import GrantBook
from bascule.store.health import sidecars
from bascule.store.projects import ProjectBook
from bascule.store.prompts import PromptBook
from bascule.store.revoked_grants import RevokedGrants
from bascule.store.sent_notices import SentBook
from bascule.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from bascule.store.postgres.store import PostgresStore

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(reason_to_skip() is not None, reason=reason_to_skip() or ""),
]

ANA = Actor("ana", "g1")
ROLE = "bascule_hub"
HOOK = Channel(id="c1", type="webhook", name="hook", url="https://ana.example/hook", secret="hush")
PHONE = Channel(
    id="c2", type="push", name="phone", url="https://push.example/1", grant_id="g1", p256dh="p", auth="a"
)
PUSH_SECRET, DENY_SECRET = b64(b"\x01" * 32).encode(), b"\x02" * 32

# Tables that are not copied: a hub runs no agents, and what can be made again is.
OF_AGENTS = {"outbox", "replies", "rules", "comparisons", "links"}
MADE_AGAIN = {"search_owed", "search_text", "search_titles", "prompt_words"}
BY_ITSELF = {"meta", "sent_notices", "sent_channels"}  # key by key, see the next test; as of no node


class Filled(NamedTuple):
    """A hub's file with something of everything; what it answers, and a grant's secret."""

    answers: list[object]
    secret: str
    prompt: str


@pytest.fixture
async def filled(tmp_path: Path, clock: Clock) -> AsyncIterator[Filled]:
    with pytest.MonkeyPatch.context() as patch:
        rest_times(patch, 0)
        yield await _fill(tmp_path, clock)


async def _fill(folder: Path, clock: Clock) -> Filled:
    store = SqliteStore.open(folder / "bascule.db", clock=clock, loop=asyncio.get_running_loop())
    (folder / "device").write_text("d-hub\n")
    (folder / PUSH_KEY).write_bytes(PUSH_SECRET)
    (folder / DENY_KEY).write_bytes(DENY_SECRET)
    book = NotifyBook(folder, has_command=False)
    book.put(HOOK)
    book.put(PHONE)
    book.set_options(QuietHours("22:00", "07:00"), 7)
    try:
        edit = ToolStarted("t1", "Edit", "reeds.txt", "edit", Raw(b"{}"))
        done = ToolChanged("t1", "done", diffs=(Diff("reeds.txt", "", added=3, removed=1),))
        log = [*TURN[1:], edit, done, TurnEnded("end_turn"), text("the heron \x00 lands"), ASKED]
        answers = await answers_of(store, [("s1", log)], ["heron"])
        _, secret = await (await GrantBook.open(store, clock)).create("ana", "owner")
        await ProjectBook(store).add("d1", "/srv/app", "app", "ana")
        made = PromptContent(title="Review", delta=Delta(ops=(DeltaOp(insert="Look at the heron\n"),)))
        prompt = await PromptBook(store).add(made, "Look at the heron", ANA, shared=True)
        await PromptBook(store).used(prompt.id, prompt.version, "session", ["s1"], ANA)
        devices = await DeviceBook.open(store)
        devices.put(DeviceRecord(LAPTOP, "laptop", AT, given_name="Ana's"))
        devices.stand(LAPTOP, "pause", b"{}", ANA)
        waiting = WaitingAnswer("a1", LAPTOP, "s1", "r1", "0", "deny", b"{}", ANA, AT, 1e9)
        await (await AnswerBook.open(store)).add(waiting, AuditRecord("permission", "ana"))
        await store.take_in_audit(LAPTOP, 1, chain("a", "b"))
        sent = SentBook(store)
        sent.sent(("s1", "r1"), "request s1 r1")
        sent.sending("request s1 r1", ["c1", "c2"])
        sent.shown("request s1 r1", "c1")
        await store.barrier()
        return Filled(answers, secret, prompt.id)
    finally:
        await store.close()


async def _copy(folder: Path, url: str) -> int:
    from bascule.cli import build_parser

    args = build_parser("store").parse_args(["store", "copy", "--from", str(folder), "--to", url])
    return await args.command(args)


@pytest.mark.row("X11")
async def test_a_hub_is_copied_from_its_file_and_answers_the_same(
    url: str, tmp_path: Path, clock: Clock, filled: Filled, capfd: pytest.CaptureFixture[str]
) -> None:
    from bascule.store.postgres.store import PostgresStore

    assert await _copy(tmp_path, url) == 0
    said = capfd.readouterr()
    assert "all compared" in said.out
    for what in ("events: ", "compared devices: ", "compared answers_waiting: ", "choices: 3 of 3"):
        assert what in said.err
    copied = await PostgresStore.open(url, clock=clock, loop=asyncio.get_running_loop())
    try:
        async with asyncio.timeout(PATIENCE):
            await copied.searchable()
        expected = filled.answers
        of_all = await answers_of(copied, [], [])  # those of each session follow: three pages, then its rows
        assert of_all == expected[: len(of_all)]
        assert await copied.search("heron", limit=50) == expected[-1]
        assert [row.body for row in await copied.read("s1", 0)] == [
            row.body for row in expected[len(of_all) + 3]
        ]
        assert (await GrantBook.open(copied, clock)).authenticate(filled.secret) is not None
        assert (await copied.verify_audit()).bad is None
        assert await walked(copied) == [(1, 2, None)]
        assert copied.shared.hub == "d-hub"
        await _books_are_there(copied, filled.prompt)
        await _choices_are_there(copied)
        head, _ = await copied.head_of("s1")  # and it goes on
        await copied.take_in(LAPTOP, "s1", head + 1, as_rows([text("more")], head + 1))
    finally:
        await copied.close()
    with pytest.raises(StoreRefused, match="empty"):
        await _copy(tmp_path, url)


async def _books_are_there(copied: "PostgresStore", prompt: str) -> None:
    assert [one.path for one in await ProjectBook(copied).list()] == ["/srv/app"]
    assert len(await PromptBook(copied).search("heron", 5)) == 1
    assert len(await PromptBook(copied).uses(prompt, 5)) == 1
    devices = await DeviceBook.open(copied)
    assert [one.shown_name for one in devices.all()] == ["Ana's"]
    assert [(one.kind, one.by) for one in devices.standing(LAPTOP)] == [("pause", ANA)]
    assert [(one.id, one.by) for one in (await AnswerBook.open(copied)).waiting()] == [("a1", ANA)]


async def _choices_are_there(copied: "PostgresStore") -> None:
    """Channels, push subscriptions, quiet hours, and the keys that browsers and old notices know."""
    from bascule.hub.nodes.choices import SharedChoices

    choices = await SharedChoices.open(copied)
    book = NotifyBook(choices, has_command=False)
    assert book.now.channels == (HOOK, PHONE)
    assert (book.now.quiet, book.now.finished_minutes) == (QuietHours("22:00", "07:00"), 7)
    assert (book.deny_key, choices.read(PUSH_KEY)) == (DENY_SECRET, PUSH_SECRET)


async def test_requests_that_people_were_told_of_when_a_hub_is_copied_are_replaced_and_not_told_again(
    server: Server, url: str, tmp_path: Path, clock: Clock, filled: Filled
) -> None:
    from bascule.store.postgres.node_rows import request_claim
    from bascule.store.postgres.sent_by_nodes import SentByNodes

    await _copy(tmp_path, url)
    (rows,) = await asyncio.to_thread(server.run, "SELECT what FROM bascule.claimed_notices", url=url)
    assert rows == [(request_claim("s1", "r1"),)]
    node = await open_at(url, clock)
    try:
        sent = await SentByNodes(node, node.shared.node).load()
        assert sent == ({("s1", "r1"): "request s1 r1"}, {"request s1 r1": {"c1": True, "c2": False}})
    finally:
        await node.close()


async def test_requests_that_nobody_was_told_of_when_a_hub_is_copied_are_told_by_its_nodes(
    server: Server, url: str, tmp_path: Path, filled: Filled
) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "bascule.db")) as file:
        file.execute("DELETE FROM sent_notices")
        file.commit()
    await _copy(tmp_path, url)
    (rows,) = await asyncio.to_thread(server.run, "SELECT what FROM bascule.claimed_notices", url=url)
    assert rows == []


async def test_every_table_of_a_file_is_copied_or_left_for_a_reason(tmp_path: Path, filled: Filled) -> None:
    from bascule.store.postgres.copying import TABLES

    listed = "SELECT name, type FROM pragma_table_list WHERE type IN ('table', 'virtual') AND schema = 'main'"
    with contextlib.closing(sqlite3.connect(tmp_path / "bascule.db")) as file:
        there = {name for name, _ in file.execute(listed) if not name.startswith("sqlite_")}
        empty = {name for name in TABLES if file.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() is None}
    assert there == set(TABLES) | OF_AGENTS | MADE_AGAIN | BY_ITSELF
    # What this test's hub has none of: what machines keep.
    assert empty <= {"pending", "driver_states"}


async def test_every_key_of_a_files_meta_is_copied_or_left_for_a_reason(
    tmp_path: Path, filled: Filled
) -> None:
    from bascule.store.postgres.copying import KEPT_META, LEFT_META

    sources = Path(bascule.__file__).parent
    written = {
        name
        for pattern in ("*.py", "*.sql")
        for path in sources.rglob(pattern)
        if "postgres" not in path.parts
        for name in re.findall(r"INTO meta \(name, value\)\s+VALUES\s+\('(\w+)'", path.read_text())
    }
    assert len(written) > 5
    with contextlib.closing(sqlite3.connect(tmp_path / "bascule.db")) as file:
        there = {name for (name,) in file.execute("SELECT name FROM meta")}
    assert there <= written
    assert written == set(KEPT_META) | set(LEFT_META)
    assert not set(KEPT_META) & set(LEFT_META)


@pytest.mark.row("REL-43")
@pytest.mark.parametrize("opened", ["opened", "unopened"])
async def test_an_older_copy_of_a_file_with_a_cut_audit_log_is_copied_as_what_it_is(
    url: str, tmp_path: Path, clock: Clock, filled: Filled, opened: str
) -> None:
    """Whether or not a hub has opened it since: it is told, stays cut, and opens no revoked grant."""
    from bascule.store.postgres.store import PostgresStore

    database, older = tmp_path / "bascule.db", tmp_path / "older.db"
    shutil.copy(database, older)
    store = SqliteStore.open(database, clock=clock, loop=asyncio.get_running_loop())
    grants = await GrantBook.open(store, clock, RevokedGrants(tmp_path, clock()))
    await store.audit([AuditRecord("grant", "ana")] * 3)
    assert len(await grants.revoke("ana")) == 1
    was = store.epoch
    await store.close()
    for one in (database, *sidecars(database)):
        one.unlink(missing_ok=True)
    shutil.copy(older, database)
    with contextlib.closing(sqlite3.connect(database)) as file, file:
        file.execute("DROP TRIGGER audit_is_never_deleted")
        file.execute("DELETE FROM audit WHERE n = (SELECT max(n) FROM audit)")
        file.execute("DELETE FROM meta WHERE name = 'audit_cut'")
    if opened == "opened":
        store = SqliteStore.open(database, clock=clock, loop=asyncio.get_running_loop())
        assert (await store.verify_audit()).bad is not None
        await store.close()
    assert await _copy(tmp_path, url) == 0
    copied = await PostgresStore.open(url, clock=clock, loop=asyncio.get_running_loop())
    try:
        await copied.audit([AuditRecord("started", "this machine")])
        check = await copied.verify_audit()
        assert (check.bad, check.fault) == (check.checked + 1, MISSING_END)
        restore = await copied.query(restores.read)
        assert restore is not None
        assert restore.records > 0
        told = [line for line in await copied.audit_lines() if b"older than it was" in line]
        assert len(told) == 1
        grants = await GrantBook.open(copied, clock)
        assert grants.authenticate(filled.secret) is None
        assert grants.ended(filled.secret) is not None
        assert copied.shared.epoch != was
    finally:
        await copied.close()


async def test_a_file_of_channels_that_can_not_be_read_stops_the_copy(
    server: Server, url: str, tmp_path: Path, filled: Filled
) -> None:
    (tmp_path / DENY_KEY).unlink()
    (tmp_path / DENY_KEY).mkdir()
    with pytest.raises(StorageFailed, match=DENY_KEY):
        await _copy(tmp_path, url)
    (rows,) = await asyncio.to_thread(server.run, "SELECT count(*) FROM bascule.sessions", url=url)
    assert rows == [(0,)]


async def test_a_copy_that_fails_leaves_an_empty_database(
    server: Server, url: str, tmp_path: Path, filled: Filled
) -> None:
    broken = sqlite3.connect(tmp_path / "bascule.db")
    broken.execute("DROP TRIGGER events_are_never_changed")
    broken.execute("UPDATE events SET body = replace(body, 'heron', 'eagle') WHERE seq = 3")
    broken.commit()
    broken.close()
    with pytest.raises(StoreDamaged):
        await _copy(tmp_path, url)
    counted = ("sessions", "grants", "choices", "claimed_notices")
    statements = [f"SELECT count(*) FROM bascule.{name}" for name in counted]
    assert await asyncio.to_thread(server.run, *statements, url=url) == [[(0,)]] * len(counted)


@pytest.mark.row("X11")
@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("events", "DELETE FROM events WHERE seq = 3"),
        ("device_audit", "UPDATE device_audit SET body = 'x' WHERE n = 2"),
        ("grants", "UPDATE grants SET crc = crc + 1"),
        ("search_sessions", "INSERT INTO search_sessions (n, session_id) VALUES (9, 'more')"),
    ],
)
async def test_a_copy_that_differs_is_refused_and_leaves_an_empty_database(
    server: Server,
    url: str,
    tmp_path: Path,
    filled: Filled,
    monkeypatch: pytest.MonkeyPatch,
    table: str,
    change: str,
) -> None:
    from bascule.store.postgres import copying

    keep = copying._keep_meta  # pyright: ignore[reportPrivateUsage] - between copying and comparing

    def keep_and_change(source: sqlite3.Connection, target: Any, hub: str) -> None:
        keep(source, target, hub)
        target.script("SET LOCAL session_replication_role = replica")  # without triggers
        target.script(change)

    monkeypatch.setattr(copying, "_keep_meta", keep_and_change)
    with pytest.raises(StoreDamaged, match=f"in {table}"):
        await _copy(tmp_path, url)
    statements = [f"SELECT count(*) FROM bascule.{name}" for name in (*copying.TABLES, "choices")]
    assert await asyncio.to_thread(server.run, *statements, url=url) == [[(0,)]] * len(statements)


@pytest.mark.row("X11")
async def test_a_backup_by_pg_dump_is_restored_on_another_server_with_everything(
    server: Server, url: str, open_postgres: Opener, clock: Clock, tmp_path: Path
) -> None:
    hub = await open_postgres()
    await hub.take_in(LAPTOP, "s1", 1, as_rows(TURN))
    _, secret = await (await GrantBook.open(hub, clock)).create("ana", "owner")
    dumps, restores = program("pg_dump"), program("pg_restore")
    dump = str(tmp_path / "hub.dump")
    with contextlib.ExitStack() as closing:
        elsewhere = await asyncio.to_thread(closing.enter_context, running_server())
        other = await asyncio.to_thread(elsewhere.new_database)

        def back_up_and_restore() -> None:
            subprocess.run([dumps, "-Fc", "-n", "bascule", "-f", dump, url], check=True)
            subprocess.run([restores, "--no-owner", "--no-privileges", "-d", other, dump], check=True)

        await asyncio.to_thread(back_up_and_restore)  # while the hub runs
        await _is_restored(elsewhere, other, clock, secret)


async def _is_restored(server: Server, url: str, clock: Clock, secret: str) -> None:
    """The log, a grant, the audit log, and the role that may not change them, which no dump holds."""
    import asyncpg

    restored = await open_at(url, clock)
    try:
        assert restored.shared.role == ROLE
        anybody = "SELECT has_function_privilege('public', 'bascule.drop_log(text)', 'EXECUTE')"
        assert await asyncio.to_thread(server.run, anybody, url=url) == [[(False,)]]
        for change in ("UPDATE bascule.events SET body = 'x'", "DELETE FROM bascule.device_audit"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await asyncio.to_thread(server.run, f"SET ROLE {ROLE}", change, url=url)
        assert [row.body for row in await restored.read("s1", 0)] == as_rows(TURN)
        assert (await GrantBook.open(restored, clock)).authenticate(secret) is not None
        assert (await restored.verify_audit()).bad is None
        await restored.take_in(LAPTOP, "s1", len(TURN) + 1, as_rows([text("more")], len(TURN) + 1))
    finally:
        await restored.close()
