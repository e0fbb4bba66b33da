"""The page's bundle: served only when it is whole and made from exactly the sources beside it."""

import json
import shutil
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from tests.hub.page_forms import bundle, modules, script_of
from tests.hub.running_hub import running_hub

from bascule.hub.page.bundle import BUNDLES, FOLDER, MANIFEST, manifest_of, read_bundle, sources_in
from bascule.hub.page.web_files import as_bundle, page_files

pytestmark = pytest.mark.anyio


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """A copy of the page's sources, with a small bundle that says it was made from them."""
    copy = tmp_path / "web"
    with as_file(files("bascule") / "web") as own:
        shutil.copytree(own, copy, ignore=shutil.ignore_patterns(FOLDER, f".{FOLDER}-*"))
    folder = copy / FOLDER
    folder.mkdir()
    made = {f"{one}{kind}": b"/* small */" for one in BUNDLES.values() for kind in (".js", ".css")}
    for name, body in made.items():
        (folder / name).write_bytes(body)
        (folder / f"{name}.map").write_text("{}")
    (folder / MANIFEST).write_text(manifest_of(sources_in(copy), made))
    return copy


def test_a_bundle_of_these_sources_is_taken_with_its_maps(web: Path) -> None:
    sources = sources_in(web)
    found = read_bundle(web, sources)
    assert found is not None
    page = as_bundle(web, sources, found)
    assert page.assets["bundle/shell.js"].body == b"/* small */"
    assert page.assets["bundle/shell.js.map"].body == b"{}"
    assert page.assets["css/icon.svg"].body == sources["css/icon.svg"]
    assert "shell/main.js" not in page.assets


@pytest.mark.parametrize("path", ["shell/main.js", "css/tokens.css", "index.html", "vendor/marked.js"])
def test_a_bundle_is_stale_as_soon_as_one_source_is_edited(web: Path, path: str) -> None:
    with (web / path).open("a") as file:
        file.write("\n")
    assert read_bundle(web, sources_in(web)) is None


def test_a_bundle_is_stale_when_a_source_is_new_gone_or_renamed(web: Path) -> None:
    new = web / "js" / "new.js"
    new.write_text("")
    assert read_bundle(web, sources_in(web)) is None
    new.unlink()
    assert read_bundle(web, sources_in(web)) is not None
    (web / "js" / "format.js").rename(web / "js" / "formats.js")
    assert read_bundle(web, sources_in(web)) is None


def test_a_bundle_that_a_build_left_unfinished_is_not_taken(web: Path) -> None:
    script = web / FOLDER / "portlet.js"
    script.write_bytes(b"/* sm")
    assert read_bundle(web, sources_in(web)) is None
    script.unlink()
    assert read_bundle(web, sources_in(web)) is None


def test_another_build_of_the_same_sources_has_other_addresses(web: Path) -> None:
    sources = sources_in(web)
    first = read_bundle(web, sources)
    assert first is not None
    made = {**first.files, "shell.js": b"/* smaller */"}
    (web / FOLDER / "shell.js").write_bytes(made["shell.js"])
    (web / FOLDER / MANIFEST).write_text(manifest_of(sources, made))
    second = read_bundle(web, sources)
    assert second is not None
    assert second.version != first.version


def test_the_package_serves_the_bundle_where_it_is_fresh_and_the_modules_elsewhere() -> None:
    web = files("bascule") / "web"
    fresh = read_bundle(web, sources_in(web)) is not None
    assert page_files().version == (bundle() if fresh else modules()).version


def test_a_page_of_the_bundle_asks_for_one_script_and_its_styles() -> None:
    for name, made in BUNDLES.items():
        text = bundle().documents[name].body.decode()
        wanted = 1 if name in {"diagram.html", "math.html"} else 2  # what only draws for others has no styles
        assert (
            text.count("/assets/") - text.count('rel="icon"') - text.count('rel="apple-touch-icon"') == wanted
        )
        assert (f'/bundle/{made}.css"' in text) == (wanted == 2)
        assert f'/bundle/{made}.js"' in text
        assert "modulepreload" not in text


async def test_a_debugger_finds_the_sources_by_the_map_that_a_script_names(tmp_path: Path) -> None:
    page = bundle()
    async with running_hub(tmp_path, page=lambda: page) as hub, hub.client() as client:
        address = f"/assets/{page.version}/{script_of(page)}"
        script = (await client.get(address)).text
        assert script.rstrip().endswith("//# sourceMappingURL=shell.js.map")
        answer = await client.get(f"{address}.map")
        assert answer.headers["content-type"] == "application/json"
        found = json.loads(answer.content)
        at = found["sources"].index("../shell/main.js")
        assert found["sourcesContent"][at].encode() == modules().assets["shell/main.js"].body


def test_the_build_can_read_what_it_shares_with_the_server_without_any_package() -> None:
    root = str(Path(__file__).parents[2] / "src")
    shared = "bascule.hub.page.bundle, bascule.hub.page.page_links"
    lines = f"import sys; sys.path.insert(0, sys.argv[1]); import {shared}"
    ran = subprocess.run([sys.executable, "-S", "-I", "-c", lines, root], check=False, capture_output=True)
    assert ran.stderr == b""
