"""Sessions on a real machine: a real store, a real keeper, real processes; only the agent is small."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.running_daemon import RunningDaemon, running_daemon

from bascule.link.machine import CheckDirectory, EndAll, PauseDevice
from bascule.model.commands import (
    Actor,
    AnswerPermission,
    EditPrompt,
    EndSession,
    Interrupt,
    KeepSession,
    ReleasePrompts,
    ReorderPrompts,
    ResumeSession,
    SendPrompt,
    SetPermissionMode,
    WithdrawPrompt,
)
from bascule.model.errors import Refused
from bascule.model.events import (
    AnswerDelivered,
    EndCancelled,
    EndScheduled,
    Interrupted,
    PermissionAnswered,
    PermissionModeChanged,
    PermissionRequested,
    PermissionWithdrawn,
    PromptQueued,
    PromptSent,
    RuleAdded,
    SessionEnded,
    SessionFailed,
    SessionStarted,
    TextSaid,
    ToolChanged,
    TurnEnded,
)
from bascule.model.lifecycle import Phase

pytestmark = pytest.mark.anyio


async def refused(coroutine: Any) -> str:
    with pytest.raises(Refused) as caught:
        await coroutine
    return caught.value.refusal().code


def allow(request_id: str, **more: Any) -> AnswerPermission:
    return AnswerPermission(session_id="s1", request_id=request_id, decision="allow", **more)


def denied(request_id: str) -> AnswerPermission:
    return AnswerPermission(session_id="s1", request_id=request_id, decision="deny")


def prompt(text: str, **more: Any) -> SendPrompt:
    return SendPrompt(session_id="s1", text=text, **more)


async def said(daemon: RunningDaemon) -> str:
    return "".join(event.text for event in await daemon.events(TextSaid))


@pytest.mark.row("C1")
async def test_a_prompt_is_answered_and_the_session_waits(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="hello")
        await daemon.until(TurnEnded)
        assert "you said hello" in await said(daemon)
        record = await daemon.store.session("s1")
        assert record is not None
        assert (record.phase, record.title, record.agent_session_id) == (Phase.WAITING, "hello", "mini-1")
        log = await daemon.log()
        assert [one.seq for one in log] == list(range(1, len(log) + 1))


@pytest.mark.row("C1")
async def test_an_allowed_tool_runs_once_and_its_answer_is_the_stored_input(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        daemon.launcher.env["MINI_LEDGER"] = str(short_dir / "ledger")
        await daemon.start(prompt="ask touch  x")
        request = await daemon.until(PermissionRequested)
        await daemon.ask(allow(request.request_id, input_sha256=request.input_sha256))
        await daemon.until(TurnEnded)
        assert "answered allow" in await said(daemon)
        lines = [json.loads(line) for line in (short_dir / "ledger").read_text().splitlines()]
        answers = [one for one in lines if one["type"] == "control_response"]
        assert len(answers) == 1
        assert answers[0]["response"]["response"]["updatedInput"] == json.loads(bytes(request.input))
        assert len(await daemon.events(AnswerDelivered)) == 1
        found = await daemon.store.request("s1", request.request_id)
        assert found is not None
        assert found.state == "confirmed"


@pytest.mark.row("S40")
async def test_an_answer_for_another_input_is_refused_and_the_request_stays_open(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="ask touch a")
        request = await daemon.until(PermissionRequested)
        assert await refused(daemon.ask(allow(request.request_id, input_sha256="0" * 64))) == "INPUT_MISMATCH"
        assert await refused(daemon.ask(allow(request.request_id, option="no-such"))) == "UNKNOWN_OPTION"
        assert await refused(daemon.ask(allow("no-such"))) == "REQUEST_NOT_FOUND"
        assert [one.request_id for one in await daemon.store.open_requests()] == [request.request_id]
        await daemon.ask(allow(request.request_id, input_sha256=request.input_sha256))
        await daemon.until(TurnEnded)


@pytest.mark.row("S41")
async def test_of_many_answers_at_once_exactly_one_counts(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        daemon.launcher.env["MINI_LEDGER"] = str(short_dir / "ledger")
        await daemon.start(prompt="ask touch a")
        request = await daemon.until(PermissionRequested)
        commands = [
            AnswerPermission(session_id="s1", request_id=request.request_id, decision=decision, message="m")
            for _ in range(500)
            for decision in ("allow", "deny")
        ]
        people = [Actor("ana", f"grant-{n}") for n in range(len(commands))]
        asked = (daemon.ask(command, by=by) for command, by in zip(commands, people, strict=True))
        results = await asyncio.gather(*asked, return_exceptions=True)
        losers = [one for one in results if isinstance(one, Refused)]
        assert len(losers) == 999
        assert {one.refusal().code for one in losers} == {"ALREADY_ANSWERED"}
        answered = await daemon.events(PermissionAnswered)
        assert len(answered) == 1
        assert {one.refusal().fields["decision"] for one in losers} == {answered[0].decision}
        await daemon.until(TurnEnded)
        got = (short_dir / "ledger").read_text().count('"control_response"')
        assert got == 1


async def test_the_same_answer_from_the_same_grant_again_is_a_success_and_counts_once(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        daemon.launcher.env["MINI_LEDGER"] = str(short_dir / "ledger")
        await daemon.start(prompt="ask touch a")
        request = await daemon.until(PermissionRequested)
        deny, ana = denied(request.request_id), Actor("ana", "grant-1")
        await asyncio.gather(*(daemon.ask(deny, by=ana) for _ in range(3)))
        await daemon.until(TurnEnded)
        await daemon.ask(deny, by=ana)
        assert await refused(daemon.ask(allow(request.request_id), by=ana)) == "ALREADY_ANSWERED"
        assert await refused(daemon.ask(deny, by=Actor("ana", "grant-2"))) == "ALREADY_ANSWERED"
        assert await refused(daemon.ask(deny, by=Actor("ana"))) == "ALREADY_ANSWERED"
        assert len(await daemon.events(PermissionAnswered)) == 1
        await daemon.ask(EndSession(session_id="s1"))
        await daemon.until(SessionEnded)
        await daemon.ask(deny, by=ana)
        assert (short_dir / "ledger").read_text().count('"control_response"') == 1


async def test_the_audit_says_when_an_answer_was_given_that_had_to_wait(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="ask touch a")
        request = await daemon.until(PermissionRequested)
        by = Actor("ana", "grant-1", given_at="2026-01-02T03:04:05.000Z")
        await daemon.ask(denied(request.request_id), by=by)
        lines = b"".join(await daemon.store.audit_lines())
        assert b'"detail":"given at 2026-01-02T03:04:05.000Z"' in lines


@pytest.mark.row("S46")
async def test_an_interrupted_request_is_withdrawn_and_a_late_answer_gets_410s_code(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="ask touch a")
        request = await daemon.until(PermissionRequested)
        await daemon.ask(Interrupt(session_id="s1"))
        await daemon.until(TurnEnded)
        assert await refused(daemon.ask(allow(request.request_id))) == "REQUEST_WITHDRAWN"
        assert [one.reason for one in await daemon.events(PermissionWithdrawn)] == ["interrupted"]
        assert len(await daemon.events(Interrupted)) == 1
        assert not await daemon.events(ToolChanged) or "answered" not in await said(daemon)


@pytest.mark.row("S46")
async def test_ending_a_session_withdraws_its_requests(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="ask touch a")
        request = await daemon.until(PermissionRequested)
        await daemon.ask(EndSession(session_id="s1"))
        ended = await daemon.until(SessionEnded)
        assert ended.reason == "closed"
        assert await refused(daemon.ask(allow(request.request_id))) == "REQUEST_WITHDRAWN"
        assert await refused(daemon.ask(prompt("more"))) == "SESSION_ENDED"


@pytest.mark.row("S47")
async def test_after_the_timeout_exactly_one_deny_is_sent(short_dir: Path):
    async with running_daemon(short_dir, permission_seconds=1) as daemon:
        daemon.launcher.env["MINI_LEDGER"] = str(short_dir / "ledger")
        await daemon.start(prompt="ask touch a")
        answer = await daemon.until(PermissionAnswered)
        assert (answer.decision, answer.by) == ("deny", "timeout")
        await daemon.until(TurnEnded)
        assert "answered deny" in await said(daemon)
        assert (short_dir / "ledger").read_text().count('"control_response"') == 1


@pytest.mark.row("X2", "REL-30")
async def test_an_open_request_outlives_the_server_and_is_answered_after_it(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        daemon.launcher.env["MINI_LEDGER"] = str(short_dir / "ledger")
        await daemon.start(prompt="ask touch a")
        request = await daemon.until(PermissionRequested)
        await daemon.restart()
        assert [one.request_id for one in await daemon.store.open_requests()] == [request.request_id]
        await daemon.ask(allow(request.request_id))
        await daemon.until(TurnEnded)
        assert "answered allow" in await said(daemon)
        assert (short_dir / "ledger").read_text().count('"control_response"') == 1


@pytest.mark.row("X1")
async def test_a_turn_goes_on_while_the_server_is_away(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="count 150 0.01")
        await daemon.until(lambda event: isinstance(event, TextSaid) and event.text.startswith("20"))
        await daemon.restart()
        await daemon.until(TurnEnded)
        assert (await said(daemon)).split() == [str(n) for n in range(1, 151)]
        log = await daemon.log()
        assert [one.seq for one in log] == list(range(1, len(log) + 1))


@pytest.mark.row("REL-13")
async def test_when_the_keeper_dies_sessions_say_so_and_can_be_resumed(short_dir: Path):
    async with running_daemon(short_dir, pauses=(3600.0,)) as daemon:
        await daemon.start(prompt="hold")
        await daemon.until(TextSaid)
        await daemon.kill_keeper(signal.SIGKILL)
        ended = await daemon.until(SessionEnded)
        assert (ended.reason, ended.message) == (
            "disconnected",
            "Mini stopped (together with the process that kept it).",
        )
        await daemon.over()
        await daemon.ask(ResumeSession(session_id="s1"))
        assert len(await daemon.events(SessionStarted)) == 2
        await daemon.ask(prompt("back?"))
        await daemon.until(lambda event: isinstance(event, TextSaid) and "back?" in event.text)


async def test_a_session_is_resumed_the_moment_it_is_seen_to_have_ended(short_dir: Path):
    async with running_daemon(short_dir, sessions=1) as daemon:
        await daemon.start(prompt="hello")
        await daemon.until(TurnEnded)
        for run in range(2, 5):
            await daemon.ask(EndSession(session_id="s1"))
            await daemon.until(SessionEnded, times=run - 1)
            await daemon.ask(ResumeSession(session_id="s1"))
            assert len(await daemon.events(SessionStarted)) == run


@pytest.mark.row("R8")
async def test_queued_prompts_are_sent_one_by_one_in_the_order_people_chose(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="hold")
        await daemon.until(TextSaid)
        ids = [(await daemon.ask(prompt(text)))["promptId"] for text in ("one", "two", "three", "four")]
        assert len(await daemon.events(PromptQueued)) == 4
        await daemon.ask(EditPrompt(session_id="s1", prompt_id=ids[2], text="THREE"))
        await daemon.ask(WithdrawPrompt(session_id="s1", prompt_id=ids[1]))
        await daemon.ask(ReorderPrompts(session_id="s1", order=(ids[3], ids[0])))
        assert await refused(daemon.ask(WithdrawPrompt(session_id="s1", prompt_id="x"))) == (
            "PROMPT_NOT_FOUND"
        )
        await daemon.ask(Interrupt(session_id="s1", hold=False))
        await daemon.until(TurnEnded, times=4)
        sent = [event.text for event in await daemon.events(PromptSent)]
        assert sent == ["hold", "four", "one", "THREE"]


@pytest.mark.row("R8")
async def test_a_stop_holds_the_queue_through_a_restart_until_a_person_lets_it_go(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="hold")
        await daemon.until(TextSaid)
        ids = [(await daemon.ask(prompt(text)))["promptId"] for text in ("one", "two", "three")]
        await daemon.ask(Interrupt(session_id="s1"))
        await daemon.until(TurnEnded)
        await daemon.restart()
        # A new message passes what is held, and its end sends nothing of it.
        await daemon.ask(prompt("instead"))
        await daemon.until(TurnEnded, times=2)
        await daemon.ask(ReleasePrompts(session_id="s1", prompt_ids=(ids[1],)))
        await daemon.until(TurnEnded, times=3)
        await daemon.ask(ReleasePrompts(session_id="s1"))
        await daemon.until(TurnEnded, times=5)
        sent = [event.text for event in await daemon.events(PromptSent)]
        assert sent == ["hold", "instead", "two", "one", "three"]


@pytest.mark.row("REL-28")
async def test_a_keyed_prompt_sent_twice_is_one_turn_even_after_a_restart(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start()
        replies = await asyncio.gather(*(daemon.ask(prompt("once"), key="k1") for _ in range(5)))
        await daemon.until(TurnEnded)
        await daemon.restart()
        replies.append(await daemon.ask(prompt("once"), key="k1"))
        assert len({reply["promptId"] for reply in replies}) == 1
        assert len(await daemon.events(PromptSent)) == 1
        assert await refused(daemon.ask(prompt("other"), key="k1")) == "KEY_REUSED"


@pytest.mark.row("REL-29")
async def test_stop_clicked_five_times_stops_once(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="hold")
        await daemon.until(TextSaid)
        await asyncio.gather(*(daemon.ask(Interrupt(session_id="s1")) for _ in range(5)))
        await daemon.until(TurnEnded)
        assert len(await daemon.events(Interrupted)) == 1
        ends = [daemon.ask(EndSession(session_id="s1")) for _ in range(5)]
        await asyncio.gather(*ends, return_exceptions=True)
        await daemon.until(SessionEnded)


@pytest.mark.row("S43")
async def test_a_remembered_command_is_allowed_by_policy_the_second_time(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="ask git status")
        request = await daemon.until(PermissionRequested)
        await daemon.ask(allow(request.request_id, remember=True))
        await daemon.until(TurnEnded)
        assert len(await daemon.events(RuleAdded)) == 1
        await daemon.restart()
        await daemon.ask(prompt("ask git status"))
        await daemon.until(TurnEnded, times=2)
        answers = await daemon.events(PermissionAnswered)
        assert [answer.by for answer in answers] == ["ana", "policy"]
        assert answers[1].rule == answers[0].rule
        await daemon.ask(prompt("ask git status; rm x"))
        await daemon.until(PermissionRequested, times=3)
        assert len(await daemon.store.open_requests()) == 1


async def test_a_stronger_mode_is_not_revived_by_a_restart(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="ask a b", permission_mode="auto")
        await daemon.until(TurnEnded)
        assert (await daemon.events(PermissionAnswered))[0].by == "policy"
        await daemon.restart()
        changed = await daemon.until(PermissionModeChanged)
        assert (changed.mode, changed.by) == ("relay", "restart")
        await daemon.ask(prompt("ask a b"))
        await daemon.until(PermissionRequested, times=2)
        assert len(await daemon.store.open_requests()) == 1
        await daemon.ask(SetPermissionMode(session_id="s1", mode="deny"))


@pytest.mark.row("REL-33")
@pytest.mark.parametrize(
    ("script", "kind", "code", "sign"),
    [
        (["exit 0"], SessionEnded, 0, None),
        (["exit 3"], SessionEnded, 3, None),
        (["die 9"], SessionEnded, None, 9),
    ],
)
async def test_every_kind_of_exit_is_one_last_event(
    short_dir: Path, script: list[str], kind: type, code: int | None, sign: int | None
):
    async with running_daemon(short_dir) as daemon:
        daemon.launcher.resumes = False
        await daemon.start(prompt=script[0])
        ended = await daemon.until(kind)
        assert (ended.reason, ended.code, ended.signal) == ("exited", code, sign)
        assert (await daemon.log())[-1].event == ended


@pytest.mark.row("REL-33")
@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["/no/such/binary"], "did not start"),
        (["/etc/hostname"], "did not start"),
        (["/bin/sh", "-c", "echo broken >&2; exit 7"], "before it said anything"),
    ],
)
async def test_an_agent_that_never_comes_up_says_why(short_dir: Path, argv: list[str], words: str):
    async with running_daemon(short_dir, scripts={"bad": argv}) as daemon:
        await daemon.start(agent="bad", prompt="hi")
        failed = await daemon.until(SessionFailed)
        assert words in failed.message
        if "echo" in argv[-1]:
            assert (failed.stderr_tail, failed.code) == ("broken", 7)
        record = await daemon.store.session("s1")
        assert record is not None
        assert record.phase is Phase.FAILED


@pytest.mark.row("REL-33")
async def test_an_agent_that_exits_during_a_permission_withdraws_it(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="ask touch a")
        request = await daemon.until(PermissionRequested)
        supervisor = daemon.host.sessions.live["s1"]
        await supervisor._process.end()  # pyright: ignore - as if it went by itself
        await daemon.until(SessionEnded)
        assert await refused(daemon.ask(allow(request.request_id))) == "REQUEST_WITHDRAWN"


@pytest.mark.row("R15")
async def test_limits_refuse_with_an_explanation(short_dir: Path):
    async with running_daemon(short_dir, sessions=1, inputs_per_minute=2) as daemon:
        await daemon.start(title="Long one", prompt="hold")
        with pytest.raises(Refused) as caught:
            await daemon.start("s2", prompt="hello")
        fields = caught.value.refusal().fields
        assert (caught.value.refusal().code, fields["limit"]) == ("LIMIT_REACHED", "sessions")
        assert fields["offer"] == {"sessionId": "s1", "title": "Long one", "idleSeconds": 0}
        await daemon.ask(prompt("1"))
        await daemon.ask(prompt("2"))
        assert await refused(daemon.ask(prompt("3"))) == "LIMIT_REACHED"


@pytest.mark.row("R15")
async def test_idle_sessions_and_terminals_do_not_count_as_working(short_dir: Path):
    async with running_daemon(short_dir, sessions=1, scripts={"sh": ["/bin/sh"]}) as daemon:
        daemon.launcher.drivers["sh"] = "terminal"
        for name in ("s1", "s2", "s3"):
            await daemon.start(name, prompt="hello")
            await daemon.until(TurnEnded, name)
        await daemon.start("t1", agent="sh")
        await daemon.start("s4", prompt="hold")
        await daemon.start("t2", agent="sh")
        assert await refused(daemon.start("s5", prompt="hello")) == "LIMIT_REACHED"
        await daemon.ask(EndSession(session_id="s4"))
        await daemon.over("s4")
        await daemon.start("s5", prompt="hello")


@pytest.mark.row("R15")
async def test_a_refusal_offers_first_the_session_that_waits_for_an_answer(short_dir: Path):
    async with running_daemon(short_dir, sessions=2) as daemon:
        await daemon.start("s1", prompt="hold")
        await daemon.start("s2", prompt="ask")
        await daemon.until(PermissionRequested, "s2")
        daemon.shift = 90.0
        with pytest.raises(Refused) as caught:
            await daemon.start("s3")
        offer = caught.value.refusal().fields["offer"]
        assert isinstance(offer, dict)
        assert offer["sessionId"] == "s2"
        assert offer["idleSeconds"] in range(80, 100)


@pytest.mark.row("R15")
async def test_the_end_of_a_session_is_announced_and_a_person_can_keep_it(short_dir: Path):
    async with running_daemon(short_dir, idle_seconds=20) as daemon:
        await daemon.start(prompt="hello")
        limits = daemon.limits
        limits.change({"idle_seconds": 2})
        announced = await daemon.until(EndScheduled)
        assert announced.reason == "idle_limit"
        limits.change({"idle_seconds": 0})
        await daemon.ask(KeepSession(session_id="s1"))
        assert (await daemon.until(EndCancelled, times=2)).by == "ana"
        record = await daemon.store.session("s1")
        assert record is not None
        assert (record.phase, record.ends_at) == (Phase.WAITING, None)
        assert record.kept_at


@pytest.mark.row("R15")
@pytest.mark.parametrize(
    ("limit", "reason"), [("idle_seconds", "idle_limit"), ("session_seconds", "time_limit")]
)
async def test_a_session_ends_at_its_time_limits(short_dir: Path, limit: str, reason: str):
    async with running_daemon(short_dir, **{limit: 1}) as daemon:
        await daemon.start(prompt="hi")
        ended = await daemon.until(SessionEnded)
        assert ended.reason == reason
        assert ended.message


@pytest.mark.row("R15")
async def test_a_session_ends_at_its_size_limit(short_dir: Path):
    async with running_daemon(short_dir, output_bytes=20_000) as daemon:
        await daemon.start(prompt="count 100000 0")
        ended = await daemon.until(SessionEnded)
        assert ended.reason == "size_limit"


@pytest.mark.row("R20")
async def test_the_panic_button_ends_everything_and_a_paused_device_starts_nothing(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        for name in ("s1", "s2", "s3"):
            await daemon.start(name, prompt="hold")
        assert await daemon.ask(EndAll()) == {"ended": 3}
        for name in ("s1", "s2", "s3"):
            assert (await daemon.until(SessionEnded, name)).reason == "killed"
        await daemon.ask(PauseDevice(paused=True))
        assert await refused(daemon.start("s4")) == "LIMIT_REACHED"
        await daemon.restart()
        assert await refused(daemon.start("s4")) == "LIMIT_REACHED"
        await daemon.ask(PauseDevice(paused=False))
        await daemon.start("s4")


@pytest.mark.row("S21", "R6")
async def test_a_session_runs_only_in_a_real_folder_below_a_root(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        (short_dir / "repo" / "file").write_text("")
        (short_dir / "repo" / "out").symlink_to("/etc")
        (short_dir / "repo" / "in").symlink_to(short_dir / "repo")
        bad = [
            "/",
            "/etc",
            f"{short_dir}/repo/out",
            f"{short_dir}/repo/file",
            f"{short_dir}/none",
            "work",
            "~root",
        ]
        bad += [f"{short_dir}/repo/../../etc", "x" * 5000, f"{short_dir}-evil", ""]
        for number, cwd in enumerate(bad):
            assert await refused(daemon.start(f"bad{number}", cwd=cwd)) == "INVALID_DIRECTORY"
        answer = await daemon.ask(CheckDirectory(path=f"{short_dir}/repo/in"))
        assert answer["path"] == f"{short_dir}/repo"
        assert await daemon.store.sessions() == []


@pytest.mark.row("S21", "R6")
async def test_a_folder_swapped_before_the_spawn_is_not_entered(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        before = daemon.launcher.plan

        def swapped(started: Any, spawn_id: str) -> Any:
            plan = before(started, spawn_id)
            (short_dir / "repo").rename(short_dir / "moved")
            (short_dir / "repo").symlink_to("/etc")
            return plan

        daemon.launcher.plan = swapped  # pyright: ignore
        await daemon.start(prompt="hi")
        failed = await daemon.until(SessionFailed)
        assert "did not start" in failed.message


@pytest.mark.row("S49", "X3")
async def test_each_decision_is_in_the_audit_with_who_and_which_input(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="ask touch a")
        request = await daemon.until(PermissionRequested)
        await daemon.ask(allow(request.request_id))
        await daemon.until(TurnEnded)
        lines = [json.loads(line)["entry"]["record"] for line in await daemon.store.audit_lines()]
        decision = next(one for one in lines if one["action"] == "permission")
        assert decision["actor"] == "ana"
        assert decision["grant_id"] == "grant-1"
        assert decision["input_sha256"] == request.input_sha256
        assert (await daemon.store.verify_audit()).bad is None
        assert [one["action"] for one in lines][:2] == ["session_started", "permission"]


@pytest.mark.row("S62")
async def test_a_command_that_fails_is_answered_with_an_id_from_the_log(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    async with running_daemon(short_dir) as daemon:

        async def boom(*_: object) -> bytes:
            raise RuntimeError("canary-of-the-inside")

        monkeypatch.setattr(daemon.host, "_do", boom)
        with pytest.raises(Refused) as caught:
            await daemon.ask(CheckDirectory(path="/"))
        told = caught.value.refusal()
        assert told.code == "INTERNAL_ERROR"
        assert "canary" not in told.message
        fault = str(told.fields["fault"])
        assert fault in told.message
        assert [one for one in caplog.records if fault in one.getMessage() and one.exc_info]
