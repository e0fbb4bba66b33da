"""`bascule trust`: links made, listed and revoked, the real program against a scripted server."""

import re
import time
from pathlib import Path
from typing import Any

import pytest
from tests.cli.agent_script import play, replies
from tests.cli.program import bascule

from bascule.daemon.starts.trusted_browsers import BrowserBook

pytestmark = pytest.mark.anyio


def grant(name: str, identity: str) -> dict[str, Any]:
    return {"id": identity, "name": name, "role": "operator", "createdAt": "", "expiresAt": "2026-02-01"}


async def test_trust_prints_the_link_alone_on_stdout_and_the_code_beside_it(tmp_path: Path):
    link = "http://127.0.0.1:3333/#token=abc"
    async with play(tmp_path) as scene:
        made = {"grant": grant("phone", "g1"), "token": "abc", "link": link}
        scene.server.handlers["grants:create"] = replies(made)
        done = await bascule(tmp_path, "trust", "generate", "phone", "--days", "7", "--qr")
    assert done.out == link + "\n"
    assert "bascule trust revoke g1" in done.err
    assert "▄" in done.err or "█" in done.err
    asked = scene.server.asked[0]
    assert (asked["name"], asked["role"], asked["expiresIn"]) == ("phone", "operator", 7 * 86400)


async def test_trust_is_revoked_by_name_or_id_but_not_by_a_name_two_have(tmp_path: Path):
    async with play(tmp_path) as scene:
        grants = [grant("phone", "g1"), grant("tablet", "g2"), grant("tablet", "g3")]
        scene.server.handlers["grants:list"] = replies({"grants": grants})
        assert (await bascule(tmp_path, "trust", "revoke", "phone")).code == 0
        assert (await bascule(tmp_path, "trust", "revoke", "g3")).code == 0
        assert (await bascule(tmp_path, "trust", "revoke", "tablet")).code == 4
        assert (await bascule(tmp_path, "trust", "revoke", "watch")).code == 4
        assert "phone" in (await bascule(tmp_path, "trust", "list")).out
    revoked = [frame["grantId"] for frame in scene.server.asked if frame["type"] == "grants:revoke"]
    assert revoked == ["g1", "g3"]


@pytest.mark.row("R17")
async def test_trusted_browsers_are_listed_with_their_end_and_revoked_by_name(tmp_path: Path):
    async with play(tmp_path) as scene:
        scene.server.handlers["grants:list"] = replies({"grants": []})
        book, now = BrowserBook(tmp_path), time.time()
        phone = book.make("my phone", now)
        book.make("old tablet", now - 8 * 86400, 7 * 86400.0)
        listed = (await bascule(tmp_path, "trust", "list")).out
        revoked = await bascule(tmp_path, "trust", "revoke", "my phone")
        after = (await bascule(tmp_path, "trust", "list")).out
    until = time.strftime("%Y-%m-%d", time.localtime(phone.expires_at))
    assert "Browsers whose signed starts this machine takes:" in listed
    assert f"{phone.id}  my phone  until {until}\n" in listed
    assert re.search(r"old tablet  until \S+  expired\n", listed)
    assert phone.code not in listed
    assert "no more starts signed by my phone" in revoked.out
    assert "my phone" not in after


@pytest.mark.row("L8")
async def test_a_trusted_site_is_listed_apart_and_revoked_by_its_address(tmp_path: Path):
    site = {**grant("https://tool.example", "s1"), "role": "site", "createdAt": "2026-01-18T14:30:00.000Z"}
    async with play(tmp_path) as scene:
        scene.server.handlers["grants:list"] = replies({"grants": [site]})
        alone = await bascule(tmp_path, "trust", "list")
        scene.server.handlers["grants:list"] = replies({"grants": [site, grant("phone", "g1")]})
        both = await bascule(tmp_path, "trust", "list")
        revoked = await bascule(tmp_path, "trust", "revoke", "https://tool.example")
    assert alone.out.startswith("There are no links.")
    lines = both.out.splitlines()
    assert lines[0].startswith("g1  operator  phone")
    assert lines[1] == "Websites that may launch agents without the launch window:"
    assert lines[2] == "s1  https://tool.example  trusted since 2026-01-18T14:30:00.000Z"
    assert revoked.out.startswith("https://tool.example is no longer trusted.")
    assert [one["grantId"] for one in scene.server.asked if one["type"] == "grants:revoke"] == ["s1"]
