"""Viewers that come back after each kill, and the agents' own ledger: a log is compared with both."""

import asyncio
import json
from collections.abc import Iterable
from contextlib import aclosing
from pathlib import Path

from tests.live import LiveServer
from tests.machines.machines import digest
from tests.waiting import PATIENCE

from bascule.model.codec import Logged, decode_logged
from bascule.model.events import PromptSent, SessionReady, TextAppended, TextSaid, TurnEnded

WITHOUT_END = 1_000_000  # pieces: more than any machine says before its last kill


class Viewer:
    """A browser that comes back: it asks for what follows the last row it holds."""

    def __init__(self, server: LiveServer, session: str) -> None:
        self.session = session
        self.rows: list[Logged] = []
        self.bodies: list[bytes] = []  # the same rows, as their bytes came
        self._changed = asyncio.Condition()
        self._server = server
        self.task = asyncio.create_task(self._run(), name=f"viewer {session}")

    async def _run(self) -> None:
        while True:
            after = self.rows[-1].seq if self.rows else 0
            try:
                async with aclosing(self._server.follow_bytes(self.session, after)) as bodies:
                    async for body in bodies:
                        async with self._changed:
                            self.bodies.append(body)
                            self.rows.append(decode_logged(body))
                            self._changed.notify_all()
            except Exception as error:
                if isinstance(error, AssertionError):
                    raise
                self.last_error = error
            await asyncio.sleep(0.02)  # between two tries to connect, as a browser would

    async def more(self, number: int) -> None:
        """So many rows more. A session that has ended has none: a kill would meet nothing under way."""
        wanted = len(self.rows) + number
        async with asyncio.timeout(PATIENCE), self._changed:
            await self._changed.wait_for(lambda: len(self.rows) >= wanted or self.ended or self.task.done())
        assert not self.task.done(), self.task
        assert not self.ended, f"{self.session} ended before the last kill"

    async def until_ended(self) -> None:
        async with asyncio.timeout(PATIENCE), self._changed:
            await self._changed.wait_for(lambda: self.ended or self.task.done())
        assert not self.task.done(), self.task

    @property
    def ended(self) -> bool:
        return any(isinstance(row.event, TurnEnded) for row in reversed(self.rows[-20:]))


async def closed(viewers: Iterable[Viewer]) -> None:
    for viewer in viewers:
        viewer.task.cancel()
    await asyncio.gather(*(viewer.task for viewer in viewers), return_exceptions=True)


def none_has_ended(viewers: Iterable[Viewer]) -> None:
    for viewer in viewers:
        assert not viewer.ended, f"{viewer.session} ended before the last kill"


def same_as_seen(viewer: Viewer, rows: list[bytes]) -> None:
    """Every byte that the viewer saw is the log's, without a gap or a row twice, to the end of the turn."""
    assert viewer.ended
    assert [row.seq for row in viewer.rows] == list(range(1, len(viewer.rows) + 1))
    assert digest(viewer.bodies) == digest(rows[: len(viewer.bodies)])


def said(rows: Iterable[Logged]) -> str:
    return "".join(
        row.event.text
        for row in rows
        if isinstance(row.event, TextAppended | TextSaid) and row.event.kind == "assistant"
    )


def same_as_said(rows: list[bytes], ledger: Path) -> int:
    """All that the agent wrote down is in the log, in order and once, and nothing else. How many pieces."""
    log = [decode_logged(row) for row in rows]
    assert [row.seq for row in log] == list(range(1, len(log) + 1))
    assert sum(isinstance(row.event, PromptSent) for row in log) == 1
    (agent,) = {row.event.agent_session_id for row in log if isinstance(row.event, SessionReady)} - {None}
    pieces = [entry["said"] for entry in entries(ledger) if entry.get("session") == agent]
    assert said(log) == "".join(pieces)
    assert pieces == [f"{n} " for n in range(1, len(pieces) + 1)]
    return len(pieces)


def entries(ledger: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in ledger.read_text().splitlines()]
