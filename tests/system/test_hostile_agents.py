"""Agents that misbehave, under the real server: each ends as a visible event and troubles nobody else."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.live import LiveServer
from tests.system.pulse import Pulse
from tests.waiting import PATIENCE, within

from bascule.model.events import (
    AnyEvent,
    PermissionWithdrawn,
    PromptQueued,
    SessionEnded,
    SessionFailed,
    StderrWritten,
    TextAppended,
    TextSaid,
    TurnEnded,
    Unrecognised,
)

pytestmark = pytest.mark.anyio

MB = 1024 * 1024


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    made = LiveServer(module_dir)
    made.add_agent("well-behaved", "well_behaved.py")
    made.add_agent("garbage", "garbage.py")
    made.add_agent("huge", "hugeline.py", str(64 * MB))
    made.add_agent("large", "hugeline.py", str(12 * MB))
    made.add_agent("endless", "nonewline.py", str(100 * MB))
    made.add_agent("empty", "empty_lines.py", "1000000")
    made.add_agent("noisy", "stderr_flood.py", str(100 * MB))
    made.add_agent("deaf", "deaf.py")
    made.add_agent("stubborn", "ignores_term.py")
    made.add_agent("forks", "forks.py", "200", str(module_dir / "pids"))
    made.add_agent("asks-and-goes", "exits_during_permission.py", "3")
    for code in (0, 1):
        made.add_agent(f"dies-{code}", "dies_first.py", str(code))
    _add_unrunnable(made)
    async with made:
        yield made


def _add_unrunnable(server: LiveServer) -> None:
    """Programs that were there when the server looked, and can't be started all the same."""
    no_program = server.folder / "no-program"
    no_program.write_bytes(b"\x7fELF but not really")
    no_program.chmod(0o700)
    server.add_agent("enoexec", "", argv0=str(no_program))
    bad_interpreter = server.folder / "bad-interpreter"
    bad_interpreter.write_text("#!/nonexistent/interpreter\n")
    bad_interpreter.chmod(0o700)
    server.add_agent("enoent", "", argv0=str(bad_interpreter))
    forbidden = server.folder / "forbidden"
    forbidden.write_text("#!/bin/sh\n")
    forbidden.chmod(0o600)
    server.add_agent("eacces", "", argv0=str(forbidden))


async def events_of(server: LiveServer, session: str) -> list[AnyEvent]:
    return [row.event for row in await server.log(session)]


async def turn_of(server: LiveServer, agent: str) -> tuple[str, list[AnyEvent]]:
    session = await server.create("go", agent=agent)
    await server.wait_for(session, TurnEnded)
    return session, await events_of(server, session)


def said(events: list[AnyEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, TextAppended | TextSaid)]


@pytest.mark.row("REL-31")
async def test_malformed_json_and_invalid_utf8_become_events_and_the_turn_goes_on(server: LiveServer):
    _, events = await turn_of(server, "garbage")
    assert said(events) == ["before the garbage", "after the garbage"]
    strange = [event for event in events if isinstance(event, Unrecognised)]
    assert len(strange) >= 10
    assert all(event.reason for event in strange)
    assert "never retrieved" not in server.stderr()


@pytest.mark.row("REL-18")
@pytest.mark.parametrize(
    ("agent", "length"), [("endless", 100 * MB), ("huge", 64 * MB)], ids=["no-newline", "64-mb-line"]
)
async def test_a_line_too_long_is_one_event_in_bounded_memory_and_slows_nobody(
    server: LiveServer, agent: str, length: int
):
    pulse = await Pulse.of(server)
    before = server.memory()
    session, events = await pulse.undisturbed_by(turn_of(server, agent))
    assert server.peak() - before < 64 * MB
    oversize = [event for event in events if isinstance(event, Unrecognised)]
    assert len(oversize) == 1
    assert length <= oversize[0].length < length + 1000
    assert len(oversize[0].sha256) == 64
    assert said(events) == ["after the endless line" if agent == "endless" else "after the huge line"]
    page = await server.http.get(f"/api/sessions/{session}/entries")
    assert page.status_code == 200
    assert len(page.content) < MB


