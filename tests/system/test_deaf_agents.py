"""R32: an agent that does not read, or floods stderr, is noticed and said, in bounded memory."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.live import LiveServer
from tests.system.pulse import Pulse
from tests.waiting import MUCH_PATIENCE, within

from bascule.model.events import (
    AnyEvent,
    Note,
    PromptQueued,
    PromptSent,
    SessionEnded,
    StderrWritten,
    TextSaid,
    TurnEnded,
)

pytestmark = pytest.mark.anyio

MB = 1024 * 1024


@pytest.fixture(scope="module")
async def server(module_dir: Path) -> AsyncIterator[LiveServer]:
    made = LiveServer(module_dir)
    made.add_agent("well-behaved", "well_behaved.py")
    made.add_agent("deaf", "deaf.py")
    made.add_agent("later", "hears_later.py", str(module_dir / "now"))
    made.add_agent("both", "floods_both.py", str(80 * MB), str(100 * MB))
    async with made:
        yield made


def is_note(code: str):
    return lambda event: isinstance(event, Note) and event.code == code


async def notes(server: LiveServer, session: str) -> list[str]:
    codes = [row.event.code for row in await server.log(session) if isinstance(row.event, Note)]
    return [code for code in codes if code in ("not_reading", "reads_again")]


@pytest.mark.row("REL-32")
async def test_a_message_that_only_lies_in_the_pipe_is_noticed_in_ten_seconds(
    server: LiveServer,
) -> None:
    session = await server.create(agent="deaf")
    await server.wait_for(session, TextSaid)
    with within(12):  # ten, and what it takes to tell
        await server.send(session, "hello")
        told = await server.wait_for(session, is_note("not_reading"))
    assert isinstance(told.event, Note)
    assert "has not read what was sent to it for 10 s" in told.event.text
    assert (await server.http.delete(f"/api/sessions/{session}")).status_code == 200
    await server.wait_for(session, SessionEnded)


@pytest.mark.row("REL-32")
async def test_8_mb_for_an_agent_that_never_reads_are_said_once_and_bounded(server: LiveServer) -> None:
    session = await server.create(agent="deaf")
    await server.wait_for(session, TextSaid)
    pulse = await Pulse.of(server)
    before = server.memory()

    async def talk() -> None:
        for n in range(8):
            await server.send(session, f"{n}" * MB)

    await pulse.undisturbed_by(talk())
    await server.wait_for(session, is_note("not_reading"))
    refused = 0
    for _ in range(30):  # what waits is bounded by its size, and said in words
        answer = await server.post(f"/api/sessions/{session}/send", text="x" * MB)
        if answer.status_code == 429:
            refused += 1
            assert "KiB is the most" in answer.json()["error"]["message"]
            break
    assert refused == 1
    # 24 MB may wait and are written as a whole: some 220 MB on a quiet machine, 300 on a busy one.
    assert server.peak() - before < 384 * MB
    rows = [row.event for row in await server.log(session)]
    assert sum(isinstance(one, PromptSent | PromptQueued) for one in rows) <= 26
    assert await notes(server, session) == ["not_reading"]
    assert (await server.http.delete(f"/api/sessions/{session}")).status_code == 200
    await server.wait_for(session, SessionEnded)


@pytest.mark.row("REL-32")
async def test_when_it_reads_again_that_is_said_and_nothing_is_lost(server: LiveServer) -> None:
    session = await server.create(agent="later")
    await server.wait_for(session, TextSaid)
    await server.send(session, "y" * MB)
    await server.wait_for(session, is_note("not_reading"))
    (server.folder / "now").touch()
    await server.wait_for(session, is_note("reads_again"))
    await server.wait_for(session, TurnEnded)
    assert await notes(server, session) == ["not_reading", "reads_again"]


@pytest.mark.row("REL-32")
async def test_an_agent_that_reads_is_not_reported_as_blocked(server: LiveServer) -> None:
    session = await server.create("count 100 100")
    await server.wait_for(session, TurnEnded)
    assert await notes(server, session) == []


@pytest.mark.row("REL-32")
async def test_100_mb_of_stderr_while_stdout_is_held_up_are_drained_bounded_and_said(
    server: LiveServer,
) -> None:
    session = await server.create("go", agent="both")
    await server.wait_for(session, TextSaid)
    await server.kill()  # nobody reads now: both of its pipes fill, and it waits
    spool = server.data / "keeper" / "spool" / f"{session}-1"
    async with asyncio.timeout(MUCH_PATIENCE):
        last = -1
        while (size := sum(file.stat().st_size for file in spool.iterdir())) != last or size < 100 * MB:
            last = size
            await asyncio.sleep(0.5)
    assert size < 160 * MB  # each output is kept up to its cap
    await server.start()
    before = server.memory()
    pulse = await Pulse.of(server)
    await pulse.undisturbed_by(server.wait_for(session, TurnEnded, seconds=MUCH_PATIENCE))
    await server.http.delete(f"/api/sessions/{session}")
    await server.wait_for(session, SessionEnded)
    assert server.peak() - before < 128 * MB
    events: list[AnyEvent] = [row.event for row in await server.log(session)]
    written = [one for one in events if isinstance(one, StderrWritten)]
    assert sum(len(one.text) for one in written) <= 256 * 1024
    assert max(one.dropped for one in written) >= 99 * MB
    said = [one.text for one in events if isinstance(one, TextSaid)]
    assert said == ["before the flood", "after the flood"]
