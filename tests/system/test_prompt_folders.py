"""The prompt library's Markdown files by the whole program: import, export, and nothing else overwritten."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.live import LiveServer
from tests.parts import Part
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio


@pytest.fixture
async def server(short_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(short_dir) as running:
        yield running


async def post(server: LiveServer, path: str, status: int = 200, **body: Any) -> dict[str, Any]:
    answer = await server.http.post(f"/api/prompts{path}", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


async def prompts(server: LiveServer) -> dict[str, dict[str, Any]]:
    listed = (await server.http.get("/api/prompts")).json()["prompts"]
    return {one["title"]: one for one in listed}


async def text(server: LiveServer, prompt_id: str) -> str:
    shown = (await server.http.get(f"/api/prompts/{prompt_id}")).json()
    return "".join(op["insert"] for op in shown["content"]["delta"]["ops"])


def counts(outcome: dict[str, Any]) -> dict[str, list[str]]:
    kinds = ("added", "changed", "unchanged", "skipped")
    return {kind: sorted(one["path"] for one in outcome[kind]) for kind in kinds if outcome[kind]}


@pytest.mark.row("L10")
async def test_command_files_become_prompts_and_a_second_import_takes_only_what_changed(
    server: LiveServer, part: Part
) -> None:
    commands = server.work / ".claude" / "commands"
    (commands / "web").mkdir(parents=True)
    fix = commands / "fix.md"
    fix.write_text("---\nargument-hint: a file\nallowed-tools: Read\n---\nFix $ARGUMENTS\n")
    (commands / "web" / "button.md").write_text("Make a button")
    (commands / "bad.md").write_bytes(b"\xff\xfe nothing")
    (commands / "link.md").symlink_to("/etc/hostname")
    (commands / "notes.txt").write_text("not a prompt")
    first = await post(server, "/import", folder=str(commands))
    with part("new ones are added, what can't be read is named with a reason"):
        assert counts(first) == {"added": ["fix.md", "web/button.md"], "skipped": ["bad.md"]}
        assert "UTF-8" in first["skipped"][0]["problem"]
    known = await prompts(server)
    with part("the argument is a field"):
        assert await text(server, known["fix"]["id"]) == "Fix {{arguments}}\n"
        assert known["fix"]["fields"][0]["hint"] == "a file"
    with part("the same folder again changes nothing"):
        again = await post(server, "/import", folder=str(commands))
        assert counts(again) == {"unchanged": ["fix.md", "web/button.md"], "skipped": ["bad.md"]}
    with part("a changed file is a new version of the same prompt"):
        (commands / "web" / "button.md").write_text("Make a blue button")
        assert counts(await post(server, "/import", folder=str(commands)))["changed"] == ["web/button.md"]
        button = (await prompts(server))["web:button"]
        assert (button["version"], await text(server, button["id"])) == (2, "Make a blue button\n")
    with part("exported to where it came from, the agent's own words stay in the file"):
        out = await post(server, "/export", folder=str(commands), promptIds=[known["fix"]["id"]])
        assert counts(out) == {"changed": ["fix.md"]}
        assert fix.read_text().endswith(
            'fields:\n  - {"name": "arguments", "kind": "text", "hint": "a file"}\n'
            "argument-hint: a file\nallowed-tools: Read\n---\nFix $ARGUMENTS\n"
        )


async def test_an_export_writes_files_that_import_as_what_they_were(server: LiveServer, part: Part) -> None:
    folder = server.work / "prompts"
    folder.mkdir()
    (folder / "review.md").write_text("somebody else's")
    bold = {"ops": [{"insert": "Look", "attributes": {"bold": True}}, {"insert": " at {{file}}\n"}]}
    fields = [{"name": "file", "kind": "file"}]
    content = {"title": "Review", "delta": bold, "tags": ["a"], "fields": fields}
    made = await post(server, "", content=content)
    await post(server, "", content={"title": "Pad", "delta": {"ops": [{"insert": "x\n"}]}, "kind": "scratch"})
    out = await post(server, "/export", folder=str(folder))
    mine = folder / "review-2.md"
    with part("a file with the same name is left alone, and scratch pads stay in the library"):
        assert counts(out) == {"added": ["review-2.md"]}
        assert (folder / "review.md").read_text() == "somebody else's"
        assert mine.read_text().endswith("---\n**Look** at {{file}}\n")
    with part("the same again writes nothing, and importing it changes nothing"):
        stamp = mine.stat().st_mtime_ns
        assert counts(await post(server, "/export", folder=str(folder))) == {"unchanged": ["review-2.md"]}
        assert mine.stat().st_mtime_ns == stamp
        imported = counts(await post(server, "/import", folder=str(folder)))
        assert imported == {"added": ["review.md"], "unchanged": ["review-2.md"]}
        assert (await prompts(server))["Review"]["version"] == 1
    with part("a file that was changed outside is not overwritten; imported, it is a version"):
        mine.write_text(mine.read_text().replace("Look", "Glance"))
        newer = {**content, "delta": {"ops": [{"insert": "Stare at {{file}}\n"}]}}
        await post(server, f"/{made['id']}", base=1, content=newer)
        refused = await post(server, "/export", folder=str(folder), promptIds=[made["id"]])
        assert "Import this folder first" in refused["skipped"][0]["problem"]
        assert "Glance" in mine.read_text()
        assert counts(await post(server, "/import", folder=str(folder)))["changed"] == ["review-2.md"]
        assert await text(server, made["id"]) == "**Glance** at {{file}}\n"
        versions = (await server.http.get(f"/api/prompts/{made['id']}/versions")).json()["versions"]
        assert [one["version"] for one in versions] == [3, 2, 1]


async def test_only_folders_below_the_roots_are_read_or_written(server: LiveServer, part: Part) -> None:
    outside = Path(os.environ.get("TMPDIR", "/tmp")).resolve()
    for path in ("/import", "/export"):
        with part(f"{path} refuses other folders and Bascule's own"):
            for folder in (str(outside), "/etc", str(server.data), str(server.work / "missing"), "work"):
                refused = await post(server, path, status=400, folder=folder)
                assert refused["error"]["code"] == "INVALID_DIRECTORY", folder


async def test_the_command_line_lists_shows_imports_and_exports(server: LiveServer) -> None:
    folder = server.work / "prompts"
    folder.mkdir()
    (folder / "greet.md").write_text("Hello {{who}},\n\nhow are you?\n")
    assert await command(server, "import", str(folder)) == f"added  greet.md\n0 unchanged in {folder}\n"
    prompt = (await prompts(server))["greet"]
    assert await command(server, "list", "hello") == f"{prompt['id']}  greet\n"
    assert await command(server, "show", "greet") == "Hello {{who}},\n\nhow are you?\n"
    out = server.work / "out"
    out.mkdir()
    assert (await command(server, "export", str(out))).startswith("added  greet.md\n")
    assert (out / "greet.md").read_text().endswith("---\nHello {{who}},\n\nhow are you?\n")


async def command(server: LiveServer, *words: str) -> str:
    """What `bascule prompts …` prints, against this server."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bascule", "prompts", *words, "--data", str(server.front.data)),
        env={"PATH": os.environ["PATH"], "HOME": str(server.home)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, wrong = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0, wrong.decode()
    return said.decode()