@pytest.mark.row("REL-18")
async def test_a_line_of_12_mb_is_read_whole_in_bounded_memory(server: LiveServer):
    before = server.memory()
    _, events = await turn_of(server, "large")
    assert not [event for event in events if isinstance(event, Unrecognised)]
    assert said(events) == ["after the huge line"]
    assert server.peak() - before < 96 * MB


@pytest.mark.row("REL-18")
async def test_a_million_empty_lines_are_nothing(server: LiveServer):
    pulse = await Pulse.of(server)
    before = server.memory()
    _, events = await pulse.undisturbed_by(turn_of(server, "empty"))
    assert server.peak() - before < 64 * MB
    assert len(events) < 100
    assert said(events) == ["after the empty lines"]


@pytest.mark.row("REL-18", "C3")
async def test_100_mb_of_stderr_are_cut_with_a_count_and_slow_nobody(server: LiveServer):
    pulse = await Pulse.of(server)
    before = server.memory()
    session, events = await pulse.undisturbed_by(turn_of(server, "noisy"))
    await server.http.delete(f"/api/sessions/{session}")
    await server.wait_for(session, SessionEnded)
    events = await events_of(server, session)
    assert server.peak() - before < 64 * MB
    written = [event for event in events if isinstance(event, StderrWritten)]
    assert sum(len(event.text) for event in written) <= 256 * 1024
    assert max(event.dropped for event in written) >= 99 * MB
    assert said(events) == ["before the flood", "after the flood"]


@pytest.mark.row("REL-31")
async def test_an_agent_that_never_reads_keeps_nobody_waiting(server: LiveServer):
    session = await server.create(agent="deaf")
    await server.wait_for(session, TextSaid)
    pulse = await Pulse.of(server)

    async def talk() -> None:
        for _ in range(20):  # far more than a pipe holds
            await server.send(session, "x" * 100_000)

    await pulse.undisturbed_by(talk())
    assert sum(isinstance(event, PromptQueued) for event in await events_of(server, session)) == 19
    assert (await server.http.delete(f"/api/sessions/{session}")).json() == {"ok": True}
    ended = (await server.wait_for(session, SessionEnded)).event
    assert isinstance(ended, SessionEnded)
    assert ended.reason == "closed"


@pytest.mark.row("REL-15")
async def test_an_agent_that_ignores_term_is_killed_within_ten_seconds(server: LiveServer):
    session, _ = await turn_of(server, "stubborn")
    with within(10.5):  # ten, and what it takes to tell
        await server.http.delete(f"/api/sessions/{session}")
        ended = (await server.wait_for(session, SessionEnded)).event
    assert isinstance(ended, SessionEnded)
    assert (ended.reason, ended.signal) == ("closed", 9)
    assert (await server.http.get(f"/api/sessions/{session}")).json()["status"] == "closed"


@pytest.mark.row("REL-16")
async def test_200_children_and_those_that_ran_away_are_gone_after_the_end(server: LiveServer):
    session, _ = await turn_of(server, "forks")
    pids = [int(line) for line in (server.folder / "pids").read_text().split()]
    assert len(pids) == 203
    assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    await server.http.delete(f"/api/sessions/{session}")
    await server.wait_for(session, SessionEnded)
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(_gone(pid) for pid in pids))


