"""R11: whatever becomes of the database, agents that run are kept and offered; no history is lost."""

import asyncio
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.acp.test_acp_live import add_agent
from tests.cli.program import bascule
from tests.live import LiveServer
from tests.parts import Part
from tests.waiting import PATIENCE

from bascule.model.events import (
    AgentSpawned,
    Note,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    SessionEnded,
    TextAppended,
    ToolChanged,
    TurnEnded,
)
from bascule.transport.keeper import KeeperConnection

pytestmark = pytest.mark.anyio

Make = Callable[..., LiveServer]


async def pid_of(server: LiveServer, session: str) -> psutil.Process:
    event = (await server.wait_for(session, AgentSpawned)).event
    assert isinstance(event, AgentSpawned)
    return psutil.Process(event.pid)


async def talked(server: LiveServer, words: str = "slow 5", **more: Any) -> tuple[str, psutil.Process]:
    session = await server.create(words, **more)
    await server.wait_for(session, TurnEnded)
    return session, await pid_of(server, session)


async def unlogged(server: LiveServer) -> list[dict[str, Any]]:
    answer = await server.http.get("/api/unlogged")
    assert answer.status_code == 200, answer.text
    return answer.json()["processes"]


async def taken_up(server: LiveServer, *sessions: str) -> None:
    """Wait until people see the log that was rebuilt: a hub that has the lost one puts that aside first."""
    async with asyncio.timeout(PATIENCE):
        for session in sessions:
            path = f"/api/sessions/{session}/events"
            while b'"taken_up"' not in (await server.http.get(path)).content:  # noqa: ASYNC110
                await asyncio.sleep(0.02)


async def run_on(server: LiveServer, *agents: psutil.Process) -> None:
    """Nobody told these agents to go.

    A start has decided about every process before it prints its link, and what it ends loses its input at
    once, but dies only later: that it still runs says little.
    """
    keeper = await KeeperConnection.connect(server.data / "keeper")
    try:
        kept = {state.pid: (state.exit, state.stdin_open) for state in await keeper.list()}
    finally:
        await keeper.aclose()
    assert [kept.get(agent.pid) for agent in agents] == [(None, True)] * len(agents)
    assert all(agent.status() != psutil.STATUS_ZOMBIE for agent in agents)


