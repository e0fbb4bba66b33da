"""One agent process that several sessions share, and each session's slot on it.

Every session reads the whole of the process's output for itself, from its own committed offset, and keeps
what is its own. So nothing here is stored: what a session needs after a crash is in its own log.
"""

import asyncio
import hashlib
import secrets
from collections.abc import Callable
from typing import Protocol

from bascule.drivers.acp.state import ID_RANGE, Greeting, Joining
from bascule.drivers.writes import FOR_ALL
from bascule.model.errors import HostError, Refusal
from bascule.model.records import Write
from bascule.session.agent import AgentProcess, Exit, SpawnPlan

MAX_WRITE_ID = 128  # the keeper's
MAX_BASES = 2**30  # times ID_RANGE is still a number that every JSON reader holds


class Occupant(Protocol):
    """The interface of the session in a slot."""

    def output(self, end: int | None = None, err_end: int | None = None) -> None: ...

    def exited(self, exit: Exit) -> None: ...

    @property
    def place(self) -> tuple[int, bool]:
        """The offset it has read up to, and whether that is inside a line that is being skipped."""
        ...

    @property
    def conversation(self) -> str | None:
        """The agent's own name for what it talks about."""
        ...


class SharedProcess:
    """Calls `changed` when the process comes up, exits, or has no session left."""

    def __init__(
        self,
        name: str,
        agent: str,
        title: str,
        key: str,
        process: Callable[[], AgentProcess],
        changed: Callable[["SharedProcess"], None],
    ) -> None:
        self.name = name
        self.agent = agent
        self.title = title
        self.key = key
        self.greeting: Greeting | None = None
        self.exit: Exit | None = None
        self.failure = ""  # why it was given up, in words
        self.closing = False  # it was asked to end, or is being stopped
        self.slots: dict[str, Slot] = {}
        self.orphans: list[str] = []  # sessions that lost it and can be taken up again
        self.on_problem: Callable[[str, Refusal], None] = lambda _, __: None  # a session's, for people
        self.outcome = asyncio.Event()  # it came up, or never will
        self._process = process
        self._changed = changed
        self._starting: asyncio.TimerHandle | None = None
        self._stopping: asyncio.Task[None] | None = None

    # Who is on it

    def add(self, session_id: str, out: int, err: int, *, leaving: bool = False) -> "Slot":
        slot = Slot(self, session_id, self._process(), out, err, leaving=leaving)
        self.slots[session_id] = slot
        self._changed(self)
        return slot

    def accepts(self, conversation: str | None) -> bool:
        """Whether another session may share this process. Two on one conversation would each receive the
        other's messages."""
        if self.closing or self.exit is not None or not any(not slot.leaving for slot in self.slots.values()):
            return False
        known = {slot.occupant.conversation for slot in self.slots.values() if slot.occupant is not None}
        return conversation is None or conversation not in known

    def joining(self) -> tuple[Joining, int, int]:
        """What the next session needs to join, and the stdout and stderr offsets it reads from."""
        occupants = [slot.occupant for slot in self.slots.values() if slot.occupant is not None]
        if not occupants:
            return Joining(greeting=self.greeting), 0, 0
        offset, skipping = min(occupant.place for occupant in occupants)
        err = max(slot.marks[1] for slot in self.slots.values())
        base = (1 + secrets.randbelow(MAX_BASES)) * ID_RANGE
        return Joining(base, self.greeting, skipping), offset, err

    def release(self, slot: "Slot") -> bool:
        """Frees the slot. True if it was the last: the process can end."""
        if self.slots.get(slot.session_id) is slot:
            del self.slots[slot.session_id]
        self.tell_position()
        return not self.slots

    def is_last(self, slot: "Slot") -> bool:
        return not any(one is not slot and not one.leaving for one in self.slots.values())

    def empty(self) -> None:
        self.outcome.set()
        self._cancel_start_limit()
        self._changed(self)

    # What becomes of the process

    def expect_greeting(self, seconds: float) -> None:
        """It must answer the first words within this time; zero is never."""
        if self.greeting is None and seconds > 0 and self._starting is None:
            words = f"it did not answer within {seconds:g} s"
            self._starting = asyncio.get_running_loop().call_later(seconds, self.give_up, words)

    def greeted(self, greeting: Greeting) -> None:
        if self.greeting is None:
            self.greeting = greeting
            self.outcome.set()
            self._cancel_start_limit()
            self._changed(self)

    def give_up(self, why: str) -> None:
        """It is as good as gone: stop it, and let its exit tell everybody."""
        if self.exit is None and not self.failure:
            self.failure = why
            self.closing = True
            self._cancel_start_limit()
            self._stopping = asyncio.create_task(self._stop(), name=f"stop {self.name}")

    async def _stop(self) -> None:
        process = self._process()
        try:
            await process.kill()
        except HostError:
            return  # it is gone, or the keeper is: either way its exit is reported
        finally:
            process.close()

    def output(self, end: int | None = None, err_end: int | None = None) -> None:
        for slot in list(self.slots.values()):
            if slot.occupant is not None:
                slot.occupant.output(end, err_end)

    def exited(self, exit: Exit) -> None:
        self.exit = exit
        self._cancel_start_limit()
        for slot in list(self.slots.values()):
            if slot.occupant is not None:
                slot.occupant.exited(exit)
        self._changed(self)

    def _cancel_start_limit(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
            self._starting = None

    def tell_position(self) -> None:
        """The keeper may forget only what everybody has."""
        slots = list(self.slots.values())
        if slots:
            marks = zip(*(slot.marks for slot in slots), strict=True)
            out, err, trim_out, trim_err = (min(mark) for mark in marks)
            slots[0].process.position(out=out, err=err, trim_out=trim_out, trim_err=trim_err)


class Slot:
    """`AgentProcess` for one of several sessions."""

    def __init__(
        self,
        connection: SharedProcess,
        session_id: str,
        process: AgentProcess,
        out: int,
        err: int,
        *,
        leaving: bool,
    ) -> None:
        self.connection = connection
        self.session_id = session_id
        self.process = process
        self.occupant: Occupant | None = None
        self.leaving = leaving
        self._gone = False
        self.marks = (out, err, out, err)

    @property
    def alone(self) -> bool:
        """Nobody else will use the process."""
        return self.connection.is_last(self)

    async def spawn(self, plan: SpawnPlan) -> int:
        return await self.process.spawn(plan)

    async def write(self, write: Write) -> None:
        await self.process.write(Write(on_the_line(self.session_id, write.write_id), write.data))

    async def unread(self) -> int | None:
        return await self.process.unread()

    async def end(self) -> None:
        """The last one out ends the process."""
        self.leaving = True
        if self.alone:
            self.connection.closing = True
            await self.process.end()

    async def kill(self) -> None:
        await self.process.kill()

    async def forget(self) -> None:
        if self._gone:
            return
        self._gone = True
        if self.connection.release(self):
            if self.connection.exit is not None:
                await self.process.forget()
            self.connection.empty()

    def read_out(self, offset: int, limit: int) -> bytes:
        return self.process.read_out(offset, limit)

    def read_err(self, offset: int, limit: int) -> bytes:
        return self.process.read_err(offset, limit)

    def position(self, *, out: int, err: int, trim_out: int, trim_err: int) -> None:
        self.marks = (out, err, trim_out, trim_err)
        self.connection.tell_position()

    def close(self) -> None:
        self.process.close()


def on_the_line(session_id: str, write_id: str) -> str:
    """Each session counts its writes for itself; on the line they must differ."""
    if write_id.startswith(FOR_ALL):
        return write_id
    name = f"{session_id}:{write_id}"
    return name if len(name) <= MAX_WRITE_ID else hashlib.sha256(name.encode()).hexdigest()
