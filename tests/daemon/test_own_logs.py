"""A daemon that shares its database with a hub: other machines' logs in it do not exist for it."""

import asyncio
import sys
import time
from pathlib import Path

import pytest
from msgspec import Raw
from tests.daemon.homes import CLAUDE, furnish, shipped_places
from tests.daemon.running_daemon import RunningDaemon, running_daemon
from tests.daemon.scripted import MINI

from bascule.daemon.found.history_import import READER, Noted
from bascule.daemon.own_logs import OwnLogs
from bascule.link.files import ReadChanges
from bascule.link.found import ListFound
from bascule.model.codec import encode
from bascule.model.commands import ArchiveSession, RenameSession, ResumeSession, SendPrompt
from bascule.model.errors import Refused
from bascule.model.events import PermissionRequested, SessionEnded, SessionReady, SessionStarted
from bascule.store.base import Batch
from bascule.store.rules import RuleBook
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio

SCRIPTS = {"claude-code": [sys.executable, str(MINI)]}
AT = "2026-01-02T03:04:05.000Z"


async def begin(
    store: SqliteStore, session_id: str, device: str, *, over: bool = True, found: bool = False
) -> None:
    """A session of a machine, with the same agent, conversation and folder on each."""
    started = SessionStarted("claude-code", "stream_json", "/srv/app", "ana", device, found=found)
    events = [started, SessionReady("conversation-1", None, "1"), *([SessionEnded("closed")] if over else [])]
    noted = encode(Noted(f"claude-code:/elsewhere/{session_id}", "stamp", READER))
    await store.append(Batch(session_id, 1, AT, events, driver_state=noted if found else None))


async def look(made: RunningDaemon) -> list[str]:
    made.host._parts.found._looked_at = float("-inf")
    return [one["sessionId"] for one in (await made.ask(ListFound(wait=True)))["sessions"]]


async def test_a_look_for_found_sessions_deletes_none_of_another_machine(short_dir: Path, home: Path) -> None:
    furnish(home, "claude")
    async with running_daemon(short_dir, scripts=SCRIPTS, histories=shipped_places()) as made:
        await begin(made.store, "theirs", "elsewhere", found=True)
        await made.restart()  # what earlier looks found is read at the start
        own = await look(made)
        assert len(own) == 1
        assert "theirs" not in own
        (home / CLAUDE).unlink()
        assert await look(made) == []
        assert [one.record.session_id for one in await made.store.found()] == ["theirs"]


async def test_a_command_for_another_machines_session_is_refused_and_its_log_left_alone(
    short_dir: Path,
) -> None:
    async with running_daemon(short_dir) as made:
        await begin(made.store, "theirs", "elsewhere")
        commands = (
            RenameSession(session_id="theirs", title="ours now"),
            ArchiveSession(session_id="theirs", archived=True),
            ResumeSession(session_id="theirs"),
            SendPrompt(session_id="theirs", text="hello"),
            ReadChanges(session_id="theirs"),
        )
        for command in commands:
            with pytest.raises(Refused) as refused:
                await made.ask(command)
            assert refused.value.refusal().code == "SESSION_NOT_FOUND"
        assert [one.seq for one in await made.log("theirs")] == [1, 2, 3]


async def test_a_running_session_of_another_machine_is_not_taken_up_at_a_restart(short_dir: Path) -> None:
    async with running_daemon(short_dir) as made:
        await begin(made.store, "theirs", "elsewhere", over=False)
        await made.restart()
        assert "theirs" not in made.host.sessions.live
        assert [one.seq for one in await made.log("theirs")] == [1, 2]


async def test_only_sessions_of_this_machine_and_older_ones_without_a_name_are_its_own(
    tmp_path: Path,
) -> None:
    store = SqliteStore.open(tmp_path / "bascule.db", clock=time.time, loop=asyncio.get_running_loop())
    try:
        for session_id, device in (("mine", "here"), ("older", ""), ("theirs", "elsewhere")):
            await begin(store, session_id, device, over=False)
        await begin(store, "their find", "elsewhere", found=True)
        own = OwnLogs(store, "here")
        assert {one.session_id for one in await own.sessions()} == {"mine", "older"}
        assert {one.session_id for one in await own.live_sessions()} == {"mine", "older"}
        assert {one.session_id for one in await own.sessions_of(("claude-code", "conversation-1"))} == {
            "mine",
            "older",
        }
        assert (await own.conversations())["claude-code", "conversation-1"] in {"mine", "older"}
        assert {device for _, device in await own.recent_folders(9)} == {"here", ""}
        assert await own.found() == []
        assert await own.session("theirs") is None
        assert await own.resume_point("theirs") is None
        assert not await own.forget("their find")
        assert len(await store.found()) == 1
        heard: list[str] = []
        stop = own.listen(lambda committed: heard.append(committed.record.session_id))
        for session_id in ("mine", "theirs"):
            await store.append(Batch(session_id, 3, AT, [SessionEnded("closed")]))
        stop()
        assert heard == ["mine"]
    finally:
        await store.close()


async def test_a_rule_is_tried_on_this_machines_earlier_requests_only(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "bascule.db", clock=time.time, loop=asyncio.get_running_loop())
    try:
        for session_id, device in (("mine", "here"), ("theirs", "elsewhere")):
            await begin(store, session_id, device, over=False)
            raw = Raw(b'{"command":"ls"}')
            asked = PermissionRequested(f"r-{device}", "Bash", "Bash", "execute", raw, "0" * 64, (), "t1")
            await store.append(Batch(session_id, 3, AT, [asked]))
        past = await (await RuleBook.open(store)).past(9, ("here", ""))
        assert [one.request.request_id for one in past] == ["r-here"]
    finally:
        await store.close()
