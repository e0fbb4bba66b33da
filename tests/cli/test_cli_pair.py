"""`bascule pair`: the link and its code, and an honest word on each address; against a real hub."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.program import Finished, bascule
from tests.hub.running_hub import RunningHub, running_hub

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def hub_with_note(folder: Path, **settings: Any) -> AsyncIterator[tuple[RunningHub, Path]]:
    """A hub, and the state folder that the command finds it by."""
    data = folder / "data"
    data.mkdir(mode=0o700)
    (folder / "hub").mkdir()
    async with running_hub(folder / "hub", **settings) as hub:
        note = data / "server.json"
        note.write_text(json.dumps({"pid": os.getpid(), "url": hub.url, "key": hub.tokens["owner"]}))
        note.chmod(0o600)
        yield hub, data


async def pair(data: Path, *words: str) -> Finished:
    return await bascule(data, "pair", *words, NO_PROXY="*")


async def test_it_prints_a_link_that_works_once_and_says_that_only_this_machine_opens_it(
    tmp_path: Path,
) -> None:
    async with hub_with_note(tmp_path) as (hub, data):
        done = await pair(data, "phone", "--role", "viewer", "--qr")
        assert done.code == 0
        link = done.out.strip()
        address, _, secret = link.partition("/#pair=")
        assert address == hub.url
        assert secret not in done.err
        assert "▄" in done.err or "█" in done.err
        assert "phone enters as viewer. It works once, within 10 minutes." in done.err
        assert f"{hub.url}  only reachable from this machine" in done.err
        assert "--public-url" in done.err
        assert "--tls-cert" in done.err
        async with hub.client() as browser:
            got = await browser.post("/api/links/redeem", json={"secret": secret})
            assert got.json()["role"] == "viewer"
            assert (await browser.post("/api/links/redeem", json={"secret": secret})).status_code == 410


async def test_an_address_that_its_owner_named_is_used_and_tried(tmp_path: Path) -> None:
    # Nothing answers there from here, as behind a proxy that only others see.
    async with hub_with_note(tmp_path, public_url="http://127.0.0.1:9") as (hub, data):
        done = await pair(data)
    assert done.out.startswith("http://127.0.0.1:9/#pair=")
    assert "http://127.0.0.1:9  does not answer from here (" in done.err
    assert f"{hub.url}  only reachable from this machine" in done.err
    assert "Only this machine can open the link" not in done.err


@pytest.mark.skipif(not os.path.exists("/proc"), reason="only Linux has all of 127.0.0.0/8 by itself")
async def test_an_address_whose_name_the_server_refuses_says_which_setting_mends_it(tmp_path: Path) -> None:
    async with hub_with_note(tmp_path, host="0.0.0.0", insecure_bind=True) as (hub, data):
        done = await pair(data)
        lines = [line for line in done.err.splitlines() if line.startswith("  http://")]
    assert lines[-1] == f"  {hub.url}  only reachable from this machine"
    for line in lines[:-1]:  # the interfaces of the machine that runs the test, if there are any
        assert "allowed_hosts" in line


async def test_without_a_server_it_says_how_to_start_one(tmp_path: Path) -> None:
    done = await pair(tmp_path)
    assert (done.code, done.out) == (3, "")
    assert "start one with: bascule" in done.err
