"""Sessions begun outside Bascule, on a real host: found, opened, searched, followed, continued."""

import asyncio
import json
import os
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.found_machine import AGENTS, by_agent, listed, machine
from tests.daemon.homes import (
    CANARY,
    CLAUDE,
    CLAUDE_ID,
    CODEX,
    COPILOT,
    GEMINI,
    OPENCODE,
    SECRETS,
    furnish,
    hide_secrets,
    write,
)
from tests.daemon.running_daemon import RunningDaemon
from tests.daemon.sleeper import Sleeper, claude_record, note_terminal, speak
from tests.parts import Part
from tests.waiting import PATIENCE

from bascule.link.files import ListFiles
from bascule.link.found import FollowFound
from bascule.model.commands import (
    ArchiveSession,
    RenameSession,
    ResumeSession,
    SendPrompt,
)
from bascule.model.errors import Refused
from bascule.model.events import (
    PromptSent,
    SessionEnded,
    SessionStarted,
    TextSaid,
    TurnEnded,
)

AGENT_WITH_DATABASE = """
import sqlite3, sys
agent = sqlite3.connect(sys.argv[1])
agent.execute("UPDATE session SET time_updated = 1794807499000 WHERE parent_id IS NULL")
agent.commit()
print("ready", flush=True)
sys.stdin.read()
"""


# Found, listed, opened, searched


@pytest.mark.row("R23")
async def test_the_sessions_of_five_agents_are_found_listed_opened_and_searched(
    short_dir: Path, home: Path, part: Part
) -> None:
    work = furnish(home)
    async with machine(short_dir) as made:
        found = await by_agent(made)
        assert set(found) == set(AGENTS)
        with part("each is listed as ended, with its folder and title"):
            for one in found.values():
                assert one["cwd"] == str(work)
                assert (one["phase"], one["terminal"], one["archived"]) == ("ended", None, False)
                assert one["title"]
                assert one["messages"] >= 2
        with part("cost, command and time are known"):
            assert found["claude-code"]["title"] == "Light the lantern"
            assert found["claude-code"]["costUsd"] == 0.21
            assert found["claude-code"]["command"] == f"claude --resume={CLAUDE_ID}"
            assert found["claude-code"]["updatedAt"] == "2026-11-15T19:51:22.000Z"
            assert found["opencode"]["costUsd"] == pytest.approx(0.03)
        with part("none is listed among our own"):
            assert await made.store.sessions() == []
        with part("each opens as a transcript"):
            for one in found.values():  # opened: a transcript like any other
                log = await made.log(one["sessionId"])
                assert [type(entry.event) for entry in log][:1] == [SessionStarted]
                texts = [entry.event.text for entry in log if isinstance(entry.event, TextSaid)]
                assert texts[-1] in ("It burns steadily.", "The greeting was printed.")
                assert isinstance(log[-1].event, SessionEnded)
                page = await made.store.page(one["sessionId"])
                assert len(page.entries) >= 4
        await made.store.searchable()
        with part("each is searched"):
            hits = (await made.store.search("greeting printed", limit=50)).hits
            assert {hit.session_id for hit in hits} == {one["sessionId"] for one in found.values()} - {
                found["claude-code"]["sessionId"]
            }
            hit = (await made.store.search("steadily")).hits[0]
            assert (hit.session_id, hit.found) == (found["claude-code"]["sessionId"], True)
            around = await made.store.page(hit.session_id, 3, around=hit.first_seq)
            assert b"It burns steadily" in b"".join(around.entries)


