"""Deafness: an agent that does not read its stdin is noted once, and once more when it reads again."""

import asyncio
from collections.abc import Sequence

import pytest
from tests.session.playbook import Playbook
from tests.waiting import PATIENCE

from bascule.model.errors import HostError
from bascule.model.events import Note
from bascule.session import deafness
from bascule.session.deafness import DEAF_SECONDS, Deafness

pytestmark = pytest.mark.anyio

AGAIN = Note("reads_again", "The agent reads again what is sent to it.")


def deaf(waiting: int) -> Note:
    text = f"The agent has not read what was sent to it for 10 s; {waiting} bytes wait."
    return Note("not_reading", text, "warning")


class Looks:
    """An agent with so many unread bytes at each look, one second apart; None: nobody can say."""

    def __init__(self, unread: Sequence[int | HostError | None], monkeypatch: pytest.MonkeyPatch) -> None:
        self.book = Playbook()
        self.left = list(unread)
        self.over = asyncio.Event()
        self.deafness = Deafness(self.book.ledger, self._unread)
        loop, self.passed = asyncio.get_running_loop(), 0.0
        self._steady = loop.time
        self._still: float | None = None
        monkeypatch.setattr(loop, "time", self._time)
        monkeypatch.setattr(deafness, "LOOK_SECONDS", 0.0)

    def _time(self) -> float:
        return (self._steady() if self._still is None else self._still) + self.passed

    def stop_clock(self) -> None:
        """From now on only looks take time: that of a busy machine does not count."""
        self._still = self._steady()

    async def _unread(self) -> int | None:
        if not self.left:
            self.over.set()
            await asyncio.Event().wait()
        self.passed += 1
        unread = self.left.pop(0)
        if isinstance(unread, HostError):
            raise unread
        return unread

    async def notes(self) -> list[object]:
        """All that was noted until the last look."""
        self.stop_clock()
        task = asyncio.create_task(self.deafness.run())
        try:
            self.deafness.sent()
            async with asyncio.timeout(PATIENCE * 10):
                await self.over.wait()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return list((await self.book.step()).facts)


LONG = int(DEAF_SECONDS)


@pytest.mark.parametrize(
    ("unread", "notes"),
    [
        ([5] * (LONG - 1), []),
        ([5] * LONG, [deaf(5)]),
        ([5] * 3 * LONG, [deaf(5)]),  # once
        (list(range(5, 5 + 2 * LONG)), [deaf(4 + LONG)]),  # more is sent, nothing is read
        ([5, 9, *[8] * (LONG - 2)], [deaf(8)]),  # fewer than just now, but not than ever
        ([5] * LONG + [4], [deaf(5), AGAIN]),
        ([5] * LONG + [4] * LONG, [deaf(5), AGAIN]),
        ([5] * LONG + [4] * (LONG + 1), [deaf(5), AGAIN, deaf(4)]),
        ([5] * LONG + [9, 8], [deaf(5), AGAIN]),  # once it is deaf, fewer than just now is enough
        (list(range(3 * LONG, 0, -1)), []),  # slowly, but it reads
    ],
)
async def test_an_agent_is_deaf_when_nothing_is_read_for_a_time(
    unread: list[int], notes: list[Note], monkeypatch: pytest.MonkeyPatch
):
    assert await Looks(unread, monkeypatch).notes() == notes


@pytest.mark.parametrize("read", [0, None, HostError("gone")])
async def test_looking_ends_when_all_is_read_or_nobody_can_say(
    read: int | HostError | None, monkeypatch: pytest.MonkeyPatch
):
    looks = Looks([*[5] * LONG, read, 5], monkeypatch)
    looks.stop_clock()
    async with asyncio.timeout(PATIENCE * 10):
        await looks.deafness._until_read()  # pyright: ignore[reportPrivateUsage]
    assert looks.left == [5]
    assert (await looks.book.step()).facts == [deaf(5), AGAIN]


async def test_nothing_is_looked_at_before_something_is_sent(monkeypatch: pytest.MonkeyPatch):
    looks = Looks([0], monkeypatch)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(looks.deafness.run(), 0.01)
    assert looks.left == [0]
