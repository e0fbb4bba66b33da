"""The gate for starts from elsewhere: every way to hold, answer and refuse one, on the test's own clock."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec import Struct
from tests.hub.running_hub import until
from tests.waiting import PATIENCE

from bascule.daemon.device import Device
from bascule.daemon.handlers import Handlers
from bascule.daemon.start_gate import Does, StartGate
from bascule.daemon.start_memory import StartMemory
from bascule.daemon.start_notices import StartNotices, send_outside
from bascule.daemon.trusted_browsers import BrowserBook, SignatureCheck
from bascule.link.starts import (
    AnswerStartLink,
    BlockStarts,
    DecideStart,
    ListStarts,
    ReadStartLink,
    WithdrawStart,
)
from bascule.model.commands import (
    Actor,
    Command,
    Envelope,
    ResumeSession,
    SentImage,
    SessionBegun,
    StartSession,
)
from bascule.model.errors import (
    ApprovalPending,
    BadDirectory,
    LimitReached,
    OwnerNeeded,
    StartNotWaiting,
    StartRefused,
)
from bascule.model.settings import StartsSettings
from bascule.model.starts import StartSignature, WaitingStart
from bascule.policy.start_signing import key_id, mac_of, signed_text
from bascule.store.base import AuditRecord

pytestmark = pytest.mark.anyio

CHROME = "Mozilla/5.0 (X11; Linux x86_64) Chrome/126.0 Safari/537.36"
MIRA = Actor("Mira", "grant-7", "203.0.113.9", CHROME, via="office hub")
HERE = Actor("me", "grant-1", "127.0.0.1", "bascule")
Actions = Mapping[str, Callable[[], Awaitable[None]]]


@dataclass
class Audit:
    records: list[AuditRecord] = field(default_factory=list[AuditRecord])

    async def audit(self, records: list[AuditRecord]) -> None:
        self.records += records

    @property
    def actions(self) -> list[str]:
        return [one.action for one in self.records]


@dataclass
class Shown:
    title: str
    body: str
    actions: Actions
    seconds: float


class Gate:
    """A gate with everything around it made up: what was started, shown, sent and audited is noted."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder, self.settings = folder, StartsSettings(**settings)
        self.now = 1_767_000_000.0
        self.audit, self.changes = Audit(), 0
        self.started: list[Command[Any]] = []
        self.ended: list[str] = []
        self.opened: list[str] = []
        self.shown: asyncio.Queue[Shown] = asyncio.Queue()
        self.sent: asyncio.Queue[tuple[WaitingStart, str, str]] = asyncio.Queue()
        self.refusal: Exception | None = None
        self.widens = ""  # why a hub may not ask for this
        self.unsent: OSError | None = None
        self.book = BrowserBook(folder)
        self.make()

    def make(self) -> None:
        """Also: again, as after a restart."""
        notices = StartNotices(
            self.settings,
            "laptop",
            self._show,
            lambda token: f"http://l/#approve={token}",
            self._open,
            self._send,
        )
        does = Does(
            self._carry_out, self._carry_out, self._check, self._end, self._changed, lambda _: self.widens
        )
        signatures = SignatureCheck(self.folder, "d-1", "laptop", lambda: self.now)
        device, memory = Device("d-1", "laptop"), StartMemory(self.folder)
        store = cast("Any", self.audit)
        self.gate = StartGate(
            store, self.settings, device, memory, signatures, notices, does, lambda: self.now
        )
        self.handlers = Handlers()
        self.gate.register(self.handlers)

    async def _carry_out(self, envelope: Envelope[Any]) -> Struct:
        if self.refusal is not None:
            raise self.refusal
        self.started.append(envelope.command)
        return SessionBegun(session_id=envelope.command.session_id, seq=2)

    async def _check(self, envelope: Envelope[Any]) -> None:
        if self.refusal is not None:
            raise self.refusal

    async def _end(self, session_id: str) -> None:
        self.ended.append(session_id)

    async def _open(self, session_id: str) -> None:
        self.opened.append(session_id)

    async def _show(self, title: str, body: str, actions: Actions, seconds: float) -> None:
        self.shown.put_nowait(Shown(title, body, actions, seconds))

    async def _send(self, settings: StartsSettings, start: WaitingStart, link: str, text: str) -> None:
        if self.unsent is not None:
            raise self.unsent
        self.sent.put_nowait((start, link, text))

    def _changed(self) -> None:
        self.changes += 1

    async def start(
        self, session_id: str = "s1", by: Actor = MIRA, key: str | None = None, **more: Any
    ) -> SessionBegun:
        fields: dict[str, Any] = {"agent": "claude-code", "cwd": "/srv/app", "prompt": "Fix the bug", **more}
        command = StartSession(session_id=session_id, **fields)
        return cast("SessionBegun", await self.gate.admit(Envelope(command, by, key)))

    def signed(self, code: str, nonce: str = "n" * 16, **more: Any) -> dict[str, Any]:
        """The fields of a start with this browser's signature."""
        fields: dict[str, Any] = {"agent": "claude-code", "cwd": "/srv/app", "prompt": "Fix the bug", **more}
        key, at = key_id(code), round(self.now * 1000)
        text = signed_text("d-1", StartSession(session_id="any", **fields), key, at, nonce)
        return {**fields, "signature": StartSignature(key, at, nonce, mac_of(code, text))}

    async def ask(self, command: Command[Any], by: Actor = HERE) -> Any:
        return await self.handlers.of(command).run(Envelope(command, by))

    async def next_shown(self) -> Shown:
        return await asyncio.wait_for(self.shown.get(), PATIENCE)

    async def next_sent(self) -> tuple[WaitingStart, str, str]:
        return await asyncio.wait_for(self.sent.get(), PATIENCE)


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Gate]:
    return lambda **settings: Gate(tmp_path, **settings)