def is_gone(process: psutil.Process) -> bool:
    """Also when nobody has asked yet how it ended."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def lives(server: LiveServer, session: str, text: str = "slow 3") -> None:
    """It takes another prompt and answers it."""
    seq = (await server.log(session))[-1].seq
    await server.send(session, text)
    await server.wait_for(session, TurnEnded, seq)


def zero_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\x00" * 100)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def spoil_page(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'sessions'").fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xa5" * size)


@pytest.mark.row("F5", "REL-11")
@pytest.mark.joined("the hub has a whole copy of the log that is damaged on the machine")
async def test_one_changed_bit_in_a_row_leaves_the_agent_running_and_is_said(make_server: Make) -> None:
    server = make_server()
    await server.start()
    spoilt, agent = await talked(server)
    other, _ = await talked(server)
    await server.stop()
    with closing(sqlite3.connect(server.data / "bascule.db", isolation_level=None)) as spoiler:
        (record,) = spoiler.execute("SELECT record FROM sessions WHERE session_id = ?", (spoilt,)).fetchone()
        worse = record[:20] + bytes([record[20] ^ 1]) + record[21:]
        spoiler.execute("UPDATE sessions SET record = ? WHERE session_id = ?", (worse, spoilt))

    down = await bascule(server.data, "doctor", "--data", str(server.data))
    assert (down.code, "fail" in down.out, spoilt in down.out) == (1, True, True), down.out
    await server.start()
    await run_on(server, agent)
    up = await bascule(server.data, "doctor", "--data", str(server.data))
    assert (up.code, spoilt in up.out) == (1, True), up.out
    listed = (await server.http.get("/api/sessions")).json()
    assert [one["sessionId"] for one in listed["damaged"]] == [spoilt]
    assert [one["id"] for one in listed["sessions"]] == [other]
    refused = await server.http.get(f"/api/sessions/{spoilt}")
    assert refused.json()["error"]["code"] == "STORE_DAMAGED"
    (kept,) = await unlogged(server)
    assert (kept["running"], kept["pid"], kept["sessionIds"]) == (True, agent.pid, [spoilt])
    assert "damaged" in kept["problem"]
    await lives(server, other)

    # Its log stays as it is, so its agent goes on in another one.
    taken = await server.http.post(f"/api/unlogged/{kept['name']}/take-up", json={})
    (new,) = taken.json()["sessionIds"]
    assert new != spoilt
    await lives(server, new)
    await run_on(server, agent)


@pytest.mark.row("F5", "REL-11")
@pytest.mark.parametrize("spoil", [zero_header, truncate, spoil_page, Path.unlink])
async def test_a_lost_database_kills_nobody_and_every_agent_can_be_taken_up(
    make_server: Make, spoil: Callable[[Path], None], part: Part
) -> None:
    server = make_server()
    await server.start()
    talking, agent = await talked(server)
    other, second = await talked(server)
    await server.stop()
    spoil(server.data / "bascule.db")
    if spoil is not Path.unlink:
        code, said = await server.refused()
        assert code != 0
        assert "was moved to" in said
    server.token = ""
    await server.start()
    with part("the agents run on"):
        await run_on(server, agent, second)
    if spoil is not Path.unlink:
        assert list(server.data.glob("bascule.db.corrupt-*"))
    kept = {one["sessionIds"][0]: one for one in await unlogged(server)}
    assert set(kept) == {talking, other}
    with part("the agent is described"):
        assert kept[talking]["pid"] == agent.pid
        assert kept[talking]["cwd"] == str(server.work)
        assert kept[talking]["agent"] == "demo"
        assert kept[talking]["keptBytes"] > 0
        assert kept[talking]["startedAt"]

    taken = await server.http.post(f"/api/unlogged/{kept[talking]['name']}/take-up", json={})
    assert taken.json() == {"sessionIds": [talking]}, taken.text
    await taken_up(server, talking)
    with part("an adopted session has a log and goes on"):
        events = [row.event for row in await server.log(talking)]
        assert [one.code for one in events if isinstance(one, Note)] == ["taken_up"]
        await lives(server, talking)
        await run_on(server, agent, second)
    # It survives another restart as any session does.
    await server.kill()
    await server.start()
    await lives(server, talking)
    assert [one["sessionIds"] for one in await unlogged(server)] == [[other]]

    with part("an agent that is ended leaves its spool"):
        ended = await server.http.post(f"/api/unlogged/{kept[other]['name']}/end", json={})
        folder = Path(ended.json()["folder"])
        assert any(file.stat().st_size for file in folder.glob("out.*"))
        assert is_gone(second)
        assert await unlogged(server) == []
        await run_on(server, agent)


@pytest.mark.row("F5", "REL-11")
async def test_what_was_said_in_the_lost_time_is_in_the_log_of_a_process_that_is_taken_up(
    make_server: Make,
) -> None:
    server = make_server()
    await server.start()
    session = await server.create("count 200 20")
    await server.wait_for(session, TextAppended)
    await server.kill()
    (server.data / "bascule.db").unlink()
    for side in server.data.glob("bascule.db-*"):
        side.unlink()
    server.token = ""
    await server.start()
    (kept,) = await unlogged(server)
    await server.http.post(f"/api/unlogged/{kept['name']}/take-up", json={})
    await taken_up(server, session)
    await server.wait_for(session, TurnEnded)
    text = "".join(row.event.text for row in await server.log(session) if isinstance(row.event, TextAppended))
    assert "199 200" in text


@pytest.mark.row("F5", "REL-11")
async def test_a_shared_agent_is_taken_up_with_all_its_sessions(make_server: Make) -> None:
    server = make_server()
    add_agent(server)
    await server.start()
    first = await server.create("one", agent="scripted")
    await server.wait_for(first, TurnEnded)
    second = await server.create("two", agent="scripted")
    await server.wait_for(second, TurnEnded)
    agent = await pid_of(server, first)
    await server.stop()
    (server.data / "bascule.db").unlink()
    server.token = ""
    await server.start()
    (kept,) = await unlogged(server)
    assert set(kept["sessionIds"]) == {first, second}
    taken = await server.http.post(f"/api/unlogged/{kept['name']}/take-up", json={})
    assert set(taken.json()["sessionIds"]) == {first, second}, taken.text
    await taken_up(server, first, second)
    for session in (first, second):
        await lives(server, session, "again")
    await run_on(server, agent)


@pytest.mark.row("F5", "REL-11")
async def test_a_process_of_an_older_keeper_can_be_ended_and_its_output_is_put_aside(
    make_server: Make,
) -> None:
    server = make_server()
    await server.start()
    _, agent = await talked(server)
    await server.stop()
    (server.data / "bascule.db").unlink()
    for about in (server.data / "keeper" / "spool").glob("*/about.json"):
        about.unlink()
    # What the keeper itself still knows goes with it; its agents are lost, their output is not.
    await server.end_keeper()
    server.token = ""
    await server.start()
    (kept,) = await unlogged(server)
    assert (kept["running"], kept["canTakeUp"]) == (False, False)
    refused = await server.http.post(f"/api/unlogged/{kept['name']}/take-up", json={})
    assert (refused.status_code, "earlier version" in refused.text) == (400, True)
    ended = await server.http.post(f"/api/unlogged/{kept['name']}/end", json={})
    assert list(Path(ended.json()["folder"]).glob("out.*"))
    assert is_gone(agent)


@pytest.mark.row("F5", "REL-11")
async def test_the_command_line_lists_takes_up_and_ends(make_server: Make) -> None:
    server = make_server()
    await server.start()
    session, _ = await talked(server)
    _, second = await talked(server)
    await server.stop()
    (server.data / "bascule.db").unlink()
    server.token = ""
    down = await bascule(server.data, "doctor", "--data", str(server.data))
    assert "2 processes are running and not in it" in down.out
    await server.start()
    listed = await bascule(server.data, "sessions", "list", "--data", str(server.data))
    assert f"{session}-1  running, not in the log" in listed.out
    words = ("sessions", "unlogged", "--data", str(server.data))
    assert (await bascule(server.data, *words, "--take-up", f"{session}-1")).out.split()[-1] == f"{session}."
    (left,) = json.loads((await bascule(server.data, *words, "--json")).out)
    ended = await bascule(server.data, *words, "--end", left["name"])
    assert "What it wrote is in" in ended.out
    assert is_gone(second)
    assert "Every running process is in the log." in (await bascule(server.data, *words)).out


@pytest.mark.row("F5", "REL-11")
async def test_stopping_everything_reaches_what_is_not_in_the_log(make_server: Make) -> None:
    server = make_server()
    await server.start()
    _, agent = await talked(server)
    await server.stop()
    (server.data / "bascule.db").unlink()
    server.token = ""
    await server.start()
    assert (await server.http.post("/api/kill-all", json={})).json()["ended"] == 1
    await asyncio.to_thread(agent.wait, PATIENCE)


@pytest.mark.row("F5", "REL-11")
@pytest.mark.joined("the hub keeps both logs: tests/machines/test_machine_identity.py")
async def test_an_older_copy_under_a_live_session_is_noticed_and_said(make_server: Make, part: Part) -> None:
    server = make_server()
    await server.start()
    session, agent = await talked(server)
    hello = (await socket_hello(server))["epoch"]
    await server.send(session, "run")
    request = (await server.wait_for(session, PermissionRequested)).event
    assert isinstance(request, PermissionRequested)
    database = server.data / "bascule.db"
    await server.stop()
    shutil.copy(database, server.folder / "copy.db")
    await server.start()
    held = (await server.log(session))[-1].seq
    answer = await server.post(
        f"/api/sessions/{session}/permissions", requestId=request.request_id, decision="allow"
    )
    assert answer.status_code == 200, answer.text
    await server.wait_for(session, TurnEnded, held)
    await lives(server, session)
    before = await server.log(session)
    assert any(isinstance(row.event, PermissionAnswered) for row in before)
    await server.stop()
    shutil.move(database, server.folder / "newer.db")
    shutil.copy(server.folder / "copy.db", database)

    await server.start()
    with part("the agent runs on"):
        await run_on(server, agent)
        assert await unlogged(server) == []
    note = await server.wait_for(session, Note)
    gone = await server.wait_for(session, PermissionWithdrawn)
    with part("the log says what happened and withdraws the answered request"):
        assert isinstance(gone.event, PermissionWithdrawn)
        assert (gone.event.reason, gone.seq > note.seq) == ("restored", True)
        assert isinstance(note.event, Note)
        assert note.event.code == "log_restored"
        assert f"ended at number {before[-1].seq} and now ends at {held}" in note.event.text
    with part("viewers get a new epoch"):
        epoch = (await socket_hello(server))["epoch"]
        assert epoch != hello
    # What the agent did in the lost time is read again, and it goes on.
    with part("the lost time is read again and the session goes on"):
        await server.wait_for(session, ToolChanged, note.seq)
        await server.wait_for(session, TurnEnded, note.seq)
        await lives(server, session)
        again = await server.log(session)
        assert [row.seq for row in again] == list(range(1, len(again) + 1))
    # The file that was moved away by hand is as it was, and can be opened.
    with part("the file that was moved away is unchanged"):
        with closing(sqlite3.connect(server.folder / "newer.db")) as newer:
            count = newer.execute("SELECT count(*) FROM events WHERE session_id = ?", (session,)).fetchone()
        assert count == (before[-1].seq,)


@pytest.mark.row("F5", "REL-11")
async def test_a_run_that_an_older_copy_does_not_know_is_kept_and_offered(make_server: Make) -> None:
    """The copy says that the session ended; since then it was resumed, and its new agent runs."""
    server = make_server()
    await server.start()
    session, first = await talked(server)
    await server.http.delete(f"/api/sessions/{session}")
    await server.wait_for(session, SessionEnded)
    await asyncio.to_thread(first.wait, PATIENCE)
    await server.stop()
    shutil.copy(server.data / "bascule.db", server.folder / "copy.db")
    await server.start()
    seq = (await server.log(session))[-1].seq
    assert (await server.post(f"/api/sessions/{session}/resume")).status_code == 200
    spawned = (await server.wait_for(session, AgentSpawned, seq)).event
    assert isinstance(spawned, AgentSpawned)
    await server.send(session, "slow 2")
    await server.wait_for(session, TurnEnded, seq)
    await server.stop()
    shutil.copy(server.folder / "copy.db", server.data / "bascule.db")
    await server.start()
    await run_on(server, psutil.Process(spawned.pid))
    (kept,) = await unlogged(server)
    assert kept["pid"] == spawned.pid
    taken = await server.http.post(f"/api/unlogged/{kept['name']}/take-up", json={})
    (new,) = taken.json()["sessionIds"]
    assert new != session  # the log of that name is whole, and stays so
    await taken_up(server, new)
    await lives(server, new)


async def socket_hello(server: LiveServer) -> dict[str, Any]:
    from websockets.asyncio.client import connect

    headers = {"authorization": f"Bearer {server.token}"}
    url = server.url.replace("http", "ws", 1) + "/ws"
    async with connect(url, additional_headers=headers, proxy=None, open_timeout=PATIENCE) as socket:
        await socket.send(json.dumps({"id": 1, "type": "hello"}))
        async for message in socket:
            answer = json.loads(message)
            if answer.get("id") == 1:
                return answer["ok"]
    raise AssertionError("no hello")
