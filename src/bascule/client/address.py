"""Server addresses: parses links, and reads the file that a local server leaves for its owner."""

import os
import stat
from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit

import msgspec
from msgspec import Struct

from bascule.model.errors import HostError, InvalidInput
from bascule.model.loopback import is_loopback
from bascule.model.process_ids import pid_exists

SERVER_FILE = "server.json"
_SOCKET_SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


class Unreachable(HostError):
    """The server does not answer, or the connection was lost and could not be restored."""

    code = "SERVER_UNREACHABLE"


class NotRunning(Unreachable):
    """There is no server on this machine."""

    code = "SERVER_NOT_RUNNING"


class Address(Struct, frozen=True):
    url: str  # as a browser knows it, without path and secret
    token: str


class ServerFile(Struct, frozen=True):
    """The file in which a running server leaves its address and key for its owner."""

    url: str
    key: str
    pid: int


def parse(link: str, token: str = "") -> Address:
    """An address from a URL and a token, or from a link that carries its token after `#token=`."""
    try:
        parts = urlsplit(link)
        port = parts.port
    except ValueError as error:
        raise InvalidInput(f"{_shown(link)!r} is no address ({error}).") from error
    if parts.scheme not in _SOCKET_SCHEMES or not parts.hostname:
        raise InvalidInput(f"{_shown(link)!r} is no address; write one such as http://127.0.0.1:3333")
    secret = token or parse_qs(parts.fragment).get("token", [""])[0]
    if not secret:
        raise InvalidInput("A token is needed: the part of the link after #token=")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = host if port is None else f"{host}:{port}"
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    return Address(f"{scheme}://{place}", secret)


def _shown(link: str) -> str:
    return link.partition("#")[0]


def socket_url(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((_SOCKET_SCHEMES[parts.scheme], parts.netloc, "/ws", "", ""))


def is_local(url: str) -> bool:
    return is_loopback(urlsplit(url).hostname or "")


def local(data_dir: str | Path) -> Address:
    """The address of this machine's own server, from the file it keeps while it runs."""
    server = read_server_file(data_dir)
    if server is None or not pid_exists(server.pid):
        raise NotRunning(f"No server runs for {data_dir}; start one with: bascule")
    return Address(server.url.partition("#")[0].rstrip("/"), server.key)


def read_server_file(data_dir: str | Path) -> ServerFile | None:
    """The file as it stands, alive or left behind; None when there is none."""
    path = Path(data_dir) / SERVER_FILE
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
                raise Unreachable(f"{path} is open to other users, so it is not trusted; remove it.")
            return msgspec.json.decode(file.read(65536), type=ServerFile)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreachable(f"{path} can't be read ({error.strerror}).") from error
    except msgspec.MsgspecError as error:
        raise Unreachable(f"{path} is damaged; stop the server, remove it and start again.") from error
