"""Unusual starts: which ones are, and when one becomes usual."""

import pytest
from tests.daemon.gates import CHROME, MakeGate

from bascule.link.starts import (
    DecideStart,
)
from bascule.model.commands import Actor

pytestmark = pytest.mark.anyio


# Unusual starts


@pytest.mark.row("R19", "R16")
async def test_an_unusual_start_is_flagged_in_notification_and_audit_or_held_as_set(
    gates: MakeGate,
) -> None:
    gate = gates()
    await gate.start("s1")
    await gate.next_shown()
    elsewhere = Actor("Mira", "grant-7", "198.51.100.3", CHROME, via="office hub")
    await gate.start("s2", by=elsewhere, prompt="sudo make it so")
    assert "Unusual: first time from this address; the prompt says 'sudo'" in (await gate.next_shown()).body
    flagged = [one for one in gate.audit.records if one.action == "start_unusual"]
    assert len(flagged) == 1
    assert flagged[0].address == "198.51.100.3"
    assert flagged[0].detail.endswith("first time from this address; the prompt says 'sudo'")


@pytest.mark.row("R19")
async def test_what_was_approved_once_is_usual_from_then_on(gates: MakeGate) -> None:
    gate = gates(unusual="local_confirm")
    assert (await gate.start("s1")).waiting is None
    phone = Actor("Mira", "grant-8", "198.51.100.3", "Mozilla (iPhone) Safari/1", via="office hub")
    held = (await gate.start("s2", by=phone)).waiting
    assert held is not None
    assert held.reasons == ("first time from this browser", "first time from this address")
    await gate.ask(DecideStart(start_id=held.id, decision="approve"))
    gate.now += 600
    assert (await gate.start("s3", by=phone)).waiting is None


@pytest.mark.row("R19")
async def test_a_denied_browser_stays_unusual(gates: MakeGate) -> None:
    gate = gates(unusual="local_confirm")
    await gate.start("s1")
    phone = Actor("Mira", "grant-8", "198.51.100.3", "Mozilla (iPhone) Safari/1", via="office hub")
    held = (await gate.start("s2", by=phone)).waiting
    assert held is not None
    await gate.ask(DecideStart(start_id=held.id, decision="deny"))
    assert (await gate.start("s3", by=phone)).waiting is not None


@pytest.mark.row("R19")
async def test_a_burst_is_held_after_the_third_start(gates: MakeGate) -> None:
    gate = gates(unusual="local_confirm")
    for number in range(3):
        assert (await gate.start(f"s{number}")).waiting is None
        gate.now += 5
    held = (await gate.start("s4")).waiting
    assert held is not None
    assert held.reasons == ("4 starts within 2 minutes",)
