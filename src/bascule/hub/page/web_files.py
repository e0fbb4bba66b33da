"""The page's files, read once from the package. Others are not served."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable

from bascule.hub.page.page_links import linked

FOLDERS = ("css", "icons", "js", "shell", "portlet", "terminal", "vendor")
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".html": "text/html; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}


@dataclass(frozen=True)
class WebFile:
    body: bytes
    media_type: str

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.body).hexdigest()[:32]

    @cached_property
    def packed(self) -> bytes | None:
        """For those who take gzip; None where it would gain nothing."""
        if self.media_type == TYPES[".png"]:
            return None
        packed = gzip.compress(self.body, 4, mtime=0)
        return packed if len(packed) < len(self.body) else None


def _root() -> Traversable:
    return files("bascule") / "web"


@cache
def document(name: str) -> WebFile:
    """A file with an address of its own: `index.html`, a frame's, `worker.js`, `manifest.webmanifest`."""
    kind = "." + name.rpartition(".")[2]
    body = (_root() / name).read_bytes()
    if kind == ".html":
        modules = {path: file.body.decode() for path, file in assets().items() if path.endswith(".js")}
        body = linked(body.decode(), modules, version()).encode()
    return WebFile(body, TYPES[kind])


@cache
def assets() -> dict[str, WebFile]:
    """Every file a page may load, by its path: a key of this table, never opened as a path."""
    found: dict[str, WebFile] = {}
    for folder in FOLDERS:
        place = _root() / folder
        if place.is_dir():  # the libraries are missing in a checkout where they have not been fetched
            found |= _files_in(place, folder)
    return found


def _files_in(place: Traversable, path: str) -> dict[str, WebFile]:
    """The files of a folder and of the folders in it."""
    found: dict[str, WebFile] = {}
    for file in place.iterdir():
        media_type = TYPES.get("." + file.name.rpartition(".")[2])
        if file.is_dir():
            found |= _files_in(file, f"{path}/{file.name}")
        elif media_type is not None:
            found[f"{path}/{file.name}"] = WebFile(file.read_bytes(), media_type)
    return found


@cache
def version() -> str:
    """One name for them all. Modules name each other by relative paths, so only a page has to say it."""
    whole = hashlib.sha256()
    for path, file in sorted(assets().items(), key=lambda entry: entry[0]):
        whole.update(f"{path} {file.digest}\n".encode())
    return whole.hexdigest()[:16]
