"""The outbox: committed bytes reach the agent in order, once each, and what can't is told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.session.playbook import CommittingStore, ScriptedProcess
from tests.waiting import PATIENCE

from bascule.model.errors import HostError, LimitReached
from bascule.model.events import AnswerDelivered, AnyEvent, Note
from bascule.model.records import Write
from bascule.session import outbox as outbox_module
from bascule.session.agent import ProcessUnreachable
from bascule.session.ledger import Ledger
from bascule.session.outbox import Outbox

pytestmark = pytest.mark.anyio


class Delivery:
    """An outbox that runs, its process, and what it logged."""

    def __init__(self, *waiting: Write) -> None:
        self.store = CommittingStore()
        self.ledger = Ledger.new(self.store, "s", lambda: 0.0)  # pyright: ignore[reportArgumentType]
        self.process = ScriptedProcess()
        self.outbox = Outbox(self.ledger, self.process, waiting)

    def put(self, *writes: Write) -> None:
        committed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        committed.set_result(None)
        self.outbox.put_after(committed, writes)

    async def delivered(self, *write_ids: str) -> list[AnyEvent]:
        """Wait until exactly these have left the outbox, in this order; the facts logged with them."""
        async with asyncio.timeout(PATIENCE):
            while len(self._gone()) < len(write_ids):
                self.store.grew.clear()
                await self.store.grew.wait()
        assert self._gone() == list(write_ids)
        return [event for batch in self.store.batches for event in batch.events]

    def _gone(self) -> list[str]:
        return [write_id for batch in self.store.batches for write_id in batch.delivered]


@asynccontextmanager
async def delivery(*waiting: Write) -> AsyncIterator[Delivery]:
    made = Delivery(*waiting)
    task = asyncio.create_task(made.outbox.run())
    try:
        yield made
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


A, B, ANSWER = Write("a", b"first"), Write("b", b"second"), Write("answer:r", b"allow")


async def test_writes_are_delivered_in_order_and_an_answer_is_told():
    async with delivery() as box:
        box.put(A, ANSWER)
        box.put(B)
        assert await box.delivered("a", "answer:r", "b") == [AnswerDelivered("r")]
        assert box.process.done == ["first", "allow", "second"]


async def test_what_a_restart_left_waiting_goes_before_what_is_new():
    async with delivery(A) as box:
        box.put(B)
        await box.delivered("a", "b")
        assert box.process.done == ["first", "second"]


async def test_nothing_leaves_before_its_step_is_durable_and_nothing_at_all_when_it_never_is():
    async with delivery() as box:
        loop = asyncio.get_running_loop()
        slow: asyncio.Future[None] = loop.create_future()
        broken: asyncio.Future[None] = loop.create_future()
        stopped: asyncio.Future[None] = loop.create_future()
        box.outbox.put_after(slow, [A])
        box.outbox.put_after(broken, [Write("never", b"never")])
        box.outbox.put_after(stopped, [Write("neither", b"neither")])
        broken.set_exception(OSError("disk"))
        stopped.cancel()
        box.put(B)
        await box.delivered("b")
        slow.set_result(None)
        await box.delivered("b", "a")
        assert box.process.done == ["second", "first"]


async def test_a_write_without_data_stands_for_nothing():
    async with delivery() as box:
        box.put(Write("empty", b""), A)
        await box.delivered("a")
        assert box.outbox.abandon() == []


async def test_a_process_that_cannot_be_reached_is_tried_again_when_it_answers():
    async with delivery(A) as box:
        box.process.refuses["write"] = ProcessUnreachable("not now")
        async with asyncio.timeout(PATIENCE):
            await box.process.refused.wait()
        assert box.process.done == []
        del box.process.refuses["write"]
        box.outbox.wake()
        assert await box.delivered("a") == []
        assert box.process.done == ["first"]


async def test_bytes_that_a_process_will_not_take_are_told_and_the_next_ones_follow():
    async with delivery(ANSWER, B) as box:
        box.process.refuses["write"] = HostError("its stdin is closed")
        told = Note("not_delivered", "The agent did not take it: its stdin is closed", "warning")
        assert await box.delivered("answer:r", "b") == [told, told]
        del box.process.refuses["write"]
        box.put(A)
        await box.delivered("answer:r", "b", "a")


@pytest.mark.parametrize(
    ("waiting", "holds"),
    [((), False), ((A, B), False), ((A, ANSWER), True), ((Write("answers", b"x"),), False)],
)
async def test_an_answer_that_is_on_its_way_is_known(waiting: tuple[Write, ...], holds: bool):
    assert Delivery(*waiting).outbox.holds_answer is holds


async def test_an_agent_that_is_gone_leaves_nothing_to_deliver():
    box = Delivery(A)
    box.put(ANSWER)
    assert box.outbox.abandon() == ["a", "answer:r"]
    assert box.outbox.abandon() == []
    assert not box.outbox.holds_answer


async def test_bytes_that_were_abandoned_on_their_way_are_told_of_once():
    """The session is over by then, and its end has told of them."""
    async with delivery() as box:
        begun, go = asyncio.Event(), asyncio.Event()

        async def refuse(write: Write) -> None:
            begun.set()
            await go.wait()
            raise HostError("it is gone")

        box.process.write = refuse
        box.put(A)
        await begun.wait()
        assert box.outbox.abandon() == ["a"]
        del box.process.write
        go.set()
        box.put(B)
        assert await box.delivered("b") == []


@pytest.mark.parametrize(
    ("writes", "full"),
    [
        ([100], False),
        ([101], True),
        ([60, 41], True),
        ([1, 1, 1], False),
        ([1, 1, 1, 1], True),
    ],
)
async def test_more_is_refused_while_too_much_waits(
    writes: list[int], full: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(outbox_module, "MAX_BYTES", 100)
    monkeypatch.setattr(outbox_module, "MAX_WRITES", 3)
    box = Delivery(*(Write(str(number), b"x" * size) for number, size in enumerate(writes)))
    if not full:
        box.outbox.check_room()
        return
    with pytest.raises(LimitReached, match=f"{sum(writes)} bytes wait already"):
        box.outbox.check_room()


async def test_what_waits_for_its_commit_counts_too_until_it_is_delivered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(outbox_module, "MAX_BYTES", 8)
    async with delivery() as box:
        slow: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        box.outbox.put_after(slow, [A, B])
        with pytest.raises(LimitReached):
            box.outbox.check_room()
        slow.set_result(None)
        await box.delivered("a", "b")
        box.outbox.check_room()
