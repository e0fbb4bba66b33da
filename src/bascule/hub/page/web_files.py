"""The page's files, read once from the package: as a bundle, or as the modules it is made of.

A bundle is served only when it was made from exactly the modules beside it, so an edited one is never hidden.
"""

import gzip
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable

from bascule.hub.page.bundle import BUNDLES, FOLDER, Bundle, digest_of, read_bundle, sources_in
from bascule.hub.page.page_links import bundled, linked

TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".html": "text/html; charset=utf-8",
    ".map": "application/json",
    ".webmanifest": "application/manifest+json",
}
# Files with an address of their own that name no others.
PLAIN = ("worker.js", "manifest.webmanifest")


@dataclass(frozen=True)
class WebFile:
    read: Callable[[], bytes]
    media_type: str

    @cached_property
    def body(self) -> bytes:
        return self.read()

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


@dataclass(frozen=True)
class PageFiles:
    """Every file a page may load, by its path: a key of this table, never opened as a path."""

    documents: dict[str, WebFile]
    assets: dict[str, WebFile]
    version: str


@cache
def page_files() -> PageFiles:
    """What this package serves."""
    web = files("bascule") / "web"
    sources = sources_in(web)
    bundle = read_bundle(web, sources)
    return as_modules(web, sources) if bundle is None else as_bundle(web, sources, bundle)


def as_modules(web: Traversable, sources: Mapping[str, bytes]) -> PageFiles:
    """Modules name each other by relative paths, so only a page has to name the version."""
    version = digest_of(sources)[:16]
    modules = {path: body.decode() for path, body in sources.items() if path.endswith(".js")}
    pages = {name: linked(sources[name].decode(), modules, version) for name in BUNDLES}
    return PageFiles(_documents(web, pages), _assets(sources), version)


def as_bundle(web: Traversable, sources: Mapping[str, bytes], bundle: Bundle) -> PageFiles:
    """The bundle, its maps and the images."""
    pages = {
        name: bundled(sources[name].decode(), f"{FOLDER}/{made}", bundle.version)
        for name, made in BUNDLES.items()
    }
    images = {path: body for path, body in sources.items() if path.endswith((".svg", ".png"))}
    scripts = {f"{FOLDER}/{name}": body for name, body in bundle.files.items()}
    maps = {
        f"{FOLDER}/{name}": WebFile(place.read_bytes, TYPES[".map"]) for name, place in bundle.maps.items()
    }
    return PageFiles(_documents(web, pages), _assets({**images, **scripts}) | maps, bundle.version)


def _documents(web: Traversable, pages: Mapping[str, str]) -> dict[str, WebFile]:
    plain = {name: (web / name).read_bytes() for name in PLAIN}
    return {name: _known(name, body) for name, body in plain.items()} | {
        name: _known(name, page.encode()) for name, page in pages.items()
    }


def _assets(bodies: Mapping[str, bytes]) -> dict[str, WebFile]:
    return {path: _known(path, body) for path, body in bodies.items() if path not in BUNDLES}


def _known(path: str, body: bytes) -> WebFile:
    return WebFile(lambda: body, TYPES["." + path.rpartition(".")[2]])
