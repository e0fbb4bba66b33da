"""An agent that calls the hub: without a token it gets nothing, with its session's only that session."""

import json
from pathlib import Path

import pytest
from tests.live import LiveServer

from bascule.model.events import TurnEnded

pytestmark = pytest.mark.anyio
SECURITY = Path(__file__).parents[2] / "SECURITY.md"


@pytest.mark.row("S35")
async def test_an_agent_reaches_its_own_session_at_most_and_is_given_no_token(short_dir: Path) -> None:
    server = LiveServer(short_dir)
    server.add_agent("calls", "calls_hub.py", str(short_dir))
    async with server:
        made = (await server.post("/api/sessions", agent="calls", cwd=str(server.work))).json()
        other, mine = await server.create(), made["id"]
        one = f"/api/sessions/{mine}"
        own = [["GET", one, None]]
        beyond = [
            ["GET", "/api/sessions", None],
            ["POST", "/api/sessions", {"agent": "demo", "cwd": str(server.work)}],
            ["GET", f"/api/sessions/{other}", None],
            ["DELETE", f"/api/sessions/{other}", None],
            ["GET", "/api/grants", None],
            ["POST", "/api/grants", {"name": "more", "role": "owner"}],
            ["POST", f"{one}/permission-mode", {"mode": "auto"}],
            ["POST", f"{one}/share", {}],
            ["GET", "/api/audit", None],
        ]
        plan = {"url": server.url, "tokens": ["", made["token"]], "requests": [*own, *beyond]}
        (short_dir / "plan").write_text(json.dumps(plan))
        await server.send(mine, "go")
        await server.wait_for(mine, TurnEnded)
        noted = json.loads((short_dir / "answers").read_text())
        assert noted["statuses"][0] == ["GET", one, [401, 200]]
        for method, path, (nothing, token) in noted["statuses"][1:]:
            assert nothing == 401, (method, path)
            assert token in (401, 403), (method, path, token)
        assert len(noted["statuses"]) == len(beyond) + 1
        given = " ".join(noted["environment"].values())
        assert server.token not in given
        assert made["token"] not in given
        assert [grant["name"] for grant in (await server.http.get("/api/grants")).json()["grants"]].count(
            "more"
        ) == 0
    # What runs as the same user can read that user's files: said, because it is not prevented.
    assert (
        "**Your own user, and root.** A program that runs as you can read Bascule's files"
        in SECURITY.read_text()
    )
