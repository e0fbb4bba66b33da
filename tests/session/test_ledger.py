"""The ledger numbers facts at once, commits them in order, and never lets one overtake another."""

import asyncio

import pytest
from msgspec import Raw

from bascule.model.errors import StorageFull
from bascule.model.events import Note, PermissionAnswered, PermissionRequested, PermissionWithdrawn
from bascule.model.records import Write
from bascule.session import ledger as ledger_module
from bascule.session.ledger import Ledger
from bascule.session.open_requests import OpenRequests
from bascule.store.base import Batch, StoredReply

pytestmark = pytest.mark.anyio


class SlowStore:
    """A store whose commits happen when the test says so."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.futures: list[asyncio.Future[None]] = []

    def append(self, batch: Batch) -> "asyncio.Future[None]":
        self.batches.append(batch)
        self.futures.append(asyncio.get_running_loop().create_future())
        return self.futures[-1]

    def commit(self) -> None:
        self.futures[-1].set_result(None)


def make() -> tuple[SlowStore, Ledger]:
    store = SlowStore()
    return store, Ledger.new(store, "s", lambda: 0.0)  # pyright: ignore


def note(text: str) -> Note:
    return Note("test", text)


def asked(request_id: str = "r") -> PermissionRequested:
    return PermissionRequested(request_id, "Bash", "ls", "execute", Raw(b"{}"), "ab", ())


async def turn() -> None:
    """Let callbacks that are due run."""
    await asyncio.sleep(0)


async def test_what_is_logged_while_a_commit_runs_joins_the_next_step():
    store, ledger = make()
    first = ledger.log([note("1")])
    second = ledger.log([note("2")], writes=[Write("w", b"x")])
    third = ledger.log([note("3")], sync=True)
    assert len(store.batches) == 1
    store.commit()
    await first
    assert [len(batch.events) for batch in store.batches] == [1, 2]
    assert (store.batches[1].first_seq, store.batches[1].sync) == (2, True)
    assert [write.write_id for write in store.batches[1].writes] == ["w"]
    assert not second.done()
    store.commit()
    await asyncio.gather(second, third)
    assert ledger.record.seq == 3


async def test_two_replies_never_share_a_step():
    store, ledger = make()
    ledger.log([note("1")])
    ledger.log([note("2")], reply=StoredReply("a", "", b""))
    ledger.log([note("3")], reply=StoredReply("b", "", b""))
    for _ in range(3):
        store.commit()
        await turn()
    assert [batch.reply.key if batch.reply else None for batch in store.batches] == [None, "a", "b"]


@pytest.mark.row("REL-19")
async def test_a_full_disk_holds_the_step_back_and_nothing_overtakes_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ledger_module, "RETRY_SECONDS", 0.0)
    store, ledger = make()
    first = ledger.log([note("1")])
    second = ledger.log([note("2")])
    store.futures[0].set_exception(StorageFull("full"))
    while len(store.batches) < 2:
        await turn()
    assert ledger.storage_full
    assert not first.done()
    assert store.batches[1] is store.batches[0], "the same step is tried again, unchanged"
    store.commit()
    await first
    assert not ledger.storage_full
    store.commit()
    await second
    assert [batch.first_seq for batch in store.batches] == [1, 1, 2]


@pytest.mark.row("REL-19")
async def test_whoever_asked_is_told_of_a_full_disk_at_once_and_it_is_done_later(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(ledger_module, "RETRY_SECONDS", 0.0)
    store, ledger = make()
    first = ledger.log([note("1")])
    second = ledger.log([note("2")], reply=StoredReply("k", "", b""))
    asking = [asyncio.ensure_future(ledger.answer(one)) for one in (first, second)]
    await turn()
    store.futures[0].set_exception(StorageFull("No room."))
    for one in asking:
        with pytest.raises(StorageFull, match=r"^No room\. It is done as soon as there is room"):
            await one
    assert not first.done()
    while len(store.batches) < 2:
        await turn()
    assert ledger.holds_reply("k")
    assert not ledger.holds_reply("other")
    store.commit()
    await ledger.answer(first)
    store.commit()
    await ledger.answer(second)
    assert not ledger.holds_reply("k")


@pytest.mark.row("REL-19")
async def test_a_session_that_is_only_begun_is_given_up_and_a_later_step_is_not(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(ledger_module, "RETRY_SECONDS", 0.0)
    store = SlowStore()
    begun = Ledger.new(store, "s", lambda: 0.0, once=True)  # pyright: ignore
    first, behind = begun.log([note("1")]), begun.log([note("2")])
    store.futures[0].set_exception(StorageFull("No room."))
    for waiting in (first, behind):
        with pytest.raises(StorageFull):
            await waiting
    await turn()
    assert len(store.batches) == 1, "it is not tried again"
    begun = Ledger.new(store, "s", lambda: 0.0, once=True)  # pyright: ignore
    first = begun.log([note("1")])
    store.commit()
    await first
    behind = begun.log([note("2")])
    store.futures[-1].set_exception(StorageFull("No room."))
    while len(store.batches) < 4:
        await turn()
    assert not behind.done()
    store.commit()
    await behind


async def test_a_broken_store_tells_everybody_who_waits():
    store, ledger = make()
    first, second = ledger.log([note("1")]), ledger.log([note("2")])
    store.futures[0].set_exception(RuntimeError("broken"))
    for waiting in (first, second):
        with pytest.raises(RuntimeError, match="broken"):
            await waiting


@pytest.mark.row("X2")
async def test_a_request_is_settled_the_moment_an_answer_is_logged():
    _, ledger = make()
    ledger.log([asked()])
    assert [one.request_id for one in ledger.open_requests()] == ["r"]
    ledger.log([PermissionAnswered("r", "allow", "ana")])
    assert ledger.open_requests() == []
    assert ledger.requests["r"].answered_by == "ana"


async def test_old_settled_requests_are_let_go_but_never_open_ones():
    _, ledger = make()
    ledger.log([asked("open")])
    for number in range(ledger_module.SETTLED_KEPT + 50):
        ledger.log([asked(str(number)), PermissionWithdrawn(str(number), "agent")])
    assert len(ledger.requests) == ledger_module.SETTLED_KEPT + 1
    assert [one.request_id for one in ledger.open_requests()] == ["open"]


async def test_an_answer_stands_when_the_agent_takes_the_request_back_too_late():
    _, ledger = make()
    ledger.log([asked()])
    ledger.log([PermissionAnswered("r", "allow", "ana")])
    asking = OpenRequests(ledger)
    assert not asking.follow(PermissionWithdrawn("r", "agent"))
    assert asking.withdraw_all("ended") == []


async def test_a_request_asked_twice_is_one_request():
    _, ledger = make()
    asking = OpenRequests(ledger)
    assert asking.follow(asked())
    assert not asking.follow(asked())
    assert asking.withdraw_all("interrupted") == [PermissionWithdrawn("r", "interrupted")]
