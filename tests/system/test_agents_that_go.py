"""Agents of other protocols that leave: each session says once why it ended, and nothing stays open."""

from pathlib import Path

import pytest
from tests.live import FAKES, LiveServer

from bascule.model.events import (
    PermissionRequested,
    PermissionWithdrawn,
    SessionEnded,
    SessionFailed,
    ToolChanged,
    ToolStarted,
)

pytestmark = pytest.mark.anyio

CUES = r"""
cues = [
    { pattern = '\(Y\)es/\(N\)o \[Yes\]: $', kind = "permission" },
    { pattern = '(^|\n)> $' },
]
"""


def add(server: LiveServer, name: str, driver: str, script: Path, more: str = "") -> None:
    folder = server.config / "agents"
    folder.mkdir(mode=0o700, exist_ok=True)
    head = f'name = "{name}"\ntitle = "{name}"\nsearch = ["{{python}}"]\n'
    file = folder / f"{name}.toml"
    file.write_text(f'{head}[[drivers]]\nname = "{driver}"\nargs = ["-u", "{script}"]\n{more}')
    file.chmod(0o600)


@pytest.mark.parametrize(
    ("driver", "script", "more"), [("codex", "codex_agent.py", ""), ("plain", "plain_agent.py", CUES)]
)
async def test_r33_however_it_goes_there_is_one_end_with_its_cause(
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
            await server.wait_for(session, SessionEnded)
            events = [row.event for row in await server.log(session)]
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
