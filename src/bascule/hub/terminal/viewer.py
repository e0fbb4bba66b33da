"""The terminal socket: sends a viewer the tape at its own pace, takes its keys and its window's size."""

import asyncio
import contextlib
import logging

import msgspec

from bascule.api import terminal_messages as messages
from bascule.api.bodies import TerminalQuery
from bascule.api.pushes import Problem
from bascule.hub.api.call import Call
from bascule.hub.api.operation import Operation
from bascule.hub.api.responses import error_object
from bascule.hub.api.session_lookup import require_session
from bascule.hub.door.buckets import bad_messages
from bascule.hub.door.open_streams import Ending
from bascule.hub.door.roles import Forbidden, allows
from bascule.hub.live.positions import WORDS, offset_of
from bascule.hub.terminal.control_messages import AckMessage, ClaimMessage, ResizeMessage, decode_control
from bascule.hub.terminal.unread import Unread
from bascule.hub.wire.ws_protocol import BoundedSocket, tape_frame, text_frame
from bascule.link.tape import Arrangement, Participant, Tape, TapeCut
from bascule.model.codec import encode
from bascule.model.errors import BasculeError, InvalidInput, NotSupported, Refusal
from bascule.model.faults import report
from bascule.model.lifecycle import LIVE
from bascule.model.records import SessionRecord
from bascule.policy.replies import take_apart
from bascule.policy.screening import Screening, safe_length
from bascule.store.base import Committed

log = logging.getLogger("bascule.hub")

PIECE = 256 * 1024
AT_ONCE = 16 * 1024  # an echo or a screen: sent as soon as the tape grows. A flood waits for its task's turn
TAIL = 256 * 1024
WINDOW = 1024 * 1024  # ahead of what a viewer has acked
MAX_LAG = 2 * 1024 * 1024  # then it skips ahead
MAX_KEYS = 1024 * 1024 + 1024  # in one message: a paste of 1 MiB is taken whole or not at all
MAX_IN_FLIGHT = 256 * 1024  # keys the program has not read yet
DEFAULT_SIZE = (80, 24)
END_SECONDS = 5.0  # in which the session's end follows its terminal's


