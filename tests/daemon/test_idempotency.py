"""Idempotency keys: a command with a key is carried out once, and its reply given as often as it is asked."""

import asyncio
from typing import Any

import pytest

from bascule.daemon.asks.idempotency import KEPT_SECONDS, MAX_KEPT, IdempotencyKeys, body_sha256, scoped
from bascule.link.git import StageFiles
from bascule.link.machine import PauseDevice
from bascule.model.codec import encode
from bascule.model.commands import (
    Actor,
    Envelope,
    Interrupt,
    PromptPlaced,
    SendPrompt,
    SessionCommand,
    StartSession,
)
from bascule.model.errors import InvalidInput, KeyReused
from bascule.store.base import StoredReply

ANA, BEN = Actor("ana", "grant-1", "127.0.0.1"), Actor("ben", "grant-2")


AnyEnvelope = Envelope[SessionCommand[Any]]


def prompt(
    text: str = "Hello", key: str | None = "k", by: Actor = ANA, session: str = "s1", sha256: str = ""
) -> AnyEnvelope:
    return Envelope(SendPrompt(session_id=session, text=text), by, key, sha256)


def start(session: str = "s1", key: str | None = "k") -> AnyEnvelope:
    return Envelope(StartSession(session_id=session, agent="demo", cwd="/code"), ANA, key)


def sha256_of(envelope: AnyEnvelope) -> str:
    return body_sha256(envelope.command)


def reply(n: int) -> bytes:
    return encode(PromptPlaced(prompt_id=str(n), state="sent"))


class Bench:
    """Keys over a store of replies, and an action that counts how often it is carried out."""

    def __init__(self, *stored: StoredReply) -> None:
        self._stored = {reply.key: reply for reply in stored}
        self.now = 0.0
        self.keys = IdempotencyKeys(self, lambda: self.now)  # pyright: ignore[reportArgumentType] - all it needs of a store
        self.done: list[AnyEnvelope] = []
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.go.set()
        self.fails: BaseException | None = None

    async def stored_reply(self, key: str) -> StoredReply | None:
        return self._stored.get(key)

    async def do(self, envelope: AnyEnvelope, **how: bool) -> bytes:
        return await self.keys.do(envelope, self._carry_out, **how)

    async def _carry_out(self, envelope: AnyEnvelope) -> PromptPlaced:
        self.done.append(envelope)
        self.begun.set()
        await self.go.wait()
        if self.fails is not None:
            raise self.fails
        return PromptPlaced(prompt_id=str(len(self.done)), state="sent")


async def started(bench: Bench) -> None:
    """Let both askers come as far as they can: the first to its action, the second to waiting for it."""
    await bench.begun.wait()
    await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (prompt(), prompt(), True),
        (prompt(), prompt(by=BEN), True),
        (prompt(), prompt(key="other"), True),
        (prompt(), prompt("Bye"), False),
        (prompt(), prompt(session="s2"), False),
        (start("s1"), start("s2"), True),  # the id of a new session is made anew for each try
        (prompt(), Envelope(Interrupt(session_id="s1"), ANA, "k"), False),
    ],
)
def test_two_commands_ask_the_same_whoever_asks_and_by_whatever_key(
    one: AnyEnvelope, other: AnyEnvelope, same: bool
):
    assert (sha256_of(one) == sha256_of(other)) is same


@pytest.mark.parametrize(
    ("envelope", "key"),
    [
        (prompt(), "s1:grant-1:k"),
        (prompt(by=BEN), "s1:grant-2:k"),
        (prompt(session="s2"), "s2:grant-1:k"),
        (start("s1"), "start:grant-1:k"),
        (start("s2"), "start:grant-1:k"),
        (Envelope(StageFiles(session_id="s1", paths=("a",)), ANA, "k"), "s1:grant-1:k"),
        (Envelope(PauseDevice(paused=True), ANA, "k"), "pause_device:grant-1:k"),
    ],
)
def test_a_key_belongs_to_who_asked_and_to_the_session(envelope: AnyEnvelope, key: str):
    assert scoped(envelope) == key


@pytest.mark.anyio
async def test_without_a_key_a_command_is_carried_out_each_time():
    bench = Bench()
    assert [await bench.do(prompt(key=None)) for _ in range(2)] == [reply(1), reply(2)]
    assert bench.done == [prompt(key=None)] * 2


@pytest.mark.anyio
async def test_the_action_gets_the_scoped_key_and_what_the_body_hashes_to():
    bench = Bench()
    assert await bench.do(prompt()) == reply(1)
    assert bench.done == [prompt(key="s1:grant-1:k", sha256=sha256_of(prompt()))]


@pytest.mark.anyio
async def test_a_reply_that_is_stored_is_given_again_and_nothing_is_done():
    bench = Bench(StoredReply("s1:grant-1:k", sha256_of(prompt()), b"the first time"))
    assert await bench.do(prompt()) == b"the first time"
    assert bench.done == []
    assert await bench.do(prompt(by=BEN)) == reply(1), "another person's key is another key"


