"""On a slow line what is urgent waits for little; a fast line is kept busy."""

import heapq
from collections.abc import Callable, Iterator

import pytest
from msgspec import Raw
from tests.link.conversation import ANA

from bascule.link.frames import DaemonConnected, Ping, Pong, SessionOutput, Welcome
from bascule.link.line import Line
from bascule.link.pace import LEAST_WINDOW, MAX_WINDOW, NUMBERS, Pace
from bascule.link.priorities import Priority
from bascule.link.tape_frames import TapePiece, TapeTyped
from bascule.link.wire import encode

HEADERS = 74  # bytes that a small message has more on the wire
ROWS = b'"%s"' % (b"r" * 60_000)


class Network:
    """A connection with a rate and a delay each way. Whatever was handed over arrives in order, later."""

    def __init__(self, rate: float, delay: float) -> None:
        self.now, self.rate, self.delay = 0.0, rate, delay
        self.daemon, self.hub = Line("daemon", deflated=False, pace=Pace(lambda: self.now)), Line("hub")
        self.free = 0.0  # when the line has sent all that was handed over
        self.carried = 0
        self.tapes: list[float] = []  # when pieces of terminals came
        self._coming: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self.daemon.send(DaemonConnected("d", "laptop", "1"))
        self.hub.send(Welcome(1, "h", "hub", "store", 1, 0.0, 0))
        for message in self.hub.take(1000):
            self.daemon.receive(message)

    @property
    def window(self) -> int:
        pace = self.daemon._pace
        assert pace is not None
        return pace.window

    def at(self, when: float, do: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._coming, (when, self._count, do))

    def hand_over(self) -> None:
        while messages := self.daemon.take(16 * 1024):
            for message in messages:
                self.free = max(self.free, self.now) + (len(message) + HEADERS) / self.rate
                self.carried += len(message)
                self.at(self.free + self.delay, lambda message=message: self._arrive(message))

    def _arrive(self, message: bytes | str) -> None:
        for frame in self.hub.receive(message):
            if isinstance(frame, TapePiece):
                self.tapes.append(self.now)
            if isinstance(frame, Ping):
                self.hub.send(Pong(frame.n))
        for answer in self.hub.take(16 * 1024):
            self.at(self.now + self.delay, lambda answer=answer: self._answer(answer))

    def _answer(self, message: bytes | str) -> None:
        assert self.daemon.receive(message) == []
        self.hand_over()

    def run(self, seconds: float) -> None:
        until = self.now + seconds
        while self._coming and self._coming[0][0] <= until:
            self.now, _, do = heapq.heappop(self._coming)
            do()
        self.now = until

    def copy(self, megabytes: float) -> None:
        """Have so much to send of what is not urgent."""
        for n in range(int(megabytes * 2**20 / len(ROWS))):
            self.daemon.send(SessionOutput("s", n + 1, (Raw(ROWS),)), Priority.CATCHING_UP)
        self.hand_over()

    def echoes(self, tape: int = 1) -> Iterator[float]:
        """Seconds that each of some pieces of a terminal takes, at different moments."""
        for n in range(40):
            self.run(0.4 + n * 0.0037)
            began, came = self.now, len(self.tapes)
            self.daemon.send(TapePiece(tape, n, b"x"))
            self.hand_over()
            while len(self.tapes) == came:
                self.run(0.001)
            yield self.tapes[came] - began


@pytest.mark.row("P7")
@pytest.mark.parametrize("delay", [0.001, 0.02, 0.1])
def test_an_echo_waits_for_a_part_and_little_more_of_what_is_copied(delay: float) -> None:
    net = Network(32_000, delay)
    quiet = sorted(net.echoes())
    net.copy(10)
    net.run(3)
    begun, carried = net.now, net.carried
    beside = sorted(net.echoes())
    assert beside[20] < quiet[20] + delay / 2 + 0.03
    assert beside[-1] < quiet[-1] + 2 * delay + 0.06  # once in ten seconds the line is left empty
    busy = (net.carried - carried) / (net.now - begun) / net.rate
    assert busy > 0.7  # the rest is headers and pings


