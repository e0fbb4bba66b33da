"""One-time links for starts that wait, and how they reach the owner."""

from pathlib import Path

import pytest
from tests.daemon.gates import MIRA, MakeGate
from tests.hub.running_hub import until

from bascule.daemon.starts.start_notices import send_outside
from bascule.link.starts import (
    AnswerStartLink,
    DecideStart,
    ReadStartLink,
)
from bascule.model.commands import Actor, Envelope, ResumeSession
from bascule.model.errors import (
    ApprovalPending,
    StartNotWaiting,
    StartRefused,
)
from bascule.model.records import SessionRecord
from bascule.model.settings import StartsSettings
from bascule.model.starts import WaitingStart

pytestmark = pytest.mark.anyio

KEY = "sk-" + "ant-api03-MadeUpForThisTest0123456789"
PHONE = Actor("", address="198.51.100.3", user_agent="phone")


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
    for _ in range(3):
        seen = await gate.ask(ReadStartLink(token=token), PHONE)
        assert (seen.device, seen.start) == ("laptop", start)
    assert gate.started == []
    await gate.ask(AnswerStartLink(token=token, decision="approve"), PHONE)
    assert len(gate.started) == 1
    for command in (ReadStartLink(token=token), AnswerStartLink(token=token, decision="deny")):
        with pytest.raises(StartNotWaiting):
            await gate.ask(command, PHONE)
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


@pytest.mark.row("R17", "S61")
async def test_no_message_notification_or_link_shows_a_key_that_was_in_the_prompt(gates: MakeGate) -> None:
    gate = gates(approval="oob_confirm", command=("mail",))
    gate.audit.sessions = [SessionRecord("old", agent="claude-code", cwd="/srv/app", title=f"Use {KEY}")]
    begun = await gate.start(prompt=f"Deploy with {KEY} now")
    start, link, text = await gate.next_sent()
    shown = await gate.next_shown()
    seen = await gate.ask(ReadStartLink(token=link.partition("#approve=")[2]), PHONE)
    assert start.words == seen.start.words == "Deploy with [hidden] now"
    assert KEY not in text + shown.body
    assert "“Deploy with [hidden] now”" in shown.body
    # The person at the machine decides about all of it, and sees it.
    assert begun.waiting is not None
    assert KEY in begun.waiting.words
    # Cut off after 10 characters, it would not be recognised any more.
    await gate.start("s2", prompt="a" * 289 + f" {KEY} and go")
    text = (await gate.next_sent())[2]
    assert KEY[:5] not in text + (await gate.next_shown()).body
    with pytest.raises(ApprovalPending):
        await gate.gate.admit(Envelope(ResumeSession(session_id="old"), MIRA))
    assert "claude-code resumes “Use [hidden]” in /srv/app" in (await gate.next_sent())[2]
    assert KEY not in (await gate.next_shown()).body


@pytest.mark.row("S61")
async def test_the_notification_of_a_start_that_runs_shows_no_key(gates: MakeGate) -> None:
    gate = gates()
    await gate.start(prompt=f"Deploy with {KEY} now")
    assert "“Deploy with [hidden] now”" in (await gate.next_shown()).body


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
