"""kill -9 of the server, again and again, while agents stream and a permission is open: nothing is lost.

`CHAOS_KILLS` sets how often (10 in the ordinary run). The seed is printed, so a failure can be repeated.
"""

import asyncio
import json
import os
import random
from contextlib import aclosing
from pathlib import Path

import pytest
from tests.live import LiveServer
from tests.waiting import PATIENCE

from bascule.model.codec import Logged
from bascule.model.events import (
    AnswerDelivered,
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    TextAppended,
    TextSaid,
    ToolChanged,
    TurnEnded,
)

pytestmark = pytest.mark.anyio

KILLS = int(os.environ.get("CHAOS_KILLS", "10"))
STREAMS = 3
PIECE_MS = 15


class Viewer:
    """A browser that comes back: it asks for what follows the last row it holds."""

    def __init__(self, server: LiveServer, session: str) -> None:
        self.rows: list[Logged] = []
        self.changed = asyncio.Condition()
        self._server = server
        self._session = session
        self.task = asyncio.create_task(self._run(), name=f"viewer {session}")

    async def _run(self) -> None:
        while True:
            after = self.rows[-1].seq if self.rows else 0
            try:
                async with aclosing(self._server.follow(self._session, after)) as rows:
                    async for row in rows:
                        async with self.changed:
                            self.rows.append(row)
                            self.changed.notify_all()
            except (OSError, EOFError, asyncio.IncompleteReadError) as error:
                self.last_error = error
            except Exception as error:
                if isinstance(error, AssertionError):
                    raise
                self.last_error = error
            await self._server_up()

    async def _server_up(self) -> None:
        await asyncio.sleep(0.02)  # between two tries to connect, as a browser would

    async def until(self, number_of_rows: int) -> None:
        """So many rows, or all there will be: on a slow machine a stream may end before the last kill."""
        async with asyncio.timeout(PATIENCE), self.changed:
            await self.changed.wait_for(lambda: len(self.rows) >= number_of_rows or self._ended())

    async def until_ended(self) -> None:
        async with asyncio.timeout(120), self.changed:
            await self.changed.wait_for(self._ended)

    def _ended(self) -> bool:
        return any(isinstance(row.event, TurnEnded) for row in self.rows)


def said(rows: list[Logged]) -> str:
    return "".join(
        row.event.text
        for row in rows
        if isinstance(row.event, TextAppended | TextSaid) and row.event.kind == "assistant"
    )


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
        pieces = 200 + 60 * KILLS
        streams = [await server.create(f"count {pieces} {PIECE_MS}") for _ in range(STREAMS)]
        asking = await server.create("run")
        request = (await server.wait_for(asking, PermissionRequested)).event
        assert isinstance(request, PermissionRequested)
        viewers = [Viewer(server, session) for session in [*streams, asking]]

        for _ in range(KILLS):
            watched = dice.choice(viewers[:STREAMS])
            await watched.until(len(watched.rows) + dice.randrange(1, 25))
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

        for viewer in viewers:
            await viewer.until_ended()
        for viewer, session in zip(viewers, [*streams, asking], strict=True):
            log = await server.log(session)
            seen = viewer.rows[: len(log)]
            assert [row.seq for row in log] == list(range(1, len(log) + 1))
            assert [row.seq for row in seen] == list(range(1, len(seen) + 1))
            assert seen == log[: len(seen)]
        for session in streams:
            rows = await server.log(session)
            numbers = [int(word) for word in said(rows).split() if word.isdigit()]
            assert numbers == list(range(1, pieces + 1))
            assert sum(isinstance(row.event, PromptSent) for row in rows) == 1
        rows = await server.log(asking)
        assert sum(isinstance(row.event, PermissionAnswered) for row in rows) == 1
        assert sum(isinstance(row.event, AnswerDelivered) for row in rows) == 1
        assert any(isinstance(row.event, ToolChanged) and row.event.status == "done" for row in rows)
        got = [json.loads(line) for line in ledger.read_text().splitlines()]
        answers = [
            one
            for one in got
            if request.request_id in json.dumps(one) and "control_response" in json.dumps(one)
        ]
        assert len(answers) == 1, "the agent saw the answer once"
    finally:
        for viewer in viewers:
            viewer.task.cancel()
        await asyncio.gather(*(viewer.task for viewer in viewers), return_exceptions=True)
        await server.stop()
        await server.end_keeper()
