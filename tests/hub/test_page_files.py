"""The page's files on the wire: named by version, kept for good, announced at once, packed on request."""

import gzip
import re
from collections.abc import AsyncIterator
from pathlib import Path
from posixpath import normpath

import pytest
from tests.hub.page_forms import FORMS, PAGES, modules, script_of
from tests.hub.running_hub import RunningHub, running_hub

from bascule.hub.page.page_links import bundled, closure, entry_of, imports, linked, stylesheets_of
from bascule.hub.page.web_files import PageFiles
from bascule.hub.wire.intake import takes_gzip

pytestmark = pytest.mark.anyio

SOURCE = """/** @typedef {import('./types.js').App} App */
import hljs from '../vendor/highlight.js';
import './first.js';
import {
  one,
  two as other,
} from "./second.js";
import * as all from './third.js';
export { thing } from './fourth.js';
export const from = 'nowhere.js';
export function blockEnd(text, from) { return 'no.js'; }
const late = () => import('./late.js');
"""


@pytest.fixture(params=FORMS)
def page(request: pytest.FixtureRequest) -> PageFiles:
    return FORMS[request.param]()


@pytest.fixture
async def hub(tmp_path: Path, page: PageFiles) -> AsyncIterator[RunningHub]:
    async with running_hub(tmp_path, page=lambda: page) as running:
        yield running


def test_static_imports_are_found_and_nothing_else() -> None:
    assert imports(SOURCE) == [
        "../vendor/highlight.js",
        "./first.js",
        "./second.js",
        "./third.js",
        "./fourth.js",
    ]


def test_a_closure_has_each_module_once_and_the_nearest_first() -> None:
    sources = {
        "a/main.js": "import './near.js';\nimport '../b/far.js';\n",
        "a/near.js": "import '../b/far.js';\nimport '../b/deep.js';\n",
        "b/far.js": "import '../a/main.js';\nimport '../gone/away.js';\n",
        "b/deep.js": "",
        "b/alone.js": "",
    }
    assert closure("a/main.js", sources) == ["a/near.js", "b/far.js", "b/deep.js"]


def test_a_page_gets_its_links_with_the_scripts_own_attribute() -> None:
    script = '<script type="module" src="/assets/a.js" crossorigin></script>\n'
    page = f'<link rel="icon" href="/assets/css/x.svg">\n{script}'
    assert linked(page, {"a.js": "import './b.js';", "b.js": ""}, "v1").splitlines() == [
        '<link rel="icon" href="/assets/v1/css/x.svg">',
        '<script type="module" src="/assets/v1/a.js" crossorigin></script>',
        '<link rel="modulepreload" href="/assets/v1/b.js" crossorigin>',
    ]


def test_a_bundled_page_names_one_stylesheet_and_one_script_and_keeps_the_rest() -> None:
    page = """<link rel="icon" href="/assets/css/x.svg">
  <link rel="stylesheet" href="/assets/css/a.css" crossorigin>
  <link rel="stylesheet" href="/assets/css/b.css" crossorigin>
  <script type="module" src="/assets/a/main.js" crossorigin></script>
"""
    assert (entry_of(page), stylesheets_of(page)) == ("a/main.js", ["css/a.css", "css/b.css"])
    assert bundled(page, "bundle/a", "v1").splitlines() == [
        '<link rel="icon" href="/assets/v1/css/x.svg">',
        '  <link rel="stylesheet" href="/assets/v1/bundle/a.css" crossorigin>',
        '  <script type="module" src="/assets/v1/bundle/a.js" crossorigin></script>',
    ]


def test_every_module_that_is_named_exists() -> None:
    sources = {path: file.body.decode() for path, file in modules().assets.items() if path.endswith(".js")}
    for path, source in sources.items():
        for name in imports(source):
            assert normpath(f"{path}/../{name}") in sources, (path, name)


@pytest.mark.parametrize("name", PAGES)
async def test_all_a_page_names_is_there_and_is_kept_for_good(hub: RunningHub, name: str) -> None:
    path = "/" if name == "index.html" else "/" + name.removesuffix(".html")
    async with hub.client() as client:
        text = (await client.get(path)).text
        named = re.findall(r'="(/assets/[^"]+)"', text)
        assert len(named) == len(set(named))
        for address in named:
            answer = await client.get(address)
            assert answer.status_code == 200, address
            assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("wrong", ["0" * 16, "shell", "..", "x"])
async def test_a_file_of_another_version_is_not_there(hub: RunningHub, page: PageFiles, wrong: str) -> None:
    async with hub.client(hub.tokens["owner"]) as client:
        answer = await client.get(f"/assets/{wrong}/{script_of(page)}")
    assert answer.status_code == 404
    assert answer.headers["cache-control"] == "no-store"


async def test_a_plain_address_is_asked_about_each_time(hub: RunningHub, page: PageFiles) -> None:
    address = f"/assets/{script_of(page)}"
    async with hub.client() as client:
        first = await client.get(address)
        assert first.headers["cache-control"] == "no-cache"
        again = await client.get(address, headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


async def test_text_is_packed_only_for_those_who_take_it(hub: RunningHub, page: PageFiles) -> None:
    file = page.assets[script_of(page)]
    async with hub.client() as client:
        address = f"/assets/{page.version}/{script_of(page)}"
        plain = await client.get(address, headers={"accept-encoding": "identity"})
        packed = await client.get(address, headers={"accept-encoding": "br, gzip"})
        image = await client.get("/assets/icons/icon-192.png", headers={"accept-encoding": "gzip"})
        assert plain.content == packed.content == file.body
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert int(packed.headers["content-length"]) < len(file.body) / 2
        assert "content-encoding" not in image.headers
        assert {one.headers["vary"] for one in (plain, packed, image)} == {"accept-encoding"}
        assert plain.headers["etag"] != packed.headers["etag"]
        known = {"accept-encoding": "gzip", "if-none-match": packed.headers["etag"]}
        assert (await client.get(address, headers=known)).status_code == 304


def test_what_is_packed_is_the_same_file(page: PageFiles) -> None:
    for file in page.assets.values():
        assert file.packed is None or gzip.decompress(file.packed) == file.body


@pytest.mark.parametrize(
    ("accepted", "taken"),
    [
        (None, False), ("", False), ("identity", False), ("gzip", True), ("GZIP;q=0.5, br", True),
        ("br, gzip;q=0", False), ("gzip; q=0.000", False), ("x-gzip", False),
    ],
)  # fmt: skip
def test_gzip_is_taken_only_when_it_is_named(accepted: str | None, taken: bool) -> None:
    assert takes_gzip(accepted) is taken


def test_the_version_is_in_every_address_of_every_page(page: PageFiles) -> None:
    for name in PAGES:
        text = page.documents[name].body.decode()
        assert text.count("/assets/") == text.count(f'="/assets/{page.version}/') > 1
