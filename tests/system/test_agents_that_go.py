"""Agents of other protocols that leave: each session says once why it ended, and nothing stays open."""

import json
import os
import signal
from pathlib import Path

import pytest
from tests.live import FAKES, LiveServer

from bascule.model.events import (
    AgentSpawned,
    PermissionRequested,
    PermissionWithdrawn,
    ReconnectScheduled,
    SessionEnded,
    SessionFailed,
    TextAppended,
    TextSaid,
    ToolChanged,
    ToolStarted,
    TurnEnded,
)

pytestmark = pytest.mark.anyio

CUES = r"""
cues = [
    { pattern = '\(Y\)es/\(N\)o \[Yes\]: $', kind = "permission" },
    { pattern = '(^|\n)> $' },
]
"""


def add(server: LiveServer, name: str, driver: str, script: Path, more: str = "") -> None:
    head = f'name = "{name}"\ntitle = "{name}"\nsearch = ["{{python}}"]\n'
    text = f'{head}[[drivers]]\nname = "{driver}"\nargs = ["-u", "{script}"]\n{more}'
    server.add_agent_file(name, text)


@pytest.mark.row("REL-33")
@pytest.mark.parametrize(
    ("driver", "script", "more"), [("codex", "codex_agent.py", ""), ("plain", "plain_agent.py", CUES)]
)
async def test_however_a_run_ends_there_is_one_end_event_with_its_cause(
    driver: str, script: str, more: str, short_dir: Path
) -> None:
    server = LiveServer(short_dir)
    add(server, "leaving", driver, FAKES / script, more)
    add(server, "dead", driver, FAKES / "nothing-there.py", more)
    async with server:
        for words, code, signal in [
            ("die 0", 0, None),
            ("die 1", 1, None),
            ("die -9", None, 9),
            ("run die 3", 3, None),
        ]:
            session = await server.create(words, agent="leaving")
            last = await server.wait_for(session, SessionEnded)
            # What can be resumed is started again after this; each run has one end.
            events = [row.event for row in await server.log(session) if row.seq <= last.seq]
            (ended,) = [one for one in events if isinstance(one, SessionEnded | SessionFailed)]
            assert (ended.code, ended.signal) == (code, signal), words
            asked = [one.request_id for one in events if isinstance(one, PermissionRequested)]
            assert [one.request_id for one in events if isinstance(one, PermissionWithdrawn)] == asked
            assert bool(asked) == words.startswith("run")
            started = [one.tool_id for one in events if isinstance(one, ToolStarted)]
            closed = [
                one.tool_id for one in events if isinstance(one, ToolChanged) if one.status != "running"
            ]
            assert started == closed
        session = await server.create("hello", agent="dead")
        row = await server.wait_for(session, lambda one: isinstance(one, SessionFailed | SessionEnded))
        assert isinstance(row.event, SessionFailed), "it never said a word"
        assert (await server.http.get("/api/requests")).json()["requests"] == []


@pytest.mark.row("REL-01")
@pytest.mark.parametrize(("driver", "script"), [("stream_json", "remembers.py"), ("codex", "codex_agent.py")])
async def test_kill_9_of_the_server_during_reconnect_continues_with_the_next_attempt(
    driver: str, script: str, short_dir: Path
) -> None:
    server = LiveServer(short_dir)
    kept = short_dir / "kept"
    kept.mkdir()
    add(server, "lost", driver, FAKES / script)
    file = server.config / "agents" / "lost.toml"
    resume = 'resume = ["--resume={value}"]\n' if driver == "stream_json" else ""
    file.write_text(file.read_text().replace(f'{script}"]', f'{script}", "--store={kept}"]') + resume)
    async with server:
        session = await server.create("hello", agent="lost")
        await server.wait_for(session, TurnEnded)
        (kept / "broken").touch()
        pids = [row.event.pid for row in await server.log(session) if isinstance(row.event, AgentSpawned)]
        os.kill(pids[0], signal.SIGKILL)
        await server.wait_for(session, lambda one: isinstance(one, ReconnectScheduled) and one.attempt == 3)
        await server.kill()
        (kept / "broken").unlink()
        await server.start()
        await server.send(session, "recall")
        await server.wait_for(
            session, lambda one: isinstance(one, TextAppended | TextSaid) and "before: hello" in one.text
        )
        events = [row.event for row in await server.log(session)]
        attempts = [one.attempt for one in events if isinstance(one, ReconnectScheduled)]
        assert attempts[:3] == [1, 2, 3]
        assert attempts == sorted(attempts)
        heard = [json.loads(line) for line in (kept / "heard.jsonl").read_text().splitlines()]
        turns = [one for one in heard if '"hello"' in json.dumps(one)]
        assert len(turns) == 1, turns