class TerminalViewer:
    def __init__(self, call: Call[TerminalQuery], record: SessionRecord) -> None:
        self.call, self.hub, self.actor = call, call.hub, call.by
        self.may_write = allows(call.holder, "session_write")
        self.line: BoundedSocket = call.scope["bascule.connection"]
        self._record = record
        query, epoch = call.body, call.hub.store.epoch
        self._wanted = offset_of(query.after)
        # Whether that is an offset of this run.
        self._is_mine = query.run in (None, record.started_seq) and query.epoch in (None, epoch)
        self._most_lag = MAX_LAG if call.body.lag is None else call.body.lag
        self._place = 0
        self._acked: int | None = None
        self._replies_from = 0
        self._screening = Screening(0)
        self._more = asyncio.Event()
        self._shown = False  # all there is was sent, and the pump waits for more
        self._is_behind = False  # a message waits for the program to read what was typed before
        self._acks = asyncio.Event()
        self._unread = Unread(self._on_unread)
        self._bad = bad_messages(call.hub.steady)
        self._arrangement: Arrangement | None = None
        self._participant: Participant | None = None
        self.tape: Tape

    async def run(self) -> None:
        record = self._record
        board = self.hub.switchboard
        await board.met()
        self.tape = await board.tapes(board.device_of(record.device)).open(
            record.session_id,
            record.started_seq,
            self._grew,
            self._delivered,
            self._wanted if self._is_mine else None,
            skips=self._most_lag > 0,
        )
        try:
            await self.call.receive()
            await self.call.send({"type": "websocket.accept"})
            await self._view()
        finally:
            self.tape.close()

    async def _view(self) -> None:
        leave = self.hub.open_streams.enter(self.call.holder, self._end)
        pump = asyncio.create_task(self._pump(), name=f"terminal {self._record.session_id}")
        try:
            await self._listen()
        finally:
            leave()
            self.line.take = None
            self._unread.close()
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)
            if self._participant is not None:
                self._participant.leave()

    # Output

    async def _pump(self) -> None:
        try:
            await self._begin()
            while await self._step():
                pass
            await self._say_ended()
        except BasculeError as error:
            self._say_error(error.refusal())
            self.line.end(1011, "the terminal can't be shown")
        except Exception as error:  # noqa: BLE001 - answered with an id, and nothing of the inside
            self._say_fault(error)

    def _say_fault(self, error: Exception) -> None:
        refusal = report(log, f"a viewer of terminal {self._record.session_id}", error)
        self._say_error(refusal)
        self.line.end(1011, f"fault {refusal.fields['fault']}")

    async def _begin(self) -> None:
        tape, query, epoch = self.tape, self.call.body, self.hub.store.epoch
        prelude, at_tail = b"", False
        if self._wanted is not None and self._is_mine and tape.base <= self._wanted <= tape.end:
            self._place = self._wanted
        else:
            if self._wanted is not None and (query.epoch not in (None, epoch) or self._wanted > tape.end):
                reason = "ahead" if query.epoch in (None, epoch) else "replaced"
                self._say(messages.TerminalReplaced(reason=reason, epoch=epoch, message=WORDS[reason]))
            tail = await tape.tail(TAIL if query.tail is None else query.tail)
            self._place, prelude, at_tail = tail.offset, tail.prelude, True
        record = self._record
        size = (record.cols or DEFAULT_SIZE[0], record.rows or DEFAULT_SIZE[1])
        # A program that has just begun may still wait for an answer to its first query.
        is_first = self.may_write and await tape.first_to_answer()
        self._screening = Screening(self._place if is_first else tape.end)
        self._say(
            messages.TerminalBegan(
                offset=self._place,
                base=tape.base,
                end=tape.end,
                run=self._record.started_seq,
                epoch=epoch,
                prelude=prelude.decode("ascii"),
                cols=size[0],
                rows=size[1],
                read_only=not self.may_write,
                over=tape.over,
            )
        )
        if not tape.over:
            self._participant = tape.join(self.actor, self.may_write, self)
            if at_tail and tape.end:
                self._participant.redraw()

    async def _step(self) -> bool:
        """Send one piece, or wait for one. False when the tape is over and all of it is sent."""
        await self._room()
        tape = self.tape
        if 0 < self._most_lag < tape.end - self._place:
            await self._skip()
        self._more.clear()
        over = tape.over
        if self._place >= tape.end and not over:
            await self._wait_for_more()
            return True
        try:
            data = self._read()
        except TapeCut:
            await self._skip()
            return True
        length = len(data) if over and len(data) < PIECE else safe_length(data)
        if length:
            self._send(data[:length])
        elif over and not data:
            return False
        else:
            await self._wait_for_more()
        return True

    async def _wait_for_more(self) -> None:
        self._shown = True
        await self._more.wait()
        self._shown = False

    def _grew(self) -> None:
        """Send an echo from here: waking the pump for it would cost a turn of the loop."""
        if not (self._shown and self._send_little()):
            self._shown = False
            self._more.set()

    def _send_little(self) -> bool:
        """False for whatever the pump has to see to: a flood, a slow viewer, the end, an error."""
        tape = self.tape
        waiting = tape.end - self._place
        most = min(AT_ONCE, self._most_lag or AT_ONCE)
        if not self._has_room or tape.over or waiting > most:
            return False
        try:
            data = tape.read(self._place, waiting)
            if len(data) < waiting:  # it goes on in the next file of the spool
                return False
            self._send(data[: safe_length(data)])
        except Exception:  # noqa: BLE001 - the pump meets it again, and reports it
            return False
        return True

    def _read(self) -> bytes:
        """The next piece; two when the first is all one unfinished sequence, cut where a spool file ends."""
        data = self.tape.read(self._place, PIECE)
        if data and not safe_length(data):
            data += self.tape.read(self._place + len(data), PIECE)
        return data

    def _send(self, data: bytes) -> None:
        if data:
            self.line.write_frame(tape_frame(self._place, self._screening.screened(data, self._place)))
            self._place += len(data)

    @property
    def _has_room(self) -> bool:
        acked = self._place if self._acked is None else self._acked
        return self.line.is_ready and self._place - acked <= WINDOW

    async def _room(self) -> None:
        """Wait until the viewer has read nearly all it was sent."""
        await self.line.ready()
        while self._acked is not None and self._place - self._acked > WINDOW:
            self._acks.clear()
            await self._acks.wait()

    async def _skip(self) -> None:
        """Skip to the tail, and say so: the viewer is too slow, or its offset has been trimmed."""
        tail = await self.tape.tail(TAIL)
        if tail.offset <= self._place:
            return
        prelude = tail.prelude.decode("ascii")
        self._say(messages.TerminalSkipped(since=self._place, to=tail.offset, prelude=prelude))
        self._place = tail.offset
        self._acked = None if self._acked is None else max(self._acked, tail.offset)
        self._screening = Screening(self.tape.end)
        if self._participant is not None:
            self._participant.redraw()

    async def _say_ended(self) -> None:
        record = await self._ended_record()
        self._say(
            messages.TerminalEnded(
                code=record.code, signal=record.signal, reason=record.end_reason, message=record.end_message
            )
        )
        await self.line.ready()
        self.line.end(1000, "the terminal has ended")

    async def _ended_record(self) -> SessionRecord:
        """With how it ended: over a link the end of the tape may overtake the end of the session."""
        session_id, over = self._record.session_id, asyncio.Event()

        def committed(commit: Committed) -> None:
            if commit.record.session_id == session_id and commit.record.phase not in LIVE:
                over.set()

        stop = self.hub.store.listen(committed)
        try:
            record = await require_session(self.hub, session_id)
            if record.phase in LIVE:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(END_SECONDS):
                        await over.wait()
                record = await require_session(self.hub, session_id)
            return record
        finally:
            stop()

    def arranged(self, arrangement: Arrangement) -> None:
        if self._arrangement != arrangement:
            self._arrangement = arrangement
            self._say(messages.TerminalSize(**msgspec.structs.asdict(arrangement)))

    def notify_typing(self, name: str) -> None:
        self._say(messages.TerminalTyping(by=name))

    def elected(self) -> None:
        # Queries before this offset are answered by the previous responder.
        self._replies_from = self._place

    def _say(self, message: messages.TerminalMessage) -> None:
        self.line.write_frame(text_frame(encode(message)))

    def _say_error(self, refusal: Refusal) -> None:
        self._say(Problem(error=error_object(refusal)))

    def _end(self, ending: Ending) -> None:
        self._say(ending.message)
        self.line.end(1012 if ending is Ending.SHUTDOWN else 1008, ending.value)

    # Input

    async def _listen(self) -> None:
        """Messages are taken where they arrive. Those that have to wait are queued, and come here."""
        self.line.take = self._take
        while (message := await self.call.receive())["type"] == "websocket.receive":
            self._is_behind = True
            await self._unread.below(MAX_IN_FLIGHT)
            text = message.get("text")
            self._hear((message.get("bytes") or b"") if text is None else text)
            self._is_behind = False

    def _take(self, message: str | bytes) -> bool:
        """False also before `begin`: who types that early is heard a turn of the loop later, after it."""
        if self._is_behind or self._participant is None or self._unread.over(MAX_IN_FLIGHT):
            return False
        self._hear(message)
        return True

    def _hear(self, message: str | bytes) -> None:
        try:
            if isinstance(message, str):
                self._control(message)
            else:
                self._typed(message)
        except BasculeError as error:
            self._say_error(error.refusal())
            if not self._bad.take():
                self.line.end(1008, "too many messages that are refused")
        except Exception as error:  # noqa: BLE001 - as above
            self._say_fault(error)

    def _control(self, text: str) -> None:
        if len(text) > 1024:
            raise InvalidInput("A control message is short.")
        match decode_control(text):
            case AckMessage(offset=offset):
                self._acked = min(max(offset, self._acked or 0), self._place)
                self._acks.set()
            case ResizeMessage(cols=cols, rows=rows):
                self._own_participant().resize(cols, rows)
            case ClaimMessage():
                self._own_participant().claim()

    def _typed(self, data: bytes) -> None:
        participant = self._own_participant()
        if len(data) > MAX_KEYS:
            raise InvalidInput("Send at most 1 MiB of keys in one message.")
        spoken = take_apart(data)
        if spoken.replies and self._may_reply():
            self._type(spoken.replies, reply=True)
        if spoken.keys:
            participant.typed()
            self._type(spoken.keys, reply=False)

    def _may_reply(self) -> bool:
        seen = self._place if self._acked is None else self._acked
        replies = self._arrangement is not None and self._arrangement.replies
        return replies and seen >= self._replies_from

    def _type(self, data: bytes, *, reply: bool) -> None:
        self._unread.add(len(data))
        self.tape.type(data, self.actor, reply=reply)

    def _delivered(self, length: int, error: BasculeError | None) -> None:
        self._unread.remove(length)
        if error is not None:
            self._say_error(error.refusal())

    def _on_unread(self, waiting: int) -> None:
        self._say(messages.TerminalUnread(waiting=waiting))

    def _own_participant(self) -> Participant:
        """Of a viewer who may type and resize."""
        if not self.may_write:
            words = "You may look at this terminal, but not type or resize: only the owner, operators and "
            raise Forbidden(words + "the session's own token may.")
        if self._participant is None:
            raise InvalidInput("Wait for `begin`; nothing is taken before it, nor after the end.")
        return self._participant


async def view_terminal(call: Call[TerminalQuery]) -> None:
    if call.record.driver != "terminal":
        raise NotSupported("This session is not a terminal.")
    await TerminalViewer(call, call.record).run()


OPERATIONS = (
    Operation(
        method="WS",
        path="/ws/terminal/{session_id}",
        need="session_terminal",
        body=TerminalQuery,
        run=view_terminal,
        summary="WebSocket for a terminal: output, keys and size",
        in_session=True,
        ticket=True,
    ),
)
