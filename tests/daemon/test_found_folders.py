"""Sessions begun outside Bascule in folders whose names hold joined characters (emoji, Persian)."""

import json
import re
from pathlib import Path

import pytest
from tests.daemon.found_machine import listed, machine
from tests.daemon.homes import CLAUDE_ID, FIXTURES, write

from bascule.link.files import ListFiles
from bascule.model.commands import ResumeSession, SendPrompt
from bascule.model.events import AgentSpawned, SessionStarted, TextSaid, TurnEnded


@pytest.mark.row("B9", "R23")
@pytest.mark.parametrize("name", ["ünï 👩‍👧", "می‌خواهم"])
async def test_a_session_begun_by_hand_there_is_found_shown_and_continued(
    short_dir: Path, home: Path, name: str
) -> None:
    work = home / "code" / name
    work.mkdir(parents=True)
    lantern = json.dumps(str(home / "code/lantern"))
    history = (FIXTURES / "claude.jsonl").read_text().replace("{home}", str(home))
    assert lantern in history
    # As the CLI names its own folder for it: what is no letter or digit of ASCII is a dash.
    place = home / ".claude/projects" / re.sub("[^a-zA-Z0-9]", "-", str(work)) / f"{CLAUDE_ID}.jsonl"
    write(place, history.replace(lantern, json.dumps(str(work), ensure_ascii=False)))
    async with machine(short_dir) as made:
        [one] = await listed(made)
        session_id = one["sessionId"]
        assert (one["cwd"], one["title"]) == (str(work), "Light the lantern")
        assert "It burns steadily." in [event.text for event in await made.events(TextSaid, session_id)]
        before = len(await made.log(session_id))
        files = await made.ask(ListFiles(session_id=session_id))
        assert files["items"] == []
        await made.ask(ResumeSession(session_id=session_id))
        await made.ask(SendPrompt(session_id=session_id, text="say: and on it goes"))
        await made.until(lambda event: isinstance(event, TurnEnded), session_id, times=3)
        begun = (await made.events(SessionStarted, session_id))[-1]
        assert (begun.cwd, begun.resumed_from, begun.found) == (str(work), CLAUDE_ID, False)
        log = await made.log(session_id)
        assert log[before].seq == before + 1
        spawned = next(entry.event for entry in reversed(log) if isinstance(entry.event, AgentSpawned))
        assert Path(f"/proc/{spawned.pid}/cwd").resolve() == work.resolve()
