"""A scripted server that plays one session: a prompt comes, the written events follow."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.cli.program import leave_server_file
from tests.client.scripted import Handler, ScriptedServer, Seat, scripted_server
from tests.waiting import PATIENCE

SESSION = "0123456789abcdef"
Event = dict[str, Any]


def event(name: str, /, **fields: Any) -> Event:
    return {"type": name, **fields}


def permission(request_id: str, command: str, **fields: Any) -> Event:
    return event(
        "permission_requested",
        **{
            "request_id": request_id,
            "tool": "Bash",
            "title": "Run a command",
            "kind": "execute",
            "input": {"command": command},
            "input_sha256": sha256(command.encode()).hexdigest(),
            "options": [{"option_id": "once", "kind": "allow_once", "name": "Allow"}],
            **fields,
        },
    )


def said(text: str, kind: str = "assistant", entry_id: str = "e1") -> list[Event]:
    return [
        event("entry_opened", entry_id=entry_id, kind=kind),
        event("text_appended", entry_id=entry_id, kind=kind, text=text),
        event("entry_closed", entry_id=entry_id),
    ]


def whole(text: str, kind: str = "assistant", entry_id: str = "w1") -> list[Event]:
    return [event("text_said", entry_id=entry_id, kind=kind, text=text)]


def open_request(command: str) -> dict[str, Any]:
    asked = permission("r1", command)
    return {
        "session_id": SESSION,
        "session_title": "t",
        "request_id": "r1",
        "kind": "permission",
        "state": "open",
        "input_sha256": asked["input_sha256"],
        "opened_at": "",
        "seq": 1,
        "asked": asked,
    }


def replies(body: Any) -> Handler:
    """The same answer to everybody."""

    async def handler(*_: object) -> Any:
        return body

    return handler


class Play:
    """The log of the one session; what is added goes to whoever watches."""

    def __init__(self, server: ScriptedServer) -> None:
        self.server = server
        self.log: list[dict[str, Any]] = []
        self.watching: Seat | None = None
        self.message_id = ""
        self.arrived = asyncio.Event()

    async def add(self, *events: Event) -> None:
        fresh = [
            {"seq": len(self.log) + n, "at": "2026-01-01T00:00:00.000Z", "event": one}
            for n, one in enumerate(events, 1)
        ]
        self.log += fresh
        if self.watching is not None:
            await self.watching.events(SESSION, *fresh)

    async def begin(self) -> None:
        """Wait for the prompt and a watcher, then log that it was sent."""
        await asyncio.wait_for(self.arrived.wait(), PATIENCE)
        await self.add(
            event("prompt_sent", prompt_id="p1", text="hi", by="me", client_message_id=self.message_id)
        )

    async def end_turn(self, stop_reason: str = "end_turn", **fields: Any) -> None:
        await self.add(event("turn_ended", stop_reason=stop_reason, **fields))

    def answers(self) -> list[dict[str, Any]]:
        kinds = ("session:permission", "session:question")
        return [frame for frame in self.server.asked if frame["type"] in kinds]


@asynccontextmanager
async def play(data: Path) -> AsyncIterator[Play]:
    async with scripted_server() as server:
        leave_server_file(data, server.url)
        scene = Play(server)

        @server.on("session:create")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            scene.message_id = frame["clientMessageId"]
            await scene.add(event("session_started", agent="demo", driver="stream_json", cwd="/x", by="me"))
            return {"id": SESSION, "token": "t", "sessionId": SESSION, "seq": 1, "createdAt": ""}

        @server.on("session:subscribe")
        async def _(seat: Seat, frame: dict[str, Any]) -> Any:
            scene.watching = seat
            await seat.events(SESSION, *scene.log[frame["after"] :])
            scene.arrived.set()

        yield scene
