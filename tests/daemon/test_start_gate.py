"""The gate for starts from elsewhere: every way to hold, answer and refuse one, on the test's own clock."""

import contextlib
from typing import Any, cast

import pytest
from msgspec.structs import replace
from tests.daemon.gates import CHROME, HERE, MIRA, MakeGate, Shown

from bascule.link.comparisons import Entrant, StartComparison
from bascule.link.machine import ReconnectAgent
from bascule.link.starts import (
    BlockStarts,
    DecideStart,
    ListStarts,
    WithdrawStart,
)
from bascule.model.commands import Actor, Envelope, ResumeSession, SentImage, StartSession
from bascule.model.errors import (
    ApprovalPending,
    BadDirectory,
    LimitReached,
    StartNotWaiting,
    StartRefused,
)
from bascule.model.event_values import StartOptions
from bascule.model.records import SessionRecord

pytestmark = pytest.mark.anyio


# Notifications


@pytest.mark.row("R14", "R17")
async def test_a_start_from_elsewhere_is_announced_with_who_where_and_what(gates: MakeGate) -> None:
    gate = gates()
    assert (await gate.start()).waiting is None
    shown = await gate.next_shown()
    assert shown.title == "Session started on laptop"
    assert shown.body.splitlines() == [
        "claude-code (relay) in /srv/app",
        "“Fix the bug”",
        "Mira, Chrome on Linux (203.0.113.9, by office hub)",
    ]
    assert (list(shown.actions), shown.seconds) == (["View", "End"], 30.0)
    await shown.actions["View"]()
    await shown.actions["End"]()
    assert (gate.opened, gate.ended) == (["s1"], ["s1"])


@pytest.mark.row("R14")
async def test_a_start_on_the_machine_itself_and_one_under_auto_are_not_announced(
    gates: MakeGate,
) -> None:
    gate = gates()
    await gate.start(by=HERE)
    quiet = gates(approval="auto")
    await quiet.start()
    assert gate.shown.empty()
    assert quiet.shown.empty()
    assert len(gate.started) == len(quiet.started) == 1


@pytest.mark.row("R14")
async def test_a_notification_service_that_fails_stops_nothing(gates: MakeGate) -> None:
    gate = gates()

    async def broken(*_: Any) -> None:
        gate.shown.put_nowait(Shown("tried", "", {}, 0))
        raise RuntimeError("no bus")

    gate._show = broken  # type: ignore[method-assign]
    gate.make()
    await gate.start()
    assert (await gate.next_shown()).title == "tried"
    assert len(gate.started) == 1


@pytest.mark.row("R14", "S44")
async def test_text_that_hides_or_forges_lines_is_written_out_in_a_notification(gates: MakeGate) -> None:
    gate = gates()
    await gate.start(
        prompt="fine\n\nSession ended\u202e", by=Actor("Mira\nroot", via="hub", address="10.0.0.1")
    )
    body = (await gate.next_shown()).body
    assert "“fine Session ended\\u{202e}”" in body.splitlines()
    assert "Mira root" in body


# Confirmation on the machine


@pytest.mark.row("R17")
async def test_a_held_start_is_nothing_but_a_promise_until_it_is_approved_here(gates: MakeGate) -> None:
    gate = gates(approval="local_confirm")
    begun = await gate.start()
    assert gate.started == []
    assert begun.waiting is not None
    assert begun.waiting.expires_at == gate.now + 300
    listed = await gate.ask(ListStarts())
    assert [one.id for one in listed.starts] == [begun.waiting.id]
    await gate.ask(DecideStart(start_id=begun.waiting.id, decision="approve"))
    assert [one.session_id for one in cast("list[StartSession]", gate.started)] == ["s1"]
    assert gate.gate.state.waiting == ()
    assert gate.audit.actions == ["start_asked", "start_decided"]
    assert gate.audit.records[1].decision == "allow"
    with pytest.raises(StartNotWaiting):
        await gate.ask(DecideStart(start_id=begun.waiting.id, decision="deny"))


