"""The bridge's gate: Host, Origin and Sec-Fetch checks, and the CORS headers of an answer. Pure."""

from collections.abc import Container, Iterable

from msgspec import Struct

from bascule.launch.errors import LaunchError
from bascule.launch.site import is_loopback_origin

API_VERSION = "1.0"
# The specification's own list, with which `bascule bridge` begins.
FIRST_ORIGINS = (
    "http://localhost",
    "http://localhost:8080",
    "http://127.0.0.1",
    "http://127.0.0.1:8080",
    "https://promptmanager.local",
)
METHODS = {"/launch": "POST", "/health": "GET"}
OUTCOME = "/launch/"  # and an id
ALLOWED_HEADERS = "Content-Type, Idempotency-Key"
PREFLIGHT_SECONDS = "600"
WINDOW = "/window"
ANY_SITE = ("", "none", "same-origin", "same-site", "cross-site")
FORBIDDEN = "This origin may not launch. Its owner can allow it: CLAUDE_BRIDGE_ORIGINS, or launch.origins."

Headers = Iterable[tuple[bytes, bytes]]


class Gate(Struct, frozen=True):
    """Exact values only: the hosts the bridge is reached by, and the origins that may use it."""

    hosts: frozenset[str]
    origins: Container[str]

    @classmethod
    def of(cls, port: int, origins: Container[str]) -> "Gate":
        return cls(frozenset({f"127.0.0.1:{port}", f"localhost:{port}"}), origins)

    def check(self, method: str, path: str, headers: Headers) -> str:
        """The origin that may read the answer; empty for a program's health check. Raises `LaunchError`."""
        said = list(headers)
        self._check_host(_values(said, b"host"))
        origins = _values(said, b"origin")
        if not origins and path == "/health" and method == "GET":
            _check_fetch(said, sites=("", "none", "same-origin"), modes=None)
            return ""
        if len(origins) != 1 or origins[0] not in self.origins:
            raise LaunchError("origin_forbidden", FORBIDDEN)
        # A form or an image of that page is not what it would launch with, nor a page of its own kind here.
        _check_fetch(said, sites=("", "same-site", "cross-site"), modes=("", "cors"))
        return origins[0]

    def check_script(self, headers: Headers) -> str:
        """For the element's file: the loopback or trusted page that loads it as a module."""
        said = list(headers)
        self._check_host(_values(said, b"host"))
        origins = _values(said, b"origin")
        if not origins:
            return ""
        if len(origins) != 1 or not (is_loopback_origin(origins[0]) or origins[0] in self.origins):
            raise LaunchError("origin_forbidden", "Host the file yourself: bascule bridge element prints it.")
        return origins[0]

    def check_window(self, method: str, path: str, headers: Headers) -> None:
        """The launch window is a page of its own, never framed; its files and requests are its own."""
        said = list(headers)
        hosts = _values(said, b"host")
        self._check_host(hosts)
        if path == WINDOW and method == "GET":
            _check_fetch(said, sites=ANY_SITE, modes=("", "navigate"))
            if (_values(said, b"sec-fetch-dest") or ["document"]) != ["document"]:
                raise LaunchError("origin_forbidden", FORBIDDEN)
            return
        _check_fetch(said, sites=("", "same-origin"), modes=None)
        if method != "GET" and _values(said, b"origin") != [f"http://{hosts[0]}"]:
            raise LaunchError("origin_forbidden", FORBIDDEN)

    def _check_host(self, hosts: list[str]) -> None:
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            raise LaunchError("host_forbidden", "The bridge answers only as 127.0.0.1 or localhost.")


def method_of(path: str) -> str:
    """The method of a path. Raises `not_found`."""
    if path.startswith(OUTCOME) and path.count("/") == 2 and path != OUTCOME:
        return "GET"
    if path not in METHODS:
        raise LaunchError("not_found", "There is nothing here.")
    return METHODS[path]


def check_method(method: str, path: str) -> None:
    if method != method_of(path):
        raise LaunchError("method_not_allowed", f"Use {method_of(path)}.")


def check_preflight(path: str, headers: Headers) -> None:
    """What the page will send must be what its answer to this question allows."""
    wanted = _values(list(headers), b"access-control-request-method")
    if wanted != [method_of(path)]:
        raise LaunchError("method_not_allowed", f"Use {method_of(path)}.")


def answer_headers(origin: str) -> dict[str, str]:
    """Of every answer. An origin that is not allowed gets no CORS header at all."""
    headers = {"X-Bridge-Version": API_VERSION, "Vary": "Origin"}
    if origin:
        headers["Access-Control-Allow-Origin"] = origin
        headers["Access-Control-Expose-Headers"] = "X-Bridge-Version"
    return headers


def preflight_headers(origin: str, path: str) -> dict[str, str]:
    return {
        **answer_headers(origin),
        "Access-Control-Allow-Methods": f"{method_of(path)}, OPTIONS",
        "Access-Control-Allow-Headers": ALLOWED_HEADERS,
        "Access-Control-Max-Age": PREFLIGHT_SECONDS,
    }


def _values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


def _check_fetch(
    headers: list[tuple[bytes, bytes]], *, sites: tuple[str, ...], modes: tuple[str, ...] | None
) -> None:
    """What the browser itself says of the request, where it says anything."""
    site = _values(headers, b"sec-fetch-site") or [""]
    mode = _values(headers, b"sec-fetch-mode") or [""]
    if len(site) != 1 or len(mode) != 1 or site[0] not in sites or (modes and mode[0] not in modes):
        raise LaunchError("origin_forbidden", FORBIDDEN)
