"""The wheel holds all that the page needs, so that whoever installs it needs neither Node nor a network."""

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.hub.page_forms import bundle

from bascule.hub.page.bundle import BUNDLES

ROOT = Path(__file__).parents[2]


def test_the_wheel_holds_the_bundle_its_maps_and_the_modules(tmp_path: Path):
    bundle()  # skips where there is none: a test must not fetch and build one
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    kinds = (".js", ".js.map", ".css", ".css.map")
    assert {f"bascule/web/bundle/{one}{kind}" for one in BUNDLES.values() for kind in kinds} <= held
    assert {
        "bascule/web/bundle/manifest.json",
        "bascule/web/shell/main.js",
        "bascule/web/vendor/xterm.js",
    } <= held
    assert not [name for name in held if "node_modules" in name or "/.bundle-" in name]
