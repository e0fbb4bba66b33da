"""One-time links for starts that wait, and how they reach the owner."""

from pathlib import Path

import pytest
from tests.daemon.gates import MIRA, MakeGate
from tests.hub.running_hub import until

from bascule.daemon.start_notices import send_outside
from bascule.link.starts import (
    AnswerStartLink,
    DecideStart,
    ReadStartLink,
)
from bascule.model.commands import Actor
from bascule.model.errors import (
    StartNotWaiting,
    StartRefused,
)
from bascule.model.settings import StartsSettings
from bascule.model.starts import WaitingStart

pytestmark = pytest.mark.anyio


# Out of band


@pytest.mark.row("R17")
async def test_the_link_shows_the_start_changes_nothing_by_that_and_answers_once(gates: MakeGate) -> None:
    gate = gates(approval="oob_confirm", command=("mail",))
    await gate.start()
    start, link, text = await gate.next_sent()
    assert "Fix the bug" in text
    assert link in text
    token = link.partition("#approve=")[2]
    assert len(token) >= 43
    phone = Actor("", address="198.51.100.3", user_agent="phone")
    for _ in range(3):
        seen = await gate.ask(ReadStartLink(token=token), phone)
        assert (seen.device, seen.start) == ("laptop", start)
    assert gate.started == []
    await gate.ask(AnswerStartLink(token=token, decision="approve"), phone)
    assert len(gate.started) == 1
    for command in (ReadStartLink(token=token), AnswerStartLink(token=token, decision="deny")):
        with pytest.raises(StartNotWaiting):
            await gate.ask(command, phone)
    assert gate.audit.records[-1].address == "198.51.100.3"


@pytest.mark.row("R17", "S39")
async def test_a_link_is_worth_nothing_to_a_hub_a_guess_or_after_five_minutes(gates: MakeGate) -> None:
    gate = gates(approval="oob_confirm", command=("mail",))
    await gate.start()
    token = (await gate.next_sent())[1].partition("=")[2]
    with pytest.raises(StartRefused):
        await gate.ask(AnswerStartLink(token=token, decision="approve"), MIRA)
    with pytest.raises(StartNotWaiting):
        await gate.ask(AnswerStartLink(token="x" * 43, decision="approve"))
    gate.now += 301
    with pytest.raises(StartNotWaiting):
        await gate.ask(AnswerStartLink(token=token, decision="approve"))
    assert gate.started == []


@pytest.mark.row("R17")
async def test_block_by_link_lasts_a_day(gates: MakeGate) -> None:
    gate = gates(approval="oob_confirm", command=("mail",))
    await gate.start()
    token = (await gate.next_sent())[1].partition("=")[2]
    await gate.ask(AnswerStartLink(token=token, decision="block"), Actor("", address="198.51.100.3"))
    with pytest.raises(StartRefused):
        await gate.start("s2")


@pytest.mark.row("R17")
async def test_a_message_that_can_t_be_sent_is_said_and_the_start_still_waits_here(
    gates: MakeGate,
) -> None:
    gate = gates(approval="oob_confirm", command=("mail",))
    gate.unsent = OSError("mail ended with status 1")
    changes = gate.changes
    begun = await gate.start()
    assert begun.waiting is not None
    await until(lambda: "could not be sent" in gate.gate.state.waiting[0].message)
    assert gate.changes > changes
    await gate.ask(DecideStart(start_id=begun.waiting.id, decision="approve"))
    assert len(gate.started) == 1


@pytest.mark.row("R17", "S20")
async def test_the_owner_s_command_gets_the_text_on_stdin_and_no_shell(tmp_path: Path) -> None:
    written = tmp_path / "mail; touch x"
    view = WaitingStart(
        id="1",
        session_id="s",
        what="w",
        folder="/f",
        words="",
        by="b",
        browser="c",
        address="",
        asked_at=0,
        expires_at=1,
    )
    settings = StartsSettings(command=("tee", str(written)))
    await send_outside(settings, view, "http://l/#approve=t", "Somebody asks; $(touch y)")
    assert written.read_text() == "Somebody asks; $(touch y)"
    assert list(tmp_path.iterdir()) == [written]
    with pytest.raises(OSError, match="false ended with status 1"):
        await send_outside(StartsSettings(command=("false",)), view, "l", "t")
    with pytest.raises(OSError):
        await send_outside(StartsSettings(command=("no-such-program",)), view, "l", "t")
