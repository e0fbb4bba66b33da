"""The PostgreSQL store, on a real server: held to what every engine of a hub's store is held to."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.store.audit_copies import AuditCopyConformance, chain, walked
from tests.store.conformance import LogConformance, OpenLog
from tests.store.conftest import Clock
from tests.store.copies import ASKED, BEGUN, LAPTOP, as_rows
from tests.store.logs import AT, text
from tests.store.postgres_server import Server, reason_to_skip
from tests.store.postgres_store import Opener, open_at
from tests.store.replica_conformance import TURN, ReplicaConformance
from tests.store.replica_conformance import Open as OpenHub
from tests.waiting import PATIENCE

from bascule.model.commands import Actor
from bascule.model.errors import AlreadyRunning, StorageFailed, StoreDamaged, StoreRefused
from bascule.model.events import AnyEvent, SessionStarted
from bascule.model.prompts import Delta, DeltaOp, PromptContent
from bascule.store.answers import AnswerBook, WaitingAnswer
from bascule.store.audit import MISSING_END
from bascule.store.base import AuditRecord
from bascule.store.database import DatabaseStore
from bascule.store.devices import DeviceBook, DeviceRecord
from bascule.store.grants import GrantBook
from bascule.store.projects import ProjectBook
from bascule.store.prompts import PromptBook

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(reason_to_skip() is not None, reason=reason_to_skip() or ""),
]


class TestPostgresLog(LogConformance):
    @pytest.fixture
    def opener(self, open_postgres: OpenLog) -> OpenLog:
        return open_postgres


class TestPostgresReplicas(ReplicaConformance):
    @pytest.fixture
    def opener(self, open_postgres: OpenHub) -> OpenHub:
        return open_postgres


class TestPostgresAuditCopies(AuditCopyConformance):
    @pytest.fixture
    def opener(self, open_postgres: OpenHub) -> OpenHub:
        return open_postgres


# The books -------------------------------------------------------------------------------------------


async def test_grants_are_kept_and_a_revoked_one_stays_revoked(
    hub: DatabaseStore, open_postgres: Opener, clock: Clock
) -> None:
    grants = await GrantBook.open(hub, clock)
    kept, secret = await grants.create("ana", "owner")
    gone, past = await grants.create("bob", "viewer")
    await grants.revoke(gone.id)
    assert grants.authenticate(secret) is not None
    await hub.close()
    again = await open_postgres()
    grants = await GrantBook.open(again, clock)
    found = grants.authenticate(secret)
    assert found is not None
    assert found.id == kept.id
    assert grants.authenticate(past) is None
    assert grants.ended(past) is not None
    assert (await again.verify_audit()).bad is None


async def test_machines_projects_prompts_and_answers_are_kept(
    hub: DatabaseStore, open_postgres: Opener
) -> None:
    ana = Actor("ana", "g1")
    devices = await DeviceBook.open(hub)
    devices.put(DeviceRecord("d1", "laptop", AT))
    devices.stand("d1", "pause", b"{}", ana)
    await ProjectBook(hub).add("d1", "/srv/app", "app", "ana")
    made = PromptContent(title="Review", delta=Delta(ops=(DeltaOp(insert="Look at the heron\n"),)))
    prompt = await PromptBook(hub).add(made, "Look at the heron", ana, shared=True)
    await PromptBook(hub).used(prompt.id, prompt.version, "session", ["s1"], ana)
    answers = await AnswerBook.open(hub)
    answer = WaitingAnswer("a1", "d1", "s1", "r1", "0", "deny", b"{}", ana, AT)
    await answers.add(answer, AuditRecord("permission", "ana"))
    await hub.close()
    again = await open_postgres()
    devices = await DeviceBook.open(again)
    assert [one.device for one in devices.all()] == ["d1"]
    assert [one.kind for one in devices.standing("d1")] == ["pause"]
    assert [one.path for one in await ProjectBook(again).list()] == ["/srv/app"]
    assert await PromptBook(again).search("heron", 5) == {prompt.id: ["Review Look at the ", "heron", ""]}
    assert len(await PromptBook(again).uses(prompt.id, 5)) == 1
    assert (await AnswerBook.open(again)).waiting() == [answer]


# The log can't be changed ----------------------------------------------------------------------------

CHANGES = [
    "UPDATE bascule.events SET body = 'x'",
    "DELETE FROM bascule.events",
    "TRUNCATE bascule.events",
    "UPDATE bascule.audit SET body = 'x'",
    "DELETE FROM bascule.audit",
    "TRUNCATE bascule.audit",
    "UPDATE bascule.device_audit SET body = 'x'",
    "DELETE FROM bascule.device_audit",
    "TRUNCATE bascule.device_audit",
]


async def _fails(server: Server, url: str, *statements: str) -> str:
    import asyncpg

    with pytest.raises(asyncpg.PostgresError) as caught:
        await asyncio.to_thread(server.run, *statements, url=url)
    return type(caught.value).__name__


@pytest.mark.row("X11")
@pytest.mark.parametrize("change", CHANGES)
async def test_neither_the_hubs_role_nor_the_owner_changes_the_log(
    change: str, hub: DatabaseStore, server: Server, url: str
) -> None:
    await hub.take_in(LAPTOP, "s1", 1, as_rows(TURN))
    await hub.audit([AuditRecord("grant", "ana")])
    await hub.take_in_audit(LAPTOP, 1, chain("a", "b"))
    role = await _fails(server, url, "SET ROLE bascule_hub", change)
    assert role == "InsufficientPrivilegeError"
    assert await _fails(server, url, change) == "RestrictViolationError"
    assert [row.body for row in await hub.read("s1", 0)] == as_rows(TURN)
    assert await walked(hub) == [(1, 2, None)]


async def test_the_hub_serves_with_the_role_that_can_not_change_the_log(hub: DatabaseStore) -> None:
    assert (
        await hub.query(lambda connection: connection.execute("SELECT current_user").fetchone()[0])
        == "bascule_hub"
    )


@pytest.mark.row("X11")
async def test_audit_records_that_a_superuser_cut_off_are_missed_whoever_writes_the_next(
    hub: DatabaseStore, open_postgres: Opener, server: Server, url: str
) -> None:
    other = await open_postgres()
    for n in range(5):
        await hub.audit([AuditRecord("grant", f"ana {n}")])
    without = "SET session_replication_role = replica"
    cut = "DELETE FROM bascule.audit WHERE n > 3"
    await asyncio.to_thread(server.run, without, cut, url=url)
    for store in (other, await open_postgres(), hub):  # one that runs, one that starts, and the writer
        await store.audit([AuditRecord("grant", "ben")])
        check = await store.verify_audit()
        assert (check.checked, check.bad, check.fault) == (3, 4, MISSING_END)
        await store.close()
    again = await open_postgres()
    assert (await again.verify_audit()).bad == 4


async def test_a_row_that_was_changed_below_the_server_does_not_pass_its_checksum(
    hub: DatabaseStore, server: Server, url: str
) -> None:
    await hub.take_in(LAPTOP, "s1", 1, as_rows(TURN))
    without = "SET session_replication_role = replica"  # a superuser can switch triggers off
    other = "convert_to(replace(convert_from(body, 'UTF8'), 'heron', 'eagle'), 'UTF8')"
    change = f"UPDATE bascule.events SET body = {other}"
    await asyncio.to_thread(server.run, without, change, url=url)
    with pytest.raises(StoreDamaged, match="does not match its checksum"):
        await hub.read("s1", 0)


# Opening, and a server that goes away ----------------------------------------------------------------


@pytest.mark.row("X11")
async def test_nodes_that_write_in_turn_fold_as_one_would(
    open_postgres: Opener, server: Server, template: str, clock: Clock
) -> None:
    """A machine changes its node after every few rows; what is folded, audited and found stays the same."""
    alone = await open_at(await asyncio.to_thread(server.new_database, template), clock)
    nodes = [await open_postgres(), await open_postgres()]
    log: list[AnyEvent] = [BEGUN, *TURN[1:], *(text(f"piece {n} of the heron") for n in range(40))]
    rows = as_rows(log)
    try:
        await alone.take_in(LAPTOP, "s1", 1, rows)
        for turn, first in enumerate(range(0, len(rows), 3)):
            node = nodes[turn % 2]
            await node.take_in(LAPTOP, "s1", first + 1, rows[first : first + 3])
            await node.take_in(
                f"d{turn % 2}", f"own{turn % 2}", turn // 2 + 1, as_rows([BEGUN], turn // 2 + 1)
            )
            await node.audit([AuditRecord("grant", f"node {turn % 2}")])
        for store in (alone, *nodes):
            await store.searchable()
        for node in nodes:
            assert await node.page("s1", 100) == await alone.page("s1", 100)
            assert await node.session("s1") == await alone.session("s1")
            assert (await node.verify_audit()).bad is None
            hits = await node.search("heron", session_id="s1", limit=100)
            assert hits == await alone.search("heron", session_id="s1", limit=100)
        assert (await nodes[0].verify_audit()).checked == (len(rows) + 2) // 3
    finally:
        await alone.close()


async def test_rows_that_two_nodes_take_in_at_once_are_stored_once(open_postgres: Opener) -> None:
    nodes = [await open_postgres(), await open_postgres()]
    rows = as_rows([BEGUN, *(text(f"piece {n}") for n in range(60))])
    taking = [
        node.take_in(LAPTOP, "s1", first + 1, rows[first : first + 5])
        for first in range(0, len(rows), 5)
        for node in nodes
    ]
    done = await asyncio.gather(*taking, return_exceptions=True)
    assert not [one for one in done if isinstance(one, StorageFailed)]
    head, _ = await nodes[0].head_of("s1")
    await nodes[1].take_in(LAPTOP, "s1", head + 1, rows[head:]) if head < len(rows) else None
    assert [row.body for row in await nodes[0].read("s1", 0)] == rows


async def test_no_node_opens_a_database_that_is_being_filled(
    url: str, server: Server, open_postgres: Opener
) -> None:
    import asyncpg

    from bascule.store.postgres.connection import HUB_LOCK

    filling = await asyncpg.connect(url)
    try:
        assert await filling.fetchval("SELECT pg_try_advisory_lock($1, $2)", *HUB_LOCK)
        with pytest.raises(AlreadyRunning, match="being filled"):
            await open_postgres()
    finally:
        await filling.close()


async def test_hubs_that_start_together_migrate_once(server: Server, clock: Clock) -> None:
    from bascule.store.postgres.schema import VERSION, prepare

    url = await asyncio.to_thread(server.new_database)
    await asyncio.gather(*(asyncio.to_thread(prepare, url) for _ in range(4)))
    (versions,) = await asyncio.to_thread(server.run, "SELECT version FROM bascule.schema_versions", url=url)
    assert versions == [(number,) for number in range(1, VERSION + 1)]


async def test_a_newer_database_is_left_alone(server: Server, url: str, clock: Clock) -> None:
    await asyncio.to_thread(server.run, "INSERT INTO bascule.schema_versions (version) VALUES (999)", url=url)
    with pytest.raises(StoreRefused, match="newer Bascule"):
        await open_at(url, clock)


async def test_an_address_without_a_database_is_named_in_the_refusal(server: Server, clock: Clock) -> None:
    with pytest.raises(StoreRefused, match="nobody_made_this"):
        await open_at(server.named("nobody_made_this"), clock)
    with pytest.raises((StoreRefused, StorageFailed)):
        await open_at("postgresql://127.0.0.1:1/x", clock)


@pytest.mark.row("X11")
async def test_connections_that_are_cut_are_made_again_and_nothing_is_lost(
    hub: DatabaseStore, server: Server, url: str
) -> None:
    rows = as_rows([BEGUN, *[text(f"{n} ") for n in range(20)]])
    await hub.take_in(LAPTOP, "s1", 1, rows[:5])
    # Until they are gone: one that is cut in the middle of a transaction is told, and not made good.
    cut = "SELECT pg_terminate_backend(pid, 120000) FROM pg_stat_activity WHERE application_name = 'bascule'"
    for end in (10, 15, 21):
        assert len(await hub.read("s1", 0)) == end - (5 if end < 21 else 6)
        await hub.searchable()  # it writes nothing by itself meanwhile
        await asyncio.to_thread(server.run, cut, url=url)
        async with asyncio.timeout(PATIENCE):
            await hub.writable()
            await hub.take_in(LAPTOP, "s1", 1, rows[:end])
    assert [row.body for row in await hub.read("s1", 0)] == rows


@pytest.mark.row("X11")
async def test_while_the_server_is_away_nothing_is_taken_and_the_hub_goes_on_by_itself(
    hub: DatabaseStore, server: Server
) -> None:
    rows = as_rows([BEGUN, *[text(f"{n} ") for n in range(9)]])
    await hub.take_in(LAPTOP, "s1", 1, rows[:5])
    await asyncio.to_thread(server.stop)
    try:
        with pytest.raises(StorageFailed, match="can't be reached"):
            await hub.take_in(LAPTOP, "s1", 6, rows[5:])
        assert hub.storage_problem is not None
        with pytest.raises(StorageFailed):
            await hub.read("s1", 0)
    finally:
        await asyncio.to_thread(server.start)
    async with asyncio.timeout(PATIENCE):
        await hub.writable()
    assert hub.storage_problem is None
    await hub.take_in(LAPTOP, "s1", 6, rows[5:])
    assert [row.body for row in await hub.read("s1", 0)] == rows


async def test_a_found_session_goes_with_its_log_by_the_one_way_there_is(hub: DatabaseStore) -> None:
    found = SessionStarted("demo", "stream_json", "/", "ana", device=LAPTOP, found=True)
    await hub.take_in(LAPTOP, "s1", 1, as_rows([found, text("heron")]))
    await hub.searchable()
    assert await hub.forget_copy(LAPTOP, "s1")
    assert (await hub.read("s1", 0), (await hub.search("heron")).hits) == ([], [])


# Notices, told once ----------------------------------------------------------------------------------


async def test_one_node_claims_a_notice_and_may_claim_a_request_again_when_the_answer_was_lost(
    url: str,
) -> None:
    import asyncpg

    from bascule.store.postgres.node_rows import NodeRows, request_claim

    connection: Any = await asyncpg.connect(url, server_settings={"search_path": "bascule"})
    try:
        a, b = NodeRows(connection, "a"), NodeRows(connection, "b")
        long = "r" * 2000
        assert await a.claim_request("s1", long)
        assert await a.claim_request("s1", long)
        assert not await b.claim_request("s1", long)
        assert await b.claim_request("s1", long + "2")
        assert await a.claimed([request_claim("s1", long), "other"]) == {request_claim("s1", long)}
        assert await b.claim("away d1 1")
        assert not await b.claim("away d1 1")
    finally:
        await connection.close()


async def test_requests_that_are_open_when_claims_begin_count_as_told(
    server: Server, url: str, hub: DatabaseStore
) -> None:
    from bascule.store.postgres import schema
    from bascule.store.postgres.node_rows import request_claim

    await hub.take_in(LAPTOP, "s1", 1, as_rows([BEGUN, ASKED]))
    script = (Path(schema.__file__).parent / "migrations" / "0004_claims.sql").read_text()
    before = "ALTER TABLE bascule.claimed_notices DROP COLUMN node"
    inside = f"SET search_path = bascule; {script}"
    await asyncio.to_thread(server.script, url, before, inside)
    (rows,) = await asyncio.to_thread(server.run, "SELECT what FROM bascule.claimed_notices", url=url)
    assert rows == [(request_claim("s1", "r1"),)]
