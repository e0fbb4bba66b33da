"""Two lines over a network that delays, cuts and doubles connections, with a log that is copied across.

Everything is chosen by one seed: `run(seed)` ends, or raises `Broken` with what does not hold. The source and
the sink are toys: a log in memory with a mark for what would survive a crash.
"""

import random
from collections import deque

from msgspec import Raw
from tests.link.conversation import ANA

from bascule.link.frames import (
    Ack,
    Ask,
    DaemonConnected,
    Ping,
    Pong,
    Reply,
    Resume,
    SessionOutput,
    Welcome,
)
from bascule.link.line import Line
from bascule.link.machine import ListAgents
from bascule.link.pace import FIRST_WINDOW, LEAST_WINDOW, Pace
from bascule.link.priorities import Priority
from bascule.link.wire import LineError
from bascule.model.commands import SendPrompt

SESSIONS = ("s1", "s2")
WINDOW = 600  # bytes of rows that may be sent beyond what was acknowledged
BATCH = 200  # bytes of rows in one frame
PART = 120  # so that ordinary frames come in parts here


class Broken(AssertionError):
    """An invariant that does not hold."""


class Pipe:
    """A connection: messages under way in both directions, in order. A cut loses them."""

    def __init__(self, daemon: Line, hub: Line) -> None:
        self.lines = {"daemon": daemon, "hub": hub}
        self.to: dict[str, deque[bytes | str]] = {"daemon": deque(), "hub": deque()}
        self.is_open = True


