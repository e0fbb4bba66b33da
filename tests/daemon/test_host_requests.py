"""Requests of an agent on a real machine: one answer counts, in time and after a restart."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.daemon.host_words import allow, denied, prompt, refused, said
from tests.daemon.running_daemon import running_daemon

from bascule.model.commands import (
    Actor,
    AnswerPermission,
    EndSession,
    Interrupt,
)
from bascule.model.errors import Refused
from bascule.model.events import (
    AnswerDelivered,
    Interrupted,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    RuleAdded,
    SessionEnded,
    ToolChanged,
    TurnEnded,
)

pytestmark = pytest.mark.anyio


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
        assert b'"detail":"given at 2026-01-02T03:04:05.000Z; Bash: touch a"' in lines


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
        assert decision["detail"] == "Bash: touch a"
        assert (await daemon.store.verify_audit()).bad is None
        assert [one["action"] for one in lines][:2] == ["session_started", "permission"]