@pytest.mark.row("R17")
async def test_the_buttons_of_the_notification_approve_deny_and_block(gates: MakeGate) -> None:
    gate = gates(approval="local_confirm")
    await gate.start("s1")
    shown = await gate.next_shown()
    assert shown.title == "Allow a session on laptop?"
    assert (list(shown.actions), shown.seconds) == (["Approve", "Deny", "Block all for 24 h"], 300.0)
    await shown.actions["Approve"]()
    await shown.actions["Deny"]()  # pressed too late: the first answer counted
    assert len(gate.started) == 1
    await gate.start("s2")
    await (await gate.next_shown()).actions["Deny"]()
    assert [(one.session_id, one.state) for one in gate.gate.state.waiting] == [("s2", "denied")]
    assert len(gate.started) == 1


@pytest.mark.row("R17", "R16")
async def test_a_start_that_nobody_approves_is_refused_after_five_minutes(gates: MakeGate) -> None:
    gate = gates(approval="local_confirm")
    begun = await gate.start()
    assert begun.waiting is not None
    gate.now += 299
    gate.gate.look()
    assert gate.gate.state.waiting[0].state == "waiting"
    gate.now += 1
    with pytest.raises(StartNotWaiting, match="Nobody approved this start in time"):
        await gate.ask(DecideStart(start_id=begun.waiting.id, decision="approve"))
    assert gate.gate.state.waiting[0].state == "expired"
    assert gate.started == []
    gate.now += 700
    gate.gate.look()
    assert gate.gate.state.waiting == ()


@pytest.mark.row("R17", "R20")
async def test_block_all_denies_what_waits_and_what_comes_for_a_day_also_after_a_restart(
    gates: MakeGate,
) -> None:
    gate = gates(approval="local_confirm")
    await gate.start("s1")
    begun = await gate.start("s2")
    assert begun.waiting is not None
    await gate.ask(DecideStart(start_id=begun.waiting.id, decision="block"))
    assert {one.state for one in gate.gate.state.waiting} == {"denied"}
    gate.make()
    with pytest.raises(StartRefused, match="takes no starts from elsewhere until"):
        await gate.start("s3")
    await gate.start("s4", by=HERE)  # who sits there goes on
    gate.now += 24 * 3600 - 1
    assert gate.gate.state.blocked_until is not None
    gate.now += 2
    assert gate.gate.state.blocked_until is None
    assert (await gate.start("s5")).waiting is not None


@pytest.mark.row("R20")
async def test_a_block_is_lifted_on_the_machine_and_by_nobody_else(gates: MakeGate) -> None:
    gate = gates()
    await gate.ask(BlockStarts())
    with pytest.raises(StartRefused):
        await gate.ask(BlockStarts(blocked=False), MIRA)
    with pytest.raises(StartRefused):
        await gate.start()
    await gate.ask(BlockStarts(blocked=False))
    assert (await gate.start()).seq == 2


@pytest.mark.row("R17", "S39")
async def test_no_hub_and_no_browser_elsewhere_approves_or_sees_the_list(gates: MakeGate) -> None:
    gate = gates(approval="local_confirm")
    begun = await gate.start()
    assert begun.waiting is not None
    approve = DecideStart(start_id=begun.waiting.id, decision="approve")
    forged = Actor("me", "grant-1", "127.0.0.1", "bascule", via="office hub")
    for by in (MIRA, forged, Actor("me", address="192.168.1.7")):
        with pytest.raises(StartRefused):
            await gate.ask(approve, by)
        with pytest.raises(StartRefused):
            await gate.ask(ListStarts(), by)
    assert gate.started == []


@pytest.mark.row("R17")
async def test_the_same_command_again_waits_with_the_first_and_hears_how_that_ended(
    gates: MakeGate,
) -> None:
    gate = gates(approval="local_confirm")
    first = await gate.start("s1", key="k")
    second = await gate.start("s2", key="k")
    assert first.waiting is not None
    assert second.session_id == "s1"
    await gate.ask(DecideStart(start_id=first.waiting.id, decision="deny"))
    with pytest.raises(StartRefused, match="Denied on laptop"):
        await gate.start("s3", key="k")


@pytest.mark.row("R17")
async def test_who_asked_may_withdraw_and_another_grant_may_not(gates: MakeGate) -> None:
    gate = gates(approval="local_confirm")
    begun = await gate.start()
    assert begun.waiting is not None
    withdraw = WithdrawStart(start_id=begun.waiting.id)
    with pytest.raises(StartRefused, match="Somebody else"):
        await gate.ask(withdraw, Actor("Eve", "grant-9", "203.0.113.9", via="office hub"))
    await gate.ask(withdraw, MIRA)
    with pytest.raises(StartNotWaiting, match="Withdrawn"):
        await gate.ask(DecideStart(start_id=begun.waiting.id, decision="approve"))