class Source:
    """A daemon: its logs on disk, and for each connection how far it has sent."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.logs: dict[str, list[bytes]] = {name: [] for name in SESSIONS}
        self.durable = dict.fromkeys(SESSIONS, 0)
        self.attempt = 0
        self._written = 0
        self.forget()

    def forget(self) -> None:
        """What a new connection begins with."""
        self.pipe: Pipe | None = None
        self.sent: dict[str, int] = {}
        self.acked: dict[str, int] = {}
        self._heads: dict[str, tuple[int, int]] = {}
        self._resumed_at: dict[str, int] = {}

    def write(self) -> None:
        self._written += 1
        filling = self._rng.choice((b"", b"-" * 30, b"=" * 400, b"+" * 1500))
        self.logs[self._rng.choice(SESSIONS)].append(b'"%d%s"' % (self._written, filling))

    def sync(self) -> None:
        self.durable = {name: len(log) for name, log in self.logs.items()}

    def crash(self) -> None:
        for name, log in self.logs.items():
            del log[self.durable[name] :]
        self.forget()

    def receive(self, line: Line, frame: object) -> None:
        match frame:
            case Resume():
                self._heads |= frame.heads
                if frame.last:
                    self.sent = {name: self._heads.get(name, (0, 0))[0] for name in SESSIONS}
                    self.acked = dict(self.sent)
                    self._resumed_at = dict(self.durable)
            case Ack():
                for name, head in frame.heads.items():
                    if head > self.durable[name]:
                        raise Broken(f"{name} was acknowledged up to {head}, beyond {self.durable[name]}")
                    # Perhaps beyond what was sent on this connection: the sink had it from the one before.
                    self.acked[name] = max(head, self.acked[name])
                    self.sent[name] = max(head, self.sent[name])
            case Ask():
                line.send(Reply(frame.ask, Raw(b'"%s"' % (b"a" * self._rng.choice((1, 300, 5000))))))
            case _:
                pass

    def unacknowledged(self) -> int:
        return sum(
            len(row) for name, head in self.sent.items() for row in self.logs[name][self.acked[name] : head]
        )

    def send_rows(self, line: Line) -> None:
        for name in self.sent:
            while self.sent[name] < self.durable[name] and self.unacknowledged() < WINDOW:
                first = self.sent[name]
                rows: list[Raw] = []
                size = 0
                for row in self.logs[name][first : self.durable[name]]:
                    rows.append(Raw(row))
                    size += len(row)
                    if size > BATCH:
                        break
                self.sent[name] = first + len(rows)
                is_old = first < self._resumed_at[name]
                priority = Priority.CATCHING_UP if is_old else Priority.LIVE
                line.send(SessionOutput(name, first + 1, tuple(rows)), priority)


class Sink:
    """A hub: its copies, of which `durable` would survive a crash, and the asks that wait for an answer."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.logs: dict[str, list[bytes]] = {name: [] for name in SESSIONS}
        self.durable = dict.fromkeys(SESSIONS, 0)
        self.epoch = 0
        self.attempt = 0
        self.current: Pipe | None = None
        self.waiting: set[int] = set()
        self.outcomes: dict[int, list[str]] = {}
        self.skipped = 0

    def crash(self) -> None:
        for name, log in self.logs.items():
            del log[self.durable[name] :]
        self.lose()

    def restore(self) -> None:
        """An older backup is put in the place of the database."""
        self.crash()
        for name, log in self.logs.items():
            del log[self._rng.randint(0, len(log)) :]
            self.durable[name] = len(log)

    def lose(self) -> None:
        """The current connection is gone: whoever waits for an answer on it is told so."""
        self.current = None
        for ask in self.waiting:
            self.outcomes[ask].append("failed")
        self.waiting.clear()

    def receive(self, pipe: Pipe, frame: object) -> None:
        line = pipe.lines["hub"]
        if isinstance(frame, DaemonConnected):
            if frame.attempt < self.attempt:
                return  # a hello that was under way while the daemon connected once more
            self.attempt = frame.attempt
            self.lose()
            self.epoch += 1
            self.current = pipe
            line.send(Welcome(1, "h", "hub", "store", self.epoch, 0.0, WINDOW))
            # Only what is safe: what was copied beyond that comes once more, and must be skipped.
            heads = {name: (head, 0) for name, head in self.durable.items()}
            line.send(Resume({"s1": heads["s1"]}, last=False))
            line.send(Resume(heads))
        elif pipe is self.current:
            self._take(frame)

    def _take(self, frame: object) -> None:
        match frame:
            case SessionOutput():
                log = self.logs[frame.session_id]
                if frame.first > len(log) + 1:
                    raise Broken(f"a gap: row {frame.first} after {len(log)} in {frame.session_id}")
                known = len(log) + 1 - frame.first
                self.skipped += min(known, len(frame.rows))
                log += [bytes(row) for row in frame.rows[known:]]
            case Reply() if frame.ask in self.waiting:
                self.waiting.remove(frame.ask)
                self.outcomes[frame.ask].append("answered")
            case Reply():
                raise Broken(f"ask {frame.ask} was answered though nobody waits for it")
            case _:
                pass

    def ask(self) -> None:
        number = len(self.outcomes) + 1
        self.outcomes[number] = []
        if self.current is None:
            self.outcomes[number].append("failed")
            return
        self.waiting.add(number)
        text = "t" * self._rng.choice((1, 4500))
        command = self._rng.choice((ListAgents(), SendPrompt(session_id="s1", text=text)))
        self.current.lines["hub"].send(Ask(number, command, ANA))

    def barrier(self) -> None:
        """What was copied is on disk now, and acknowledged."""
        self.durable = {name: len(log) for name, log in self.logs.items()}
        if self.current is not None:
            self.current.lines["hub"].send(Ack(dict(self.durable), sum(self.durable.values())))


