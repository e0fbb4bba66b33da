"""The slots of one process: who may sit, where they begin, what may be forgotten, who ends it."""

import pytest

from bascule.drivers.acp.state import ID_RANGE, Greeting
from bascule.model.records import Write
from bascule.session.agent import Exit
from bascule.session.shared_process import SharedProcess, Slot

pytestmark = pytest.mark.anyio


class Process:
    def __init__(self) -> None:
        self.done: list[object] = []

    async def write(self, write: Write) -> None:
        self.done.append(write.write_id)

    async def end(self) -> None:
        self.done.append("end")

    async def kill(self) -> None:
        self.done.append("kill")

    async def forget(self) -> None:
        self.done.append("forget")

    def position(self, *, out: int, err: int, trim_out: int, trim_err: int) -> None:
        self.done.append((out, err, trim_out, trim_err))

    def close(self) -> None:
        pass


class Occupant:
    def __init__(self, place: int, conversation: str | None = None) -> None:
        self.place = (place, False)
        self.conversation = conversation
        self.exits: list[Exit] = []

    def output(self, end: int | None = None, err_end: int | None = None) -> None:
        pass

    def exited(self, exit: Exit) -> None:
        self.exits.append(exit)


def connection() -> tuple[SharedProcess, Process, list[int]]:
    process, changes = Process(), []
    made = SharedProcess(
        "it-1",
        "it",
        "It",
        "key",
        lambda: process,
        lambda one: changes.append(len(one.slots)),  # pyright: ignore
    )
    return made, process, changes


def seated(at: SharedProcess, session: str, place: int, conversation: str | None = None) -> Slot:
    slot = at.add(session, place, 0)
    slot.occupant = Occupant(place, conversation)
    return slot


async def test_the_next_one_begins_where_the_slowest_is_and_shares_no_request_id():
    at, _, _ = connection()
    first, offset, _ = at.joining()
    assert (first.id_base, first.greeting, offset) == (0, None, 0)
    seated(at, "a", 500)
    seated(at, "b", 300)
    at.greeted(Greeting("1"))
    bases = set()
    for _ in range(50):
        joining, offset, _ = at.joining()
        assert (offset, joining.greeting) == (300, Greeting("1"))
        assert joining.id_base % ID_RANGE == 0
        assert 0 < joining.id_base < 2**53 - ID_RANGE
        bases.add(joining.id_base)
    assert len(bases) == 50


async def test_nobody_sits_down_where_the_same_conversation_is_held_or_all_are_leaving():
    at, _, _ = connection()
    slot = seated(at, "a", 0, "talk")
    assert at.accepts(None)
    assert at.accepts("other")
    assert not at.accepts("talk")
    slot.leaving = True
    assert not at.accepts(None)
    seated(at, "b", 0)
    assert at.accepts(None)
    at.exited(Exit(1, None, 0, 0))
    assert not at.accepts(None)


async def test_writes_differ_on_the_line_except_those_that_are_for_all():
    at, process, _ = connection()
    one, two = seated(at, "a", 0), seated(at, "b", 0)
    for slot in (one, two):
        await slot.write(Write("prompt:1", b"x"))
        await slot.write(Write("@initialize", b"x"))
        await slot.write(Write("answer:" + "y" * 200, b"x"))
    ids = [str(one) for one in process.done]
    assert [ids.count(one) for one in ("a:prompt:1", "b:prompt:1", "@initialize")] == [1, 1, 2]
    assert len(set(ids)) == 5
    assert all(len(one) <= 128 for one in ids)


async def test_the_keeper_may_forget_only_what_everybody_has():
    at, process, _ = connection()
    one, two = seated(at, "a", 100), seated(at, "b", 100)
    one.position(out=900, err=5, trim_out=800, trim_err=5)
    assert process.done[-1] == (100, 0, 100, 0)
    two.position(out=700, err=9, trim_out=600, trim_err=9)
    assert process.done[-1] == (700, 5, 600, 5)
    await two.forget()
    assert process.done[-1] == (900, 5, 800, 5)


@pytest.mark.row("A3")
async def test_the_last_session_to_leave_ends_the_shared_process_and_its_spool():
    at, process, changes = connection()
    one, two = seated(at, "a", 0), seated(at, "b", 0)
    await one.end()
    assert process.done == []
    await one.forget()
    assert "forget" not in process.done
    await two.end()
    assert process.done[-1] == "end"
    assert at.closing
    at.exited(Exit(0, None, 0, 0))
    await two.forget()
    await two.forget()
    assert process.done.count("forget") == 1
    assert changes[-1] == 0


async def test_a_process_that_is_given_up_is_stopped_once_and_tells_its_sessions_by_its_exit():
    at, process, _ = connection()
    slot = seated(at, "a", 0)
    at.expect_greeting(3600)
    at.give_up("it said nothing")
    at.give_up("something else")
    assert at._stopping is not None  # pyright: ignore[reportPrivateUsage]
    await at._stopping  # pyright: ignore[reportPrivateUsage]
    assert process.done == ["kill"]
    assert at.failure == "it said nothing"
    at.exited(Exit(None, 9, 0, 0))
    assert isinstance(slot.occupant, Occupant)
    assert slot.occupant.exits == [Exit(None, 9, 0, 0)]
