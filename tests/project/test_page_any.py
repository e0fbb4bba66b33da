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


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What the real check says of each page. It reads all of them at once: a start costs two seconds."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "js").mkdir()
    (folder / "js" / "types.d.ts").write_text(API)
    bodies = {**{name: body for name, (body, _) in REFUSED.items()}, **TAKEN}
    for name, body in bodies.items():
        (folder / "js" / f"{file_name(name)}.js").write_text(HEAD + body + "\n}\n")
    done = check(folder)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    return {name: [one for one in lines if f"{file_name(name)}.js(" in one] for name in bodies}


def file_name(name: str) -> str:
    return name.replace(" ", "-")


def check(folder: Path) -> subprocess.CompletedProcess[str]:
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
@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_type_at_the_api_is_refused(problems: dict[str, list[str]], name: str) -> None:
    assert any(REFUSED[name][1] in one for one in problems[name])


@needs_node
@needs_typescript
@pytest.mark.parametrize("name", TAKEN)
def test_what_has_a_type_passes(problems: dict[str, list[str]], name: str) -> None:
    assert problems[name] == []


@needs_node
@needs_typescript
def test_a_page_whose_types_are_whole_passes_in_silence(tmp_path: Path) -> None:
    (tmp_path / "js").mkdir()
    (tmp_path / "js" / "types.d.ts").write_text(API)
    for number, body in enumerate(TAKEN.values()):
        (tmp_path / "js" / f"page{number}.js").write_text(HEAD + body + "\n}\n")
    done = check(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