MakeGate = Callable[..., Gate]


# Notifications


@pytest.mark.row("R14", "R17")
async def test_a_start_from_elsewhere_is_announced_with_who_where_and_what(make: MakeGate) -> None:
    gate = make()
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
async def test_a_start_on_the_machine_itself_and_one_under_auto_are_not_announced(make: MakeGate) -> None:
    gate = make()
    await gate.start(by=HERE)
    quiet = make(approval="auto")
    await quiet.start()
    assert gate.shown.empty()
    assert quiet.shown.empty()
    assert len(gate.started) == len(quiet.started) == 1


@pytest.mark.row("R14")
async def test_a_notification_service_that_fails_stops_nothing(make: MakeGate) -> None:
    gate = make()

    async def broken(*_: Any) -> None:
        gate.shown.put_nowait(Shown("tried", "", {}, 0))
        raise RuntimeError("no bus")

    gate._show = broken  # type: ignore[method-assign]
    gate.make()
    await gate.start()
    assert (await gate.next_shown()).title == "tried"
    assert len(gate.started) == 1


@pytest.mark.row("R14", "S44")
async def test_text_that_hides_or_forges_lines_is_written_out_in_a_notification(make: MakeGate) -> None:
    gate = make()
    await gate.start(
        prompt="fine\n\nSession ended\u202e", by=Actor("Mira\nroot", via="hub", address="10.0.0.1")
    )
    body = (await gate.next_shown()).body
    assert "“fine Session ended\\u{202e}”" in body.splitlines()
    assert "Mira root" in body


# Confirmation on the machine


@pytest.mark.row("R17")
async def test_a_held_start_is_nothing_but_a_promise_until_it_is_approved_here(make: MakeGate) -> None:
    gate = make(approval="local_confirm")
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
async def test_the_buttons_of_the_notification_approve_deny_and_block(make: MakeGate) -> None:
    gate = make(approval="local_confirm")
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
async def test_a_start_that_nobody_approves_is_refused_after_five_minutes(make: MakeGate) -> None:
    gate = make(approval="local_confirm")
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
    make: MakeGate,
) -> None:
    gate = make(approval="local_confirm")
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
async def test_a_block_is_lifted_on_the_machine_and_by_nobody_else(make: MakeGate) -> None:
    gate = make()
    await gate.ask(BlockStarts())
    with pytest.raises(StartRefused):
        await gate.ask(BlockStarts(blocked=False), MIRA)
    with pytest.raises(StartRefused):
        await gate.start()
    await gate.ask(BlockStarts(blocked=False))
    assert (await gate.start()).seq == 2


@pytest.mark.row("R17", "S39")
async def test_no_hub_and_no_browser_elsewhere_approves_or_sees_the_list(make: MakeGate) -> None:
    gate = make(approval="local_confirm")
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
async def test_the_same_command_again_waits_with_the_first_and_hears_how_that_ended(make: MakeGate) -> None:
    gate = make(approval="local_confirm")
    first = await gate.start("s1", key="k")
    second = await gate.start("s2", key="k")
    assert first.waiting is not None
    assert second.session_id == "s1"
    await gate.ask(DecideStart(start_id=first.waiting.id, decision="deny"))
    with pytest.raises(StartRefused, match="Denied on laptop"):
        await gate.start("s3", key="k")


