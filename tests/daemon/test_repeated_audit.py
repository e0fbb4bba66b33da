"""What a hub can bring about again and again is counted in the audit log, not written each time."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.gates import MIRA, MakeGate
from tests.daemon.lying_hub import FORGED, LyingHub, audit, audit_counted, times
from tests.daemon.running_daemon import running_daemon
from tests.waiting import PATIENCE

from bascule.daemon.asks.host_line import LONGEST_WORD
from bascule.daemon.repeated_audit import LONGEST_DETAIL, RepeatedAudit
from bascule.link.machine import PauseDevice
from bascule.link.starts import WithdrawStart
from bascule.model.commands import Actor, SetPermissionMode, StartSession
from bascule.model.errors import LimitReached, StartRefused, StorageFailed
from bascule.policy.repeats import MAX_DIFFERENT
from bascule.store.base import AuditRecord

pytestmark = pytest.mark.anyio


async def refused(gate: Any, **more: Any) -> None:
    with pytest.raises(StartRefused):
        await gate.start(**more)


def details(gate: Any, action: str) -> list[str]:
    return [one.detail for one in gate.audit.records if one.action == action]


@pytest.mark.row("R16", "S39")
async def test_equal_refusals_within_a_minute_are_one_row_and_then_one_with_their_number(
    gates: MakeGate,
) -> None:
    gate = gates(approval="trusted_browsers")
    for number in range(50):
        await refused(gate, session_id=f"s{number}")
        gate.now += 1
    [first] = details(gate, "start_refused")
    gate.now += 10
    await refused(gate, session_id="later")
    assert details(gate, "start_refused") == [first, f"{first} (49 more times within 60 s)", first]
    counted = next(one for one in gate.audit.records if one.detail.endswith("60 s)"))
    assert (counted.actor, counted.grant_id, counted.via) == (MIRA.name, MIRA.grant_id, MIRA.via)
    assert counted.session_id is None
    # While it goes on, the next row comes after two minutes; what was counted is written at the end, too.
    gate.now += 100
    await refused(gate)
    assert len(details(gate, "start_refused")) == 3
    await gate.repeated.close()
    assert details(gate, "start_refused")[3:] == [f"{first} (1 more time within 100 s)"]


@pytest.mark.row("R16", "S39")
async def test_a_hub_that_says_something_else_each_time_gets_no_more_rows(gates: MakeGate) -> None:
    gate = gates(approval="trusted_browsers")
    for number in range(300):
        by = Actor(f"p{number}", f"g{number}", f"10.0.0.{number}", via=f"hub {number}")
        await refused(gate, by=by, session_id=f"s{number}", cwd=f"/srv/{number}", prompt="x" * 5000)
    await gate.repeated.close()
    # Each is a start by a new browser from a new address, which is said, too: both kinds share the bound.
    assert len(gate.audit.records) == MAX_DIFFERENT + 1
    last = gate.audit.records[-1]
    assert (last.action, last.actor) == ("refused", "this machine")
    assert "from elsewhere within 1 s" in last.detail
    assert sum(times(one.detail) for one in gate.audit.records) >= 300


async def test_the_number_is_written_when_the_minute_is_over_also_if_nothing_follows() -> None:
    rows: asyncio.Queue[AuditRecord] = asyncio.Queue()

    class Store:
        async def audit(self, records: list[AuditRecord]) -> None:
            for one in records:
                rows.put_nowait(one)

    now = [0.0]

    def steady() -> float:
        """The minute is nearly over as soon as it has begun."""
        at, now[0] = now[0], max(now[0], 59.95)
        return at

    log: Any = Store()
    repeated = RepeatedAudit(log, steady)
    record = AuditRecord("refused", "Mira", detail="d" * 5000)
    for _ in range(3):
        await repeated.add(record)
    assert len((await rows.get()).detail) == LONGEST_DETAIL
    now[0] = 61.0
    last = await asyncio.wait_for(rows.get(), PATIENCE)
    assert last.detail.endswith("d (2 more times within 61 s)")
    await repeated.close()
    assert rows.empty()


async def test_a_full_disk_at_the_end_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    class Full:
        fails = False

        async def audit(self, records: list[AuditRecord]) -> None:
            if self.fails:
                raise StorageFailed("The disk is full.")

    store: Any = Full()
    repeated = RepeatedAudit(store, lambda: 0.0)
    for _ in range(2):
        await repeated.add(AuditRecord("refused", "Mira"))
    store.fails = True
    await repeated.close()
    assert "The disk is full." in caplog.text


@pytest.mark.row("R17", "S39")
async def test_asking_and_withdrawing_in_turn_comes_to_an_end(gates: MakeGate) -> None:
    gate = gates(approval="local_confirm")
    for number in range(20):
        begun = await gate.start(f"s{number}")
        assert begun.waiting is not None
        await gate.ask(WithdrawStart(start_id=begun.waiting.id), MIRA)
    for number in range(20, 60):
        with pytest.raises(LimitReached, match="or were just withdrawn"):
            await gate.start(f"s{number}")
    assert gate.shown.qsize() <= 20
    assert gate.audit.actions.count("start_asked") == gate.audit.actions.count("start_decided") == 20
    assert gate.audit.actions.count("start_refused") == 1
    gate.now += 301
    assert (await gate.start("later")).waiting is not None


@pytest.mark.row("R16", "S39")
async def test_a_lying_hub_in_a_loop_costs_a_bounded_number_of_short_rows_in_a_sound_chain(
    short_dir: Path,
) -> None:
    async with running_daemon(short_dir) as daemon:
        await daemon.start("own", prompt="hello")
        hub = LyingHub(daemon)
        hub.welcome()
        before = len(await audit(daemon))
        for number in range(100):
            long = Actor("n" * 9000, f"g{number}", "a" * 9000, "u" * 9000)
            for command, by in (
                (StartSession(session_id=f"s{number}", agent="mini", cwd=f"/etc/{number}"), long),
                (SetPermissionMode(session_id="own", mode="auto"), FORGED),
                (PauseDevice(paused=True), FORGED),
                (PauseDevice(paused=False), FORGED),
            ):
                await hub.ask(command, by)
        assert len(await audit(daemon)) - before == MAX_DIFFERENT
        rows = (await audit_counted(daemon))[before:]
        assert len(rows) <= 2 * MAX_DIFFERENT + 1
        modes = [one["detail"] for one in rows if "SetPermissionMode" in one["detail"]]
        assert [times(one) for one in modes] == [1, 99]
        assert sum(times(one["detail"]) for one in rows if one["action"] == "mode") == 200
        assert sum(times(one["detail"]) for one in rows) >= 400  # an unusual start is also said to be one
        for one in rows:
            assert max(len(str(value)) for value in one.values()) <= LONGEST_DETAIL + 60
            assert len(one["actor"]) <= LONGEST_WORD
        assert (await daemon.store.verify_audit()).bad is None
