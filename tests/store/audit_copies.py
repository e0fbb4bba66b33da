"""What every engine of a hub's store must do with copies of a machine's audit chain.

They only grow, and take in nothing that does not follow.

A test class inherits `AuditCopyConformance` and brings the fixture `opener`, which opens the same data again.
"""

import json

import pytest
from tests.store.replica_conformance import Open

from bascule.store import device_audit
from bascule.store.audit import FIRST, SentRecord, chained
from bascule.store.base import AuditRecord
from bascule.store.device_audit import CHANGED, MAX_CHAINS, NOT_AFTER, OTHER
from bascule.store.protocols import HubStore

LAPTOP, DESK = "laptop", "desk"


def chain(*details: str, n: int = 0, before: str = FIRST) -> list[SentRecord]:
    """Records as a machine chains them."""
    rows: list[SentRecord] = []
    for detail in details:
        n += 1
        record = {"action": "input", "actor": "ana", "detail": detail}
        body = json.dumps({"at": "2026-01-01T00:00:00.000Z", "n": n, "record": record}).encode()
        rows.append(SentRecord(body, before, chained(before, body)))
        before = rows[-1].hash
    return rows


async def walked(hub: HubStore, device: str = LAPTOP) -> list[tuple[int, int, int | None]]:
    """Of each copy of a machine's chains: its number, how many records hold, and the first that does not."""
    copies = [copy for copy in await hub.audit_copies() if copy.device == device]
    checks = [await hub.verify_audit_copy(copy) for copy in copies]
    return [(copy.chain, check.checked, check.bad) for copy, check in zip(copies, checks, strict=True)]


