"""Deadlines: named timers that fire once, unless cancelled or set again."""

import asyncio

import pytest
from tests.waiting import PATIENCE

from bascule.session.deadlines import Deadlines

pytestmark = pytest.mark.anyio


class Fired:
    """What fired, in order."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.last = asyncio.Event()

    def __call__(self, name: str) -> None:
        self.names.append(name)
        if name == "last":
            self.last.set()

    async def all(self, deadlines: Deadlines) -> list[str]:
        """All that fires before a timer that is set now, and later than they are."""
        deadlines.set("last", 0.05, lambda: self("last"))
        async with asyncio.timeout(PATIENCE):
            await self.last.wait()
        return self.names


async def test_a_deadline_fires_once_and_is_not_set_any_more():
    deadlines, fired = Deadlines(), Fired()
    deadlines.set("one", 0.001, lambda: fired(f"one {deadlines.is_set('one')}"))
    assert deadlines.is_set("one")
    assert not deadlines.is_set("two")
    assert await fired.all(deadlines) == ["one False", "last"]


async def test_setting_it_again_replaces_it():
    deadlines, fired = Deadlines(), Fired()
    deadlines.set("one", 0.001, lambda: fired("first"))
    deadlines.set("one", 0.002, lambda: fired("second"))
    assert await fired.all(deadlines) == ["second", "last"]


@pytest.mark.parametrize("seconds", [0, -1])
async def test_zero_or_less_is_never_and_takes_back_what_was_set(seconds: float):
    deadlines, fired = Deadlines(), Fired()
    deadlines.set("one", 0.001, lambda: fired("one"))
    deadlines.set("one", seconds, lambda: fired("never"))
    assert not deadlines.is_set("one")
    assert await fired.all(deadlines) == ["last"]


async def test_a_cancelled_deadline_does_not_fire_and_the_others_do():
    deadlines, fired = Deadlines(), Fired()
    deadlines.set("one", 0.001, lambda: fired("one"))
    deadlines.set("two", 0.002, lambda: fired("two"))
    deadlines.cancel("one")
    deadlines.cancel("unknown")
    assert (deadlines.is_set("one"), deadlines.is_set("two")) == (False, True)
    assert await fired.all(deadlines) == ["two", "last"]


async def test_all_are_cancelled_together():
    deadlines, fired = Deadlines(), Fired()
    for name in ("one", "two"):
        deadlines.set(name, 0.001, lambda: fired("none of them"))
    deadlines.cancel_all()
    assert not deadlines.is_set("one")
    assert await fired.all(deadlines) == ["last"]


async def test_an_action_may_set_its_own_deadline_again():
    deadlines, fired = Deadlines(), Fired()
    deadlines.set("one", 0.001, lambda: deadlines.set("one", 0.001, lambda: fired("last")))
    async with asyncio.timeout(PATIENCE):
        await fired.last.wait()
    assert fired.names == ["last"]
    assert not deadlines.is_set("one")


async def test_one_that_is_moved_on_fires_once_and_not_before_its_last_time():
    deadlines, loop = Deadlines(), asyncio.get_running_loop()
    fired: list[float] = []
    over = asyncio.Event()
    deadlines.set("one", 0.001, over.set)
    for _ in range(10):
        deadlines.set("one", 0.03, lambda: (fired.append(loop.time()), over.set()))
    due = loop.time() + 0.03
    async with asyncio.timeout(PATIENCE):
        await over.wait()
    assert len(fired) == 1
    assert fired[0] >= due - 0.002  # the loop's clock counts milliseconds