@pytest.mark.anyio
async def test_a_stored_key_with_another_body_is_refused():
    bench = Bench(StoredReply("s1:grant-1:k", sha256_of(prompt()), b"the first time"))
    with pytest.raises(KeyReused) as refused:
        await bench.do(prompt("Bye"))
    assert refused.value.fields == {"key": "k"}
    assert bench.done == []


@pytest.mark.anyio
@pytest.mark.parametrize("stored", [True, False])
async def test_an_answer_is_kept_for_as_long_as_a_hub_may_repeat_its_command(stored: bool):
    bench = Bench()
    assert [await bench.do(prompt(), stored=stored) for _ in range(2)] == [reply(1), reply(1)]
    with pytest.raises(KeyReused):
        await bench.do(prompt("Bye"), stored=stored)
    assert await bench.do(prompt(key="other"), stored=stored) == reply(2)
    bench.now += KEPT_SECONDS
    assert await bench.do(prompt(), stored=stored) == reply(3)


@pytest.mark.anyio
async def test_an_answer_that_changes_with_time_is_not_kept():
    bench = Bench()
    assert [await bench.do(prompt(), kept=False) for _ in range(2)] == [reply(1), reply(2)]


@pytest.mark.anyio
async def test_only_so_many_answers_are_kept_and_the_oldest_goes_first():
    bench = Bench()
    for n in range(MAX_KEPT + 1):
        await bench.do(prompt(key=str(n)))
    assert await bench.do(prompt(key="1")) == reply(2)
    assert await bench.do(prompt(key="0")) == reply(MAX_KEPT + 2)


@pytest.mark.anyio
async def test_two_at_a_time_are_carried_out_once_and_answered_alike():
    bench = Bench()
    bench.go.clear()
    both = [asyncio.create_task(bench.do(prompt())) for _ in range(2)]
    await started(bench)
    with pytest.raises(KeyReused):
        await bench.do(prompt("Bye"))
    bench.go.set()
    assert await asyncio.gather(*both) == [reply(1), reply(1)]
    assert len(bench.done) == 1


@pytest.mark.anyio
async def test_a_failure_is_told_to_both_and_the_next_try_is_carried_out():
    bench = Bench()
    bench.go.clear()
    bench.fails = InvalidInput("no")
    both = [asyncio.create_task(bench.do(prompt())) for _ in range(2)]
    await started(bench)
    bench.go.set()
    told = await asyncio.gather(*both, return_exceptions=True)
    assert [type(one) for one in told] == [InvalidInput, InvalidInput]
    bench.fails = None
    assert await bench.do(prompt()) == reply(2)


@pytest.mark.anyio
async def test_a_second_who_gives_up_waiting_stops_nothing():
    bench = Bench()
    bench.go.clear()
    first, second = (asyncio.create_task(bench.do(prompt())) for _ in range(2))
    await started(bench)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    bench.go.set()
    assert await first == reply(1)


@pytest.mark.anyio
async def test_a_first_that_is_cancelled_cancels_the_second_too():
    bench = Bench()
    bench.go.clear()
    first, second = (asyncio.create_task(bench.do(prompt())) for _ in range(2))
    await started(bench)
    first.cancel()
    told = await asyncio.gather(first, second, return_exceptions=True)
    assert [type(one) for one in told] == [asyncio.CancelledError, asyncio.CancelledError]
    bench.go.set()
    assert await bench.do(prompt()) == reply(2)


async def test_commands_for_one_session_begin_in_the_order_they_came():
    """The look-ups of keys are made by several threads, and the first may be the last to come back."""
    bench = Bench()
    slow = asyncio.Event()

    async def stored_reply(key: str) -> StoredReply | None:
        if key.endswith(":first"):
            await slow.wait()
        return None

    bench.stored_reply = stored_reply
    commands = [prompt("one", "first"), prompt("two", "second"), prompt("three", "third")]
    waiting = [asyncio.create_task(bench.do(each)) for each in commands]
    for _ in range(5):  # each comes as far as it can
        await asyncio.sleep(0)
    elsewhere = await bench.do(prompt("other", session="s2"))
    assert elsewhere == reply(1)  # another session waits for nobody
    assert not any(task.done() for task in waiting)
    slow.set()
    await asyncio.gather(*waiting)
    sent = [each.command for each in bench.done]
    assert [each.text for each in sent if isinstance(each, SendPrompt)] == ["other", "one", "two", "three"]


async def test_a_command_whose_asker_went_away_holds_up_nobody():
    bench = Bench()
    slow = asyncio.Event()

    async def stored_reply(key: str) -> StoredReply | None:
        if key.endswith(":first"):
            await slow.wait()
        return None

    bench.stored_reply = stored_reply
    first = asyncio.create_task(bench.do(prompt("one", "first")))
    second = asyncio.create_task(bench.do(prompt("two", "second")))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == reply(1)
