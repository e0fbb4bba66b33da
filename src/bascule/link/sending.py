"""Send queues of a line, by priority; large messages leave in parts."""

from collections import deque
from collections.abc import Iterator

from bascule.link.frames import Ping
from bascule.link.pace import Pace
from bascule.link.priorities import Key, Priority
from bascule.link.wire import HEADER, Kind, encode

# However much there is to send of what is more urgent (but for URGENT), every seventeenth message is of what
# has waited: a terminal that prints without end must not keep all rows and replies from coming.
PATIENCE = 16
_LESS_URGENT = (Priority.TAPE, Priority.LIVE, Priority.LARGE, Priority.CATCHING_UP)


class Queued:
    """A message that waits; `sent` of its bytes have left, as parts of the frame with this `number`."""

    __slots__ = ("is_text", "keys", "message", "number", "priority", "sent")

    def __init__(self, message: bytes, is_text: bool, priority: Priority, keys: tuple[Key, ...]) -> None:
        self.message = message
        self.is_text = is_text
        self.priority = priority
        self.keys = keys
        self.number = 0
        self.sent = 0


class TapeTurns:
    """The queue of terminal output: each tape's in order, and one message of each tape in turn."""

    def __init__(self) -> None:
        self._tapes: dict[int, deque[Queued]] = {}
        self._turns: deque[int] = deque()

    def __bool__(self) -> bool:
        return bool(self._turns)

    def append(self, tape: int, queued: Queued) -> None:
        waiting = self._tapes.get(tape)
        if waiting is None:
            waiting = self._tapes[tape] = deque()
            self._turns.append(tape)
        waiting.append(queued)

    def first(self) -> Queued:
        return self._tapes[self._turns[0]][0]

    def popleft(self) -> None:
        tape = self._turns.popleft()
        waiting = self._tapes[tape]
        waiting.popleft()
        if waiting:
            self._turns.append(tape)
        else:
            del self._tapes[tape]


class SendQueue:
    """`part` is the most bytes of a message that is sent whole; larger ones are sent in parts.

    Without a `pace` everything may be under way at once.
    """

    def __init__(self, part: int, pace: Pace | None = None) -> None:
        self._part = part
        self._pace = pace
        self._has_room = None if pace is None else pace.has_room
        self._tapes = TapeTurns()
        self._queues: tuple[deque[Queued], ...] = tuple(deque() for _ in Priority)
        self._held: dict[Key, list[int]] = {}  # priority and number of those that wait with this key
        self._passed = [0] * len(Priority)  # messages that were sent while one of this priority waited
        self._cut = 0
        self.waiting = [0] * len(Priority)  # bytes

    def add_output(self, tape: int, message: bytes, *, is_text: bool) -> None:
        """Terminal output, and the frames that must keep their place in it."""
        self._tapes.append(tape, Queued(message, is_text, Priority.TAPE, ()))
        self.waiting[Priority.TAPE] += len(message)

    def add(self, message: bytes, is_text: bool, priority: Priority, keys: tuple[Key, ...]) -> None:
        if keys and self._held:
            priority = self._behind(priority, keys)
        if priority != Priority.URGENT:
            for key in keys:
                self._held.setdefault(key, [priority, 0])[1] += 1
        self._queues[priority].append(Queued(message, is_text, priority, keys))
        self.waiting[priority] += len(message)

    def _behind(self, priority: Priority, keys: tuple[Key, ...]) -> Priority:
        """All that waits with one key has one priority: then it leaves in order. What is URGENT has left by
        the time another priority's turn comes, and needs no such care."""
        for key in keys:
            held = self._held.get(key)
            if held is not None:
                return Priority(held[0])
        return priority

    @property
    def part(self) -> int:
        return self._part if self._pace is None else min(self._part, self._pace.part)

    def take(self, room: int) -> Iterator[bytes | str]:
        """The next messages that may be under way: no further one once they have `room` bytes."""
        while room > 0:
            message = self._next()
            if message is None:
                return
            room -= len(message)
            yield message

    def _next(self) -> bytes | str | None:
        pace = self._pace
        if pace is None or self._queues[0]:
            return self._of(self._whose_turn())
        number = pace.ping() if pace.wants_ping and any(self.waiting) else None
        if number is None:
            priority = self._whose_turn()
            message = self._of(priority)
            if message is not None and priority is not None:
                pace.sent(priority, len(message))
                return message
            number = pace.ping(full=True) if any(self.waiting) else None
        return None if number is None else encode(Ping(number)).decode()

    def _of(self, priority: Priority | None) -> bytes | str | None:
        if priority is None:
            return None
        queue = self._queues[priority]
        queued = self._tapes.first() if priority == Priority.TAPE else queue[0]
        message = self._cut_from(queued)
        if queued.sent == len(queued.message):
            if priority == Priority.TAPE:
                self._tapes.popleft()
            else:
                queue.popleft()
            self._release(queued)
        return message

    def _whose_turn(self) -> Priority | None:
        if self._queues[Priority.URGENT]:
            return Priority.URGENT
        has_room = self._has_room
        waiting = [one for one in _LESS_URGENT if self.waiting[one] and (has_room is None or has_room(one))]
        if not waiting:
            return None
        chosen = waiting[0]
        if len(waiting) > 1:
            chosen = next((one for one in waiting if self._passed[one] >= PATIENCE), chosen)
            for one in waiting:
                self._passed[one] += 1
        self._passed[chosen] = 0
        return chosen

    def _cut_from(self, queued: Queued) -> bytes | str:
        message, begin, part = queued.message, queued.sent, self.part
        is_piece = queued.priority == Priority.TAPE and not queued.is_text  # cut when it was queued
        if is_piece or (begin == 0 and len(message) <= part):
            queued.sent = len(message)
            self.waiting[queued.priority] -= len(message)
            return message.decode() if queued.is_text else message
        if begin == 0:
            self._cut = queued.number = (self._cut + 1) % 2**32
        end = min(begin + part, len(message))
        queued.sent = end
        self.waiting[queued.priority] -= end - begin
        kind = Kind.LAST_PART if end == len(message) else Kind.PART
        return HEADER.pack(kind, queued.number, begin) + message[begin:end]

    def _release(self, queued: Queued) -> None:
        if queued.priority == Priority.URGENT:
            return
        for key in queued.keys:
            held = self._held[key]
            held[1] -= 1
            if not held[1]:
                del self._held[key]
