"""The chat API's start: no agent named, perhaps an empty model."""

import pytest
from tests.hub.running_hub import RunningHub

from bascule.link.frames import AgentsChanged
from bascule.link.machine import AgentInfo

pytestmark = pytest.mark.anyio

MISSING = AgentInfo("claude-code", "Claude Code", False, problem="Claude Code was not found on this machine.")
DEMO = AgentInfo("demo", "Demo agent", True, demo=True)


@pytest.mark.row("C3")
async def test_without_an_agent_a_start_says_what_is_missing_and_starts_no_demo(hub: RunningHub) -> None:
    hub.device.line.receive(AgentsChanged((MISSING, DEMO)))
    async with hub.client(hub.tokens["owner"]) as client:
        refused = await client.post("/api/sessions", json={"model": ""})
        assert refused.status_code == 400
        assert "Claude Code was not found" in refused.json()["error"]["message"]
        assert hub.device.commands == []
        assert (await client.post("/api/sessions", json={"agent": "demo"})).status_code == 200


@pytest.mark.row("C3")
async def test_an_empty_model_is_none_and_the_list_always_has_one(hub: RunningHub) -> None:
    async with hub.client(hub.tokens["owner"]) as client:
        made = await client.post("/api/sessions", json={"agent": "scripted", "model": ""})
        assert made.status_code == 200
        [listed] = (await client.get("/api/sessions")).json()["sessions"]
    assert {"id", "createdAt", "status"} <= listed.keys()
    assert listed["model"] is None
