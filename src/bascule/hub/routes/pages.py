"""What needs no grant: the page and its files, and whether we are alive.

The page is the same for everybody and holds no secret; what it shows it asks for with its grant.
"""

from starlette.responses import Response

from bascule.hub.call import AnyCall
from bascule.hub.headers import PAGE_POLICY
from bascule.hub.intake import header
from bascule.hub.table import Row
from bascule.hub.views import Health
from bascule.hub.web_files import assets, document
from bascule.model.errors import CallerError

SHELL_POLICY = PAGE_POLICY + "; trusted-types 'none'"
# Agents' words are drawn here: no network, no origin of its own, and only the shell may hold it.
PORTLET_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts; "
    "require-trusted-types-for 'script'; trusted-types dompurify"
)


class NoSuchFile(CallerError):
    code = "NOT_FOUND"


async def shell(call: AnyCall) -> Response:
    page = document("index.html")
    return Response(page.body, headers={"content-security-policy": SHELL_POLICY}, media_type=page.media_type)


async def portlet(call: AnyCall) -> Response:
    page = document("portlet.html")
    headers = {"content-security-policy": PORTLET_POLICY, "x-frame-options": "SAMEORIGIN"}
    return Response(page.body, headers=headers, media_type=page.media_type)


async def asset(call: AnyCall) -> Response:
    file = assets().get((call.params["folder"], call.params["name"]))
    if file is None:
        raise NoSuchFile("There is nothing here.")
    # Kept by the browser, but asked about each time: an update must not mix with what came before.
    known = header(call.scope["headers"], b"if-none-match") == file.etag
    headers = {"cache-control": "no-cache", "etag": file.etag, "access-control-allow-origin": "*"}
    return Response(b"" if known else file.body, 304 if known else 200, headers, file.media_type)


async def health(call: AnyCall) -> Health:
    return Health(status="ok")


async def healthz(call: AnyCall) -> Response:
    return Response(b"ok", media_type="text/plain")


def _page(path: str, summary: str) -> Row:
    return Row(method="GET", path=path, need="public", serve=shell, summary=summary, described=False)


ROWS = [
    _page("/", "The page"),
    _page("/inbox", "The page, at its inbox"),
    _page("/s", "The page, at a session that was shared"),
    _page("/sessions", "The page, at its list of sessions"),
    _page("/sessions/{id}", "The page, at one session"),
    _page("/settings", "The page, at its settings"),
    _page("/settings/{part}", "The page, at a part of its settings"),
    Row(
        method="GET",
        path="/portlet",
        need="public",
        serve=portlet,
        summary="The frame of a transcript",
        described=False,
    ),
    Row(
        method="GET",
        path="/assets/{folder}/{name}",
        need="public",
        serve=asset,
        summary="A file of the page",
        opaque_origin=True,
        described=False,
    ),
    Row(method="GET", path="/health", need="public", serve=health, summary="Alive?", answer=Health),
    Row(method="GET", path="/healthz", need="public", serve=healthz, summary="Alive? In one word"),
]
