"""How a session reads its agent's output, and reads on after a crash: nothing twice, nothing left out."""

import asyncio

import pytest
from tests.session.playbook import NO_LIMITS, LineDriver, Playbook, ScriptedProcess
from tests.waiting import PATIENCE

from bascule.model.codec import encode
from bascule.model.events import (
    AnyEvent,
    EntryClosed,
    EntryOpened,
    Interrupted,
    PromptSent,
    SessionEnded,
    SessionReady,
    TextAppended,
    TurnEnded,
)
from bascule.model.records import Write
from bascule.session import reading
from bascule.session.supervisor import Supervisor
from bascule.store.base import Batch, ResumePoint

pytestmark = pytest.mark.anyio

READY, PROMPT = SessionReady("s1"), PromptSent("p1", "go", "ana")


def piece(text: str) -> TextAppended:
    return TextAppended("e", "assistant", text)


def size(*events: AnyEvent) -> int:
    return sum(len(encode(event)) + 1 for event in events)


async def read(book: Playbook, *events: AnyEvent) -> list[Batch]:
    """Print these, let the session read them, end it; gives the steps up to the end."""
    run = asyncio.create_task(book.supervisor.run(None))
    book.prints(*events)
    await book.until(type(events[-1]))
    book.exits(0)
    await asyncio.wait_for(run, PATIENCE)
    return [one for one in book.store.batches[1:] if one.events]


def resumed(book: Playbook, out: bytes, out_offset: int, state_offset: int) -> Playbook:
    """The same session in another process, from what was stored of it."""
    book.process.out, book.driver = out, LineDriver()
    record, pending = book.ledger.record, book.ledger.pending
    point = ResumePoint(record, pending, out_offset, 0, b"%d" % state_offset, [], [], state_offset)
    book.supervisor = Supervisor(
        book.ledger, book.process, book.driver, point, NO_LIMITS, lambda: book.now, lambda: book.now
    )
    return book


async def test_a_piece_that_only_says_something_is_logged_without_the_drivers_state() -> None:
    book = Playbook(READY, PROMPT)
    for event in (EntryOpened("e", "assistant"), piece("a"), EntryClosed("e")):
        await book.says(event)
    assert [one.driver_state for one in book.store.batches[1:]] == [None] * 3
    assert [one.out_offset for one in book.store.batches[1:]] == [0] * 3
    await book.says(TurnEnded("end_turn"))
    assert book.store.batches[-1].driver_state is not None


async def test_an_owed_reply_and_a_command_are_logged_with_the_drivers_state() -> None:
    book = Playbook(READY, PROMPT)
    book.driver.replies = [Write("reply:1", b"pong")]
    await book.says(piece("a"))
    assert book.store.batches[-1].driver_state is not None
    book.supervisor.log([Interrupted("ana")], writes=[book.driver.interrupt("interrupt:1")])
    await book.step()
    assert book.store.batches[-1].driver_state is not None


async def test_a_driver_that_can_not_read_again_is_stored_with_every_piece() -> None:
    book = Playbook(READY, PROMPT)
    book.driver.repeatable = False
    await book.says(piece("a"))
    assert book.store.batches[-1].driver_state is not None


async def test_a_later_piece_in_the_same_step_leaves_the_state_where_it_was() -> None:
    book = Playbook(READY, PROMPT)
    book.ledger.log([])  # on its way to the store: what follows joins the next step
    for offset, state in ((10, b"10"), (20, None)):
        book.ledger.log([piece("a")], out_offset=offset, driver_state=state)
    await book.step()
    last = book.store.batches[-1]
    assert (last.out_offset, last.state_offset, last.driver_state) == (20, 10, b"10")


async def test_a_session_that_goes_on_reads_again_from_its_drivers_state_and_logs_only_what_is_new() -> None:
    before, logged, new = [READY], [EntryOpened("e", "assistant"), piece("a")], [piece("b")]
    out = b"".join(encode(event) + b"\n" for event in (*before, *logged))
    book = resumed(Playbook(READY, PROMPT), out, len(out), size(*before))
    assert book.driver.consumed == size(*logged)
    assert book.store.batches[1:] == []
    first, last = await read(book, *new)
    assert first.events == new
    assert first.out_offset == len(out) + size(*new)
    assert [type(one) for one in last.events] == [SessionEnded]


async def test_a_spool_that_lost_its_end_in_a_power_cut_is_read_as_far_as_it_goes() -> None:
    logged = [EntryOpened("e", "assistant"), piece("a"), piece("b")]
    whole = b"".join(encode(event) + b"\n" for event in logged)
    book = resumed(Playbook(READY, PROMPT), whole[: size(*logged[:2])], len(whole), 0)
    run = asyncio.create_task(book.supervisor.run(None))
    book.exits(None, lost=True)
    await asyncio.wait_for(run, PATIENCE)
    facts = [type(event) for one in book.store.batches[1:] for event in one.events]
    assert facts[-1] is SessionEnded
    assert TextAppended not in facts
    assert book.store.batches[-1].out_offset == len(whole)


class Positions(ScriptedProcess):
    """Remembers how far the keeper was allowed to forget."""

    def __init__(self) -> None:
        super().__init__()
        self.trims: list[int] = []

    def position(self, *, out: int, err: int, trim_out: int, trim_err: int) -> None:
        self.trims.append(trim_out)


async def test_output_is_let_go_of_only_up_to_a_state_that_is_flushed_to_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "CHUNK", 100)
    monkeypatch.setattr(reading, "TELL_EVERY", 1)
    monkeypatch.setattr(reading, "STATE_EVERY", 400)
    monkeypatch.setattr(reading, "TRIM_EVERY", 1000)
    book = Playbook(READY, PROMPT)
    process = book.process = Positions()
    resumed(book, b"", 0, 0)
    await read(book, *[piece("words " * 5) for _ in range(100)], TurnEnded("end_turn"))
    flushed = {one.state_offset for one in book.store.batches if one.driver_state is not None and one.sync}
    stored = [one for one in book.store.batches if one.driver_state is not None]
    assert len(set(process.trims)) > 3
    assert {0, *flushed} >= set(process.trims)
    assert len(stored) > len(flushed)  # some only to keep short what would be read again
    assert len([one for one in book.store.batches if one.driver_state is None]) > len(stored)