class World:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.source = Source(self.rng)
        self.sink = Sink(self.rng)
        self.pipes: list[Pipe] = []
        self.cuts = 0
        self.now = 0.0

    def connect(self) -> None:
        """A new connection; the one before may live on for a while, unnoticed."""
        pipe = Pipe(Line("daemon", part=PART, pace=self.pace()), Line("hub", part=PART, pace=self.pace()))
        self.pipes.append(pipe)
        self.source.forget()
        self.source.attempt += 1
        self.source.pipe = pipe
        pipe.lines["daemon"].send(DaemonConnected("d", "laptop", "1", attempt=self.source.attempt))

    def pace(self) -> Pace:
        """Perhaps with a window that is soon full: what follows waits for pongs."""
        return Pace(lambda: self.now, self.rng.choice((LEAST_WINDOW, FIRST_WINDOW)))

    def cut(self, pipe: Pipe) -> None:
        """Some of what is under way arrives, the rest is lost, perhaps in the midst of a frame."""
        self.cuts += 1
        for side in ("daemon", "hub"):
            self.deliver(pipe, side, self.rng.randint(0, len(pipe.to[side])))
        self.close(pipe)

    def close(self, pipe: Pipe) -> None:
        pipe.is_open = False
        self.pipes = [one for one in self.pipes if one is not pipe]
        if self.source.pipe is pipe:
            self.source.forget()
        if self.sink.current is pipe:
            self.sink.lose()

    def crash_source(self) -> None:
        for pipe in list(self.pipes):
            self.cut(pipe)
        self.source.crash()

    def crash_sink(self, *, restore: bool = False) -> None:
        for pipe in list(self.pipes):
            self.cut(pipe)
        self.sink.restore() if restore else self.sink.crash()

    def pump(self, pipe: Pipe, side: str) -> None:
        """One side gives the network some of what waits."""
        line = pipe.lines[side]
        if side == "daemon" and self.source.pipe is pipe:
            self.source.send_rows(line)
        pipe.to["hub" if side == "daemon" else "daemon"].extend(line.take(self.rng.choice((1, 500, 6000))))

    def deliver(self, pipe: Pipe, side: str, count: int) -> None:
        arriving = pipe.to[side]
        for _ in range(min(count, len(arriving))):
            try:
                frames = pipe.lines[side].receive(arriving.popleft())
            except LineError as error:
                raise Broken(f"the {side} could not read what it was sent: {error.message}") from error
            for frame in frames:
                if isinstance(frame, Ping):
                    pipe.lines[side].send(Pong(frame.n))
                elif side == "hub":
                    self.sink.receive(pipe, frame)
                elif self.source.pipe is pipe:
                    self.source.receive(pipe.lines[side], frame)
        self.check()

    def step(self) -> None:
        self.now += self.rng.choice((0.001, 0.01, 1.0))
        chance = self.rng.random()
        pipe = self.rng.choice(self.pipes) if self.pipes else None
        if chance < 0.15:
            self.source.write()
        elif chance < 0.25:
            self.source.sync()
        elif pipe is None or chance < 0.26:
            self.connect()
        elif chance < 0.32:
            self.sink.ask()
        elif chance < 0.38:
            self.sink.barrier()
        elif chance < 0.40:
            self.cut(pipe)
        elif chance < 0.41:
            self.crash_source()
        elif chance < 0.42:
            self.crash_sink(restore=chance < 0.414)
        elif chance < 0.7:
            self.pump(pipe, "daemon")
            self.pump(pipe, "hub")
        else:
            self.deliver(pipe, "daemon", self.rng.choice((0, 1, 5, 50)))
            self.deliver(pipe, "hub", self.rng.choice((0, 1, 5, 50)))

    def check(self) -> None:
        for name in SESSIONS:
            copy, log = self.sink.logs[name], self.source.logs[name]
            if copy != log[: len(copy)] or len(copy) > self.source.durable[name]:
                raise Broken(f"the copy of {name} is not the beginning of what is on the source's disk")
            if self.source.pipe is not None and self.source.acked.get(name, 0) > self.sink.durable[name]:
                raise Broken(f"rows of {name} count as acknowledged that the sink might lose")

    def settle(self) -> None:
        """The network is sound from now on: everything must arrive, within a bounded number of rounds."""
        while len(self.pipes) > 1:
            self.close(self.pipes[0])
        if not self.pipes or self.source.pipe is None:
            self.connect()
        self.source.sync()
        for _ in range(3000):
            self.now += 0.01
            for pipe in self.pipes:
                for side in ("daemon", "hub"):
                    self.pump(pipe, side)
                    self.deliver(pipe, "hub" if side == "daemon" else "daemon", 1000)
            self.sink.barrier()
            if self.sink.logs == self.source.logs and not self.sink.waiting:
                break
        else:
            raise Broken("rows or answers are still missing")
        wrong = {ask: came for ask, came in self.sink.outcomes.items() if len(came) != 1}
        if wrong:
            raise Broken(f"asks that did not get exactly one outcome: {wrong}")


def run(seed: int, steps: int = 70) -> World:
    world = World(seed)
    world.connect()
    for _ in range(steps):
        world.step()
    world.settle()
    return world