class AuditCopyConformance:
    @pytest.fixture
    async def hub(self, opener: Open) -> HubStore:
        return await opener()

    async def test_what_came_twice_is_there_once(self, hub: HubStore) -> None:
        rows = chain("a", "b", "c")
        await hub.take_in_audit(LAPTOP, 1, rows[:2])
        taken = await hub.take_in_audit(LAPTOP, 1, rows)
        assert (taken.copy.n, taken.refused) == (3, "")
        assert (await hub.take_in_audit(LAPTOP, 2, rows[1:])).refused == ""
        assert len(await hub.copied_audit_lines(LAPTOP)) == 3

    @pytest.mark.row("S49")
    async def test_a_forged_record_is_kept_out_and_the_copy_is_marked(self, hub: HubStore) -> None:
        rows = chain("a", "b", "c", "d")
        forged = rows[2]._replace(body=rows[2].body.replace(b"ana", b"bob"))
        taken = await hub.take_in_audit(LAPTOP, 1, [*rows[:2], forged, rows[3]])
        assert (taken.copy.n, taken.copy.broken_at, taken.refused) == (2, 3, CHANGED)
        assert await walked(hub) == [(1, 2, 3)]
        assert b"bob" not in b"".join(await hub.copied_audit_lines(LAPTOP))

    @pytest.mark.row("S49")
    async def test_a_forged_record_with_a_hash_of_its_own_does_not_carry_the_next(
        self, hub: HubStore
    ) -> None:
        rows = chain("a", "b", "c")
        body = rows[1].body.replace(b"ana", b"bob")
        forged = SentRecord(body, rows[0].hash, chained(rows[0].hash, body))
        taken = await hub.take_in_audit(LAPTOP, 1, [rows[0], forged, rows[2]])
        assert (taken.copy.n, taken.copy.broken_at, taken.refused) == (2, 3, NOT_AFTER)

    @pytest.mark.row("S49")
    async def test_a_number_that_was_copied_is_never_another_record(self, hub: HubStore) -> None:
        await hub.take_in_audit(LAPTOP, 1, chain("a", "b"))
        before = await hub.copied_audit_lines(LAPTOP)
        taken = await hub.take_in_audit(LAPTOP, 1, chain("a", "x", "c"))
        assert (taken.copy.n, taken.copy.broken_at, taken.refused) == (2, 2, OTHER)
        assert await hub.copied_audit_lines(LAPTOP) == before
        assert await walked(hub) == [(1, 2, 2)]

    @pytest.mark.parametrize("first", [0, 4, 1 << 40])
    async def test_a_gap_is_refused(self, hub: HubStore, first: int) -> None:
        rows = chain("a", "b", "c", "d")
        await hub.take_in_audit(LAPTOP, 1, rows[:2])
        taken = await hub.take_in_audit(LAPTOP, first, rows[3:])
        assert (taken.copy.n, taken.copy.broken_at) == (2, 3)
        assert "missing" in taken.refused

    async def test_the_mark_goes_when_the_record_that_belongs_there_comes(self, hub: HubStore) -> None:
        rows = chain("a", "b", "c")
        await hub.take_in_audit(LAPTOP, 3, rows[2:])
        assert await walked(hub) == [(1, 0, 1)]
        await hub.take_in_audit(LAPTOP, 1, rows)
        assert await walked(hub) == [(1, 3, None)]

    @pytest.mark.parametrize(
        ("body", "fault"),
        [
            (b"no json", "no audit record"),
            (b'{"n":1,"at":"","record":{"actor":"\xff"}}', "no audit record"),
            (b'{"n":1,"at":"","record":[]}', "no audit record"),
            (b'{"n":2,"at":"","record":{}}', "says that it is record 2"),
            (b'{"n":1,"at":"","record":{"detail":"' + b"x" * device_audit.MAX_BODY + b'"}}', "too large"),
        ],
    )
    async def test_what_is_no_record_is_refused_however_well_it_is_chained(
        self, hub: HubStore, body: bytes, fault: str
    ) -> None:
        taken = await hub.take_in_audit(LAPTOP, 1, [SentRecord(body, FIRST, chained(FIRST, body))])
        assert fault in taken.refused
        assert await hub.copied_audit_lines(LAPTOP) == []

    async def test_no_machine_writes_into_the_chain_of_another(self, hub: HubStore) -> None:
        rows = chain("a", "b", "c")
        await hub.take_in_audit(LAPTOP, 1, rows[:2])
        taken = await hub.take_in_audit(DESK, 3, rows[2:])
        assert taken.refused
        assert await walked(hub) == [(1, 2, None)]
        assert await walked(hub, DESK) == [(1, 0, 1)]
        await hub.audit([AuditRecord("grant", "ana")])
        assert (await hub.verify_audit()).checked == 1

    async def test_another_chain_begins_beside_the_first_which_stays_as_it_is(self, hub: HubStore) -> None:
        old, new = chain("a", "b", "c"), chain("a", "x")
        await hub.take_in_audit(LAPTOP, 1, old)
        before = await hub.copied_audit_lines(LAPTOP)
        taken = await hub.take_in_audit(LAPTOP, 1, new, anew=True)
        assert (taken.began, taken.copy.chain, taken.copy.n) == (True, 2, 2)
        assert await hub.copied_audit_lines(LAPTOP, 1) == before
        assert len(await hub.copied_audit_lines(LAPTOP)) == 2
        assert await walked(hub) == [(1, 3, None), (2, 2, None)]
        first, _ = await hub.audit_copies()
        assert await hub.audit_parted_at(first) == 2

    async def test_an_end_that_was_cut_off_is_seen_by_the_chain_that_follows(self, hub: HubStore) -> None:
        rows = chain("a", "b", "c")
        await hub.take_in_audit(LAPTOP, 1, rows)
        await hub.take_in_audit(LAPTOP, 1, rows[:2], anew=True)
        first, _ = await hub.audit_copies()
        assert await hub.audit_parted_at(first) == 3

    async def test_chains_without_end_are_refused(self, hub: HubStore) -> None:
        for n in range(MAX_CHAINS):
            await hub.take_in_audit(LAPTOP, 1, chain(f"{n}"), anew=True)
        taken = await hub.take_in_audit(LAPTOP, 1, chain("more"), anew=True)
        assert taken.copy.chain == MAX_CHAINS
        assert "more than" in taken.refused
        # One that has nothing yet is used again instead.
        for _ in range(3):
            empty = await hub.take_in_audit(DESK, 2, chain("a", "b")[1:], anew=True)
            assert empty.copy.chain == 1
