"""The address of a database as messages show it, without its password; and why no server answers there."""

import os
import socket
from urllib.parse import parse_qs, unquote, urlsplit

PORT = "5432"


def shown(url: str) -> str:
    """The server of `store`: a host with its port, or the folder of a socket. Several as they are written."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    named = (
        unquote(parts.netloc.rpartition("@")[2]) or query.get("host", [""])[0] or os.environ.get("PGHOST", "")
    )
    if not named:
        return "this machine"
    if named.startswith("/"):
        return f"the socket in {named}"
    if "," in named or ":" in named.rpartition("]")[2]:
        return named
    return f"{named}:{query.get('port', [os.environ.get('PGPORT', PORT)])[0]}"


def why_away(error: OSError | TimeoutError, url: str) -> str:
    """What went wrong while connecting, in words."""
    place = shown(url)
    match error:
        case FileNotFoundError() | ConnectionRefusedError():
            return f"nothing listens at {place}"
        case socket.gaierror():
            return f"no address is known for {place}"
        case TimeoutError():
            return f"no answer from {place}"
        case PermissionError():
            return f"this user may not open {place}"
        case _:
            return f"{place}: {error.strerror or error}"
