"""Tokens while they are used: roles, revocation of live streams, throttling, and no trace in any log."""

import asyncio
import logging

import httpx
import msgspec
import pytest
from tests.hub.running_hub import RunningHub, ask, rest_of, running_hub, until
from tests.security.test_door import call, opened, ticket
from tests.waiting import PATIENCE, within

from bascule.hub.door.hosts import check_bind
from bascule.hub.door.roles import ALLOWED
from bascule.hub.operation_table import operation_table
from bascule.model.errors import InvalidInput
from bascule.model.settings import Settings

CLIENTS = ("httpx", "httpcore", "websockets.client")

pytestmark = pytest.mark.anyio

MESSAGES = operation_table().messages


@pytest.mark.row("S10")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_an_open_address_without_tls_refuses_to_start(host: str) -> None:
    with pytest.raises(InvalidInput, match="Refusing to listen"):
        check_bind(Settings(data_dir="", config_dir="", host=host))


@pytest.mark.row("S10")
def test_loopback_tls_or_insecure_bind_starts() -> None:
    for host in ("127.0.0.1", "::1", "localhost"):
        check_bind(Settings(data_dir="", config_dir="", host=host))
    check_bind(Settings(data_dir="", config_dir="", host="0.0.0.0", tls_cert="c", tls_key="k"))
    check_bind(Settings(data_dir="", config_dir="", host="0.0.0.0", insecure_bind=True))


@pytest.mark.row("S13")
async def test_revoking_closes_socket_and_stream_within_two_seconds(hub: RunningHub) -> None:
    await hub.session("s1")
    token = await hub.trust("phone", "viewer")
    async with hub.socket(token) as socket, hub.client(token) as client:
        async with client.stream("GET", "/api/sessions/s1/stream") as stream:
            lines = stream.aiter_lines()
            await anext(lines)
            with within(2):
                await hub.grants.revoke(hub.grant["phone"].id)
                rest = [line async for line in lines]
                await rest_of(socket)
        assert "event: revoked" in rest
        assert socket.close_code == 1008
        assert (await client.get("/api/sessions")).status_code == 401


@pytest.mark.row("S13", "S61")
async def test_a_grant_that_runs_out_closes_its_socket(hub: RunningHub) -> None:
    token = await hub.trust("guest", "viewer", expires_in=2)
    async with hub.socket(token) as socket:
        await rest_of(socket)
    assert socket.close_code == 1008


@pytest.mark.row("S14")
@pytest.mark.parametrize("role", ["viewer", "session", "daemon", "site"])
async def test_a_role_reaches_what_its_row_says_and_no_more(hub: RunningHub, role: str) -> None:
    await hub.session("s1")
    only = {"session": {"session_id": "s1"}, "daemon": {"device": "d1"}}.get(role, {})
    token = await hub.trust("it", role, **only)
    async with hub.client(token) as client:
        for row in operation_table().routes:
            if row.method == "WS" or row.path.endswith("/stream"):
                continue
            answer = await call(client, row, role="owner")
            if row.need in ALLOWED[role]:
                assert answer.status_code not in (401, 403), row.path
            else:
                assert answer.status_code == 403, (row.method, row.path)


@pytest.mark.row("S14")
async def test_forged_roles_in_messages_change_nothing(hub: RunningHub) -> None:
    await hub.session("s1")
    for kind in (one for one in MESSAGES.values() if one.need not in ALLOWED["viewer"]):
        forged = {"sessionId": "s1"} if kind.in_session else {}
        # A socket each: one that is misunderstood too often is closed.
        async with hub.socket(hub.tokens["viewer"]) as socket:
            answer = await ask(socket, kind.name, 1, **forged, role="owner", scope="owner")
            assert answer["error"]["code"] in ("FORBIDDEN", "INVALID_MESSAGE"), kind.name
    async with hub.socket(hub.tokens["viewer"]) as socket:
        plain = await ask(socket, "session:send", 2, sessionId="s1", text="hi")
        assert plain["error"]["code"] == "FORBIDDEN"
    async with hub.client(hub.tokens["viewer"]) as client:
        body = {"text": "hi", "role": "owner"}
        assert (await client.post("/api/sessions/s1/send", json=body)).status_code == 403
    assert hub.device.commands == []


