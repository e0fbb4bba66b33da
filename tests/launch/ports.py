"""Ports for tests of launches: some for a server that is told its port, and one on which nobody answers."""

import contextlib
import random
import socket
from collections.abc import AsyncIterator

# Below those that Linux gives to whoever asks for any: nobody gets one between our choice and its use.
CHOSEN = range(20_000, 30_000)


def unused_ports(count: int) -> list[int]:
    """Ports that are free now."""
    ports: list[int] = []
    with contextlib.ExitStack() as bound:
        while len(ports) < count:
            trial = bound.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                trial.bind(("127.0.0.1", port := random.choice(CHOSEN)))
                ports.append(port)
    return ports


@contextlib.asynccontextmanager
async def nobody_there() -> AsyncIterator[str]:
    """An address where connections are refused; nobody else can take its port meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
