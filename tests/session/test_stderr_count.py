"""How a session counts the stderr that it leaves out, also over a restart."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from bascule.model.events import AnyEvent, StderrWritten
from bascule.model.records import Pending, SessionRecord
from bascule.session.agent import Exit
from bascule.session.reading import STDERR_KEPT, Reader
from bascule.store.base import ResumePoint

pytestmark = pytest.mark.anyio

LENGTH = 3 * STDERR_KEPT


class Program:
    """An ended process with much on its stderr; it also keeps what is logged of it."""

    def __init__(self) -> None:
        self.logged: list[AnyEvent] = []

    def read_out(self, offset: int, limit: int) -> bytes:
        return b""

    def read_err(self, offset: int, limit: int) -> bytes:
        return b"e" * min(limit, LENGTH - offset)

    def position(self, **_: int) -> None:
        """The keeper would trim its spool here."""

    async def log(self, events: list[AnyEvent], **_: object) -> None:
        self.logged += events


async def read_from(err_offset: int) -> list[StderrWritten]:
    program = cast(Any, Program())
    driver = cast(Any, SimpleNamespace(consumed=0))
    point = ResumePoint(SessionRecord("s1"), Pending(), 0, err_offset, None, [], [])
    reader = Reader(program, program, driver, cast(Any, None), cast(Any, None), point)
    reader.exited(Exit(0, None, 0, LENGTH))
    await reader.read_err()
    return [one for one in [*program.logged, *reader.dropped_stderr()] if isinstance(one, StderrWritten)]


@pytest.mark.row("REL-32")
@pytest.mark.parametrize("restarted_at", [0, 1, STDERR_KEPT, 2 * STDERR_KEPT, LENGTH])
async def test_all_that_was_left_out_is_counted_though_another_reader_began(restarted_at: int) -> None:
    written = await read_from(restarted_at)
    assert sum(len(one.text) for one in written) == max(0, STDERR_KEPT - restarted_at)
    assert written[-1].dropped == LENGTH - STDERR_KEPT


@pytest.mark.row("REL-32")
async def test_that_something_is_left_out_is_said_at_once_and_once() -> None:
    assert [one.dropped > 0 for one in await read_from(0) if not one.text] == [
        True,
        True,
    ]  # at first, at the end
    assert (
        len([one for one in await read_from(2 * STDERR_KEPT) if not one.text]) == 1
    )  # the first was said before
