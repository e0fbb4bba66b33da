"""Commands whose commit the disk refuses, though it had room when they came: the askers are told."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.daemon.running_daemon import RunningDaemon, running_daemon
from tests.waiting import PATIENCE

from bascule.model.commands import RenameSession, ResumeSession, SendPrompt
from bascule.model.errors import Refused, StorageFailed, StorageFull
from bascule.model.events import PromptSent, SessionEnded, TurnEnded

pytestmark = pytest.mark.anyio

LONG = "x" * 100_000  # needs pages that a database without room does not have


# What the database is told, and what takes that back.
FULL = "PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000"
LOCKED = "PRAGMA query_only = ON", "PRAGMA query_only = OFF"  # refuses the smallest change, too


@asynccontextmanager
async def refusing(daemon: RunningDaemon, how: tuple[str, str]) -> AsyncIterator[None]:
    """A disk that takes nothing, of which nobody has been told yet."""
    async with asyncio.timeout(PATIENCE):
        while not await _refuses_unnoticed(daemon, how[0]):
            daemon.store.engine.connection.execute(how[1])
            await daemon.store.writable()
    yield
    # The problem keeps the writer from its own connection, so the limit is lifted behind its back.
    daemon.store.engine.connection.execute(how[1])
    async with asyncio.timeout(PATIENCE):
        await daemon.store.writable()


async def _refuses_unnoticed(daemon: RunningDaemon, how: str) -> bool:
    """False when something else was to be written at that moment: then the store knows of it already."""
    with contextlib.suppress(StorageFailed):
        await daemon.store.transact(lambda group: group.connection.execute(how).fetchone() and None)
    return daemon.store.storage_problem is None


async def refusal(asking: Awaitable[object], error: type[StorageFailed] = StorageFull) -> str:
    with pytest.raises(Refused) as refused:
        await asking
    assert refused.value.refusal().code == error.code
    return refused.value.message


@pytest.mark.row("REL-19")
async def test_a_message_is_refused_in_words_and_sent_once_when_there_is_room(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="hello")
        await daemon.until(TurnEnded)
        send = SendPrompt(session_id="s1", text=LONG)
        async with refusing(daemon, FULL):
            assert "done as soon as there is room" in await refusal(daemon.ask(send, key="k"))
            await refusal(daemon.ask(send, key="k"))
        await daemon.until(TurnEnded, times=2)
        again = await daemon.ask(send, key="k")
        sent = await daemon.events(PromptSent)
        assert [one.text for one in sent] == ["hello", LONG]
        assert again["promptId"] == sent[1].prompt_id


@pytest.mark.row("REL-19")
async def test_a_start_that_can_not_be_stored_is_refused_and_leaves_nothing(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        async with refusing(daemon, FULL):
            await refusal(daemon.start(prompt=LONG))
            assert daemon.host.sessions.live == {}
        assert await daemon.store.session("s1") is None
        await daemon.start(prompt="hello")
        await daemon.until(TurnEnded)


@pytest.mark.row("REL-20")
async def test_an_ended_session_is_as_it_was_when_its_change_can_not_be_stored(short_dir: Path):
    async with running_daemon(short_dir) as daemon:
        await daemon.start(prompt="exit 0")
        await daemon.until(SessionEnded)
        await daemon.over()
        before = await daemon.log()
        for command in (RenameSession(session_id="s1", title="more"), ResumeSession(session_id="s1")):
            async with refusing(daemon, LOCKED):
                await refusal(daemon.ask(command), StorageFailed)
            assert await daemon.log() == before
        await daemon.ask(RenameSession(session_id="s1", title="more"))
        assert len(await daemon.log()) == len(before) + 1
