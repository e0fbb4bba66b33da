"""One agent process that serves several sessions: started once, shared, left, killed, and come back."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.acp.sharing import PATIENT, add_agent, events_of, gone, pid_of, pids_of, pushes, told
from tests.acp.test_acp_live import answer, said
from tests.live import LiveServer

from bascule.model.events import (
    AnswerDelivered,
    AnyEvent,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PromptSent,
    ReconnectScheduled,
    SessionEnded,
    SessionFailed,
    SessionReady,
    SessionStarted,
    TextAppended,
    TurnEnded,
)

pytestmark = pytest.mark.anyio


def says(words: str) -> Callable[[AnyEvent], bool]:
    return lambda event: isinstance(event, TextAppended) and words in event.text


@pytest.mark.row("TC-5.1a", "TC-5.1b", "TC-5.2a", "TC-5.6b", "TC-5.3a", "A2", "A11")
async def test_one_process_serves_all_sessions_and_ends_with_the_last(
    short_dir: Path,
):
    server = LiveServer(short_dir, env=PATIENT)
    log = add_agent(server, more=', "--close"')
    async with server:
        async with pushes(server) as page:
            one = await server.create("count 200 5", agent="scripted")
            await page.status("connected")
            assert page.statuses() == ["starting", "connected"]
            two = await server.create("count 200 5", agent="scripted")
            three = await server.create("hello", agent="scripted")
            await server.wait_for(three, TurnEnded)
        # The page is gone; the agent and its sessions are not.
        for session in (one, two):
            await server.wait_for(session, TurnEnded)
            assert said(await events_of(server, session)).split() == [str(n) for n in range(1, 201)]
        pids = {await pid_of(server, session) for session in (one, two, three)}
        assert len(pids) == 1
        methods = [line.get("method") for line in told(log)]
        assert (methods.count("initialize"), methods.count("session/new")) == (1, 3)
        async with pushes(server) as page:
            agents = (await page.ask("agents:list"))["ok"]["agents"]
            assert next(agent for agent in agents if agent["name"] == "scripted")["status"] == "connected"

            # One that leaves in the middle of a turn stops only its own.
            await server.send(one, "count 100000 5")
            await server.wait_for(one, lambda event: isinstance(event, PromptSent) and "100000" in event.text)
            await server.send(two, "count 300 5")
            await server.http.delete(f"/api/sessions/{one}")
            ended = (await server.wait_for(one, SessionEnded)).event
            assert isinstance(ended, SessionEnded)
            assert ended.reason == "closed"
            await server.wait_for(two, says("300"))
            await server.send(three, "afterwards")
            await server.wait_for(three, says("afterwards"))
            methods = [line.get("method") for line in told(log)]
            assert (methods.count("session/cancel"), methods.count("session/close")) == (1, 1)
            for session in (two, three):
                await server.http.delete(f"/api/sessions/{session}")
            await gone(*pids)
            await page.status("idle")
        for session in (one, two, three):
            ends = [event for event in await events_of(server, session) if isinstance(event, SessionEnded)]
            assert [event.reason for event in ends] == ["closed"]


@pytest.mark.row("A2", "REL-01")
async def test_kill_9_of_the_server_with_three_sessions_on_one_process_loses_and_repeats_nothing(
    short_dir: Path,
):
    server = LiveServer(short_dir, env=PATIENT)
    log = add_agent(server)
    async with server:
        first = await server.create("count 300 5", agent="scripted")
        second = await server.create("count 300 5", agent="scripted")
        asking = await server.create("run touch c.txt", agent="scripted")
        asked = (await server.wait_for(asking, PermissionRequested)).event
        assert isinstance(asked, PermissionRequested)
        for _ in range(2):
            await server.wait_for(first, TextAppended)
            await server.wait_for(second, TextAppended)
            await server.kill()
            await server.start()
        await answer(server, asking, asked, "allow")
        later = await server.create("hello", agent="scripted")
        for session in (first, second, asking, later):
            await server.wait_for(session, TurnEnded)
        for session in (first, second):
            events = await events_of(server, session)
            assert said(events).split() == [str(n) for n in range(1, 301)]
            assert sum(isinstance(event, TurnEnded) for event in events) == 1
        events = await events_of(server, asking)
        for once in (PromptSent, PermissionRequested, PermissionAnswered, AnswerDelivered, TurnEnded):
            assert sum(isinstance(event, once) for event in events) == 1, once
        assert len({await pid_of(server, session) for session in (first, second, asking, later)}) == 1
        lines = told(log)
        assert sum(line.get("method") == "initialize" for line in lines) == 1
        assert sum(line.get("method") == "session/prompt" for line in lines) == 4
        assert sum("outcome" in (line.get("result") or {}) for line in lines) == 1


@pytest.mark.row("TC-5.2b", "TC-5.2c", "A2", "A11")
@pytest.mark.parametrize("more", ["", ', "--no-resume"'])
async def test_an_agent_killed_with_three_sessions_on_it_is_connected_to_again(short_dir: Path, more: str):
    server = LiveServer(short_dir, env=PATIENT)
    add_agent(server, more=more)
    async with server, pushes(server) as page:
        sessions = [await server.create("hello", agent="scripted") for _ in range(2)]
        sessions.append(await server.create("run touch d.txt", agent="scripted"))
        for session in sessions[:2]:
            await server.wait_for(session, TurnEnded)
        await server.wait_for(sessions[2], PermissionRequested)
        await server.send(sessions[0], "count 100000 5")
        await server.wait_for(sessions[0], says("2"))
        os.kill(await pid_of(server, sessions[0]), signal.SIGKILL)
        for session in sessions:
            row = await server.wait_for(session, SessionEnded)
            ended = row.event
            assert isinstance(ended, SessionEnded)
            assert (ended.reason, ended.signal) == ("disconnected", 9)
            assert "stopped by signal 9" in (ended.message or "")
            started = (await server.wait_for(session, SessionStarted, after=row.seq)).event
            assert isinstance(started, SessionStarted)
            assert (started.by, started.permission_mode) == ("reconnect", "relay")
            await server.wait_for(session, SessionReady, after=row.seq)
        await page.status("connected", times=2)
        assert page.statuses() == ["starting", "connected", "disconnected", "reconnecting", "connected"]
        assert len({await pid_of(server, session) for session in sessions}) == 1
        assert any(isinstance(event, PermissionWithdrawn) for event in await events_of(server, sessions[2]))
        for session in sessions:
            await server.send(session, "again")
            await server.wait_for(session, says("again"))
            assert said(await events_of(server, session)).count("You said: hello") <= 1


@pytest.mark.row("TC-5.2d", "A2", "A11")
async def test_a_person_reconnects_an_agent_that_did_not_come_back_also_over_a_restart(
    short_dir: Path,
):
    server = LiveServer(short_dir, env=PATIENT)
    broken = server.folder / "broken"
    add_agent(server, more=f', "--broken", "{broken}"')
    async with server:
        async with pushes(server) as page:
            one = await server.create("hello", agent="scripted")
            two = await server.create("hello", agent="scripted")
            await server.wait_for(one, TurnEnded)
            await server.wait_for(two, TurnEnded)
            broken.touch()
            os.kill(await pid_of(server, one), signal.SIGKILL)
            await page.status("reconnecting")
            refused = await page.ask("session:reconnect", cliType="scripted")
            assert refused["error"]["code"] == "AGENT_UNAVAILABLE"
            assert "Could not connect to Scripted" in refused["error"]["message"]
            await page.until(
                lambda push: push["type"] == "error" and push["error"]["code"] == "AGENT_UNAVAILABLE"
            )
            await page.until(lambda _: page.statuses()[-1] == "disconnected")
        await server.kill()
        broken.unlink()
        await server.start()
        async with pushes(server) as page:
            back = await page.ask("session:reconnect", cliType="scripted")
            assert back["ok"] == {"status": "connected"}
            for session in (one, two):
                await server.send(session, "again")
                await server.wait_for(session, says("again"))
            assert await pid_of(server, one) == await pid_of(server, two)
            nothing = await page.ask("session:reconnect", cliType="scripted")
            assert nothing["ok"] == {"status": "connected"}
            neither = await page.ask("session:reconnect")
            assert neither["error"]["code"] == "INVALID_INPUT"


@pytest.mark.row("TC-5.5b", "A2", "A11")
@pytest.mark.parametrize(
    ("more", "words"),
    [
        (', "--refuse"', "no greeting today"),
        (', "--deaf"', "did not answer within"),
        (', "--no-such-flag"', "exit code 2"),
    ],
)
async def test_a_handshake_that_fails_says_that_it_could_not_connect(short_dir: Path, more: str, words: str):
    env = {"ACP_START_TIMEOUT_MS": "3000"} if "deaf" in more else PATIENT
    server = LiveServer(short_dir, env=env)
    add_agent(server, more=more)
    async with server, pushes(server) as page:
        session = await server.create("hello", agent="scripted")
        problem = await page.until(lambda push: push["type"] == "error")
        assert problem["sessionId"] == session
        assert problem["error"]["code"] == "AGENT_UNAVAILABLE"
        assert "Could not connect to Scripted" in problem["error"]["message"]
        assert words in problem["error"]["message"]
        await page.until(lambda push: push.get("session", {}).get("phase") == "failed")
        assert "connected" not in page.statuses()


@pytest.mark.row("TC-5.5a", "TC-2.2f", "REL-33", "A2", "A11")
async def test_what_can_not_be_started_or_opened_is_answered_with_its_code(short_dir: Path):
    server = LiveServer(short_dir, env=PATIENT)
    add_agent(server, more=', "--no-session"')
    missing = server.config / "agents" / "missing.toml"
    missing.write_text(
        'name = "missing"\ntitle = "Missing"\nsearch = ["no-such-program"]\n[[drivers]]\nname = "acp"\n'
    )
    missing.chmod(0o600)
    # A program that the system will not run.
    hollow = server.folder / "hollow"
    hollow.write_bytes(b"\x00\x01\x02")
    hollow.chmod(0o755)
    broken = server.config / "agents" / "hollow.toml"
    broken.write_text(
        f'name = "hollow"\ntitle = "Hollow"\nsearch = ["{hollow}"]\n[[drivers]]\nname = "acp"\n'
    )
    broken.chmod(0o600)
    async with server, pushes(server) as page:
        refused = await page.ask("session:create", agent="missing", cwd=str(server.work))
        assert refused["error"]["code"] == "AGENT_UNAVAILABLE"
        assert "Check that it's installed" in refused["error"]["message"]
        session = await server.create("hello", agent="hollow")
        failed = (await server.wait_for(session, SessionFailed)).event
        assert isinstance(failed, SessionFailed)
        assert "Check that it's installed" in failed.message
        assert len([one for one in await events_of(server, session) if isinstance(one, SessionFailed)]) == 1
        session = await server.create(None, agent="scripted")
        problem = await page.until(lambda push: push["type"] == "error" and push["sessionId"] == session)
        assert (problem["sessionId"], problem["error"]["code"]) == (session, "AGENT_PROTOCOL_ERROR")
        assert "Log in with the agent's own command" in problem["error"]["message"]


@pytest.mark.row("A2")
async def test_silence_in_a_turn_is_the_end_of_a_hanging_agent_and_of_no_other(short_dir: Path):
    server = LiveServer(short_dir, env={**PATIENT, "ACP_PROMPT_TIMEOUT_MS": "4000"})
    add_agent(server)
    async with server:
        waiting = await server.create("run touch a.txt", agent="scripted")
        thinking = await server.create("think 5", agent="scripted")
        await server.wait_for(waiting, PermissionRequested)
        # It answers when it is asked whether it is there, and a person may take any time.
        await server.wait_for(thinking, TurnEnded)
        assert said(await events_of(server, thinking)) == "Thought."
        assert len(pids_of(await events_of(server, waiting))) == 1
        await server.send(thinking, "hang")
        for session in (thinking, waiting):
            row = await server.wait_for(session, SessionEnded)
            ended = row.event
            assert isinstance(ended, SessionEnded)
            assert ended.reason == "disconnected"
            assert "said nothing for 4 s" in (ended.message or "")
            await server.wait_for(session, SessionReady, after=row.seq)


@pytest.mark.row("REL-31")
async def test_a_request_in_no_sessions_name_is_answered_once(short_dir: Path):
    server = LiveServer(short_dir, env=PATIENT)
    log = add_agent(server)
    async with server:
        sessions = [await server.create("hello", agent="scripted") for _ in range(3)]
        await asyncio.gather(*(server.wait_for(session, TurnEnded) for session in sessions))
        await server.send(sessions[1], "lonely work")
        row = await server.wait_for(sessions[1], says("-32601"))
        await server.wait_for(sessions[1], TurnEnded, after=row.seq)
        await server.send(sessions[0], "again")
        await server.wait_for(sessions[0], says("again"))
        assert [line["error"]["code"] for line in told(log) if "error" in line] == [-32601]


async def test_an_agent_that_can_not_take_up_a_conversation_is_not_started_again(short_dir: Path):
    server = LiveServer(short_dir, env=PATIENT)
    add_agent(server, more=', "--no-load"')
    async with server, pushes(server) as page:
        session = await server.create("hello", agent="scripted")
        await server.wait_for(session, TurnEnded)
        os.kill(await pid_of(server, session), signal.SIGTERM)
        ended = (await server.wait_for(session, SessionEnded)).event
        assert isinstance(ended, SessionEnded)
        assert "can't take up an earlier conversation" in (ended.message or "")
        await page.status("idle")
        assert "reconnecting" not in page.statuses()


async def test_those_lost_with_a_session_that_a_person_resumes_come_back_with_it_and_failures_are_one_entry(
    short_dir: Path,
):
    server = LiveServer(short_dir, env=PATIENT)
    broken = server.folder / "broken"
    add_agent(server, more=f', "--broken", "{broken}"')
    async with server, pushes(server) as page:
        one = await server.create("hello", agent="scripted")
        two = await server.create("hello", agent="scripted")
        await server.wait_for(one, TurnEnded)
        await server.wait_for(two, TurnEnded)
        broken.touch()
        os.kill(await pid_of(server, one), signal.SIGKILL)
        await server.wait_for(one, lambda event: isinstance(event, ReconnectScheduled) and event.attempt == 2)
        refused = await page.ask("session:reconnect", sessionId=one)
        assert refused["error"]["code"] == "AGENT_UNAVAILABLE"
        failed: dict[str, int] = {}
        for session in (one, two):
            failed[session] = (await server.wait_for(session, SessionFailed)).seq
            entries = (await server.http.get(f"/api/sessions/{session}/entries")).json()["entries"]
            kinds = [entry["event"]["type"] for entry in entries if entry["kind"] == "event"]
            assert kinds == ["session_started", "session_failed"]
        broken.unlink()
        reply = await server.post(f"/api/sessions/{one}/resume")
        assert reply.status_code == 200, reply.text
        for session, seq in failed.items():
            await server.wait_for(session, SessionReady, after=seq)
        assert await pid_of(server, one) == await pid_of(server, two)
