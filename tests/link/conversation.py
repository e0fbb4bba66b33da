"""Two lines that talk to each other directly."""

from typing import Any

from bascule.link.frames import DaemonConnected, Welcome
from bascule.link.line import Line
from bascule.link.wire import Received
from bascule.model.commands import Actor

HELLO = DaemonConnected("d1", "laptop", "1.0")
WELCOME = Welcome(1, "h1", "hub", "s1", 1, 0.0, 1 << 22)
ANA = Actor("ana", "g1")


def greeted(**options: Any) -> tuple[Line, Line]:
    """A daemon's line and a hub's, after the greeting."""
    daemon, hub = Line("daemon", **options), Line("hub", **options)
    daemon.send(HELLO)
    hub.send(WELCOME)
    assert carried(daemon, hub) == [HELLO]
    assert carried(hub, daemon) == [WELCOME]
    return daemon, hub


def carried(sender: Line, receiver: Line) -> list[Received]:
    """Everything that waits at one line, as the other receives it."""
    frames: list[Received] = []
    while messages := sender.take(1):
        for message in messages:
            frames += receiver.receive(message)
    return frames
