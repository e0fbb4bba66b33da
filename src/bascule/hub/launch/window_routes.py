"""The launch window over HTTP: its page and files, and what its buttons ask for."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from bascule.hub.launch.trusted_sites import TrustedSites
from bascule.hub.page.web_files import TYPES
from bascule.hub.wire.asgi_types import Receive, Scope
from bascule.hub.wire.intake import LARGE, header, read_body
from bascule.hub.wire.json_answers import JsonAnswer
from bascule.hub.wire.response import Response
from bascule.launch.errors import LaunchError
from bascule.launch.gate import WINDOW, answer_headers
from bascule.launch.idempotent import IdempotentLaunches
from bascule.launch.offers import PromptOffers
from bascule.launch.record import LaunchRecord, launch_answer
from bascule.launch.request import check_key, fields_of, repo_of, request_of
from bascule.launch.site import check_trustable

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
FILES = {
    f"/window/{path}": path
    for path in ("window/window.js", "window/request.js", "js/visible.js", "css/window.css")
}
LAUNCH, TRUST, SESSION = "/window/launch", "/window/trust", "/window/session"
CLONES = "/window/clones"
OUTCOME = "/window/launch/"  # and an id
MAX_TOKENS = 200
TOKEN_SECONDS = 3600.0
MAX_WHO = 300
UNNAMED = "a page without an address"


@dataclass(frozen=True)
class Workbench:
    """What a server beside the bridge adds to the window."""

    sites: TrustedSites
    offers: PromptOffers
    url: str


class WindowTokens:
    """One for each window that is open: a request without it does not come from our page."""

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._issued: OrderedDict[str, float] = OrderedDict()

    def issue(self) -> str:
        token = secrets.token_urlsafe(24)
        self._issued[token] = self._steady()
        while len(self._issued) > MAX_TOKENS:
            self._issued.popitem(last=False)
        return token

    def check(self, token: str | None) -> None:
        at = self._issued.get(token or "")
        if at is None or self._steady() - at > TOKEN_SECONDS:
            raise LaunchError("origin_forbidden", "This window is too old. Close it and click again.")


class WindowRoutes:
    """Answers below `/window`; the gate has looked at Host, Origin and Sec-Fetch before."""

    def __init__(
        self,
        launches: IdempotentLaunches,
        workbench: Workbench | None,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._launches, self._workbench = launches, workbench
        self._tokens = WindowTokens(steady)

    async def answer(self, scope: Scope, receive: Receive) -> Response:
        method, path = scope["method"], scope["path"]
        if path == WINDOW or path in FILES:
            _check_method(method, "GET")
            return self._page() if path == WINDOW else _file(FILES[path])
        self._tokens.check(header(scope["headers"], b"x-window-token"))
        if path.startswith(OUTCOME):
            _check_method(method, "GET")
            return _launched(self._launches.launches.get(path.removeprefix(OUTCOME)))
        _check_method(method, "POST")
        return await self._post(path, scope, await read_body(scope["headers"], receive, LARGE))

    def _page(self) -> Response:
        offered = "trust session" if self._workbench else ""
        page = _text("window/window.html").replace("{token}", self._tokens.issue())
        headers = {"Content-Security-Policy": POLICY, "Cross-Origin-Opener-Policy": "unsafe-none"}
        return Response(page.replace("{offered}", offered), headers=headers, media_type=TYPES[".html"])

    async def _post(self, path: str, scope: Scope, body: bytes) -> Response:
        fields = fields_of(body)
        who = _who(fields.get("origin"))
        if path == LAUNCH:
            key = check_key(header(scope["headers"], b"idempotency-key"))
            return _launched(await self._launches.launch(request_of(fields), who=who, key=key))
        if path == CLONES:
            # Shown in the window only: the page that named the repository learns nothing of it.
            return _answer({"folders": await self._launches.launches.clones(repo_of(fields))})
        if path == SESSION and self._workbench is not None:
            offer = self._workbench.offers.add(request_of(fields), who)
            return _answer({"url": f"{self._workbench.url}/#offer={offer}"})
        if path == TRUST and self._workbench is not None:
            await self._workbench.sites.trust(check_trustable(who))
            return _answer({"trusted": who})
        raise LaunchError("not_found", "There is nothing here.")


def _launched(record: LaunchRecord) -> Response:
    status, body = launch_answer(record)
    return JsonAnswer(body, status, answer_headers(""))


def _answer(data: dict[str, Any]) -> Response:
    return JsonAnswer({"success": True, "data": data}, 200, answer_headers(""))


def _who(origin: object) -> str:
    """The page that asks, as the browser named it to our window."""
    named = isinstance(origin, str) and 0 < len(origin) <= MAX_WHO and origin.isprintable()
    return str(origin) if named and origin != "null" else UNNAMED


def _check_method(method: str, wanted: str) -> None:
    if method != wanted:
        raise LaunchError("method_not_allowed", f"Use {wanted}.")


def _file(path: str) -> Response:
    return Response(_text(path), media_type=TYPES["." + path.rpartition(".")[2]])


@cache
def _text(path: str) -> str:
    return (files("bascule") / "web" / path).read_text(encoding="utf-8")
