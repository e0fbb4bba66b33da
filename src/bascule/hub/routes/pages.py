"""What needs no grant: the first page, and whether we are alive. And the description of all the rest."""

from importlib.resources import files

from starlette.responses import Response

from bascule.hub.call import AnyCall
from bascule.hub.table import Row
from bascule.hub.views import Health

PAGES = files("bascule.hub") / "pages"
INDEX = (PAGES / "index.html").read_bytes()
STYLE = (PAGES / "style.css").read_bytes()


async def index(call: AnyCall) -> Response:
    return Response(INDEX, media_type="text/html")


async def style(call: AnyCall) -> Response:
    return Response(STYLE, media_type="text/css")


async def health(call: AnyCall) -> Health:
    return Health(status="ok")


async def healthz(call: AnyCall) -> Response:
    return Response(b"ok", media_type="text/plain")


ROWS = [
    Row(method="GET", path="/", need="public", serve=index, summary="The first page"),
    Row(method="GET", path="/s", need="public", serve=index, summary="The page of a shared session"),
    Row(method="GET", path="/style.css", need="public", serve=style, summary="Its style"),
    Row(method="GET", path="/health", need="public", serve=health, summary="Alive?", answer=Health),
    Row(method="GET", path="/healthz", need="public", serve=healthz, summary="Alive? In one word"),
]
