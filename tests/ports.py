"""A port that stays a test's own, also while no server listens there."""

import socket


def kept_port() -> socket.socket:
    """Until this is closed the system gives its port to nobody who asks for any; nothing listens there yet.

    A server that is told the number, and sets SO_REUSEADDR as ours do, may listen on it, end, and come back.
    """
    kept = socket.socket()
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind(("127.0.0.1", 0))
    return kept


def number(kept: socket.socket) -> int:
    return int(kept.getsockname()[1])