@pytest.mark.row("S14")
async def test_a_sessions_token_reaches_no_other_session_by_the_socket(hub: RunningHub) -> None:
    await hub.session("s1")
    await hub.session("s2")
    token = await hub.trust("one", "session", session_id="s1")
    async with hub.socket(token) as socket:
        for kind in ("session:subscribe", "session:open", "session:interrupt"):
            assert (await ask(socket, kind, 1, sessionId="s2"))["error"]["code"] == "FORBIDDEN"
            assert "ok" in await ask(socket, kind, 2, sessionId="s1")
        assert (await ask(socket, "session:list", 3))["error"]["code"] == "FORBIDDEN"
        await hub.session("s3")
        await hub.say("s1", "x")
        pushed = msgspec.json.decode(await asyncio.wait_for(socket.recv(), PATIENCE))
        assert pushed["sessionId"] == "s1"


@pytest.mark.row("S12")
async def test_tokens_have_256_bits_and_are_compared_by_hash(hub: RunningHub) -> None:
    assert all(len(token) >= 43 for token in hub.tokens.values())
    await hub.store.close()
    stored = b"".join(path.read_bytes() for path in hub.store.path.parent.iterdir() if path.is_file())
    assert not any(token.encode() in stored for token in hub.tokens.values())


@pytest.mark.row("S15")
@pytest.mark.parametrize("token", ["", " ", "changeme", "null", "undefined", "Bearer"])
async def test_an_empty_or_well_known_token_opens_nothing(hub: RunningHub, token: str) -> None:
    async with hub.client() as client:
        headers = {"authorization": f"Bearer {token}".strip()}
        assert (await client.get("/api/sessions", headers=headers)).status_code == 401
        assert (await client.get("/api/sessions/s1", params={"token": token})).status_code == 401


@pytest.mark.row("S17")
async def test_no_secret_reaches_a_log(hub: RunningHub, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("uvicorn.error", "uvicorn.access", "websockets", "bascule", "asyncio"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    try:
        await hub.session("s1")
        secret = await hub.trust("canary", "session", session_id="s1")
        one_shot = await ticket(hub)
        async with hub.client() as client:
            for path in ("/api/sessions/s1", "/nope", "/api/sessions/s1/send"):
                await client.get(f"{path}?token={secret}&%74oken={secret}")
                await client.post(path, json={"token": secret, "text": 5})
                await client.get(path, params={"token": secret}, headers={"host": "evil.example"})
            await client.get("/api/sessions/s1/send", headers={"authorization": f"Bearer {secret}"})
        await opened(hub, one_shot)
        await opened(hub, secret)
        async with hub.socket(secret) as socket:
            await socket.send('{"token": "' + secret)
            await socket.recv()
        ours = [record for record in caplog.records if not record.name.startswith(CLIENTS)]
        said = "\n".join(record.getMessage() for record in ours)
        assert "127.0.0.1" in said or said == ""
        assert secret not in said
        assert one_shot not in said
    finally:
        for name in ("uvicorn.error", "uvicorn.access", "websockets", "bascule", "asyncio"):
            logging.getLogger(name).setLevel(logging.NOTSET)


@pytest.mark.row("S58")
async def test_wrong_tokens_are_throttled_and_valid_ones_never(
    hub: RunningHub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "bascule.access")
    limits = httpx.Limits(max_connections=20)
    async with httpx.AsyncClient(
        base_url=hub.url, limits=limits, trust_env=False, timeout=PATIENCE
    ) as client:
        seen: set[int] = set()

        async def guess(n: int) -> None:
            for k in range(20):
                headers = {"authorization": f"Bearer wrong-{n}-{k}"}
                seen.add((await client.get("/api/sessions", headers=headers)).status_code)

        guessing = asyncio.gather(*(guess(n) for n in range(20)))
        valid = {"authorization": f"Bearer {hub.tokens['viewer']}"}
        while not guessing.done():
            assert (await client.get("/api/sessions", headers=valid)).status_code == 200
        await guessing
    assert seen == {401, 429}
    assert len(caplog.records) <= 2


async def test_throttled_counts_are_told_once_a_minute(tmp_path, caplog: pytest.LogCaptureFixture) -> None:  # type: ignore[no-untyped-def]
    now = [1000.0]
    async with running_hub(tmp_path, steady=lambda: now[0]) as hub:
        async with hub.client("wrong") as client:
            for _ in range(5):
                await client.get("/api/sessions")
            now[0] += 61
            await client.get("/api/sessions")
        await until(lambda: len(caplog.records) >= 2)
    assert [record.getMessage()[:10] for record in caplog.records] == ["1 request(", "5 request("]
