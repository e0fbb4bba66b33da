"""The page's type check refuses an `any`, and an API call, a push or parsed JSON that has no type."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.waiting import PATIENCE
from tests.web.node import NODE, needs_node

ROOT = Path(__file__).parent.parent.parent
TYPESCRIPT = ROOT / "web" / "node_modules" / "typescript"

needs_typescript = pytest.mark.skipif(
    not TYPESCRIPT.is_dir(), reason="TypeScript is not installed: python web/check.py --fetch"
)
API = """
export interface Operations { 'session:send': { body: { text: string }; answer: { place: number } } }
export interface Feed {
  call<N extends keyof Operations>(type: N, body: Operations[N]['body']): Promise<Operations[N]['answer']>;
}
"""
HEAD = "/** @param {import('./types.d.ts').Feed} feed */\nexport async function run(feed) {\n"
REFUSED = {
    "a parameter": ("return feed.call('session:send', JSON.parse('{}'));", "A parameter of the API is any."),
    "a part of a parameter": (
        "const text = JSON.parse('1'); return feed.call('session:send', { text });",
        "A parameter of the API is any.",
    ),
    "what is called": (
        "const hidden = /** @type {{api: any}} */ ({ api: feed }); return hidden.api.send('x');",
        "What this call of the API is, is any.",
    ),
    "an any anywhere": ("/** @type {any} */ let one = 1; return (one = feed);", "any: use the type there is"),
    "an answer over HTTP": (
        "const body = await (await fetch('/api')).json(); return body;",
        "Parsed JSON has no type.",
    ),
    "a field of such an answer": (
        "return (await (await fetch('/api')).json()).ticket;",
        "Parsed JSON is read without a type.",
    ),
}
TAKEN = {
    "typed parameters": "return (await feed.call('session:send', { text: 'x' })).place;",
    "an answer that gets a type": (
        "/** @type {{ticket: string}} */ const { ticket } = await (await fetch('/')).json(); return ticket;"
    ),
    "an unknown that is checked": (
        "/** @type {unknown} */ const kept = JSON.parse('1'); return typeof kept === 'number' ? kept : 0;"
    ),
}


def check(folder: Path, body: str) -> subprocess.CompletedProcess[str]:
    """The real check, on a page of one module."""
    (folder / "js").mkdir()
    (folder / "js" / "types.d.ts").write_text(API)
    (folder / "js" / "page.js").write_text(HEAD + body + "\n}\n")
    options = json.loads((ROOT / "web" / "tsconfig.json").read_text())["compilerOptions"]
    options.pop("paths")
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "include": ["js/*"]}))
    return subprocess.run(
        [str(NODE), str(ROOT / "web" / "typecheck.js"), str(folder / "tsconfig.json")],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@needs_node
@needs_typescript
@pytest.mark.parametrize(("body", "words"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_type_at_the_api_is_refused(tmp_path: Path, body: str, words: str) -> None:
    done = check(tmp_path, body)
    assert done.returncode == 1
    assert words in done.stderr


@needs_node
@needs_typescript
@pytest.mark.parametrize("body", TAKEN.values(), ids=TAKEN)
def test_what_has_a_type_passes(tmp_path: Path, body: str) -> None:
    done = check(tmp_path, body)
    assert (done.returncode, done.stderr) == (0, "")
