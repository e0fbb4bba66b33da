"""The page's bundle: one script and one stylesheet for each document, made of the modules by web/bundle.py.

Only the standard library is imported: the build reads this file where nothing of ours is installed.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable

# Which document is made of which bundle.
BUNDLES = {
    "index.html": "shell",
    "portlet.html": "portlet",
    "terminal.html": "terminal",
    "editor.html": "editor",
    "diagram.html": "diagram",
    "math.html": "math",
}
FOLDERS = ("css", "icons", "js", "shell", "portlet", "terminal", "editor", "drawing", "vendor")
SOURCES = (".js", ".css", ".svg", ".png")
FOLDER = "bundle"
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Bundle:
    """What a build has written. `maps` are read only when a debugger asks for one."""

    files: dict[str, bytes]
    maps: dict[str, Traversable]
    version: str


def sources_in(web: Traversable) -> dict[str, bytes]:
    """Every file that the page is made of, by its path: the documents, and what they may load."""
    found = {name: (web / name).read_bytes() for name in BUNDLES}
    for folder in FOLDERS:
        place = web / folder
        if place.is_dir():  # the libraries are missing in a checkout where they have not been fetched
            found |= _files_in(place, folder)
    return found


def _files_in(place: Traversable, path: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for file in place.iterdir():
        if file.is_dir():
            found |= _files_in(file, f"{path}/{file.name}")
        elif file.name.endswith(SOURCES):
            found[f"{path}/{file.name}"] = file.read_bytes()
    return found


def digest_of(files: Mapping[str, bytes]) -> str:
    """One name for them all, whatever their order."""
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(f"{path} {_digest(files[path])}\n".encode())
    return whole.hexdigest()


def manifest_of(sources: Mapping[str, bytes], files: Mapping[str, bytes]) -> str:
    """What a build notes beside its files: what they were made from, and what they are."""
    noted = {"sources": digest_of(sources), "files": digest_of(files)}
    return json.dumps(noted, indent=2) + "\n"


def read_bundle(web: Traversable, sources: Mapping[str, bytes]) -> Bundle | None:
    """The bundle of exactly these sources. None when there is none, it is stale, or a build was cut short."""
    folder = web / FOLDER
    names = [f"{one}{kind}" for one in BUNDLES.values() for kind in (".js", ".css")]
    try:
        noted = (folder / MANIFEST).read_text()
        files = {name: (folder / name).read_bytes() for name in names}
    except (FileNotFoundError, NotADirectoryError):
        return None
    if noted != manifest_of(sources, files):
        return None
    maps = {one.name: one for one in (folder / f"{name}.map" for name in names) if one.is_file()}
    return Bundle(files, maps, hashlib.sha256(noted.encode()).hexdigest()[:16])


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
