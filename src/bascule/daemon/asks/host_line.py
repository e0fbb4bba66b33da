"""One connection of this machine to one hub: asks come in, answers and news go out."""

import logging
import time
from collections import Counter
from collections.abc import Callable

from msgspec.structs import astuple, replace

from bascule.daemon.asks.asks import Asks
from bascule.link.frames import AnyFrame, Ask, Cancel, LineRefused, Ping, Pong, Welcome
from bascule.model.commands import Actor

log = logging.getLogger(__name__)

LONGEST_WORD = 300  # characters of a name, an address or a browser


class HostLine:
    """Made by `Host.attach`; `far` when the hub is another process.

    `welcome` is the hub's answer to our hello, `refused` its reason against us.
    """

    def __init__(
        self,
        send: Callable[[AnyFrame], None],
        asks: Asks,
        welcomed: Callable[["HostLine"], None],
        left: Callable[["HostLine"], None],
        clock: Callable[[], float] = time.time,
        *,
        far: bool = False,
    ) -> None:
        self.far = far
        self.welcome: Welcome | None = None
        self.refused: LineRefused | None = None
        self.unknown: Counter[str] = Counter()
        self._send: Callable[[AnyFrame], None] | None = send
        self._asks = asks
        self._welcomed = welcomed
        self._left = left
        self._clock = clock

    def receive(self, frame: AnyFrame) -> None:
        match frame:
            case Ask():
                self._asks.take(self, replace(frame, by=self._known(frame.by)))
            case Cancel():
                self._asks.cancel(self, frame.ask)
            case Ping():
                self.send(Pong(frame.n, frame.clock, self._clock()))
            case Pong():
                pass  # that something came is all it says
            case Welcome():
                self.welcome = frame
                self._welcomed(self)
            case LineRefused():
                self.refused = frame
                log.warning("the hub does not take this connection: %s", frame.message)
            case _:
                self.ignore(type(frame).__name__)

    def _known(self, by: Actor) -> Actor:
        """Who asks. What a hub elsewhere says of them is kept short: it stands in logs and in the audit."""
        if not self.far:
            return replace(by, via="")
        return Actor(*(word[:LONGEST_WORD] for word in (*astuple(by)[:-1], self.via)))

    @property
    def via(self) -> str:
        """Which hub asks: this side says it, not the hub. Empty for the one in this process."""
        return ((self.welcome.name if self.welcome else "") or "a hub") if self.far else ""

    def send(self, frame: AnyFrame) -> None:
        if self._send is not None:
            self._send(frame)

    def ignore(self, kind: str) -> None:
        """A frame we do not know, of a newer version perhaps. Said once for each kind."""
        self.unknown[kind] += 1
        if self.unknown[kind] == 1:
            log.info("the hub sends %s, which is not known here: ignored", kind[:80])

    def closed(self) -> None:
        """The connection is lost: the hub waits for no answer on it."""
        if self._send is not None:
            self._send = None
            self._asks.leave(self)
            self._left(self)
