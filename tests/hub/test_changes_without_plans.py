"""Which files outside a session's folder are an agent's own plans, and so no change of the session."""

import pytest
from tests.hub.running_hub import RunningHub, append

from bascule.model.events import Diff, ToolChanged, ToolStarted

pytestmark = pytest.mark.anyio

SHOWN = ["a.py", "/etc/hosts", "/srv/ana/.bashrc", "/srv/ana/.ssh/keys", "/srv/ana/.x/../.claude/plans/k.md"]


async def test_only_a_plan_of_the_agents_own_is_left_out_of_the_changes(hub: RunningHub) -> None:
    await hub.session("s1")
    for n, path in enumerate([*SHOWN, "/srv/ana/.claude/plans/p.md"]):
        diff = Diff(path, "@@ -1 +1 @@\n-a\n+b\n", 1, 1)
        await append(
            hub.store,
            "s1",
            ToolStarted(f"t{n}", "Edit", path, "edit"),
            ToolChanged(f"t{n}", "done", diffs=(diff,)),
        )
    async with hub.client(hub.tokens["owner"]) as client:
        answer = (await client.get("/api/sessions/s1/changes")).json()
    assert sorted(file["path"] for file in answer["files"] if file["edits"]) == sorted(SHOWN)
