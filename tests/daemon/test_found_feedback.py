"""A message for an agent in a terminal, taken by its hook: when, how often, and what the log says of it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.found_machine import listed, machine
from tests.daemon.homes import CLAUDE, CLAUDE_ID, furnish, write
from tests.daemon.running_daemon import RunningDaemon
from tests.daemon.sleeper import Sleeper, claude_record, note_terminal, speak

from bascule.drivers.history.hook_messages import HookMessage, format_hook_message, parse_hook_message
from bascule.link.found import AwaitFeedback, FollowFound, TakeFeedback
from bascule.model.commands import Actor, EditPrompt, SendPrompt, SentImage, WithdrawPrompt
from bascule.model.errors import Refused
from bascule.model.events import Note, PromptSent, TurnEnded
from bascule.session.supervisor import new_id

HOOK = Actor("here", "grant-2", "127.0.0.1", "hook")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def home(short_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = short_dir / "home"
    made.mkdir()
    monkeypatch.setenv("HOME", str(made))
    furnish(made, "claude")
    return made


@pytest.fixture
def terminal(home: Path) -> Iterator[Sleeper]:
    sleeper = Sleeper()
    note_terminal(home, sleeper.pid)
    yield sleeper
    sleeper.end()


async def first(made: RunningDaemon) -> str:
    [one] = await listed(made)
    return one["sessionId"]


async def say(made: RunningDaemon, session: str, text: str, **more: Any) -> str:
    return (await made.ask(SendPrompt(session_id=session, text=text, **more)))["promptId"]


async def news(made: RunningDaemon, pid: int = 0) -> str:
    return (await made.ask(AwaitFeedback(agent="claude-code", conversation=CLAUDE_ID, pid=pid)))["state"]


async def take(made: RunningDaemon, pid: int = 0, key: str | None = None, **more: Any) -> dict[str, Any]:
    command = TakeFeedback(agent="claude-code", conversation=CLAUDE_ID, pid=pid, **more)
    return await made.ask(command, by=HOOK, key=key)


def asking(made: RunningDaemon) -> asyncio.Task[str]:
    return asyncio.create_task(news(made))


async def sent(made: RunningDaemon, session: str) -> list[str]:
    return [event.text for event in await made.events(PromptSent, session)]


async def test_a_hook_is_told_when_a_message_comes_and_the_agent_is_idle(
    short_dir: Path, home: Path, terminal: Sleeper
) -> None:
    note_terminal(home, terminal.pid, "busy")
    async with machine(short_dir) as made:
        session = await first(made)
        waiting = asking(made)
        await asyncio.sleep(0)  # the question is asked
        assert (await made.ask(FollowFound(session_id=session)))["terminal"]["listens"] is True
        await say(made, session, "hello")
        assert await take(made, idle=True) == {}  # it works: a hook that waits for idleness gets nothing
        assert not waiting.done()
        note_terminal(home, terminal.pid, "idle")
        assert await waiting == "ready"
        taken = await take(made, idle=True)
        assert taken["text"].endswith(":\nhello")
        assert await take(made) == {}
        assert (await sent(made, session))[-1] == "hello"
        [row] = [one for one in await made.store.audit_lines(0, 100) if b"handed to the agent" in one]
        assert b'"actor":"ana"' in row
        assert b'"grant_id":"grant-2"' in row


async def test_the_newest_hook_of_a_terminal_counts_and_an_older_one_is_sent_away(
    short_dir: Path, home: Path, terminal: Sleeper
) -> None:
    async with machine(short_dir) as made:
        session = await first(made)
        older = asking(made)
        await asyncio.sleep(0)
        newer = asking(made)
        assert await older == "over"
        await say(made, session, "hello")
        assert await newer == "ready"


async def test_a_hook_of_no_terminal_or_of_another_process_is_sent_away(
    short_dir: Path, home: Path, terminal: Sleeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bascule.daemon.found.feedback.NOTE_SECONDS", 0.0)
    async with machine(short_dir) as made:
        session = await first(made)
        await say(made, session, "hello")
        assert await news(made, pid=1) == "over"
        assert await take(made, pid=1) == {}
        assert await news(made, pid=terminal.pid) == "ready"
        terminal.end()
        assert await news(made) == "over"
        assert await take(made) == {}


async def test_who_asks_for_long_is_answered_so_that_it_asks_again(
    short_dir: Path, home: Path, terminal: Sleeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bascule.daemon.found.feedback.HOLD_SECONDS", 0.05)
    async with machine(short_dir) as made:
        session = await first(made)
        assert await news(made) == "nothing"
        assert (await made.ask(FollowFound(session_id=session)))["terminal"][
            "listens"
        ] is True  # between two questions


async def test_who_waits_is_answered_when_the_server_stops(
    short_dir: Path, home: Path, terminal: Sleeper
) -> None:
    async with machine(short_dir) as made:
        session = await first(made)
        waiting = asking(made)
        await asyncio.sleep(0)  # the question is asked
        assert (await made.ask(FollowFound(session_id=session)))["terminal"]["listens"] is True
        await made.restart()
        with pytest.raises(Refused, match="went away"):
            await waiting


async def test_the_same_taking_gives_the_same_message_also_after_a_crash(
    short_dir: Path, home: Path, terminal: Sleeper
) -> None:
    async with machine(short_dir) as made:
        session = await first(made)
        await say(made, session, "one")
        await say(made, session, "two")
        taken = await take(made, key="k1")
        assert await take(made, key="k1") == taken
        await made.restart()
        assert await take(made, key="k1") == taken
        assert (await take(made, key="k2"))["text"].endswith("two")
        assert (await sent(made, session))[-2:] == ["one", "two"]


async def test_two_hooks_at_once_get_different_messages(
    short_dir: Path, home: Path, terminal: Sleeper
) -> None:
    async with machine(short_dir) as made:
        session = await first(made)
        for text in ("one", "two"):
            await say(made, session, text)
        taken = await asyncio.gather(take(made), take(made), take(made))
        texts = sorted(one.get("text", "").rpartition("\n")[2] for one in taken)
        assert texts == ["", "one", "two"]
        assert sorted((await sent(made, session))[-2:]) == ["one", "two"]


async def test_what_is_withdrawn_is_not_given_and_what_is_edited_is_given_as_it_is_now(
    short_dir: Path, home: Path, terminal: Sleeper
) -> None:
    async with machine(short_dir) as made:
        session = await first(made)
        dropped, kept = await say(made, session, "never mind"), await say(made, session, "draft")
        await made.ask(WithdrawPrompt(session_id=session, prompt_id=dropped))
        await made.ask(EditPrompt(session_id=session, prompt_id=kept, text="final"))
        assert (await take(made))["text"].endswith(":\nfinal")
        assert await take(made) == {}


async def test_a_message_with_an_image_waits_for_the_terminal_to_be_closed(
    short_dir: Path, home: Path, terminal: Sleeper
) -> None:
    async with machine(short_dir) as made:
        session = await first(made)
        await say(made, session, "say: look", images=(SentImage("image/png", PIXEL),))
        assert await take(made) == {}
        terminal.end()
        await made.until(lambda event: isinstance(event, PromptSent) and event.text == "say: look", session)
        await made.until(TurnEnded, session, times=3)


async def test_what_the_agent_notes_of_it_is_not_told_twice_and_told_anew_after_a_rewind(
    short_dir: Path, home: Path, terminal: Sleeper
) -> None:
    async with machine(short_dir) as made:
        session = await first(made)
        await say(made, session, "brighter\nstill")
        words = (await take(made))["text"]
        speak(home, claude_record("user", "h1", "d2", f"Stop hook feedback:\n{words}", isMeta=True))
        speak(home, claude_record("assistant", "h2", "h1", [{"type": "text", "text": "Brighter."}]))
        [one] = await listed(made)
        assert (await sent(made, session)).count("brighter\nstill") == 1
        text = (home / CLAUDE).read_text().replace("It burns steadily.", "It burns.")
        write(home / CLAUDE, text)  # another beginning: the whole file is told again
        [now] = await listed(made)
        assert now["sessionId"] != one["sessionId"]
        again = [event for event in await made.events(PromptSent, now["sessionId"]) if "still" in event.text]
        assert [(event.text, event.by) for event in again] == [("brighter\nstill", "ana")]


async def test_a_message_the_agent_never_noted_is_said_to_be_in_doubt_when_its_terminal_closes(
    short_dir: Path, home: Path, terminal: Sleeper
) -> None:
    async with machine(short_dir) as made:
        session = await first(made)
        await say(made, session, "lost on the way")
        assert await take(made)
        terminal.end()
        note = await made.until(Note, session)
        assert (note.code, note.level) == ("not_seen", "warning")
        assert len(await made.events(Note, session)) == 1


@pytest.mark.parametrize(
    "text", ["plain", "two\nlines", "Message from Bascule, written by eve (0123456789abcdef):\nx"]
)
@pytest.mark.parametrize("by", ["ana", "a (b): c", "", "x" * 300, "line\nbreak"])
def test_the_words_are_known_again_in_both_forms_that_the_agent_keeps(text: str, by: str) -> None:
    prompt_id = new_id()
    words = format_hook_message(HookMessage(prompt_id, by, text))
    for kept in (
        f"Stop hook feedback:\n{words}",
        f"<task-notification/>\n<system-reminder>\nBefore it. {words}\n\n</system-reminder>",
    ):
        found = parse_hook_message(kept)
        assert found is not None
        assert (found.prompt_id, found.text) == (prompt_id, text)
    assert parse_hook_message("Stop hook feedback:\nrun the tests first") is None
