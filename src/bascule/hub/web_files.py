"""The page's files, read once from the package. What is not in this list does not exist."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

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
    etag: str


def _web_file(body: bytes, media_type: str) -> WebFile:
    return WebFile(body, media_type, f'"{hashlib.sha256(body).hexdigest()[:32]}"')


def _root() -> Traversable:
    return files("bascule") / "web"


@cache
def document(name: str) -> WebFile:
    """A file with an address of its own: `index.html`, a frame's, `worker.js`, `manifest.webmanifest`."""
    return _web_file((_root() / name).read_bytes(), TYPES["." + name.rpartition(".")[2]])


@cache
def assets() -> dict[tuple[str, str], WebFile]:
    """Every file a page may load, by folder and name: a lookup, never a path."""
    found: dict[tuple[str, str], WebFile] = {}
    for folder in FOLDERS:
        place = _root() / folder
        if not place.is_dir():
            continue  # the libraries, in a checkout where they have not been fetched
        for file in place.iterdir():
            media_type = TYPES.get("." + file.name.rpartition(".")[2])
            if media_type is not None:
                found[folder, file.name] = _web_file(file.read_bytes(), media_type)
    return found