async def _gone(pid: int) -> None:
    """Wait, without asking again and again, until a process is over."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    loop.add_reader(watch, lambda: over.done() or over.set_result(None))
    try:
        await over
    finally:
        loop.remove_reader(watch)
        os.close(watch)


@pytest.mark.row("REL-33")
@pytest.mark.parametrize("code", [0, 1])
async def test_an_agent_that_exits_before_its_first_byte_failed_with_its_words(server: LiveServer, code: int):
    session = await server.create("go", agent=f"dies-{code}")
    failed = (await server.wait_for(session, SessionFailed)).event
    assert isinstance(failed, SessionFailed)
    assert failed.code == code
    assert "this agent dies first" in failed.stderr_tail
    assert (await server.http.get(f"/api/sessions/{session}")).json()["status"] == "error"


@pytest.mark.row("REL-33")
async def test_a_program_that_cannot_be_started_is_one_last_event(server: LiveServer):
    session = await server.create("go", agent="enoexec")
    failed = (await server.wait_for(session, SessionFailed)).event
    assert isinstance(failed, SessionFailed)
    assert "did not start" in failed.message
    ends = [one for one in await events_of(server, session) if isinstance(one, SessionFailed | SessionEnded)]
    assert len(ends) == 1
    assert (await server.http.get(f"/api/sessions/{session}")).json()["status"] == "error"


@pytest.mark.row("REL-33")
async def test_a_program_that_may_not_be_run_is_refused_in_words(server: LiveServer):
    why = {
        "eacces": "it is not executable",
        "enoent": "/nonexistent/interpreter, which runs it, was not found",
    }
    listed = {one["name"]: one for one in (await server.http.get("/api/agents")).json()["agents"]}
    for agent, words in why.items():
        answer = await server.post("/api/sessions", agent=agent, cwd=str(server.work))
        assert answer.status_code == 503
        assert words in answer.json()["error"]["message"]
        assert listed[agent]["available"] is False
        assert words in listed[agent]["problem"]


@pytest.mark.row("B10", "REL-33")
async def test_an_agent_that_is_deleted_is_listed_as_gone_in_words_without_a_restart(
    make_server: Callable[..., LiveServer],
):
    server = make_server()
    program = server.folder / "agent"
    program.write_text("#!/bin/sh\necho 1.2.3\n")
    program.chmod(0o700)
    server.add_agent("goes", "", argv0=str(program))
    await server.start()

    async def listed() -> dict[str, Any]:
        agents = (await server.http.get("/api/agents")).json()["agents"]
        return next(one for one in agents if one["name"] == "goes")

    there = await listed()
    assert (there["available"], there["version"], "problem" in there) == (True, "1.2.3", False)
    program.unlink()
    gone = await listed()
    assert (gone["available"], "version" in gone, "path" in gone) == (False, False, False)
    assert "was not found on this machine" in gone["problem"]
    refused = await server.post("/api/sessions", agent="goes", cwd=str(server.work))
    assert (refused.status_code, refused.json()["error"]["message"]) == (503, gone["problem"])


@pytest.mark.row("REL-33")
@pytest.mark.parametrize(("words", "code", "signal"), [("crash 0", 0, None), ("crash 7", 7, None)])
async def test_an_exit_in_the_middle_of_a_turn_is_one_last_event_with_its_code(
    server: LiveServer, words: str, code: int, signal: int | None
):
    session = await server.create(words)
    ended = (await server.wait_for(session, SessionEnded)).event
    assert isinstance(ended, SessionEnded)
    reason = "disconnected" if code else "exited"  # a crash is not the last word: it is started again
    assert (ended.reason, ended.code, ended.signal) == (reason, code, signal)
    if code == 0:  # the other may be starting again by now
        assert (await server.http.get(f"/api/sessions/{session}")).json()["status"] == "exited"


@pytest.mark.row("REL-33")
async def test_an_agent_killed_from_outside_is_told_with_its_signal(server: LiveServer):
    session = await server.create("count 100000 50")
    await server.wait_for(session, TextAppended)
    pid = next(one.pid for one in await events_of(server, session) if type(one).__name__ == "AgentSpawned")
    os.kill(pid, 9)
    ended = (await server.wait_for(session, SessionEnded)).event
    assert isinstance(ended, SessionEnded)
    assert (ended.reason, ended.signal) == ("disconnected", 9)


@pytest.mark.row("REL-33")
async def test_an_exit_while_a_permission_is_open_withdraws_it(server: LiveServer):
    session = await server.create("go", agent="asks-and-goes")
    await server.wait_for(session, SessionEnded)
    events = await events_of(server, session)
    gone = [event for event in events if isinstance(event, PermissionWithdrawn)]
    assert [event.request_id for event in gone] == ["req-exits"]
    late = await server.post(f"/api/sessions/{session}/permissions", requestId="req-exits", decision="allow")
    assert late.status_code == 410
    assert (await server.http.get("/api/requests")).json()["requests"] == []
