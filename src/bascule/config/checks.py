"""Validates settings beyond their types: exact origins, absolute paths, no open port by accident."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import asdict

from bascule.agents.command import may_set
from bascule.model.loopback import is_loopback
from bascule.model.settings import Settings, StartsSettings

PATHS = (
    "data_dir",
    "tls_cert",
    "tls_key",
    "node_ca",
    "roots",
    "claude_bin",
    "launch.folder",
    "starts.readable",
    "starts.writable",
)

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9a-f:.]+\])"
_PORT = r"(?::[1-9][0-9]{0,4})?"
_ORIGIN = re.compile(rf"(https?|chrome-extension|moz-extension)://{_HOST}{_PORT}")
_HOST_VALUE = re.compile(_HOST + _PORT)


class Problem(Struct, frozen=True):
    key: str
    message: str


def check(settings: Settings) -> Problem | None:
    """The first thing that is wrong, or None."""
    return next(_problems(settings), None)


def expanded(path: str, environ: Mapping[str, str]) -> str:
    """`~/x` below the home folder; anything else as it is."""
    home = environ.get("HOME", "")
    if home and (path == "~" or path.startswith("~/")):
        return home.rstrip("/") + path[1:]
    return path


def _problems(settings: Settings) -> Iterator[Problem]:
    yield from _wrong_paths(settings)
    yield from _wrong_address(settings)
    yield from _wrong_store(settings)
    for origin in settings.allowed_origins:
        message = origin_problem(origin)
        if message:
            yield Problem("allowed_origins", message)
    for host in settings.allowed_hosts:
        if not _HOST_VALUE.fullmatch(host):
            yield Problem(
                "allowed_hosts",
                f"{host!r} is not an exact host or host:port; patterns, paths and schemes are refused.",
            )
    for agent, names in settings.pass_on.items():
        if not all(map(may_set, names)):  # what stands there may be a key itself: it is not repeated
            message = f"{agent[:40]!r} has an entry that is no name of a variable an agent may be given; "
            yield Problem("pass_on", message + "write whole names, without values.")
    for origin in settings.launch.origins:
        message = origin_problem(origin)
        if message:
            yield Problem("launch.origins", message)
    yield from _wrong_starts(settings.starts)
    yield from _wrong_notify(settings)
    for table in ("limits", "terminal", "acp", "launch", "starts"):
        for name, value in asdict(getattr(settings, table)).items():
            if isinstance(value, int) and value < 0:
                yield Problem(f"{table}.{name}", f"{value} is below zero; write 0 or more.")


def _wrong_starts(starts: StartsSettings) -> Iterator[Problem]:
    parts = urlsplit(starts.webhook)
    nearby = parts.scheme == "http" and is_loopback(parts.hostname or "")
    if starts.webhook and not (parts.hostname and (parts.scheme == "https" or nearby)):
        yield Problem("starts.webhook", "is no https address; others could read the link on the way.")
    for key in ("approval", "unusual"):
        if getattr(starts, key) == "oob_confirm" and not (starts.webhook or starts.command):
            yield Problem(f"starts.{key}", "oob_confirm needs starts.webhook or starts.command; set one.")
    if starts.wait_seconds == 0:
        yield Problem("starts.wait_seconds", "0 leaves nobody time to approve a start; write 1 or more.")


def _wrong_store(settings: Settings) -> Iterator[Problem]:
    if settings.store and not settings.store.startswith(("postgresql://", "postgres://")):
        # It may hold a password: it is not repeated.
        yield Problem(
            "store", "is no address of a PostgreSQL database; write postgresql://user@host/database."
        )


def _wrong_notify(settings: Settings) -> Iterator[Problem]:
    notify = settings.notify
    if notify.command and not notify.command[0]:
        yield Problem("notify.command", "its first argument is empty; write the name or path of a program.")
    if notify.contact and not re.fullmatch(r"mailto:[^\s@]+@[^\s@]+|https://\S+", notify.contact):
        yield Problem(
            "notify.contact", "write mailto:you@example.org or an address that begins with https://."
        )
    for host in notify.push_hosts:
        if not _HOST_VALUE.fullmatch(host.removeprefix("*.")):
            yield Problem("notify.push_hosts", f"{host!r} is not a host such as push.example or *.example.")


def _wrong_paths(settings: Settings) -> Iterator[Problem]:
    for key in ("data_dir", "tls_cert", "tls_key", "node_ca"):
        value: str | None = getattr(settings, key)
        if value is not None and not value.startswith("/"):
            yield Problem(key, _relative(value))
    for root in settings.roots:
        if not root.startswith("/"):
            yield Problem("roots", _relative(root))
    if settings.launch.folder and not settings.launch.folder.startswith("/"):
        yield Problem("launch.folder", _relative(settings.launch.folder))
    # A bare name is looked for on PATH; ./claude or bin/claude would depend on where the server started.
    if "/" in settings.claude_bin and not settings.claude_bin.startswith("/"):
        yield Problem("claude_bin", _relative(settings.claude_bin))


def _relative(path: str) -> str:
    return f"{path!r} is a relative path; write it from / or ~."


def _wrong_address(settings: Settings) -> Iterator[Problem]:
    if not 0 <= settings.port <= 65535:
        yield Problem("port", f"{settings.port} is no port; write 0 (any free one) to 65535.")
    if not 0 <= settings.launch.port <= 65535:
        yield Problem("launch.port", f"{settings.launch.port} is no port; write 0 (any free one) to 65535.")
    host = settings.host
    if not re.fullmatch(r"[A-Za-z0-9.:\[\]-]+(?:%\w+)?", host) or "//" in host:
        yield Problem("host", f"{host!r} is no address; write one such as 127.0.0.1, without scheme or port.")
        return
    if (settings.tls_cert is None) != (settings.tls_key is None):
        missing = "tls_key" if settings.tls_key is None else "tls_cert"
        yield Problem(missing, "is missing; TLS needs both tls_cert and tls_key.")
    if not is_loopback(host) and settings.tls_cert is None and not settings.insecure_bind:
        yield Problem(
            "host",
            f"Bascule won't listen on {host} without TLS, because others on the network could read the "
            "link and drive your agents; set tls_cert and tls_key, or pass --insecure-bind to accept that.",
        )


def origin_problem(origin: str) -> str | None:
    """Why this is not an exact origin as a browser sends it, or None when it is."""
    found = _ORIGIN.fullmatch(origin)
    if not found:
        return (
            f"{origin!r} is not an exact origin; write scheme://host or scheme://host:port in lower case, "
            "without wildcard, user, path or trailing slash."
        )
    port = re.search(r":(\d+)$", origin)
    if port and int(port[1]) > 65535:
        return f"{origin!r} has no valid port; correct it."
    if (found[1], port[1] if port else "") in (("http", "80"), ("https", "443")):
        return f"{origin!r} names the default port, which browsers leave out; leave it out too."
    return None
