"""The page's pure modules, and its types, without a browser."""

import runpy
import subprocess
from pathlib import Path

import pytest
from tests.waiting import PATIENCE
from tests.web.node import NODE, needs_node

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
MAX_LINES = {".js": 400, ".css": 400}


CHECKS = ["pure", "portlet", "connection", "live", "request", "shell", "library", "delta", "launch", "offer"]


@pytest.mark.row("L9")
@needs_node
@pytest.mark.parametrize("name", CHECKS)
def test_the_pure_modules_do_what_their_checks_say(name: str) -> None:
    checks = HERE / f"{name}_checks.mjs"
    done = subprocess.run(
        [str(NODE), "--test", str(checks)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_types_of_the_page_are_those_of_the_model() -> None:
    made = runpy.run_path(str(ROOT / "web" / "page_types.py"))["generate"]()
    written = (ROOT / "src" / "bascule" / "web" / "js" / "types.d.ts").read_text()
    assert written == made, "run python web/page_types.py"


def test_reduce_imports_nothing() -> None:
    text = (ROOT / "src" / "bascule" / "web" / "js" / "reduce.js").read_text()
    assert not [line for line in text.splitlines() if line.startswith("import ")]


def test_every_file_of_the_page_is_short_and_says_what_it_is_for() -> None:
    web = ROOT / "src" / "bascule" / "web"
    for path in [*web.rglob("*.js"), *web.rglob("*.css")]:
        if path.parent.name in ("vendor", "bundle"):
            continue
        text = path.read_text()
        assert text.startswith(("/**", "/*")), f"{path.name} does not say what it is for"
        assert len(text.splitlines()) < MAX_LINES[path.suffix], f"{path.name} is long"