@pytest.mark.row("R17")
async def test_who_asked_may_withdraw_and_another_grant_may_not(make: MakeGate) -> None:
    gate = make(approval="local_confirm")
    begun = await gate.start()
    assert begun.waiting is not None
    withdraw = WithdrawStart(start_id=begun.waiting.id)
    with pytest.raises(StartRefused, match="Somebody else"):
        await gate.ask(withdraw, Actor("Eve", "grant-9", "203.0.113.9", via="office hub"))
    await gate.ask(withdraw, MIRA)
    with pytest.raises(StartNotWaiting, match="Withdrawn"):
        await gate.ask(DecideStart(start_id=begun.waiting.id, decision="approve"))


@pytest.mark.row("R17")
async def test_what_would_be_refused_anyhow_is_refused_at_once_and_audited(make: MakeGate) -> None:
    gate = make(approval="local_confirm")
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
async def test_a_start_that_fails_after_its_approval_says_why_on_both_sides(make: MakeGate) -> None:
    gate = make(approval="local_confirm")
    begun = await gate.start()
    assert begun.waiting is not None
    gate.refusal = LimitReached("laptop is full.")
    with pytest.raises(LimitReached):
        await gate.ask(DecideStart(start_id=begun.waiting.id, decision="approve"))
    only = gate.gate.state.waiting[0]
    assert (only.state, only.message) == ("failed", "laptop is full.")


@pytest.mark.row("R17")
async def test_only_so_many_starts_wait_at_once(make: MakeGate) -> None:
    gate = make(approval="local_confirm")
    for number in range(20):
        await gate.start(f"s{number}")
    with pytest.raises(LimitReached, match="20 starts already wait"):
        await gate.start("s20")


@pytest.mark.row("R17")
async def test_resuming_is_a_start_too_and_goes_on_once_approved(make: MakeGate) -> None:
    gate = make(approval="local_confirm")
    with pytest.raises(ApprovalPending, match="Waiting for approval on laptop"):
        await gate.gate.admit(Envelope(ResumeSession(session_id="old"), MIRA))
    waiting = gate.gate.state.waiting[0]
    assert waiting.what == "the session old, resumed"
    await gate.ask(DecideStart(start_id=waiting.id, decision="approve"))
    assert gate.started == [ResumeSession(session_id="old")]


@pytest.mark.row("R17")
@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({}, False),
        ({"approval": "auto"}, False),
        ({"approval": "local_confirm"}, True),
        ({"approval": "trusted_browsers"}, True),
        ({"unusual": "local_confirm"}, True),
    ],
)
def test_a_message_from_elsewhere_starts_no_agent_where_starts_are_confirmed(
    make: MakeGate, settings: dict[str, Any], refused: bool
) -> None:
    gate = make(**settings)
    gate.gate.check_at_rest(HERE)
    if refused:
        with pytest.raises(StartRefused, match="Resume the session first"):
            gate.gate.check_at_rest(MIRA)
    else:
        gate.gate.check_at_rest(MIRA)


# Out of band


@pytest.mark.row("R17")
async def test_the_link_shows_the_start_changes_nothing_by_that_and_answers_once(make: MakeGate) -> None:
    gate = make(approval="oob_confirm", command=("mail",))
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
async def test_a_link_is_worth_nothing_to_a_hub_a_guess_or_after_five_minutes(make: MakeGate) -> None:
    gate = make(approval="oob_confirm", command=("mail",))
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
async def test_block_by_link_lasts_a_day(make: MakeGate) -> None:
    gate = make(approval="oob_confirm", command=("mail",))
    await gate.start()
    token = (await gate.next_sent())[1].partition("=")[2]
    await gate.ask(AnswerStartLink(token=token, decision="block"), Actor("", address="198.51.100.3"))
    with pytest.raises(StartRefused):
        await gate.start("s2")


@pytest.mark.row("R17")
async def test_a_message_that_can_t_be_sent_is_said_and_the_start_still_waits_here(make: MakeGate) -> None:
    gate = make(approval="oob_confirm", command=("mail",))
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


# Trusted browsers


@pytest.mark.row("R17")
async def test_a_trusted_browser_starts_and_is_announced_the_same_signature_again_does_not(
    make: MakeGate,
) -> None:
    gate = make(approval="trusted_browsers")
    phone = gate.book.make("phone", gate.now)
    start = gate.signed(phone.code)
    assert (await gate.start("s1", **start)).waiting is None
    assert (await gate.next_shown()).title == "Session started on laptop"
    gate.make()  # a restart does not make it good again
    with pytest.raises(StartRefused, match="each counts once"):
        await gate.start("s2", **start)
    assert len(gate.started) == 1


