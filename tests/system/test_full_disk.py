"""A disk that fills up under the real server: nothing is lost, nothing dies, and it goes on by itself."""

import asyncio
import contextlib
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.live import LiveServer
from tests.waiting import PATIENCE, within

from bascule.model.events import AgentSpawned, SessionEnded, TextAppended, TurnEnded

pytestmark = pytest.mark.anyio

MUCH = "more " * 200_000  # a prompt is at most 1 MB


@pytest.fixture
def small_disk(short_dir: Path) -> Iterator[Path]:
    """8 MB that fill up for real: a database that was just opened has up to 4 MB in its write-ahead log."""
    folder = short_dir / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=0700", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs root: it mounts a small file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.row("REL-19")
async def test_a_full_disk_holds_agents_back_serves_readers_and_goes_on_by_itself(
    short_dir: Path, small_disk: Path
):
    server = LiveServer(short_dir)
    server.data = small_disk / "data"
    await server.start()
    try:
        small = await server.create("count 3 1")
        await server.wait_for(small, TurnEnded)
        session = await server.create("flood 300 65536")
        problem = await _storage_problem(server, shown=True)
        assert "full" in problem.lower() or "space" in problem.lower()

        # What is left would take a small step now and then: nothing is left, and the steps are large.
        _fill(small_disk)
        # Who reads is served, and who writes is told.
        assert (await server.http.get("/api/sessions")).status_code == 200
        assert (await server.http.get(f"/api/sessions/{small}/entries")).status_code == 200
        start = {"agent": "demo", "cwd": str(server.work), "prompt": MUCH}
        for path, body in (
            (f"/api/sessions/{session}/send", {"text": "more"}),
            (f"/api/sessions/{small}/send", {"text": MUCH}),
            (f"/api/sessions/{session}/title", {"title": "more"}),
            ("/api/sessions", start),
        ):
            refused = await asyncio.wait_for(server.http.post(path, json=body), PATIENCE)
            assert refused.status_code == 507, refused.text
            assert refused.json()["error"]["code"] == "STORAGE_FULL"
        rows = await server.log(session)
        pid = next(row.event.pid for row in rows if isinstance(row.event, AgentSpawned))
        os.kill(pid, 0)  # held back, not ended
        assert not [row for row in rows if isinstance(row.event, TurnEnded)]

        await asyncio.to_thread(
            subprocess.run, ["mount", "-o", "remount,size=128m", str(small_disk)], check=True
        )
        await server.wait_for(session, TurnEnded)
        assert await _storage_problem(server, shown=False) == ""
        rows = await server.log(session)
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        # A message that was refused by the disk after it was taken is sent once there is room.
        turn = next(number for number, row in enumerate(rows) if isinstance(row.event, TurnEnded))
        text = "".join(row.event.text for row in rows[:turn] if isinstance(row.event, TextAppended))
        assert len(text) == 300 * 65536
        assert (await server.http.get("/api/audit/verify")).json()["ok"] is True
        assert (await server.post(f"/api/sessions/{session}/send", text="count 2 1")).status_code == 200
    finally:
        await server.stop()
        await server.end_keeper()


@pytest.fixture
async def server_with_small_spools(short_dir: Path) -> AsyncIterator[LiveServer]:
    """What agents say has less room than one file of it: full for good, and the database never."""
    server = LiveServer(short_dir)
    await server.start()
    spools = str(server.data / "keeper" / "spool")
    mounted = await _run("mount", "-t", "tmpfs", "-o", "size=256k,mode=0700", "tmpfs", spools)
    try:
        if not mounted:
            pytest.skip("needs root: it mounts a small file system")
        yield server
    finally:
        await server.stop()
        await server.end_keeper()
        assert not mounted or await _run("umount", "-l", spools)


