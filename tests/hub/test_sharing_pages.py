"""What the page needs to show a link and what bounds an agent: codes, settings, who a key belongs to."""

import pytest
from tests.hub.running_hub import RunningHub, ask

pytestmark = pytest.mark.anyio


@pytest.mark.row("R12")
async def test_a_link_becomes_a_qr_code_that_cameras_can_read(
    hub: RunningHub,
) -> None:
    link = f"{hub.url}/s#token={'A1b-' * 10}xyz"
    async with hub.client(hub.tokens["owner"]) as owner:
        rows = (await owner.post("/api/qr", json={"text": link})).json()["rows"]
        other = (await owner.post("/api/qr", json={"text": f"{link}0"})).json()["rows"]
        assert (await owner.post("/api/qr", json={"text": "\U0001f309" * 500})).status_code == 200
        assert (await owner.post("/api/qr", json={"text": "x" * 501})).status_code == 400
    side = len(rows)
    assert {len(row) for row in rows} == {side}
    assert set("".join(rows)) == {"0", "1"}
    # The three corners a camera looks for: seven dark dots, and a ring around a square of three.
    corner = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
    for top, left in ((0, 0), (0, side - 7), (side - 7, 0)):
        assert [row[left : left + 7] for row in rows[top : top + 7]] == corner
    assert rows != other
    for role in ("operator", "viewer"):
        async with hub.client(hub.tokens[role]) as client:
            assert (await client.post("/api/qr", json={"text": link})).status_code == 403


async def test_settings_say_the_limits_to_those_who_start_sessions(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["operator"]) as client:
        shown = (await client.get("/api/settings")).json()
    assert shown["limits"]["sessions"] == hub.services.settings.limits.sessions
    assert shown["configFile"].endswith("/config.toml")
    assert shown["roots"]
    async with hub.socket(hub.tokens["operator"]) as socket:
        assert (await ask(socket, "settings:show"))["ok"] == shown
    async with hub.client(hub.tokens["viewer"]) as client:
        assert (await client.get("/api/settings")).status_code == 403


@pytest.mark.row("R12")
async def test_a_guest_learns_who_shared_the_session_and_until_when(hub: RunningHub) -> None:
    await hub.session("s1")
    async with hub.client(hub.tokens["owner"]) as owner:
        made = (await owner.post("/api/sessions/s1/share", json={"expiresIn": 3600})).json()
    async with hub.socket(made["token"]) as socket:
        hello = (await ask(socket, "hello"))["ok"]
    assert (hello["role"], hello["sessionId"], hello["madeBy"]) == ("viewer", "s1", "owner")
    assert hello["expiresAt"] == made["grant"]["expiresAt"]
    assert hello["waits"] == {"permission": 86_400, "question": 86_400}
