"""Public routes, without a grant: the page, its files, and the health check.

The page is the same for everybody and holds no secret; what it shows it asks for with its grant.
"""

from bascule.api.server_answers import Health
from bascule.hub.calls.call import AnyCall
from bascule.hub.calls.operation import Operation
from bascule.hub.page.web_files import WebFile
from bascule.hub.wire.headers import PAGE_POLICY
from bascule.hub.wire.intake import header, takes_gzip
from bascule.hub.wire.response import Response
from bascule.model.errors import CallerError

# No text becomes markup or code in the shell; its one policy names the one worker it registers.
SHELL_POLICY = PAGE_POLICY + "; manifest-src 'self'; worker-src 'self'; trusted-types bascule-worker"
# Agents' words are drawn here: no network, no origin of its own, and only the shell may hold it.
PORTLET_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts; "
    "require-trusted-types-for 'script'; trusted-types dompurify"
)
# A terminal needs no markup at all.
TERMINAL_POLICY = PORTLET_POLICY.replace("trusted-types dompurify", "trusted-types 'none'")
# Quill makes elements of pasted HTML by itself: the frame's default policy sends all of it through DOMPurify.
EDITOR_POLICY = PORTLET_POLICY.replace("trusted-types dompurify", "trusted-types default dompurify")

# Formulas become MathML here, as a string: no markup is drawn.
MATH_POLICY = TERMINAL_POLICY
# Mermaid measures what it draws, so it needs styles in its markup. Here they reach nothing but the drawing,
# which leaves as a string and is shown as an image. Trusted Types let it write markup, and no script.
DIAGRAM_POLICY = PORTLET_POLICY.replace(
    "style-src 'self'; img-src data:", "style-src 'unsafe-inline'"
).replace("trusted-types dompurify", "trusted-types dompurify default")


class NoSuchFile(CallerError):
    code = "NOT_FOUND"


async def shell(call: AnyCall) -> Response:
    page = call.hub.page().documents["index.html"]
    return Response(page.body, headers={"content-security-policy": SHELL_POLICY}, media_type=page.media_type)


async def portlet(call: AnyCall) -> Response:
    return _frame(call, "portlet.html", PORTLET_POLICY)


async def terminal(call: AnyCall) -> Response:
    return _frame(call, "terminal.html", TERMINAL_POLICY)


async def editor(call: AnyCall) -> Response:
    return _frame(call, "editor.html", EDITOR_POLICY)


async def diagram(call: AnyCall) -> Response:
    return _frame(call, "diagram.html", DIAGRAM_POLICY)


async def math(call: AnyCall) -> Response:
    return _frame(call, "math.html", MATH_POLICY)


def _frame(call: AnyCall, name: str, policy: str) -> Response:
    page = call.hub.page().documents[name]
    headers = {"content-security-policy": policy, "x-frame-options": "SAMEORIGIN"}
    return Response(page.body, headers=headers, media_type=page.media_type)


async def worker(call: AnyCall) -> Response:
    file = call.hub.page().documents["worker.js"]
    return Response(file.body, headers={"cache-control": "no-cache"}, media_type=file.media_type)


async def manifest(call: AnyCall) -> Response:
    file = call.hub.page().documents["manifest.webmanifest"]
    return Response(file.body, headers={"cache-control": "no-cache"}, media_type=file.media_type)


async def asset(call: AnyCall) -> Response:
    """A file by its plain address: kept by the browser, but asked about each time."""
    return _asset(call, "no-cache")


async def asset_of_version(call: AnyCall) -> Response:
    """What pages name. An update has other addresses, so it can't mix with what came before."""
    if call.params["version"] != call.hub.page().version:
        raise NoSuchFile("There is nothing here.")
    return _asset(call, "public, max-age=31536000, immutable")


def _asset(call: AnyCall, keep: str) -> Response:
    parts = (call.params.get(part) for part in ("folder", "part", "name"))
    file = call.hub.page().assets.get("/".join(part for part in parts if part is not None))
    if file is None:
        raise NoSuchFile("There is nothing here.")
    return _file(call, file, {"cache-control": keep, "access-control-allow-origin": "*"})


def _file(call: AnyCall, file: WebFile, headers: dict[str, str]) -> Response:
    """The file, packed for who takes that, or the word that it is the one they have."""
    body, etag = file.body, f'"{file.digest}"'
    headers = {**headers, "vary": "accept-encoding"}
    if takes_gzip(header(call.scope["headers"], b"accept-encoding")) and file.packed:
        body, etag = file.packed, f'"{file.digest}-gzip"'
        headers["content-encoding"] = "gzip"
    headers["etag"] = etag
    known = header(call.scope["headers"], b"if-none-match") == etag
    return Response(b"" if known else body, 304 if known else 200, headers, file.media_type)


async def health(call: AnyCall) -> Health:
    return Health(status="ok")


async def healthz(call: AnyCall) -> Response:
    return Response(b"ok", media_type="text/plain")


def _page(path: str, summary: str) -> Operation:
    return Operation(method="GET", path=path, need="public", run=shell, summary=summary, described=False)


OPERATIONS = (
    _page("/", "The page"),
    _page("/compare", "The page: comparisons"),
    _page("/compare/{id}", "The page: one comparison"),
    _page("/inbox", "The page: inbox"),
    _page("/library", "The page: prompt library"),
    _page("/library/{id}", "The page: one prompt of the library"),
    _page("/s", "The page: a shared session"),
    _page("/s/{token}", "The page: a shared session, with the secret in the path"),
    _page("/search", "The page: search"),
    _page("/sessions", "The page: list of sessions"),
    _page("/sessions/{id}", "The page: one session"),
    _page("/settings", "The page: settings"),
    _page("/settings/{part}", "The page: a part of the settings"),
    Operation(
        method="GET",
        path="/portlet",
        need="public",
        run=portlet,
        summary="The transcript frame",
        described=False,
    ),
    Operation(
        method="GET",
        path="/terminal",
        need="public",
        run=terminal,
        summary="The terminal frame",
        described=False,
    ),
    Operation(
        method="GET",
        path="/editor",
        need="public",
        run=editor,
        summary="The frame in which a prompt is written",
        described=False,
    ),
    Operation(
        method="GET",
        path="/diagram",
        need="public",
        run=diagram,
        summary="The frame that draws diagrams",
        described=False,
    ),
    Operation(
        method="GET",
        path="/math",
        need="public",
        run=math,
        summary="The frame that sets formulas",
        described=False,
    ),
    Operation(
        method="GET",
        path="/worker.js",
        need="public",
        run=worker,
        summary="The service worker, which caches the page's files",
        described=False,
    ),
    Operation(
        method="GET",
        path="/manifest.webmanifest",
        need="public",
        run=manifest,
        summary="The web app manifest",
        described=False,
    ),
    Operation(
        method="GET",
        path="/assets/{folder}/{name}",
        need="public",
        run=asset,
        summary="A file of the page",
        opaque_origin=True,
        described=False,
    ),
    Operation(
        method="GET",
        path="/assets/{version}/{folder}/{name}",
        need="public",
        run=asset_of_version,
        summary="A file of the page, as it is in one version",
        opaque_origin=True,
        described=False,
    ),
    Operation(
        method="GET",
        path="/assets/{version}/{folder}/{part}/{name}",
        need="public",
        run=asset_of_version,
        summary="A file of one part of the page, as it is in one version",
        opaque_origin=True,
        described=False,
    ),
    Operation(method="GET", path="/health", need="public", run=health, summary="Health check", answer=Health),
    Operation(
        method="GET", path="/healthz", need="public", run=healthz, summary="Health check, as plain text"
    ),
)
