"""Reaching the server: every route of the live router against wrong tokens, hosts and origins."""

import contextlib

import httpx
import pytest
from tests.hub.running_hub import RunningHub, raw_exchange, running_hub, status_of
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from bascule.hub.door.hosts import Doorway
from bascule.hub.operation_table import operation_table
from bascule.model.errors import InvalidInput
from bascule.model.settings import Settings

pytestmark = pytest.mark.anyio

ROWS = operation_table().routes
CLOSED = [row for row in ROWS if row.need != "public"]
HTTP = [row for row in ROWS if row.method != "WS"]


def path_of(row, session: str = "s1") -> str:  # type: ignore[no-untyped-def]
    return row.path.replace("{session_id}", session)


async def call(client: httpx.AsyncClient, row, **headers: str) -> httpx.Response:  # type: ignore[no-untyped-def]
    body = b"{}" if row.method in ("POST", "DELETE") else None
    if body:
        headers["content-type"] = "application/json"
    return await client.request(row.method, path_of(row), content=body, headers=headers)


async def upgrade_status(hub: RunningHub, path: str = "/ws", **headers: str) -> int:
    url = f"ws://127.0.0.1:{hub.port}{path}"
    try:
        async with connect(url, additional_headers=headers, proxy=None, compression=None):
            return 101
    except InvalidStatus as error:
        return error.response.status_code


async def bad_tokens(hub: RunningHub) -> dict[str, str | None]:
    await hub.session("s1")
    await hub.session("s2")
    expired = await hub.trust("expired", "owner", expires_in=0.000001)
    revoked = await hub.trust("revoked", "owner")
    await hub.grants.revoke(hub.grant["revoked"].id)
    other = await hub.trust("other", "session", session_id="s2")
    return {"none": None, "garbage": "x" * 43, "expired": expired, "revoked": revoked, "other session": other}


@pytest.mark.row("S01", "S38")
async def test_every_route_refuses_every_wrong_token_and_does_nothing(hub: RunningHub) -> None:
    for kind, token in (await bad_tokens(hub)).items():
        async with hub.client(token) as client:
            for row in CLOSED:
                if kind == "other session" and row.need == "any":
                    continue  # it is a valid grant there, for its own session
                if row.method == "WS":
                    headers = {"authorization": f"Bearer {token}"} if token else {}
                    status = await upgrade_status(hub, path_of(row), **headers)
                else:
                    status = (await call(client, row)).status_code
                # Wrong tokens are throttled after a while: that is a refusal too.
                assert status in (401, 403, 429), (kind, row.method, row.path, status)
    assert hub.device.commands == []


@pytest.mark.row("S01")
async def test_public_routes_reveal_next_to_nothing(hub: RunningHub) -> None:
    assert sorted(row.path for row in ROWS if row.need == "public") == [
        "/",
        "/api/links/redeem",
        "/api/notifications/deny",
        "/api/pairings",
        "/api/pairings/poll",
        "/api/starts/link",
        "/api/starts/link/answer",
        "/assets/{folder}/{name}",
        "/assets/{version}/{folder}/{name}",
        "/assets/{version}/{folder}/{part}/{name}",
        "/compare",
        "/compare/{id}",
        "/diagram",
        "/editor",
        "/health",
        "/healthz",
        "/inbox",
        "/library",
        "/library/{id}",
        "/manifest.webmanifest",
        "/math",
        "/portlet",
        "/s",
        "/s/{token}",
        "/search",
        "/sessions",
        "/sessions/{id}",
        "/settings",
        "/settings/{part}",
        "/terminal",
        "/worker.js",
    ]
    async with hub.client() as client:
        assert (await client.get("/healthz")).content == b"ok"
        assert (await client.get("/nothing-here")).status_code == 401


@pytest.mark.row("S02")
async def test_a_foreign_origin_gets_403_without_body_or_cors(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["owner"]) as client:
        for row in HTTP:
            answer = await call(client, row, origin="https://evil.example")
            assert answer.status_code == 403, row.path
            assert answer.content == b""
            assert "access-control-allow-origin" not in answer.headers
    assert hub.device.commands == []


HOSTS = [
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1.nip.io",
    "localhost.evil",
    "0.0.0.0",
    "127.0.0.1",
    "0",
]


