"""Rules over the real server: who may make them, the command line, the page's socket."""

import json
from pathlib import Path

import httpx
import pytest
from tests.cli.program import bascule
from tests.live import LiveServer
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio

RULE = {"answer": "allow", "toolClass": "command", "argv": ["git", "status"]}


@pytest.mark.row("X7")
async def test_only_an_owner_changes_rules_and_everybody_who_may_look_sees_them(short_dir: Path):
    async with LiveServer(short_dir) as server:
        made = await server.post("/api/rules", rule=RULE | {"folder": str(server.work)})
        assert made.status_code == 200, made.text
        assert made.json()["words"] == "Allow `git status` in work"
        for role, may_try in (("operator", 200), ("viewer", 403)):
            grant = (await server.post("/api/grants", name=role, role=role)).json()
            headers = {"authorization": f"Bearer {grant['token']}"}
            async with httpx.AsyncClient(
                base_url=server.url, headers=headers, trust_env=False, timeout=PATIENCE
            ) as other:
                assert (await other.post("/api/rules", json={"rule": RULE})).status_code == 403
                assert (await other.delete(f"/api/rules/{made.json()['id']}")).status_code == 403
                assert (await other.get("/api/rules/import")).status_code == 403
                assert (await other.post("/api/rules/try", json={"rule": RULE})).status_code == may_try
                assert len((await other.get("/api/rules")).json()["rules"]) == 1
        wrong = await server.post("/api/rules", rule=RULE | {"argv": ["git", "status;rm"]})
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, "INVALID_INPUT")
        unknown = await server.post("/api/rules", rule=RULE | {"regex": ".*"})
        assert unknown.status_code == 400
        both = await server.post("/api/rules/try", rule=RULE, request={"text": "git status"})
        assert both.status_code == 400


@pytest.mark.row("X7")
async def test_rules_are_listed_made_tried_and_removed_from_the_command_line(short_dir: Path):
    async with LiveServer(short_dir) as server:
        work = str(server.work)
        none = await bascule(server.data, "rules", "list")
        assert none.code == 0
        assert "There are no rules" in none.out
        made = await bascule(
            server.data,
            "rules",
            "add",
            "allow",
            "command",
            "--command",
            "pytest …",
            "--in",
            work,
            "--days",
            "2",
        )
        assert made.code == 0, made.err
        assert made.out.startswith("Allow `pytest …` in work, until ")
        listed = await bascule(server.data, "rules", "list", "--json")
        rule = json.loads(listed.out)
        assert (rule["argv"], rule["more"], rule["folder"]) == (["pytest"], True, work)
        tried = await bascule(server.data, "rules", "try", "--request", "pytest -q", "--in", work)
        assert tried.out.startswith("It would be allowed: Allow `pytest …` in work")
        dry = await bascule(server.data, "rules", "try", "deny", "command", "--command", "git push")
        assert "would have answered 0 of the last 0 requests" in dry.out
        refused = await bascule(server.data, "rules", "add", "allow", "command", "--command", "a; b")
        assert refused.code == 4
        assert "plain words" in refused.err
        assert (await bascule(server.data, "rules", "add", "allow")).code == 2
        assert (await bascule(server.data, "rules", "remove", rule["id"])).code == 0
        assert (await bascule(server.data, "rules", "remove", rule["id"])).code == 4