@pytest.mark.row("REL-19")
async def test_it_is_said_when_only_what_an_agent_says_finds_no_room(server_with_small_spools: LiveServer):
    server = server_with_small_spools
    session = await server.create("flood 300 65536")
    with within(10):  # nothing else would be written for half a minute
        problem = await _storage_problem(server, shown=True)
    assert problem == "The disk is full: the output of an agent waits until there is room again."
    assert (await server.post(f"/api/sessions/{session}/title", title="more")).status_code == 200

    assert await _run("mount", "-o", "remount,size=128m", str(server.data / "keeper" / "spool"))
    await server.wait_for(session, TurnEnded)
    assert await _storage_problem(server, shown=False) == ""
    rows = await server.log(session)
    text = "".join(row.event.text for row in rows if isinstance(row.event, TextAppended))
    assert len(text) == 300 * 65536


@pytest.mark.row("REL-19", "R20")
@pytest.mark.parametrize("how", ["close", "kill-all"])
async def test_an_agent_can_be_stopped_while_the_disk_is_full(short_dir: Path, small_disk: Path, how: str):
    server = LiveServer(short_dir)
    server.data = small_disk / "data"
    await server.start()
    try:
        session = await server.create("flood 300 65536")
        await _storage_problem(server, shown=True)
        rows = await server.log(session)
        pid = next(row.event.pid for row in rows if isinstance(row.event, AgentSpawned))
        watch = os.pidfd_open(pid)
        gone = asyncio.Event()
        asyncio.get_running_loop().add_reader(watch, gone.set)
        if how == "close":
            answer = await asyncio.wait_for(server.http.delete(f"/api/sessions/{session}"), PATIENCE)
        else:
            answer = await asyncio.wait_for(server.http.post("/api/kill-all", json={}), PATIENCE)
        assert answer.status_code == 200, answer.text
        await asyncio.wait_for(gone.wait(), PATIENCE)
        asyncio.get_running_loop().remove_reader(watch)
        os.close(watch)
        await asyncio.to_thread(
            subprocess.run, ["mount", "-o", "remount,size=128m", str(small_disk)], check=True
        )
        ended = (await server.wait_for(session, SessionEnded)).event
        assert isinstance(ended, SessionEnded)
        assert ended.reason == ("closed" if how == "close" else "killed")
    finally:
        await server.stop()
        await server.end_keeper()


@pytest.mark.row("REL-19", "REL-35", "X1")
@pytest.mark.parametrize("how", ["term", "kill"])
async def test_a_server_stopped_on_a_full_disk_goes_on_where_it_was(
    short_dir: Path, small_disk: Path, how: str
):
    server = LiveServer(short_dir)
    server.data = small_disk / "data"
    await server.start()
    try:
        session = await server.create("flood 300 65536")
        await _storage_problem(server, shown=True)
        if how == "term":
            with within(10):
                assert await server.stop() == 0
        else:
            await server.kill()
        await asyncio.to_thread(
            subprocess.run, ["mount", "-o", "remount,size=128m", str(small_disk)], check=True
        )
        await server.start()
        await server.wait_for(session, TurnEnded)
        rows = await server.log(session)
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        text = "".join(row.event.text for row in rows if isinstance(row.event, TextAppended))
        assert len(text) == 300 * 65536
        assert [int(word.strip(".")) for word in text.split() if word.strip(".")] == list(range(1, 301))
    finally:
        await server.stop()
        await server.end_keeper()


async def _run(*command: str) -> bool:
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, check=False)
    return done.returncode == 0


def _fill(disk: Path) -> None:
    """Take all the room that is left."""
    with (disk / "ballast").open("wb", buffering=0) as ballast, contextlib.suppress(OSError):
        while True:
            ballast.write(bytes(4096))


async def _storage_problem(server: LiveServer, *, shown: bool) -> str:
    """What the device's state says about its disk, once that is what we wait for."""
    async with asyncio.timeout(PATIENCE):
        while True:
            (device,) = (await server.http.get("/api/daemon/status")).json()["devices"]
            if bool(device["storageProblem"]) == shown:
                return device["storageProblem"] or ""
            await asyncio.sleep(0.05)