@pytest.mark.parametrize(
    ("rate", "delay", "least"),
    [(1e9, 0.0001, 0.95), (1.25e6, 0.02, 0.9), (12.5e6, 0.05, 0.85), (1e5, 0.2, 0.75)],
)
def test_a_line_is_kept_busy(rate: float, delay: float, least: float) -> None:
    net = Network(rate, delay)
    seconds = min(40.0, 150e6 / rate)
    net.copy(seconds * rate / 2**20 + 2)
    net.run(3 * delay)
    begun = net.carried
    net.run(seconds)
    assert (net.carried - begun) / min(seconds, net.free) > least * rate


def test_a_line_that_becomes_longer_and_slower_and_better_again_is_measured_anew() -> None:
    net = Network(1.25e6, 0.01)
    net.copy(150)
    net.run(5)
    fast = net.window
    net.delay = 0.15
    net.run(30)
    assert net.window > 3 * fast
    net.delay, net.rate = 0.01, 32_000
    net.run(60)
    assert net.window < 4 * LEAST_WINDOW
    net.rate = 1.25e6
    net.run(20)
    assert net.window >= fast // 2


def test_little_that_is_sent_now_and_then_costs_no_pings() -> None:
    net = Network(1e6, 0.02)
    pings = 0
    for n in range(100):
        net.daemon.send(SessionOutput("s", n + 1, (Raw(b'"row"'),)))
        pings += sum(isinstance(one, str) and '"ping"' in one for one in net.daemon.take(10**6))
        net.run(1)
    assert pings == 1  # how long the round trip is


def test_on_a_slow_line_a_replay_waits_while_somebody_types_but_not_for_ever() -> None:
    net = Network(32_000, 0.001)
    net.copy(10)
    net.run(3)
    key = encode(TapeTyped(1, 1, b"x", ANA)).decode()
    before, quiet, moments = net.carried, 0, 100
    for _ in range(moments):
        net.daemon.receive(key)
        net.run(0.1)
        net.hand_over()
        quiet += net.carried == before
        before = net.carried
    assert 0.6 * moments < quiet < 0.85 * moments
    seconds = net.daemon.quiet_for
    net.run(1)
    net.hand_over()
    assert (seconds is None or seconds <= 0.5, net.carried > before) == (True, True)


def test_on_a_fast_line_nothing_waits_for_who_types() -> None:
    net = Network(1e8, 0.001)
    net.copy(10)
    net.run(0.05)
    net.daemon.receive(encode(TapeTyped(1, 1, b"x", ANA)).decode())
    before = net.carried
    net.run(0.01)
    assert (net.daemon.quiet_for, net.carried > before) == (None, True)


def test_terminals_and_rows_have_a_window_each() -> None:
    pace = Pace(lambda: 0.0)
    lone = pace.ping()
    assert lone is not None
    assert pace.answered(lone)
    pace.sent(Priority.CATCHING_UP, pace.window)
    less_urgent = [one for one in Priority if one != Priority.URGENT]
    assert [pace.has_room(one) for one in less_urgent] == [True, False, False, False]
    pace.sent(Priority.TAPE, pace.window)
    assert [pace.has_room(one) for one in less_urgent] == [False, False, False, False]
    ping = pace.ping()
    assert ping is not None
    assert pace.answered(ping)
    assert all(map(pace.has_room, less_urgent))


def test_pongs_of_other_pings_are_passed_on() -> None:
    pace = Pace(lambda: 0.0)
    assert not pace.answered(7)
    assert pace.answered(NUMBERS + 7)  # of ours, though not known any more
    line = Line("hub", pace=pace)
    line.receive('{"type":"daemon_connected","device":"d","name":"n","version":"1"}')
    assert line.receive('{"type":"pong","n":7}') == [Pong(7)]
    assert line.receive(encode(Pong(NUMBERS + 8)).decode()) == []


def test_a_window_has_bounds() -> None:
    net = Network(1e12, 0.0)
    net.copy(60)
    net.run(1)
    assert net.window == MAX_WINDOW
    slow = Network(1_000, 0.5)
    slow.copy(1)
    slow.run(120)
    assert slow.window >= LEAST_WINDOW
