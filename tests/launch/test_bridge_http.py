"""The bridge over HTTP: real requests to a real listener, real terminals and agents behind it."""

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from tests.hub.running_hub import raw_exchange, status_of
from tests.launch.desk import Desk, digest
from tests.waiting import PATIENCE

from bascule.hub.launch.bridge_app import BridgeApp
from bascule.hub.launch.bridge_server import bind_bridge, serving_bridge
from bascule.launch.errors import LaunchError
from bascule.launch.gate import Gate
from bascule.launch.idempotent import IdempotentLaunches
from bascule.launch.refusals import PER_MINUTE, RefusalLog

pytestmark = pytest.mark.anyio
PAGE = "https://tool.example"


@contextlib.asynccontextmanager
async def bridge(desk: Desk, per_minute: int = 60, **launch: Any) -> AsyncIterator[httpx.AsyncClient]:
    # The clock of the rate limit stands still, however long launches take here.
    launches = IdempotentLaunches(desk.launches(**launch), per_minute, lambda: 0.0)
    listening = bind_bridge(0)
    try:
        async with serving_bridge(listening, launches, [PAGE]) as port:
            url = f"http://127.0.0.1:{port}"
            headers = {"origin": PAGE, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"}
            async with httpx.AsyncClient(
                base_url=url, headers=headers, timeout=PATIENCE, trust_env=False
            ) as client:
                yield client
    finally:
        await launches.close()
        listening.close()


def body(desk: Desk, prompt: str = "hello there", **fields: Any) -> dict[str, Any]:
    return {"prompt": prompt, "workingDirectory": str(desk.home), **fields}


@pytest.mark.row("L1", "L13", "LV-2", "LV-6", "LV-22")
async def test_a_launch_is_answered_when_the_window_has_reported(desk: Desk) -> None:
    async with bridge(desk) as page:
        answer = await page.post("/launch", json=body(desk))
        assert answer.status_code == 200, answer.text
        assert answer.headers["x-bridge-version"] == "1.0"
        assert answer.headers["access-control-allow-origin"] == PAGE
        assert answer.headers["access-control-expose-headers"] == "X-Bridge-Version"
        assert answer.headers["vary"] == "Origin"
        told = answer.json()
        assert told["success"] is True
        data = told["data"]
        assert (data["launched"], data["confirmed"], data["terminal"]) == (True, True, "xterm")
        assert (data["rule"], data["agent"], data["mode"]) == ("$TERMINAL", "claude-code", "plan")
        assert data["tempFile"].startswith("prompt-")
        assert data["tempFile"].endswith(".txt")
        assert data["timestamp"].endswith("Z")
        assert (await desk.note("sha256"))["sha256"] == digest("hello there")
        assert desk.files() == []
        again = await page.get(f"/launch/{data['id']}")
        assert (again.status_code, again.json()["data"]["launched"]) == (200, True)


@pytest.mark.row("L1", "L2")
async def test_without_a_report_it_is_202_and_the_outcome_is_told_by_its_id(desk: Desk) -> None:
    desk.terminal("hangs")
    async with bridge(desk, answer_ms=0, window_seconds=1) as page:
        answer = await page.post("/launch", json=body(desk))
        assert answer.status_code == 202
        data = answer.json()["data"]
        assert (data["launched"], data["confirmed"], data["state"]) == (False, False, "opening")
        async with asyncio.timeout(PATIENCE):
            while (outcome := await page.get(f"/launch/{data['id']}")).status_code == 202:  # noqa: ASYNC110 - asked by pages, too
                await asyncio.sleep(0.05)
        assert outcome.status_code == 500
        told = outcome.json()
        assert (told["success"], told["error"]) == (False, "terminal_spawn_failed")
        assert "showed no window within 1 s" in told["message"]
        assert told["details"]["terminal"] == "xterm"


@pytest.mark.row("L2", "L7", "L13", "LV-8", "LV-9", "LV-10", "LV-15", "LV-19", "LV-20")
async def test_every_refusal_has_its_status_code_and_shape_and_opens_nothing(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "a private prompt"
    good = json.dumps(body(desk, secret)).encode()
    long = json.dumps(body(desk, secret + "x" * 1_048_576)).encode()
    json_type = {"content-type": "application/json"}
    cases: list[tuple[int, str, str, str, bytes, dict[str, str]]] = [
        (403, "origin_forbidden", "POST", "/launch", good, {**json_type, "origin": "https://evil.example"}),
        (403, "origin_forbidden", "POST", "/launch", good, {**json_type, "origin": "null"}),
        (403, "origin_forbidden", "POST", "/launch", good, {**json_type, "sec-fetch-mode": "no-cors"}),
        (421, "host_forbidden", "POST", "/launch", good, {**json_type, "host": "evil.example"}),
        (415, "unsupported_media_type", "POST", "/launch", good, {"content-type": "text/plain"}),
        (400, "invalid_json", "POST", "/launch", b"{", json_type),
        (400, "prompt_required", "POST", "/launch", b"{}", json_type),
        (413, "prompt_too_large", "POST", "/launch", long, json_type),
        (413, "prompt_too_large", "POST", "/launch", b"x" * 10_000_000, json_type),
        (400, "invalid_mode", "POST", "/launch", b'{"prompt": "x", "mode": "bypass"}', json_type),
        (400, "invalid_agent", "POST", "/launch", b'{"prompt": "x", "agent": "nobody"}', json_type),
        (400, "invalid_agent", "POST", "/launch", b'{"prompt": "x", "agent": "shell"}', json_type),
        (400, "invalid_request", "POST", "/launch", good, {**json_type, "idempotency-key": "x" * 201}),
        (405, "method_not_allowed", "GET", "/launch", b"", {}),
        (404, "not_found", "GET", "/launch/nothing", b"", {}),
        (404, "not_found", "GET", "/", b"", {}),
    ]
    async with bridge(desk) as page:
        for status, error, method, path, content, headers in cases:
            answer = await page.request(method, path, content=content, headers=headers)
            assert answer.status_code == status, (error, answer.text)
            told = answer.json()
            assert set(told) == {"success", "error", "message", "details"}
            assert (told["success"], told["error"]) == (False, error)
            assert answer.headers["x-bridge-version"] == "1.0"
            assert answer.headers["vary"] == "Origin"
            allowed = answer.headers.get("access-control-allow-origin")
            assert allowed == (None if status in (403, 421) else PAGE)
            assert f"{error}: {told['message']} (origin: {headers.get('origin', PAGE)})" in caplog.text
        bare = f"POST /launch HTTP/1.1\r\nHost: 127.0.0.1:{page.base_url.port}\r\n"
        bare += f"Content-Type: application/json\r\nContent-Length: {len(good)}\r\n\r\n"
        assert status_of(await raw_exchange(page.base_url.port or 0, bare.encode() + good)) == 403
    assert secret not in caplog.text
    assert desk.terminals() == []


@pytest.mark.row("L2")
async def test_a_working_directory_that_cannot_be_used_names_only_what_was_sent(desk: Desk) -> None:
    (desk.home / "file").write_text("")
    (desk.home / "link").symlink_to("/etc")
    places = [desk.home / "none", desk.home / "file", desk.home / "link", desk.folder / "own", "/etc"]
    async with bridge(desk) as page:
        for place in map(str, places):
            answer = await page.post("/launch", json=body(desk, workingDirectory=place))
            told = answer.json()
            assert (answer.status_code, told["error"]) == (400, "invalid_working_directory"), place
            assert place in told["message"]
            assert "/etc" not in told["message"].replace(place, "")
    assert desk.terminals() == []


@pytest.mark.row("L3", "S28")
async def test_a_preflight_is_answered_for_the_exact_origin_only(desk: Desk) -> None:
    async with bridge(desk) as page:
        asked = {"access-control-request-method": "POST", "access-control-request-private-network": "true"}
        answer = await page.options("/launch", headers=asked)
        assert answer.status_code == 204
        said = {name: value for name, value in answer.headers.items() if name.startswith("access-control")}
        assert said == {
            "access-control-allow-origin": PAGE,
            "access-control-allow-methods": "POST, OPTIONS",
            "access-control-allow-headers": "Content-Type, Idempotency-Key",
            "access-control-max-age": "600",
            "access-control-expose-headers": "X-Bridge-Version",
        }
        evil = await page.options("/launch", headers={**asked, "origin": "https://evil.example"})
        assert evil.status_code == 403
        assert not [name for name in evil.headers if name.startswith("access-control")]
        health = await page.get("/health")
        assert (health.status_code, health.json()) == (200, {"status": "ok", "version": "1.0"})


@pytest.mark.row("S29", "L13", "LV-16")
async def test_one_click_is_one_terminal_and_ten_in_a_row_pass(desk: Desk) -> None:
    async with bridge(desk, per_minute=11) as page:
        key = {"idempotency-key": "click-1"}
        same = [page.post("/launch", json=body(desk), headers=key) for _ in range(3)]
        answers = await asyncio.gather(*same)
        assert len({one.text for one in answers}) == 1
        assert answers[0].status_code == 200
        other = await page.post("/launch", json=body(desk, "another"), headers=key)
        assert (other.status_code, other.json()["error"]) == (409, "key_reused")
        assert len(desk.terminals()) == 1
        for _ in range(10):
            assert (await page.post("/launch", json=body(desk))).status_code == 200
        flood = await page.post("/launch", json=body(desk))
        assert (flood.status_code, flood.json()["error"]) == (429, "too_many_launches")
        assert int(flood.headers["retry-after"]) >= 1
        # What was launched before is still answered.
        assert (await page.post("/launch", json=body(desk), headers=key)).text == answers[0].text
        assert len(desk.terminals()) == 11


@pytest.mark.row("S28")
async def test_another_user_of_this_machine_is_refused_whatever_origin_it_names(desk: Desk) -> None:
    launches = IdempotentLaunches(desk.launches(), 60, time.monotonic)
    app = BridgeApp(launches, Gate.of(9872, [PAGE]), user_of=lambda ours, peer: 12345)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:9872") as page:
        answer = await page.post("/launch", json=body(desk), headers={"origin": PAGE})
    assert (answer.status_code, answer.json()["error"]) == (403, "origin_forbidden")
    assert desk.terminals() == []


@pytest.mark.row("S28")
async def test_a_program_that_hangs_up_before_it_is_known_launches_nothing(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    """The kernel names root for a socket that was closed, and any local user could close at once."""
    async with bridge(desk) as page:
        said = json.dumps(body(desk)).encode()
        head = f"POST /launch HTTP/1.1\r\nHost: 127.0.0.1:{page.base_url.port}\r\nOrigin: {PAGE}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(said)}\r\n\r\n"
        # Without a turn of the loop between them: the bridge reads the request after its sender has gone.
        with socket.create_connection(("127.0.0.1", page.base_url.port or 0)) as hostile:
            hostile.sendall(head.encode() + said)
        async with asyncio.timeout(PATIENCE):
            while not any("origin_forbidden" in line for line in caplog.messages):
                await page.get("/health")
    assert desk.terminals() == []


@pytest.mark.row("L7", "S29")
def test_a_flood_of_refusals_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    refusals = RefusalLog(lambda: now[0])
    error = LaunchError("origin_forbidden", "This origin may not launch.")
    for _ in range(10_000):
        refusals.add(error, "https://evil.example\x1b[2J")
    assert len(caplog.messages) == PER_MINUTE
    assert caplog.messages[0].startswith(
        "origin_forbidden: This origin may not launch. (origin: https://evil"
    )
    assert all("\x1b" not in line for line in caplog.messages)
    now[0] = 2.0
    refusals.add(error, "https://other.example")
    assert caplog.messages[-2:] == [
        f"origin_forbidden: {10_000 - PER_MINUTE} more requests were refused and not logged",
        "origin_forbidden: This origin may not launch. (origin: https://other.example)",
    ]


@pytest.mark.row("S29")
async def test_a_refused_launch_is_told_to_every_click_with_its_key(desk: Desk) -> None:
    launches = IdempotentLaunches(desk.launches(), 60, time.monotonic)
    for _ in range(2):
        with pytest.raises(LaunchError, match="no agent"):
            await launches.launch(desk.request("x", agent="nobody"), who=PAGE, key="k")
    await launches.close()
