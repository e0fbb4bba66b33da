"""Found sessions that are open in a terminal: messages wait, and go on here once it is closed."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.daemon.found_machine import listed, machine
from tests.daemon.homes import (
    CLAUDE,
    CLAUDE_ID,
    furnish,
    write,
)
from tests.daemon.sleeper import Sleeper, note_terminal
from tests.waiting import PATIENCE

from bascule.link.found import ListFound
from bascule.model.commands import (
    EndSession,
    ResumeSession,
    SendPrompt,
    WithdrawPrompt,
)
from bascule.model.errors import Refused
from bascule.model.events import (
    Note,
    PromptSent,
    TurnEnded,
)

# Terminals


async def test_a_note_of_a_process_that_is_not_that_process_any_more_is_no_terminal(
    short_dir: Path, home: Path, terminal: Sleeper
) -> None:
    furnish(home, "claude")
    path = note_terminal(home, terminal.pid)
    note = json.loads(path.read_text())
    async with machine(short_dir) as made:
        for change in (
            {"procStart": "1"},
            {"pid": 2**31 + 5},
            {"pid": "x"},
            {"kind": "sdk"},
            {"sessionId": "other"},
        ):
            write(path, json.dumps({**note, **change}))
            [one] = await listed(made)
            assert one["terminal"] is None, change
        write(path, "{" + "x" * 100_000)
        assert (await listed(made))[0]["terminal"] is None
        write(path, json.dumps(note))
        assert (await listed(made))[0]["terminal"] == {"pid": terminal.pid, "status": "idle"}


@pytest.mark.row("R23")
async def test_a_message_for_a_terminal_waits_until_it_is_closed_and_is_then_sent_here(
    short_dir: Path, home: Path, terminal: Sleeper
) -> None:
    furnish(home, "claude")
    note_terminal(home, terminal.pid)
    async with machine(short_dir) as made:
        [one] = await listed(made)
        session_id = one["sessionId"]
        with pytest.raises(Refused, match="open in a terminal"):
            await made.ask(ResumeSession(session_id=session_id))
        with pytest.raises(Refused, match="Continue it here"):
            await made.ask(EndSession(session_id=session_id))
        dropped = await made.ask(SendPrompt(session_id=session_id, text="never mind"))
        sent = await made.ask(SendPrompt(session_id=session_id, text="say: feedback"), key="k1")
        again = await made.ask(SendPrompt(session_id=session_id, text="say: feedback"), key="k1")
        assert sent == again
        assert sent["state"] == "queued"
        await made.ask(WithdrawPrompt(session_id=session_id, prompt_id=dropped["promptId"]))
        assert (await listed(made))[0]["queued"] == 1
        await made.restart()  # it still waits
        assert (await listed(made))[0]["queued"] == 1
        terminal.end()
        answered = await made.until(
            lambda event: isinstance(event, PromptSent) and event.text == "say: feedback", session_id
        )
        assert answered.by == "ana"
        await made.until(TurnEnded, session_id, times=3)
        record = await made.store.session(session_id)
        assert record is not None
        assert (record.found, record.queued) == (False, 0)


async def test_a_message_that_can_not_be_delivered_stays_and_says_why(
    short_dir: Path, home: Path, terminal: Sleeper
) -> None:
    furnish(home, "claude")
    note_terminal(home, terminal.pid)
    async with machine(short_dir) as made:
        [one] = await listed(made)
        session_id = one["sessionId"]
        await made.ask(SendPrompt(session_id=session_id, text="say: hello"))
        (home / "code/lantern").rename(home / "code/gone")
        terminal.end()
        note = await made.until(Note, session_id)
        assert "no folder" in note.text
        assert (await listed(made))[0]["queued"] == 1
        (home / "code/gone").rename(home / "code/lantern")
        await made.ask(ResumeSession(session_id=session_id))
        await made.until(TurnEnded, session_id, times=3)


async def test_a_message_to_a_session_that_is_over_asks_to_continue_it(short_dir: Path, home: Path) -> None:
    furnish(home, "codex")
    async with machine(short_dir) as made:
        [one] = await listed(made)
        with pytest.raises(Refused, match="Continue it here"):
            await made.ask(SendPrompt(session_id=one["sessionId"], text="hello"))


async def test_the_first_look_tells_how_far_it_is(short_dir: Path, home: Path) -> None:
    furnish(home, "claude")
    text = (home / CLAUDE).read_text()
    for n in range(60):
        name = f"{n:08d}-837a-4d48-986e-b0683366ede7"
        write(home / f".claude/projects/p/{name}.jsonl", text.replace(CLAUDE_ID, name))
    async with machine(short_dir) as made:
        seen: list[tuple[int, int]] = []
        async with asyncio.timeout(PATIENCE):
            while True:
                answer = await made.ask(ListFound(limit=5))
                looking = answer["looking"]
                seen.append((looking["done"], looking["total"]))
                if not looking["running"]:
                    break
                await asyncio.sleep(0.002)  # the look goes on meanwhile
        assert answer["total"] == 61
        assert len(answer["sessions"]) == 5
        assert seen[-1] == (61, 61)
        assert any(0 < done < 61 for done, _ in seen)
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)