@pytest.mark.row("R17")
async def test_a_start_that_widens_is_refused_unless_a_trusted_browser_signed_it(make: MakeGate) -> None:
    gate = make(approval="notify_only")
    phone = gate.book.make("phone", gate.now)
    gate.widens = "laptop does not let a hub do this."
    with pytest.raises(OwnerNeeded, match="does not let a hub"):
        await gate.start("s1")
    assert gate.started == []
    assert (await gate.start("s1", **gate.signed(phone.code))).waiting is None


@pytest.mark.row("R17", "S39", "R16")
async def test_a_lying_hub_starts_nothing_where_only_trusted_browsers_may(make: MakeGate) -> None:
    gate = make(approval="trusted_browsers")
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
    assert gate.audit.actions.count("start_refused") == len(lies) + 1
    await gate.start("good", **good)  # and none of it used up what the browser signed
    assert len(gate.started) == 1


@pytest.mark.row("R17")
async def test_trust_ends_after_thirty_days_or_when_it_is_revoked(make: MakeGate) -> None:
    gate = make(approval="trusted_browsers")
    phone, tablet = gate.book.make("phone", gate.now), gate.book.make("tablet", gate.now)
    gate.book.revoke(tablet.id)
    with pytest.raises(StartRefused, match="does not trust this browser any more"):
        await gate.start(**gate.signed(tablet.code))
    gate.now += 30 * 86400 - 1
    await gate.start(**gate.signed(phone.code))
    gate.now += 1
    with pytest.raises(StartRefused, match="30 days"):
        await gate.start(**gate.signed(phone.code, "other" * 4))


@pytest.mark.row("R17")
async def test_a_trusted_browser_need_not_wait_where_others_do(make: MakeGate) -> None:
    gate = make(approval="local_confirm")
    phone = gate.book.make("phone", gate.now)
    assert (await gate.start("s1", **gate.signed(phone.code))).waiting is None
    assert (await gate.start("s2")).waiting is not None


@pytest.mark.row("R17", "S12")
def test_the_secrets_are_readable_by_their_owner_only_and_all_different(
    make: MakeGate, tmp_path: Path
) -> None:
    gate = make()
    codes = {gate.book.make(f"b{number}", gate.now).code for number in range(50)}
    assert len(codes) == 50
    assert (tmp_path / "trusted_browsers.json").stat().st_mode & 0o777 == 0o600


# Unusual starts


@pytest.mark.row("R19", "R16")
async def test_an_unusual_start_is_flagged_in_notification_and_audit_or_held_as_set(make: MakeGate) -> None:
    gate = make()
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
async def test_what_was_approved_once_is_usual_from_then_on(make: MakeGate) -> None:
    gate = make(unusual="local_confirm")
    assert (await gate.start("s1")).waiting is None
    phone = Actor("Mira", "grant-8", "198.51.100.3", "Mozilla (iPhone) Safari/1", via="office hub")
    held = (await gate.start("s2", by=phone)).waiting
    assert held is not None
    assert held.reasons == ("first time from this browser", "first time from this address")
    await gate.ask(DecideStart(start_id=held.id, decision="approve"))
    gate.now += 600
    assert (await gate.start("s3", by=phone)).waiting is None


@pytest.mark.row("R19")
async def test_a_denied_browser_stays_unusual(make: MakeGate) -> None:
    gate = make(unusual="local_confirm")
    await gate.start("s1")
    phone = Actor("Mira", "grant-8", "198.51.100.3", "Mozilla (iPhone) Safari/1", via="office hub")
    held = (await gate.start("s2", by=phone)).waiting
    assert held is not None
    await gate.ask(DecideStart(start_id=held.id, decision="deny"))
    assert (await gate.start("s3", by=phone)).waiting is not None


@pytest.mark.row("R19")
async def test_a_burst_is_held_after_the_third_start(make: MakeGate) -> None:
    gate = make(unusual="local_confirm")
    for number in range(3):
        assert (await gate.start(f"s{number}")).waiting is None
        gate.now += 5
    held = (await gate.start("s4")).waiting
    assert held is not None
    assert held.reasons == ("4 starts within 2 minutes",)


@pytest.mark.row("R19")
async def test_an_hour_in_which_nobody_starts_anything_is_held(make: MakeGate) -> None:
    gate = make(unusual="local_confirm")
    for number in range(20):  # a start a day, always at the same time
        assert (await gate.start(f"s{number}")).waiting is None
        gate.now += 24 * 3600
    gate.now += 12 * 3600
    held = (await gate.start("night")).waiting
    assert held is not None
    (reason,) = held.reasons
    assert reason.startswith("nobody starts anything here around"), reason


@pytest.mark.row("R17")
async def test_who_approves_is_told_how_much_of_a_prompt_is_not_shown(make: MakeGate) -> None:
    gate = make(approval="local_confirm")
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
