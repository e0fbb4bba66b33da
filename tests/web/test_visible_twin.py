"""The page shows hidden characters exactly as the command line does (S44)."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.web.node import NODE, needs_node

FIXTURE = Path(__file__).parent.parent / "fixtures" / "visible.json"
CHECK = """
import { readFileSync } from 'node:fs';
const { visible, sanitize, hasHidden, visiblePieces } = await import(process.argv[2]);
const cases = JSON.parse(readFileSync(process.argv[3], 'utf8'));
console.log(JSON.stringify(cases.map((one) => ({
  visible: visible(one.text), sanitize: sanitize(one.text), hidden: hasHidden(one.text),
  joined: visiblePieces(one.text).map((piece) => piece.text).join(''),
}))));
"""


@pytest.mark.row("S44")
@needs_node
def test_the_page_writes_hidden_characters_out_like_the_command_line(tmp_path: Path) -> None:
    module = Path(__file__).parent.parent.parent / "src" / "bascule" / "web" / "js" / "visible.js"
    script = tmp_path / "check.mjs"
    script.write_text(CHECK)
    cases = json.loads(FIXTURE.read_text())
    done = subprocess.run(
        [str(NODE), str(script), module.as_uri(), str(FIXTURE)], capture_output=True, check=True
    )
    for case, got in zip(cases, json.loads(done.stdout), strict=True):
        assert got["visible"] == case["visible"], case
        assert got["joined"] == case["visible"], case
        assert got["hidden"] == case["hidden"], case
