"""kill -9 of the server, again and again, while agents stream and a permission is open: nothing is lost.

`CHAOS_KILLS` sets how often (10 in the ordinary run). The seed is printed, so a failure can be repeated.
"""

import os
import random
from pathlib import Path

import pytest
from tests.chaos.viewers import (
    WITHOUT_END,
    Viewer,
    closed,
    entries,
    none_has_ended,
    same_as_said,
    same_as_seen,
)
from tests.live import LiveServer
from tests.machines.machines import rows_of

from bascule.model.events import AnswerDelivered, PermissionAnswered, PermissionRequested, ToolChanged

pytestmark = pytest.mark.anyio

KILLS = int(os.environ.get("CHAOS_KILLS", "10"))
STREAMS = 3
PIECE_MS = 15


@pytest.mark.row("X1", "REL-01", "REL-13")
@pytest.mark.timeout(3000)
async def test_nothing_is_lost_when_the_server_is_killed_again_and_again(short_dir: Path):
    seed = int(os.environ.get("CHAOS_SEED", random.SystemRandom().randrange(2**32)))
    print(f"CHAOS_SEED={seed}")  # noqa: T201 - shown when it fails
    dice = random.Random(seed)
    ledger = short_dir / "ledger"
    server = LiveServer(short_dir, env={"DEMO_LEDGER": str(ledger)})
    await server.start()
    viewers: list[Viewer] = []
    try:
        streams = [await server.create(f"count {WITHOUT_END} {PIECE_MS}") for _ in range(STREAMS)]
        asking = await server.create("run")
        request = (await server.wait_for(asking, PermissionRequested)).event
        assert isinstance(request, PermissionRequested)
        viewers = [Viewer(server, session) for session in [*streams, asking]]

        for _ in range(KILLS):
            await dice.choice(viewers[:STREAMS]).more(dice.randrange(1, 25))
            none_has_ended(viewers)
            await server.kill()
            await server.start()

        open_now = (await server.http.get("/api/requests")).json()["requests"]
        assert [one["request_id"] for one in open_now] == [request.request_id]
        answer = await server.post(
            f"/api/sessions/{asking}/permissions",
            requestId=request.request_id,
            decision="allow",
            inputSha256=request.input_sha256,
        )
        assert answer.status_code == 200, answer.text
        await server.kill()  # once more: the answer is on its way
        await server.start()

        for session in streams:
            stopped = await server.post(f"/api/sessions/{session}/interrupt")
            assert stopped.status_code == 200, stopped.text
        for viewer in viewers:
            await viewer.until_ended()
        for viewer in viewers:
            same_as_seen(viewer, await rows_of(server, viewer.session))
        for session in streams:
            assert same_as_said(await rows_of(server, session), ledger) > KILLS
        rows = await server.log(asking)
        assert sum(isinstance(row.event, PermissionAnswered) for row in rows) == 1
        assert sum(isinstance(row.event, AnswerDelivered) for row in rows) == 1
        assert any(isinstance(row.event, ToolChanged) and row.event.status == "done" for row in rows)
        heard = [entry["stdin"] for entry in entries(ledger) if "stdin" in entry]
        answers = [one for one in heard if request.request_id in one and "control_response" in one]
        assert len(answers) == 1, "the agent saw the answer once"
    finally:
        await closed(viewers)
        await server.stop()
        await server.end_keeper()
