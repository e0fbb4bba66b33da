"""Silence: an agent that answers is left in peace, and a person may take any time."""

import asyncio

import pytest
from tests.waiting import PATIENCE

from bascule.session.silence import Silence

pytestmark = pytest.mark.anyio


class Watch:
    def __init__(self, seconds: float) -> None:
        self.watching = True
        self.asked = asyncio.Event()
        self.ended = asyncio.Event()
        self.silence = Silence(seconds, lambda: self.watching, self.asked.set, self.ended.set)


@pytest.mark.row("A2")
async def test_a_silent_agent_is_asked_first_and_given_up_when_it_does_not_answer():
    watch = Watch(0.2)
    watch.silence.look()
    async with asyncio.timeout(PATIENCE):
        await watch.asked.wait()
        assert not watch.ended.is_set()
        await watch.ended.wait()


@pytest.mark.row("A2")
async def test_an_agent_that_answers_is_asked_again_later_and_never_given_up():
    watch = Watch(0.2)
    watch.silence.look()
    for _ in range(5):
        async with asyncio.timeout(PATIENCE):
            await watch.asked.wait()
        watch.asked.clear()
        watch.silence.heard()
    assert not watch.ended.is_set()
    watch.silence.stop()


@pytest.mark.row("A2")
async def test_waiting_for_a_person_stops_the_silence_clock():
    watch = Watch(3600)
    watch.silence.look()
    watch.watching = False
    watch.silence.look()
    assert watch.silence._timer is None  # pyright: ignore[reportPrivateUsage]
    watch.watching = True
    watch.silence.look()
    assert watch.silence._timer is not None  # pyright: ignore[reportPrivateUsage]
    watch.silence.stop()


async def test_zero_seconds_is_never():
    watch = Watch(0)
    watch.silence.look()
    assert watch.silence._timer is None  # pyright: ignore[reportPrivateUsage]
