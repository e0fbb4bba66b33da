"""Allowed Host and Origin values: exact strings, computed once at start."""

import re
from collections.abc import Iterable

from bascule.model.errors import InvalidInput
from bascule.model.loopback import is_loopback
from bascule.model.settings import Settings

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
EXACT_ORIGIN = re.compile(
    r"[a-z][a-z0-9+.-]*://(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(?::[0-9]{1,5})?"
)
EXACT_HOST = re.compile(r"(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(?::[0-9]{1,5})?")

Headers = list[tuple[bytes, bytes]]


class Doorway:
    """The Host and Origin values that a request must have, checked before its grant."""

    def __init__(self, settings: Settings) -> None:
        """A pattern where an exact value belongs stops the start."""
        _check_exact(settings)
        self._settings = settings
        own = (settings.public_url,) if settings.public_url else ()
        self.origins = frozenset((*settings.allowed_origins, *own))
        self._tunnelled: tuple[str, ...] = ()
        self._node: tuple[str, ...] = ()
        self.bound(settings.port)

    def bound(self, port: int) -> None:
        """The port that is really listened on, when the settings left it open."""
        self.port = port
        self.hosts = frozenset((*_hosts(self._settings, port), *self._tunnelled, *self._node))

    def known_as(self, host: str) -> None:
        """By this, the other nodes of the hub reach us."""
        self._node = (host,)
        self.bound(self.port)

    def tunnelled(self, hosts: Iterable[str]) -> None:
        """By these, machines reach us through tunnels: a loopback address there, with a port of its own."""
        self._tunnelled = tuple(hosts)
        self.bound(self.port)

    @property
    def url(self) -> str:
        """The address that links are made with."""
        if self._settings.public_url:
            return self._settings.public_url
        host = self._settings.host
        scheme = "https" if self._settings.tls_cert else "http"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}"


def _check_exact(settings: Settings) -> None:
    for origin in settings.allowed_origins:
        if not EXACT_ORIGIN.fullmatch(origin):
            raise InvalidInput(
                f"allowed_origins: {origin!r} is not an exact origin such as https://tracker.example."
            )
    if settings.public_url and not EXACT_ORIGIN.fullmatch(settings.public_url):
        raise InvalidInput(
            f"public_url: {settings.public_url!r} is not an address such as https://bascule.example, "
            "without a path and in small letters."
        )
    for host in settings.allowed_hosts:
        if not EXACT_HOST.fullmatch(host):
            raise InvalidInput(f"allowed_hosts: {host!r} is not an exact host such as bascule.example:8443.")


def _hosts(settings: Settings, port: int) -> list[str]:
    names = [*LOOPBACK_NAMES]
    if settings.host not in ("0.0.0.0", "::", ""):
        names.append(f"[{settings.host}]" if ":" in settings.host else settings.host)
    hosts = [f"{name}:{port}" for name in names]
    # A browser leaves the scheme's own port out.
    if port == (443 if settings.tls_cert else 80):
        hosts += names
    public = [settings.public_url.partition("://")[2]] if settings.public_url else []
    return [*hosts, *public, *settings.allowed_hosts]


def check_host(doors: Doorway, headers: Headers) -> int | None:
    """The status to refuse with, or None: exactly one Host, exactly one of ours."""
    values = [value for name, value in headers if name == b"host"]
    if len(values) != 1 or not values[0]:
        return 400
    return None if values[0].decode("latin-1") in doors.hosts else 421


def check_origin(doors: Doorway, headers: Headers, scheme: str, *, opaque: bool = False) -> bool:
    """No Origin, our own, or one a person has listed; `null` only where `opaque` says so.

    Call it after `check_host`.
    """
    origins = [value for name, value in headers if name == b"origin"]
    if not origins:
        return True
    host = next(value for name, value in headers if name == b"host").decode("latin-1")
    own = f"{'https' if scheme in ('https', 'wss') else 'http'}://{host}"
    origin = origins[0].decode("latin-1")
    if len(origins) != 1:
        return False
    return origin == own or origin in doors.origins or (opaque and origin == "null")


def check_bind(settings: Settings) -> None:
    """Refuse to listen where strangers could reach us in the clear, unless a person said so."""
    if is_loopback(settings.host) or settings.insecure_bind:
        return
    if settings.tls_cert and settings.tls_key:
        return
    raise InvalidInput(
        f"Refusing to listen on {settings.host}: it is not a loopback address and there is no TLS. "
        "Set tls_cert and tls_key, or say --insecure-bind if you know what reaches it."
    )