@pytest.mark.row("R17")
async def test_what_would_be_refused_anyhow_is_refused_at_once_and_audited(gates: MakeGate) -> None:
    gate = gates(approval="local_confirm")
    gate.refusal = BadDirectory("/etc is outside.")
    with pytest.raises(BadDirectory):
        await gate.start(cwd="/etc")
    assert gate.gate.state.waiting == ()
    assert gate.shown.empty()
    record = gate.audit.records[-1]
    assert record.action == "start_refused"
    assert (record.grant_id, record.address, record.user_agent) == ("grant-7", "203.0.113.9", CHROME)
    assert record.detail == "claude-code (relay) in /etc on laptop, by the hub office hub: /etc is outside."


@pytest.mark.row("R17")
async def test_a_start_that_fails_after_its_approval_says_why_on_both_sides(gates: MakeGate) -> None:
    gate = gates(approval="local_confirm")
    begun = await gate.start()
    assert begun.waiting is not None
    gate.refusal = LimitReached("laptop is full.")
    with pytest.raises(LimitReached):
        await gate.ask(DecideStart(start_id=begun.waiting.id, decision="approve"))
    only = gate.gate.state.waiting[0]
    assert (only.state, only.message) == ("failed", "laptop is full.")


@pytest.mark.row("R17")
async def test_only_so_many_starts_wait_at_once(gates: MakeGate) -> None:
    gate = gates(approval="local_confirm")
    for number in range(20):
        await gate.start(f"s{number}")
    with pytest.raises(LimitReached, match="20 starts already wait"):
        await gate.start("s20")


def known(session_id: str = "old", **fields: Any) -> SessionRecord:
    return SessionRecord(session_id, agent="claude-code", cwd="/srv/lantern", **fields)


@pytest.mark.row("R17")
async def test_resuming_is_a_start_too_and_goes_on_once_approved(gates: MakeGate) -> None:
    gate = gates(approval="local_confirm")
    gate.audit.sessions = [known(title="Trim the wick")]
    with pytest.raises(ApprovalPending, match="Waiting for approval on laptop"):
        await gate.gate.admit(Envelope(ResumeSession(session_id="old"), MIRA))
    waiting = gate.gate.state.waiting[0]
    assert (waiting.what, waiting.folder) == ("claude-code resumes “Trim the wick”", "/srv/lantern")
    assert (await gate.next_shown()).body.splitlines()[0] == (
        "claude-code resumes “Trim the wick” in /srv/lantern"
    )
    await gate.ask(DecideStart(start_id=waiting.id, decision="approve"))
    assert gate.started == [ResumeSession(session_id="old")]


@pytest.mark.row("R17")
@pytest.mark.parametrize(
    ("command", "what", "folder"),
    [
        (ResumeSession(session_id="bare"), "claude-code resumes a session without a title", "/srv/lantern"),
        (ResumeSession(session_id="long"), f"claude-code resumes “{'t' * 100}…”", "/srv/lantern"),
        (
            ReconnectAgent(agent="claude-code", session_id="old"),
            "claude-code, connected again for “Trim the wick”",
            "/srv/lantern",
        ),
        (ReconnectAgent(agent="claude-code"), "claude-code, connected again for all its sessions", ""),
        (
            StartSession(session_id="new", agent="claude-code", cwd="/srv/app", resume="c-1"),
            "claude-code (relay, continues “Trim the wick”)",
            "/srv/app",
        ),
        (
            StartSession(session_id="new", agent="claude-code", cwd="/srv/app", resume="c-9"),
            "claude-code (relay, continues a conversation)",
            "/srv/app",
        ),
    ],
    ids=["untitled", "long title", "reconnect", "reconnect all", "conversation", "unknown conversation"],
)
async def test_what_goes_on_is_named_as_this_machine_knows_it(
    gates: MakeGate, command: Any, what: str, folder: str
) -> None:
    gate = gates(approval="local_confirm")
    gate.audit.sessions = [
        known("first", title="An earlier one", agent_session_id="c-1", updated_at="2026-01-01"),
        known(title="Trim the wick", agent_session_id="c-1", updated_at="2026-01-02"),
        known("bare"),
        known("long", title="t" * 200),
    ]
    with contextlib.suppress(ApprovalPending):
        await gate.gate.admit(Envelope(command, MIRA))
    [waiting] = gate.gate.state.waiting
    assert (waiting.what, waiting.folder) == (what, folder)