@pytest.mark.row("R23")
async def test_a_found_session_of_each_agent_is_continued_on_the_same_log(
    short_dir: Path, home: Path
) -> None:
    work = furnish(home)
    async with machine(short_dir) as made:
        for agent, one in (await by_agent(made)).items():
            session_id = one["sessionId"]
            before = len(await made.log(session_id))
            await made.ask(ResumeSession(session_id=session_id))
            begun = (await made.events(SessionStarted, session_id))[-1]
            assert (begun.agent, begun.cwd, begun.found) == (agent, str(work), False)
            record = await made.store.session(session_id)
            assert record is not None
            assert begun.resumed_from == record.agent_session_id
            await made.ask(SendPrompt(session_id=session_id, text="say: and on it goes"))
            await made.until(lambda event: isinstance(event, TurnEnded), session_id, times=_turns(one) + 1)
            log = await made.log(session_id)
            assert log[before].seq == before + 1  # one transcript, the history above
            assert not record.found
        assert await listed(made) == []  # they are ours now, although their files are still there
        assert len(await made.store.sessions()) == len(AGENTS)


def _turns(one: dict[str, Any]) -> int:
    return 2 if one["agent"] == "claude-code" else 1


async def test_a_second_look_reads_nothing_again_and_a_restart_neither(
    short_dir: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    furnish(home)
    async with machine(short_dir) as made:
        first = await listed(made)
        opened: list[str] = []
        sys.addaudithook(lambda name, args: opened.append(str(args[0])) if name == "open" else None)
        assert await listed(made) == first
        await made.restart()
        assert await listed(made) == first
        assert not [path for path in opened if path.endswith(".jsonl")]


async def test_what_is_gone_from_the_disk_is_gone_from_the_list_and_the_search(
    short_dir: Path, home: Path
) -> None:
    furnish(home, "claude", "codex")
    async with machine(short_dir) as made:
        found = await by_agent(made)
        await made.store.searchable()
        (home / CLAUDE).unlink()
        assert set(await by_agent(made)) == {"codex"}
        assert (await made.store.search("steadily")).hits == []
        assert await made.store.session(found["claude-code"]["sessionId"]) is None


async def test_sessions_that_bascule_began_are_not_listed_twice(short_dir: Path, home: Path) -> None:
    work = furnish(home, "claude")
    async with machine(short_dir) as made:
        [one] = await listed(made)
        # The same conversation is one of ours now (begun daemon, and its file appeared a moment too early).
        await made.start("ours", agent="claude-code", cwd=str(work), resume=CLAUDE_ID, prompt="say: hi")
        await made.until(TurnEnded, "ours")
        record = await made.store.session("ours")
        assert record is not None
        lines = (home / CLAUDE).read_text().replace(CLAUDE_ID, record.agent_session_id or "")
        write(home / CLAUDE, lines)
        assert await listed(made) == []
        assert await made.store.session(one["sessionId"]) is None


# Secrets and hostile files


async def test_s_only_the_conversations_are_opened_and_no_secret_beside_them(
    short_dir: Path, home: Path
) -> None:
    """Each file that is opened, as Python's own audit tells it; and no canary in all of the database."""
    furnish(home)
    hide_secrets(home)
    (home / ".claude/.credentials.json").chmod(0)
    names: list[str] = []
    watching = True

    def heard(name: str, args: tuple[Any, ...]) -> None:
        if watching and name in ("open", "sqlite3.connect"):
            names.append(os.path.basename(str(args[0])))

    sys.addaudithook(heard)
    async with machine(short_dir) as made:
        assert len(await listed(made)) == 5
        await made.store.searchable()
        assert (await made.store.search(CANARY)).hits == []
    watching = False
    secret = {os.path.basename(path) for path in SECRETS}
    assert not secret & set(names)
    conversations = {os.path.basename(path) for path in (CLAUDE, CODEX, GEMINI, COPILOT)}
    assert conversations <= set(names)
    assert CANARY.encode() not in b"".join(
        path.read_bytes() for path in (short_dir / "data").glob("bascule.db*")
    )


def test_other_tables_of_an_agents_database_are_refused(home: Path) -> None:
    from bascule.daemon.found.places import spot
    from bascule.daemon.found.sqlite_history import DatabaseTrouble, _open

    furnish(home, "opencode")
    [spotted] = spot(str(home), OPENCODE)
    with (
        pytest.raises(DatabaseTrouble, match=r"prohibited|not authorized"),
        _open(str(home), spotted) as database,
    ):
        database.execute("SELECT value FROM credential")


def test_reading_a_database_leaves_it_and_its_folder_as_they_were(home: Path) -> None:
    from bascule.daemon.found.places import spot
    from bascule.daemon.found.sqlite_history import sessions

    furnish(home, "opencode")
    folder = (home / OPENCODE).parent
    [spotted] = spot(str(home), OPENCODE)

    def state() -> dict[str, tuple[int, bytes]]:
        return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}

    before = state()
    assert len(sessions(str(home), spotted)) == 1
    assert state() == before
    # And while the agent has it open, with what it wrote last still in the log.
    command = [sys.executable, "-c", AGENT_WITH_DATABASE, str(home / OPENCODE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as agent:
        assert agent.stdout is not None
        assert agent.stdin is not None
        assert agent.stdout.readline() == "ready\n"
        [spotted] = spot(str(home), OPENCODE)
        before = state()
        assert {"opencode.db-wal", "opencode.db-shm"} <= set(before)
        assert [one.updated for one in sessions(str(home), spotted)] == [1_794_807_499_000]
        assert state() == before
        agent.stdin.close()


async def test_links_devices_and_strange_names_are_passed_by(short_dir: Path, home: Path) -> None:
    furnish(home, "codex")
    outside = short_dir / "outside"
    write(outside / "secret.jsonl", (home / CODEX).read_text())
    project = home / ".claude/projects/p"
    project.mkdir(parents=True)
    (project / f"{CLAUDE_ID}.jsonl").symlink_to(outside / "secret.jsonl")
    (home / ".claude/projects/q").symlink_to(outside)
    (home / ".gemini").symlink_to(outside)
    chats = home / ".copilot/session-state"
    chats.mkdir(parents=True)
    (chats / "x").mkdir()
    os.mkfifo(chats / "x" / "events.jsonl")  # opening it would wait for ever
    (chats / "evil\nname").mkdir()
    write(chats / "evil\nname" / "events.jsonl", "{}\n")
    os.mkdir(os.fsencode(chats) + b"/\xff\xfe")
    (home / ".codex/sessions/2026/11/16/rollout-folder.jsonl").mkdir()
    write(home / ".codex/sessions/2026/11/16/rollout-empty.jsonl", "")
    write(home / ".codex/sessions/2026/11/16/rollout-garbage.jsonl", "\x00\x01 not a line at all\n" * 50)
    unreadable = home / ".codex/sessions/2026/11/16/rollout-closed.jsonl"
    write(unreadable, "{}\n", 0)
    write(home / OPENCODE, "this is no database")
    async with machine(short_dir) as made:
        assert {one["agent"] for one in await listed(made)} == {"codex"}


async def test_a_folder_that_a_file_claims_is_not_shown_unless_sessions_may_run_there(
    short_dir: Path, home: Path
) -> None:
    furnish(home, "claude")
    text = (home / CLAUDE).read_text().replace(str(home / "code/lantern"), "/etc")
    write(home / CLAUDE, text)
    async with machine(short_dir) as made:
        [one] = await listed(made)
        assert one["cwd"] == "/etc"
        with pytest.raises(Refused, match="outside the folders"):
            await made.ask(ListFiles(session_id=one["sessionId"]))
        with pytest.raises(Refused, match="outside the folders"):
            await made.ask(ResumeSession(session_id=one["sessionId"]))


# Growing, rewritten


@pytest.mark.row("R23")
async def test_a_growing_file_is_followed_while_somebody_looks(
    short_dir: Path, home: Path, terminal: Sleeper
) -> None:
    furnish(home, "claude")
    note_terminal(home, terminal.pid, "busy")
    async with machine(short_dir) as made:
        [one] = await listed(made)
        session_id = one["sessionId"]
        assert one["terminal"] == {"pid": terminal.pid, "status": "working"}
        assert one["phase"] == "waiting"
        assert await made.events(SessionEnded, session_id) == []
        await made.ask(FollowFound(session_id=session_id))
        speak(home, claude_record("user", "g1", "d2", "Now a second wick"))
        await made.until(
            lambda event: isinstance(event, PromptSent) and event.text == "Now a second wick", session_id
        )
        with (home / CLAUDE).open("a") as file:  # half a line is not yet anything
            file.write(
                json.dumps(claude_record("assistant", "g2", "g1", [{"type": "text", "text": "Two wicks."}]))[
                    :40
                ]
            )
        note_terminal(home, terminal.pid, "waiting", waitingFor="permission prompt")
        followed = await _until_status(made, session_id, "waiting")
        assert followed["terminal"]["waitingFor"] == "permission prompt"
        text = (home / CLAUDE).read_bytes()
        os.truncate(home / CLAUDE, text.rindex(b"\n") + 1)  # in one step: it is looked at meanwhile
        speak(home, claude_record("assistant", "g2", "g1", [{"type": "text", "text": "Two wicks."}]))
        await made.until(lambda event: isinstance(event, TextSaid) and event.text == "Two wicks.", session_id)
        terminal.end()
        await made.until(SessionEnded, session_id)
        numbers = [entry.seq for entry in await made.log(session_id)]
        assert numbers == list(range(1, len(numbers) + 1))


async def _until_status(made: RunningDaemon, session_id: str, status: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            followed = await made.ask(FollowFound(session_id=session_id))
            if followed["terminal"] is not None and followed["terminal"]["status"] == status:
                return followed
            await asyncio.sleep(0.05)  # the next look of the follower


async def test_a_history_that_was_rewound_is_told_anew_and_keeps_what_people_did(
    short_dir: Path, home: Path
) -> None:
    furnish(home, "claude")
    async with machine(short_dir) as made:
        [one] = await listed(made)
        await made.ask(RenameSession(session_id=one["sessionId"], title="My lantern"))
        await made.ask(ArchiveSession(session_id=one["sessionId"], archived=True))
        # Back to the first answer, and on from there: what came after it is no longer part of it.
        speak(home, claude_record("user", "r1", "d1", "Rather a candle"))
        [now] = await listed(made)
        assert now["sessionId"] != one["sessionId"]
        assert (now["title"], now["archived"]) == ("My lantern", True)
        assert await made.store.session(one["sessionId"]) is None
        prompts = [event.text for event in await made.events(PromptSent, now["sessionId"])]
        assert prompts == ["Make the lantern brighter", "Rather a candle"]


async def test_a_session_that_goes_on_later_begins_again_on_its_log(short_dir: Path, home: Path) -> None:
    furnish(home, "claude")
    async with machine(short_dir) as made:
        [one] = await listed(made)
        speak(home, claude_record("user", "g1", "d2", "A day later"))
        [now] = await listed(made)
        assert now["sessionId"] == one["sessionId"]
        kinds = [type(entry.event) for entry in await made.log(one["sessionId"])]
        assert kinds[-4:] == [SessionStarted, kinds[-3], PromptSent, SessionEnded]
        assert kinds.count(SessionStarted) == 2


async def test_an_agent_that_needs_a_rest_after_its_last_words_is_not_taken_up_too_soon(
    short_dir: Path, home: Path
) -> None:
    furnish(home, "gemini")
    async with machine(short_dir) as made:
        [one] = await listed(made)
        said_at = datetime.fromisoformat(one["updatedAt"]).timestamp()
        made.shift = said_at + 20 - time.time()
        with pytest.raises(Refused, match=r"Try again in \d+ s"):
            await made.ask(ResumeSession(session_id=one["sessionId"]))
        made.shift = said_at + 61 - time.time()
        await made.ask(ResumeSession(session_id=one["sessionId"]))


async def test_nobody_waits_for_a_time_that_a_file_claims_and_that_is_yet_to_come(
    short_dir: Path, home: Path
) -> None:
    furnish(home, "gemini")
    async with machine(short_dir) as made:
        [one] = await listed(made)
        made.shift = datetime.fromisoformat(one["updatedAt"]).timestamp() - 86_400 - time.time()
        await made.ask(ResumeSession(session_id=one["sessionId"]))
