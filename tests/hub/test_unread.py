"""Input that a program does not read: reported after a while, and a viewer that sends on is held back."""

import asyncio

import pytest
from tests.hub.running_hub import until

from bascule.hub.terminal import unread
from bascule.hub.terminal.unread import Unread

pytestmark = pytest.mark.anyio


async def test_bytes_that_wait_are_reported_once_and_again_when_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unread, "PATIENCE_SECONDS", 0.02)
    told: list[int] = []
    waiting = Unread(told.append)
    waiting.add(7)
    waiting.add(3)
    await until(lambda: bool(told))
    waiting.remove(7)
    await until(lambda: len(told) == 2)
    waiting.remove(3)
    assert told == [10, 3, 0]
    waiting.close()


async def test_bytes_that_are_read_in_time_are_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unread, "PATIENCE_SECONDS", 0.02)
    told: list[int] = []
    waiting = Unread(told.append)
    waiting.add(5)
    waiting.remove(5)
    await until(lambda: waiting._timer is None)
    assert told == []


async def test_who_sends_too_much_waits_until_it_is_read() -> None:
    waiting = Unread(lambda _: None)
    waiting.add(11)
    held = asyncio.create_task(waiting.below(10), name="held")
    await asyncio.sleep(0)
    assert not held.done()
    waiting.remove(1)
    await held
    waiting.close()


async def test_a_program_that_never_reads_holds_nobody_back_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unread, "HOLD_SECONDS", 0.02)
    waiting = Unread(lambda _: None)
    waiting.add(1000)
    await waiting.below(10)
    waiting.add(10)
    await asyncio.wait_for(waiting.below(10), 0.01)  # the thousand no longer counts
    waiting.remove(1000)
    assert waiting.bytes == 10
    waiting.close()
