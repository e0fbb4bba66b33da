"""An agent with a process of its own that goes away: it comes back on its conversation, or says why not."""

import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.running_daemon import RunningDaemon, running_daemon
from tests.live import FAKES

from bascule.link.frames import AgentStatus
from bascule.link.machine import EndAll, ReconnectAgent
from bascule.model.commands import (
    AnswerPermission,
    EndSession,
    ResumeSession,
    SendPrompt,
    SetPermissionMode,
)
from bascule.model.entries import EventEntry
from bascule.model.errors import Refused
from bascule.model.events import (
    AgentSpawned,
    Note,
    PermissionRequested,
    PermissionWithdrawn,
    ReconnectScheduled,
    SessionEnded,
    SessionFailed,
    SessionReady,
    SessionStarted,
    StderrWritten,
    TextAppended,
    TextSaid,
    TurnEnded,
)
from bascule.model.lifecycle import Phase
from bascule.store.rows import decode_entry

pytestmark = pytest.mark.anyio

QUICK = (0.01,) * 5
NEVER = (3600.0,) * 5
BOTH = pytest.mark.parametrize("agent", ["claudish", "codexish"])


@asynccontextmanager
async def machine(folder: Path, pauses: tuple[float, ...] = QUICK) -> AsyncIterator[RunningDaemon]:
    store = folder / "kept"
    store.mkdir(exist_ok=True)
    python = [sys.executable, "-E", "-S"]
    scripts = {
        "claudish": [*python, str(FAKES / "remembers.py"), f"--store={store}"],
        "codexish": [*python, str(FAKES / "codex_agent.py"), f"--store={store}"],
    }
    async with running_daemon(folder, scripts=dict(scripts), pauses=pauses) as daemon:
        daemon.launcher.drivers["codexish"] = "codex"
        yield daemon


async def kill(daemon: RunningDaemon, session: str = "s1") -> None:
    spawned = await daemon.events(AgentSpawned, session)
    os.kill(spawned[-1].pid, signal.SIGKILL)


async def say(daemon: RunningDaemon, text: str) -> dict[str, Any]:
    return await daemon.ask(SendPrompt(session_id="s1", text=text))