@pytest.mark.row("S03")
@pytest.mark.parametrize("host", HOSTS)
async def test_a_foreign_host_is_refused_before_routing(hub: RunningHub, host: str) -> None:
    host = host.format(port=hub.port)
    for token in (None, hub.tokens["owner"]):
        async with hub.client(token) as client:
            for path in ("/", "/api/sessions", "/api/sessions/s1/stream"):
                assert (await client.get(path, headers={"host": host})).status_code in (403, 421)
        bearer = f"Authorization: Bearer {token}\r\n" if token else ""
        handshake = (
            f"GET /ws HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{bearer}"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        assert status_of(await raw_exchange(hub.port, handshake.encode())) in (403, 421)


@pytest.mark.row("S04")
async def test_hosts_are_matched_exactly(hub: RunningHub) -> None:
    async def status(*lines: str, target: str = "/healthz") -> int:
        request = "\r\n".join((f"GET {target} HTTP/1.1", *lines, "Connection: close", "", ""))
        return status_of(await raw_exchange(hub.port, request.encode()))

    port = hub.port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"):
        assert await status(f"Host: {host}") == 200
    refused = (f"127.0.0.1:{port + 1}", f"LOCALHOST:{port}", f"localhost.:{port}", f"127.1:{port}")
    for host in refused:
        assert await status(f"Host: {host}") == 421, host
    assert await status() == 400
    assert await status("Host:") == 400
    assert await status(f"Host: 127.0.0.1:{port}", f"Host: 127.0.0.1:{port}") == 400
    assert await status(f"Host: 127.0.0.1:{port}", target=f"http://127.0.0.1:{port}/healthz") == 400
    assert await status(f"Host: 127.0.0.1:{port}", target="http://evil.example/healthz") == 400


@pytest.mark.row("S05")
async def test_sockets_open_for_our_page_with_a_ticket_or_a_program_with_a_bearer(hub: RunningHub) -> None:
    token = hub.tokens["owner"]
    bearer = {"authorization": f"Bearer {token}"}
    own = f"http://127.0.0.1:{hub.port}"
    origins = [
        "https://evil.example",
        "null",
        f"http://127.0.0.1:{hub.port + 1}",
        f"http://localhost:{hub.port + 1}",
        f"http://localhost:{hub.port}",
        f"https://127.0.0.1:{hub.port}",
        "file://",
        "chrome-extension://x",
    ]
    for origin in origins:
        assert await upgrade_status(hub, origin=origin, **bearer) == 403, origin
        assert await upgrade_status(hub, origin=origin) == 403, origin
    assert await upgrade_status(hub) == 403
    assert await upgrade_status(hub, origin=own) == 403
    assert await upgrade_status(hub, origin=own, **bearer) == 403
    assert await upgrade_status(hub, **bearer) == 101
    assert await opened(hub, await ticket(hub), own)


async def ticket(hub: RunningHub, **body: str) -> str:
    async with hub.client(hub.tokens["owner"]) as client:
        return (await client.post("/api/tickets", json=body)).json()["ticket"]


async def opened(hub: RunningHub, ticket: str, origin: str | None = None) -> bool:
    url = f"ws://127.0.0.1:{hub.port}/ws?ticket={ticket}"
    headers = {"origin": origin or f"http://127.0.0.1:{hub.port}"}
    with contextlib.suppress(InvalidStatus):
        async with connect(url, additional_headers=headers, proxy=None):
            return True
    return False


@pytest.mark.row("S17")
async def test_a_ticket_opens_its_own_path_once_and_not_after_30_seconds(tmp_path) -> None:  # type: ignore[no-untyped-def]
    now = [0.0]
    async with running_hub(tmp_path, steady=lambda: now[0]) as hub:
        await hub.session("s1")
        first = await ticket(hub)
        assert await opened(hub, first)
        assert not await opened(hub, first)
        assert not await opened(hub, await ticket(hub, purpose="stream", sessionId="s1"))
        late = await ticket(hub)
        now[0] += 31
        assert not await opened(hub, late)
        revoked = await ticket(hub)
        await hub.grants.revoke(hub.grant["owner"].id)
        assert not await opened(hub, revoked)


@pytest.mark.row("S06")
async def test_no_cookie_is_ever_set_and_a_rogue_port_is_refused(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["owner"]) as client:
        for row in HTTP:
            if row.path.endswith("/stream"):
                continue
            answer = await call(client, row)
            assert "set-cookie" not in answer.headers
        rogue = await client.get("/api/sessions", headers={"origin": "http://127.0.0.1:1"})
    assert rogue.status_code == 403


LISTED = "https://tracker.example"
NEARLY = [
    "https://tracker.example.evil.com",
    "https://tracker.exampleX",
    "http://tracker.example",
    "https://tracker.example:444",
    "https://tracker.example:443",
    "https://user@tracker.example",
    "https://xn--trcker-7wa.example",
    "https://tracker.example.",
    "https://tracker.example/",
    "https://tracker.example https://evil.example",
    "https://tracker.example, https://evil.example",
    "HTTPS://TRACKER.EXAMPLE",
]


@pytest.mark.row("S07")
async def test_only_the_exact_listed_origin_passes(tmp_path) -> None:  # type: ignore[no-untyped-def]
    async with (
        running_hub(tmp_path, allowed_origins=(LISTED,)) as hub,
        hub.client(hub.tokens["owner"]) as client,
    ):
        assert (await client.get("/api/sessions", headers={"origin": LISTED})).status_code == 200
        for origin in NEARLY:
            assert (await client.get("/api/sessions", headers={"origin": origin})).status_code == 403, origin
        twice = (
            f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{hub.port}\r\n"
            f"Origin: {LISTED}\r\nOrigin: {LISTED}\r\nConnection: close\r\n\r\n"
        )
        assert status_of(await raw_exchange(hub.port, twice.encode())) == 403


@pytest.mark.row("S07")
@pytest.mark.parametrize(
    "pattern", ["https://*.example", "https://.*", "https://a.example/", "*", "^https://a$", "null"]
)
def test_a_pattern_is_refused_at_the_start(pattern: str) -> None:
    with pytest.raises(InvalidInput, match="exact origin"):
        Doorway(Settings(data_dir="", config_dir="", allowed_origins=(pattern,)))


@pytest.mark.row("S08")
async def test_simple_requests_of_another_site_are_refused(hub: RunningHub) -> None:
    await hub.session("s1")
    kinds = [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
    ]
    async with hub.client(hub.tokens["owner"]) as client:
        for row in (row for row in HTTP if row.method == "POST"):
            for kind in kinds:
                answer = await client.post(path_of(row), content=b"{}", headers={"content-type": kind})
                assert answer.status_code == 415, (row.path, kind)
            untyped = await client.post(path_of(row), content=b'{"_method":"DELETE"}')
            assert untyped.status_code == 415
            packed = {"content-type": "application/json", "content-encoding": "gzip"}
            assert (await client.post(path_of(row), content=b"x", headers=packed)).status_code == 415
        for row in HTTP:
            for method in ("HEAD", "OPTIONS", "TRACE", "PUT", "PATCH"):
                assert (await client.request(method, path_of(row))).status_code == 405, (method, row.path)
    assert hub.device.commands == []


@pytest.mark.row("S08")
async def test_no_get_changes_anything(hub: RunningHub) -> None:
    await hub.session("s1")
    async with hub.client(hub.tokens["owner"]) as client:
        for row in (row for row in HTTP if row.method == "GET" and not row.path.endswith("/stream")):
            await client.get(path_of(row), params={"_method": "DELETE", "path": "/tmp"})
    record = await hub.store.session("s1")
    assert record is not None
    assert record.seq == 1
    # Looking is all they asked of the device.
    looks = {
        "ListAgents",
        "CheckDirectory",
        "ListFolders",
        "FindListeners",
        "ListFiles",
        "FindFiles",
        "ReadFile",
        "ReadChanges",
        "ListTrusted",
        "ListRules",
        "ProposeRules",
        "ListComparisons",
        "ReadComparison",
        "ReadContestant",
        "ListUnlogged",
        "PlanPullRequest",
        "ListStarts",
        "ShowResumeCommand",
    }
    assert {type(command).__name__ for command in hub.device.commands} <= looks


@pytest.mark.row("S18")
async def test_there_is_no_redirect_anywhere(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["owner"]) as client:
        for path in (
            "/api/sessions/",
            "//evil.example",
            "/\\evil.example",
            "/?next=//evil",
            "/%0d%0aX: y",
            "/api//",
        ):
            answer = await client.get(path)
            assert not 300 <= answer.status_code < 400, path
            assert "location" not in answer.headers
            assert "x" not in answer.headers


@pytest.mark.row("S51")
async def test_every_answer_carries_the_security_headers(hub: RunningHub) -> None:
    async with hub.client() as client:
        answers = [await client.get(path) for path in ("/", "/healthz", "/api/sessions", "/nope")]
        answers.append(await client.get("/", headers={"host": "evil.example"}))
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        for part in (
            "default-src 'none'",
            "script-src 'self'",
            "connect-src 'self'",
            "img-src 'self' data:",
            "style-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "frame-src 'self'",
            "require-trusted-types-for 'script'",
        ):
            assert part in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers
        assert len(answer.headers.get_list("cache-control")) == 1
