"""The two forms of the page, for tests that hold for both: a bundle, and the modules it is made of."""

from collections.abc import Callable
from functools import cache
from importlib.resources import files

import pytest

from bascule.hub.page.bundle import read_bundle, sources_in
from bascule.hub.page.page_links import entry_of
from bascule.hub.page.web_files import PageFiles, as_bundle, as_modules

WEB = files("bascule") / "web"


@cache
def modules() -> PageFiles:
    return as_modules(WEB, sources_in(WEB))


@cache
def bundle() -> PageFiles:
    sources = sources_in(WEB)
    found = read_bundle(WEB, sources)
    if found is None:
        pytest.skip("the bundle is missing or stale: python web/bundle.py makes it")
    return as_bundle(WEB, sources, found)


FORMS: dict[str, Callable[[], PageFiles]] = {"bundle": bundle, "modules": modules}
PAGES = ("index.html", "portlet.html", "terminal.html", "editor.html")


def script_of(page: PageFiles, name: str = "index.html") -> str:
    """The path of a document's script, without its version."""
    return entry_of(page.documents[name].body.decode()).removeprefix(f"{page.version}/")
