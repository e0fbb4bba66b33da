"""An ACP agent that a person added by a file, driven by the real server: asked, stopped, taken up again."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest
from tests.live import LiveServer
from tests.waiting import PATIENCE

from bascule.model.events import (
    AgentSpawned,
    AnswerDelivered,
    AnyEvent,
    CommandsChanged,
    Interrupted,
    ModeChanged,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    PlanChanged,
    PromptSent,
    QuestionAsked,
    SessionEnded,
    SessionReady,
    TextAppended,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    Unrecognised,
)

pytestmark = pytest.mark.anyio

FAKE = Path(__file__).parents[1] / "fakes" / "acp_agent.py"

TOML = """
name = "scripted"
title = "Scripted"
search = ["{{python}}"]

[version]
args = ["{fake}", "--version"]

[modes]
ask = "ask"
free = "free"

[[drivers]]
name = "acp"
args = ["{fake}", "--store", "{store}", "--log", "{log}"{more}]
quirks = [{quirks}]
services = [{services}]
"""


def add_agent(server: LiveServer, *, more: str = "", quirks: str = "", services: str = "") -> Path:
    """The agent's file in the person's own folder; returns where the agent writes down what it is told."""
    store, log = server.folder / "conversations", server.folder / "log"
    store.mkdir()
    text = TOML.format(fake=FAKE, store=store, log=log, more=more, quirks=quirks, services=services)
    server.add_agent_file("scripted", text)
    return log


def said(events: list[AnyEvent]) -> str:
    return "".join(one.text for one in events if isinstance(one, TextAppended) and one.kind == "assistant")


async def events_of(server: LiveServer, session: str) -> list[AnyEvent]:
    return [row.event for row in await server.log(session)]


async def answer(server: LiveServer, session: str, asked: PermissionRequested, decision: str) -> None:
    reply = await server.post(
        f"/api/sessions/{session}/permissions",
        requestId=asked.request_id,
        decision=decision,
        inputSha256=asked.input_sha256,
    )
    assert reply.status_code == 200, reply.text


async def resume(server: LiveServer, session: str) -> None:
    """Its end is told a moment before its process is put away; until then it counts as running."""
    async with asyncio.timeout(PATIENCE):
        while (await server.post(f"/api/sessions/{session}/resume")).status_code != 200:  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # between two tries, as a person would


@pytest.mark.row("A1")
async def test_a_prompt_given_with_the_start_is_answered(short_dir: Path):
    server = LiveServer(short_dir)
    add_agent(server)
    async with server:
        session = await server.create("hello", agent="scripted")
        await server.wait_for(session, TurnEnded)
        events = await events_of(server, session)
        assert said(events) == "You said: hello (mode ask)"
        ready = next(one for one in events if isinstance(one, SessionReady))
        assert (ready.version, ready.mode) == ("1.2.3", "ask")
        assert ready.agent_session_id
        assert any(isinstance(one, CommandsChanged) for one in events)
        assert not any(isinstance(one, Unrecognised) for one in events)

        await server.send(session, "plan")
        plan = (await server.wait_for(session, PlanChanged)).event
        assert isinstance(plan, PlanChanged)
        assert [one.text for one in plan.items] == ["Look", "Leap"]


@pytest.mark.row("A1")
@pytest.mark.parametrize(
    ("decision", "status", "words"), [("allow", "done", "I did (yes)."), ("deny", "denied", "I did not.")]
)
async def test_a_permission_is_answered_by_the_kind_of_option(
    short_dir: Path, decision: str, status: str, words: str
):
    server = LiveServer(short_dir)
    add_agent(server)
    async with server:
        session = await server.create("run touch a.txt", agent="scripted")
        row = await server.wait_for(session, PermissionRequested)
        asked = row.event
        assert isinstance(asked, PermissionRequested)
        assert (asked.kind, asked.title) == ("execute", "touch a.txt")
        assert json.loads(bytes(asked.input)) == {"command": "touch a.txt"}
        await answer(server, session, asked, decision)
        await server.wait_for(session, TurnEnded)
        events = await events_of(server, session)
        assert said(events) == words
        assert [one.status for one in events if isinstance(one, ToolChanged)][-1] == status
        assert sum(isinstance(one, ToolStarted) for one in events) == 1


async def test_a_question_is_answered_by_its_words(short_dir: Path):
    server = LiveServer(short_dir)
    add_agent(server)
    async with server:
        session = await server.create("ask", agent="scripted")
        asked = (await server.wait_for(session, QuestionAsked)).event
        assert isinstance(asked, QuestionAsked)
        assert [one.label for one in asked.questions[0].options] == ["Blue", "Green"]
        reply = await server.post(
            f"/api/sessions/{session}/questions",
            requestId=asked.request_id,
            answers={"Which colour?": "Green"},
        )
        assert reply.status_code == 200, reply.text
        await server.wait_for(session, TurnEnded)
        assert said(await events_of(server, session)) == "accept {'colour': 'Green'}"


async def test_an_interrupt_stops_the_turn_and_withdraws_what_it_asked(short_dir: Path):
    server = LiveServer(short_dir)
    add_agent(server)
    async with server:
        session = await server.create("count 10000 10", agent="scripted")
        await server.wait_for(session, TextAppended)
        await server.post(f"/api/sessions/{session}/interrupt")
        ended = (await server.wait_for(session, TurnEnded)).event
        assert isinstance(ended, TurnEnded)
        assert ended.stop_reason == "interrupted"

        await server.send(session, "run touch b.txt")
        row = await server.wait_for(session, PermissionRequested)
        await server.post(f"/api/sessions/{session}/interrupt")
        await server.wait_for(session, lambda one: isinstance(one, TurnEnded), after=row.seq)
        events = (await events_of(server, session))[row.seq :]
        kinds = [
            type(one) for one in events if isinstance(one, Interrupted | PermissionWithdrawn | TurnEnded)
        ]
        assert kinds == [Interrupted, PermissionWithdrawn, TurnEnded]

        await server.send(session, "still there?")
        await server.wait_for(session, lambda one: isinstance(one, TextAppended) and "still" in one.text)


@pytest.mark.row("REL-01")
async def test_a_turn_goes_on_when_the_server_is_killed_in_the_middle(short_dir: Path):
    server = LiveServer(short_dir)
    log = add_agent(server)
    async with server:
        counting = await server.create("count 150 10", agent="scripted")
        asking = await server.create("run touch c.txt", agent="scripted")
        row = await server.wait_for(asking, PermissionRequested)
        await server.wait_for(counting, TextAppended)
        await server.kill()
        await server.start()

        asked = row.event
        assert isinstance(asked, PermissionRequested)
        await answer(server, asking, asked, "allow")
        await server.wait_for(asking, TurnEnded)
        await server.wait_for(counting, TurnEnded)
        assert said(await events_of(server, counting)).split() == [str(one) for one in range(1, 151)]
        events = await events_of(server, asking)
        for once in (PromptSent, PermissionRequested, PermissionAnswered, AnswerDelivered, TurnEnded):
            assert sum(isinstance(one, once) for one in events) == 1, once
        told = [json.loads(line) for line in log.read_text().splitlines()]
        assert sum(one.get("method") == "session/prompt" for one in told) == 2
        assert sum("outcome" in (one.get("result") or {}) for one in told) == 1


@pytest.mark.parametrize("more", ["", ', "--no-resume"'])
async def test_an_ended_session_is_resumed_on_the_same_log_and_told_once(short_dir: Path, more: str):
    server = LiveServer(short_dir)
    log = add_agent(server, more=more)
    async with server:
        session = await server.create("hello", agent="scripted")
        await server.wait_for(session, TurnEnded)
        await server.http.delete(f"/api/sessions/{session}")
        await server.wait_for(session, SessionEnded)
        await resume(server, session)
        await server.send(session, "again")
        await server.wait_for(session, lambda one: isinstance(one, TextAppended) and "again" in one.text)
        assert said(await events_of(server, session)).count("You said: hello") == 1
        methods = [json.loads(line).get("method") for line in log.read_text().splitlines()]
        assert ("session/load" if more else "session/resume") in methods


async def test_a_conversation_its_agent_would_harm_is_not_taken_up_too_early(short_dir: Path):
    server = LiveServer(short_dir)
    log = add_agent(server)
    file = server.config / "agents" / "scripted.toml"
    rests = '[history]\nformat = "gemini"\nfiles = ".scripted/*.jsonl"\nrest_seconds = {}\n'
    file.write_text(file.read_text() + rests.format(600))
    async with server:
        session = await server.create("hello", agent="scripted")
        await server.wait_for(session, TurnEnded)
        await server.http.delete(f"/api/sessions/{session}")
        await server.wait_for(session, SessionEnded)
        refused = await server.post(f"/api/sessions/{session}/resume")
        assert refused.status_code == 429, refused.text
        error = refused.json()["error"]
        assert error["code"] == "LIMIT_REACHED"
        assert "first 600 s. Try again in" in error["message"]
        assert 0 < int(refused.headers["retry-after"]) <= 600
        before = await server.log(session)
        assert isinstance(before[-1].event, SessionEnded)  # nothing was begun
        ready = next(row.event for row in before if isinstance(row.event, SessionReady))
        again = {"agent": "scripted", "cwd": str(server.work), "resume": ready.agent_session_id}
        refused = await server.http.post("/api/sessions", json=again)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "LIMIT_REACHED")
        assert len((await server.http.get("/api/sessions")).json()["sessions"]) == 1
    methods = [json.loads(line).get("method") for line in log.read_text().splitlines()]
    assert not {"session/load", "session/resume"} & set(methods)


async def test_an_agent_killed_in_the_middle_of_a_turn_says_so_and_comes_back(short_dir: Path):
    server = LiveServer(short_dir)
    add_agent(server)
    async with server:
        session = await server.create("run touch d.txt", agent="scripted")
        await server.wait_for(session, PermissionRequested)
        spawned = next(one for one in await events_of(server, session) if isinstance(one, AgentSpawned))
        os.kill(spawned.pid, signal.SIGKILL)
        row = await server.wait_for(session, SessionEnded)
        ended = row.event
        assert isinstance(ended, SessionEnded)
        assert (ended.reason, ended.signal) == ("disconnected", 9)
        events = (await events_of(server, session))[: row.seq]
        assert any(isinstance(one, PermissionWithdrawn) for one in events)
        assert [one.status for one in events if isinstance(one, ToolChanged)][-1] == "failed"
        await server.wait_for(session, SessionReady, after=row.seq)
        await server.send(session, "run touch d.txt")
        row = await server.wait_for(session, PermissionRequested, after=row.seq)
        asked = row.event
        assert isinstance(asked, PermissionRequested)
        await answer(server, session, asked, "allow")
        await server.wait_for(session, TurnEnded, after=row.seq)


@pytest.mark.row("A1")
async def test_an_earlier_conversation_is_told_in_a_new_session(short_dir: Path):
    server = LiveServer(short_dir)
    add_agent(server)
    async with server:
        first = await server.create("hello", agent="scripted")
        await server.wait_for(first, TurnEnded)
        ready = next(one for one in await events_of(server, first) if isinstance(one, SessionReady))
        second = await server.create(None, agent="scripted", resume=ready.agent_session_id)
        await server.wait_for(second, SessionReady)
        events = await events_of(server, second)
        assert [one.text for one in events if isinstance(one, PromptSent)] == ["hello"]
        assert said(events) == "You said: hello (mode ask)"
        await server.send(second, "more")
        await server.wait_for(second, lambda one: isinstance(one, TextAppended) and "more" in one.text)


async def test_an_agent_whose_mode_does_not_ask_is_put_into_one_that_does(short_dir: Path):
    server = LiveServer(short_dir)
    log = add_agent(server, more=', "--mode", "free"', quirks='"set_mode_at_start:ask"')
    async with server:
        session = await server.create("hello", agent="scripted")
        await server.wait_for(session, TurnEnded)
        events = await events_of(server, session)
        assert said(events) == "You said: hello (mode ask)"
        assert [one.mode for one in events if isinstance(one, ModeChanged)] == ["ask"]
        methods = [json.loads(line).get("method") for line in log.read_text().splitlines()]
        assert methods.index("session/set_mode") < methods.index("session/prompt")


@pytest.mark.row("B10")
async def test_a_reason_given_with_a_no_is_the_next_message_before_all_that_wait(short_dir: Path):
    """The protocol has no place for it."""
    server = LiveServer(short_dir)
    add_agent(server)
    async with server:
        session = await server.create("run make", agent="scripted")
        asked = (await server.wait_for(session, PermissionRequested)).event
        assert isinstance(asked, PermissionRequested)
        assert asked.reason_follows
        await server.send(session, "and this later")
        reply = await server.post(
            f"/api/sessions/{session}/permissions",
            requestId=asked.request_id,
            decision="deny",
            message="Use the Makefile of the parent folder.",
        )
        assert reply.status_code == 200, reply.text
        row = await server.wait_for(session, TurnEnded)
        row = await server.wait_for(session, TurnEnded, after=row.seq)
        await server.wait_for(session, TurnEnded, after=row.seq)
        sent = [one for one in await events_of(server, session) if isinstance(one, PromptSent)]
        assert [(one.text, one.by) for one in sent] == [
            ("run make", "owner"),
            ("I denied “make”: Use the Makefile of the parent folder.", "owner"),
            ("and this later", "owner"),
        ]