def heard(daemon: RunningDaemon) -> list[dict[str, Any]]:
    """What reached the agents, by all their processes."""
    lines = (daemon.folder / "kept" / "heard.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def prompts(daemon: RunningDaemon) -> list[str]:
    told: list[str] = []
    for line in heard(daemon):
        message = line.get("heard", {})
        if message.get("type") == "user":
            content = message["message"]["content"]
            told.append(content if isinstance(content, str) else content[0]["text"])
        elif message.get("method") == "turn/start":
            told.append(message["params"]["input"][0]["text"])
    return told


def says(words: str):
    return lambda event: isinstance(event, TextAppended | TextSaid) and words in event.text


async def failed(daemon: RunningDaemon) -> SessionFailed:
    return await daemon.until(SessionFailed)


@pytest.mark.row("Q8", "A2")
@BOTH
async def test_an_agent_killed_in_mid_turn_comes_back_on_its_conversation_and_nothing_is_sent_twice(
    short_dir: Path, agent: str
):
    async with machine(short_dir) as daemon:
        await daemon.start(agent=agent, prompt="hello there")
        await daemon.until(TurnEnded)
        own = (await daemon.store.session("s1")).agent_session_id  # pyright: ignore
        await say(daemon, "count 100000" if agent == "claudish" else "wait")
        await daemon.until(says("piece 2." if agent == "claudish" else "waiting"))
        await say(daemon, "recall")  # waits in the queue
        await kill(daemon)
        await daemon.until(says("before: hello there"))
        await daemon.until(TurnEnded, times=2)
        log = [row.event for row in await daemon.log()]
        (ended,) = [one for one in log if isinstance(one, SessionEnded)]
        assert (ended.reason, ended.signal) == ("disconnected", 9)
        (note,) = [one for one in log if isinstance(one, Note) and one.code == "turn_cut"]
        assert "in the middle of this turn" in note.text
        assert [one.attempt for one in log if isinstance(one, ReconnectScheduled)] == [1]
        first, again = [one for one in log if isinstance(one, SessionStarted)]
        assert (again.by, again.resumed_from, again.cwd) == ("reconnect", own, first.cwd)
        record = await daemon.store.session("s1")
        assert record is not None
        assert (record.phase, record.agent_session_id, record.attempt) == (Phase.WAITING, own, 0)
        assert len(prompts(daemon)) == 3, prompts(daemon)
        states = [one.status for one in daemon.heard if isinstance(one, AgentStatus)]
        assert states[-1] == "connected"
        assert "reconnecting" in states


@pytest.mark.row("Q8", "A2")
@BOTH
async def test_a_request_that_was_open_is_lost_in_words_and_asked_again_only_by_the_agent(
    short_dir: Path, agent: str
):
    async with machine(short_dir) as daemon:
        await daemon.start(agent=agent, prompt="hello")
        await daemon.until(TurnEnded)
        await say(daemon, ("ask " if agent == "claudish" else "run ") + "touch a")
        asked = await daemon.until(PermissionRequested)
        await kill(daemon)
        gone = await daemon.until(PermissionWithdrawn)
        assert (gone.request_id, gone.reason) == (asked.request_id, "lost")
        await daemon.until(SessionReady, times=3 if agent == "claudish" else 2)
        late = AnswerPermission(session_id="s1", request_id=asked.request_id, decision="allow")
        with pytest.raises(Refused) as refused:
            await daemon.ask(late)
        assert refused.value.refusal().code == "REQUEST_WITHDRAWN"
        (note,) = [one for one in await daemon.events(Note) if one.code == "turn_cut"]
        assert "waited for an answer" in note.text
        await say(daemon, ("ask " if agent == "claudish" else "run ") + "touch b")
        await daemon.until(PermissionRequested, times=2)
        assert len(await daemon.events(PermissionRequested)) == 2


async def test_an_answer_the_old_process_did_not_take_is_not_given_to_the_new_one(short_dir: Path):
    async with machine(short_dir) as daemon:
        await daemon.start(agent="claudish", prompt="hello")
        await daemon.until(TurnEnded)
        await say(daemon, "ask die 5")
        asked = await daemon.until(PermissionRequested)
        await daemon.ask(AnswerPermission(session_id="s1", request_id=asked.request_id, decision="allow"))
        await daemon.until(ReconnectScheduled)
        await daemon.until(SessionStarted, times=2)
        await say(daemon, "recall")
        await daemon.until(says("before: hello, ask die 5"))
        answers = [one for one in heard(daemon) if one.get("heard", {}).get("type") == "control_response"]
        assert len(answers) == 1


@BOTH
async def test_an_agent_that_does_not_come_back_is_given_up_after_five_tries_in_one_block(
    short_dir: Path, agent: str
):
    async with machine(short_dir) as daemon:
        await daemon.start(agent=agent, prompt="hello")
        await daemon.until(TurnEnded)
        (short_dir / "kept" / "broken").touch()
        await kill(daemon)
        gave_up = await failed(daemon)
        assert gave_up.reason == "could_not_connect"
        assert "exit code 3" in gave_up.message
        assert "Reconnect" in gave_up.message
        assert gave_up.stderr_tail == "fatal: not logged in"
        log = [row.event for row in await daemon.log()]
        assert [one.attempt for one in log if isinstance(one, ReconnectScheduled)] == [1, 2, 3, 4, 5]
        assert [one for one in log if isinstance(one, SessionFailed)] == [gave_up]
        assert not [one for one in log if isinstance(one, StderrWritten)]
        page = await daemon.store.page("s1", limit=100)
        entries = [decode_entry(bytes(one)) for one in page.entries]
        shown = [one.event for one in entries if isinstance(one, EventEntry)]
        # A busy machine may say that the agent was slow to read; that is no block of a try.
        kinds = [type(event) for event in shown if not isinstance(event, Note)]
        assert kinds == [SessionStarted, SessionFailed]
        (short_dir / "kept" / "broken").unlink()
        await daemon.ask(ResumeSession(session_id="s1"))
        await say(daemon, "recall")
        await daemon.until(says("before: hello"))


@BOTH
async def test_a_conversation_the_agent_does_not_know_any_more_is_not_begun_anew(short_dir: Path, agent: str):
    async with machine(short_dir) as daemon:
        await daemon.start(agent=agent, prompt="hello")
        await daemon.until(TurnEnded)
        record = await daemon.store.session("s1")
        assert record is not None
        assert record.agent_session_id
        (short_dir / "kept" / record.agent_session_id).unlink()
        await kill(daemon)
        told = await failed(daemon)
        assert told.reason == "conversation_lost"
        assert "does not know this conversation any more" in told.message
        assert len(await daemon.events(SessionStarted)) == 2
        assert not [one for one in await daemon.events(TurnEnded) if one.stop_reason != "end_turn"]


@pytest.mark.parametrize(("words", "reason"), [("die 0", "exited"), ("die 7", "disconnected")])
async def test_one_that_leaves_in_good_order_is_not_revived(short_dir: Path, words: str, reason: str):
    async with machine(short_dir, NEVER) as daemon:
        await daemon.start(agent="claudish", prompt=words)
        ended = await daemon.until(SessionEnded)
        assert ended.reason == reason
        if reason == "disconnected":
            await daemon.until(ReconnectScheduled)
        await daemon.over()
        await daemon.host.sessions.wait_released("s1")
        assert len(await daemon.events(ReconnectScheduled)) == (reason == "disconnected")


async def test_one_that_a_person_ended_or_that_can_not_resume_is_not_revived(short_dir: Path):
    async with machine(short_dir) as daemon:
        await daemon.start(agent="claudish", prompt="hello")
        await daemon.until(TurnEnded)
        await daemon.ask(EndSession(session_id="s1"))
        assert (await daemon.until(SessionEnded)).reason == "closed"
        daemon.launcher.resumes = False
        await daemon.start("s2", agent="claudish", prompt="die -9")
        ended = await daemon.until(SessionEnded, "s2")
        assert ended.reason == "exited"
        assert "can't take up an earlier conversation" in ended.message
        assert not await daemon.events(ReconnectScheduled, "s2")


async def test_one_that_never_named_its_conversation_begins_afresh_only_if_nothing_was_sent(short_dir: Path):
    async with machine(short_dir) as daemon:
        await daemon.start(agent="claudish")
        await daemon.until(SessionReady)
        await kill(daemon)
        await daemon.until(SessionReady, times=2)
        assert [one.resumed_from for one in await daemon.events(SessionStarted)] == [None, None]
        await say(daemon, "recall")
        await daemon.until(says("before: "))
        (short_dir / "kept" / "deaf").touch()
        await daemon.start("s2", agent="claudish", prompt="important")
        await daemon.until(AgentSpawned, "s2")
        await kill(daemon, "s2")
        ended = await daemon.until(SessionEnded, "s2")
        assert ended.reason == "exited"
        assert "What you sent is kept here" in ended.message
        assert not await daemon.events(ReconnectScheduled, "s2")


async def test_the_mode_a_person_chose_stays_when_the_process_dies_and_not_when_bascule_does(short_dir: Path):
    async with machine(short_dir) as daemon:
        await daemon.start(agent="claudish", prompt="hello", permission_mode="relay")
        await daemon.until(TurnEnded)
        await daemon.ask(SetPermissionMode(session_id="s1", mode="auto"))
        await kill(daemon)
        again = await daemon.until(SessionStarted, times=2)
        assert again.permission_mode == "auto"
        await daemon.until(SessionReady, times=3)  # it told its conversation in the first run
        daemon.pauses = NEVER
        await daemon.restart()  # from here on the ladder waits
        await daemon.ask(SetPermissionMode(session_id="s1", mode="auto"))
        await kill(daemon)
        await daemon.until(ReconnectScheduled, times=2)
        daemon.pauses = QUICK
        await daemon.restart()
        third = await daemon.until(SessionStarted, times=3)
        assert third.permission_mode == "relay"


@pytest.mark.row("REL-01", "A2")
@BOTH
async def test_a_restart_during_reconnect_continues_with_the_next_attempt_and_repeats_nothing(
    short_dir: Path, agent: str
):
    async with machine(short_dir, (0.01, 0.01, 3600.0, 3600.0, 3600.0)) as daemon:
        await daemon.start(agent=agent, prompt="hello")
        await daemon.until(TurnEnded)
        (short_dir / "kept" / "broken").touch()
        await kill(daemon)
        await daemon.until(lambda event: isinstance(event, ReconnectScheduled) and event.attempt == 3)
        (short_dir / "kept" / "broken").unlink()
        daemon.pauses = QUICK
        await daemon.restart()
        # What is written meanwhile waits, and is sent once it is back.
        await say(daemon, "recall")
        await daemon.until(says("before: hello"))
        attempts = [one.attempt for one in await daemon.events(ReconnectScheduled)]
        assert attempts[:3] == [1, 2, 3]
        assert attempts == sorted(attempts)
        assert prompts(daemon) == ["hello", "recall"]
        # One that went away long ago waits for a person, and says so.
        daemon.pauses = NEVER
        await daemon.restart()
        await kill(daemon)
        await daemon.until(ReconnectScheduled, times=len(attempts) + 1)
        daemon.shift += 3600
        await daemon.restart()
        told = await failed(daemon)
        assert "while Bascule was not running" in told.message


async def test_while_it_waits_for_its_agent_a_session_can_be_ended_and_the_panic_button_ends_it_too(
    short_dir: Path,
):
    async with machine(short_dir, NEVER) as daemon:
        for session in ("s1", "s2"):
            await daemon.start(session, agent="claudish", prompt="hello")
            await daemon.until(TurnEnded, session)
            await kill(daemon, session)
            await daemon.until(ReconnectScheduled, session)
        await daemon.ask(EndSession(session_id="s1"))
        assert [one.reason for one in await daemon.events(SessionEnded)] == ["disconnected", "closed"]
        assert await daemon.ask(EndAll()) == {"ended": 1}
        assert [one.reason for one in await daemon.events(SessionEnded, "s2")] == ["disconnected", "killed"]
        daemon.pauses = QUICK
        await daemon.restart()
        assert len(await daemon.events(SessionStarted)) == 1
        assert len(await daemon.events(SessionStarted, "s2")) == 1


async def test_a_person_who_asks_for_it_back_need_not_wait_and_gets_that_session_only(short_dir: Path):
    async with machine(short_dir, NEVER) as daemon:
        for session in ("s1", "s2"):
            await daemon.start(session, agent="claudish", prompt="hello")
            await daemon.until(TurnEnded, session)
            await kill(daemon, session)
            await daemon.until(ReconnectScheduled, session)
        assert await daemon.ask(ReconnectAgent(agent="claudish", session_id="s1")) == {"status": "connected"}
        started = await daemon.until(SessionStarted, times=2)
        assert started.by == "ana"
        assert len(await daemon.events(SessionStarted, "s2")) == 1
        (short_dir / "kept" / "broken").touch()
        with pytest.raises(Refused) as refused:
            await daemon.ask(ReconnectAgent(agent="claudish", session_id="s2"))
        assert refused.value.refusal().code == "AGENT_UNAVAILABLE"
        assert (await daemon.until(SessionFailed, "s2")).stderr_tail == "fatal: not logged in"


async def test_what_the_keeper_lost_comes_back_too(short_dir: Path):
    async with machine(short_dir) as daemon:
        await daemon.start(agent="claudish", prompt="hello")
        await daemon.until(TurnEnded)
        await daemon.kill_keeper(signal.SIGKILL)
        await daemon.until(SessionStarted, times=2)
        await say(daemon, "recall")
        await daemon.until(says("before: hello"))
        # A machine that was switched off: the keeper is gone when we come.
        await daemon.host.close()
        await daemon.store.close()
        await daemon.kill_keeper(signal.SIGKILL)
        await daemon.open()
        await daemon.until(SessionStarted, times=3)
        await say(daemon, "recall")
        await daemon.until(says("before: hello, recall"))