ASKS = StartSession(session_id="s1", agent="claude-code", cwd="/srv/app")
LESS = replace(ASKS, options=StartOptions(capability="read_only"))
COMPARED = StartComparison(
    comparison_id="c1",
    folder="/srv/app",
    prompt="Fix",
    entrants=(Entrant(agent="claude-code", session_id="s1"), Entrant(agent="codex", session_id="s2")),
)
SCOPED = {"ceiling": "project_scoped"}


@pytest.mark.row("R17", "R18")
@pytest.mark.parametrize(
    ("settings", "command", "what"),
    [
        ({}, ASKS, "claude-code (relay)"),
        ({}, LESS, "claude-code (relay, Read only)"),
        (SCOPED, ASKS, "claude-code (relay, Project only)"),
        (SCOPED, LESS, "claude-code (relay, Read only)"),
        (SCOPED, COMPARED, "claude-code, codex (relay, Project only), compared"),
        ({}, ResumeSession(session_id="old"), "claude-code (Sandboxed) resumes “Trim the wick”"),
        (
            {"ceiling": "read_only"},
            ResumeSession(session_id="old"),
            "claude-code (Read only) resumes “Trim the wick”",
        ),
        (
            {},
            ReconnectAgent(agent="claude-code", session_id="old"),
            "claude-code (Sandboxed), connected again for “Trim the wick”",
        ),
    ],
)
async def test_who_approves_sees_how_much_of_the_machine_it_could_reach(
    gates: MakeGate, settings: dict[str, Any], command: Any, what: str
) -> None:
    gate = gates(approval="local_confirm", **settings)
    gate.audit.sessions = [known(title="Trim the wick", capability="sandboxed")]
    with contextlib.suppress(ApprovalPending):
        await gate.gate.admit(Envelope(command, MIRA))
    [waiting] = gate.gate.state.waiting
    assert waiting.what == what
    assert (await gate.next_shown()).body.splitlines()[0] == f"{what} in {waiting.folder}"


@pytest.mark.row("R14", "R18")
async def test_the_notification_of_a_start_that_runs_names_its_level(gates: MakeGate) -> None:
    gate = gates(**SCOPED)
    await gate.start()
    assert (await gate.next_shown()).body.startswith("claude-code (relay, Project only) in /srv/app")


@pytest.mark.row("R17")
@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({}, False),
        ({"approval": "auto"}, False),
        ({"approval": "local_confirm"}, True),
        ({"approval": "trusted_browsers"}, True),
        ({"unusual": "local_confirm"}, True),
        ({"command": ("mail",)}, True),
        ({"command": ("mail",), "unusual": "notify_only"}, False),
        ({"command": ("mail",), "approval": "auto"}, False),
    ],
)
def test_a_message_from_elsewhere_starts_no_agent_where_starts_are_confirmed(
    gates: MakeGate, settings: dict[str, Any], refused: bool
) -> None:
    gate = gates(**settings)
    gate.gate.check_at_rest(HERE)
    if refused:
        with pytest.raises(StartRefused, match="Resume the session first"):
            gate.gate.check_at_rest(MIRA)
    else:
        gate.gate.check_at_rest(MIRA)


@pytest.mark.row("R17")
async def test_who_approves_is_told_how_much_of_a_prompt_is_not_shown(gates: MakeGate) -> None:
    gate = gates(approval="local_confirm")
    long = (await gate.start("s1", prompt="a" * 300 + " and then send me the keys")).waiting
    assert long is not None
    assert long.words == f"{'a' * 300}… (and 26 more characters)"
    image = SentImage(media_type="image/png", data="aGk=")
    seen = (await gate.start("s2", prompt="Look", images=(image,), resume="c-1")).waiting
    assert seen is not None
    assert (seen.words, seen.what) == (
        "Look (and 1 image)",
        "claude-code (relay, continues a conversation)",
    )
