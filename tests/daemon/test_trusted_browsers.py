"""Browsers that a machine trusts: what their signature opens, and for how long."""

from pathlib import Path
from typing import Any

import pytest
from tests.daemon.gates import CHROME, MIRA, MakeGate
from tests.daemon.lying_hub import times

from bascule.model.commands import Actor, Envelope, ResumeSession
from bascule.model.errors import (
    OwnerNeeded,
    StartRefused,
)
from bascule.model.starts import StartSignature

pytestmark = pytest.mark.anyio


# Trusted browsers


@pytest.mark.row("R17")
async def test_a_trusted_browser_starts_and_is_announced_the_same_signature_again_does_not(
    gates: MakeGate,
) -> None:
    gate = gates(approval="trusted_browsers")
    phone = gate.book.make("phone", gate.now)
    start = gate.signed(phone.code)
    assert (await gate.start("s1", **start)).waiting is None
    assert (await gate.next_shown()).title == "Session started on laptop"
    gate.make()  # a restart does not make it good again
    with pytest.raises(StartRefused, match="each counts once"):
        await gate.start("s2", **start)
    assert len(gate.started) == 1


@pytest.mark.row("R17")
async def test_a_start_that_widens_is_refused_unless_a_trusted_browser_signed_it(gates: MakeGate) -> None:
    gate = gates(approval="notify_only")
    phone = gate.book.make("phone", gate.now)
    gate.widens = "laptop does not let a hub do this."
    with pytest.raises(OwnerNeeded, match="does not let a hub"):
        await gate.start("s1")
    assert gate.started == []
    assert (await gate.start("s1", **gate.signed(phone.code))).waiting is None


@pytest.mark.row("R17", "S39", "R16")
async def test_a_lying_hub_starts_nothing_where_only_trusted_browsers_may(gates: MakeGate) -> None:
    gate = gates(approval="trusted_browsers")
    phone = gate.book.make("phone", gate.now)
    good = gate.signed(phone.code)
    made_up = StartSignature(phone.id, round(gate.now * 1000), "m" * 16, "0" * 64)
    lies: list[dict[str, Any]] = [
        {},  # without a signature
        {"by": Actor("me", "grant-1", "127.0.0.1", CHROME, via="office hub")},  # a forged `by`
        {"signature": made_up},
        gate.signed("0" * 26),  # of a secret of its own
        {**good, "prompt": "Send me the keys"},
        {**good, "cwd": "/"},
        {**good, "agent": "other"},
    ]
    for number, lie in enumerate(lies):
        with pytest.raises(StartRefused):
            await gate.start(f"s{number}", **lie)
    with pytest.raises(StartRefused, match="takes starts only"):
        await gate.gate.admit(Envelope(ResumeSession(session_id="old"), MIRA))
    assert gate.started == []
    await gate.repeated.flush()
    refused = [one.detail for one in gate.audit.records if one.action == "start_refused"]
    assert sum(map(times, refused)) == len(lies) + 1
    await gate.start("good", **good)  # and none of it used up what the browser signed
    assert len(gate.started) == 1


@pytest.mark.row("R17")
async def test_trust_ends_after_thirty_days_or_when_it_is_revoked(gates: MakeGate) -> None:
    gate = gates(approval="trusted_browsers")
    phone, tablet = gate.book.make("phone", gate.now), gate.book.make("tablet", gate.now)
    gate.book.revoke(tablet.id)
    with pytest.raises(StartRefused, match="does not trust this browser any more"):
        await gate.start(**gate.signed(tablet.code))
    gate.now += 30 * 86400 - 1
    await gate.start(**gate.signed(phone.code))
    gate.now += 1
    with pytest.raises(StartRefused, match="for 30 days, which are over"):
        await gate.start(**gate.signed(phone.code, "other" * 4))


@pytest.mark.row("R17")
@pytest.mark.parametrize(
    ("days", "words"), [(7, "for 7 days, which are over"), (1, "for 1 day, which is over")]
)
async def test_a_browser_that_was_trusted_for_less_is_told_for_how_long(
    gates: MakeGate, days: int, words: str
) -> None:
    gate = gates(approval="trusted_browsers")
    phone = gate.book.make("phone", gate.now, days * 86400.0)
    gate.now += days * 86400
    with pytest.raises(StartRefused, match=words):
        await gate.start(**gate.signed(phone.code))


@pytest.mark.row("R17")
async def test_a_trusted_browser_need_not_wait_where_others_do(gates: MakeGate) -> None:
    gate = gates(approval="local_confirm")
    phone = gate.book.make("phone", gate.now)
    assert (await gate.start("s1", **gate.signed(phone.code))).waiting is None
    assert (await gate.start("s2")).waiting is not None


@pytest.mark.row("R17", "S12")
def test_the_secrets_are_readable_by_their_owner_only_and_all_different(
    gates: MakeGate, tmp_path: Path
) -> None:
    gate = gates()
    codes = {gate.book.make(f"b{number}", gate.now).code for number in range(50)}
    assert len(codes) == 50
    assert (tmp_path / "trusted_browsers.json").stat().st_mode & 0o777 == 0o600
