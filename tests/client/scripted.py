"""A server for tests: a real websocket on 127.0.0.1 whose answers are written in the test."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.waiting import PATIENCE
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

TOKEN = "token-of-the-test"
Handler = Callable[["Seat", dict[str, Any]], Awaitable[Any]]


class Denied(Exception):
    def __init__(self, code: str, message: str, **fields: Any) -> None:
        self.body = {"code": code, "message": message, **fields}


class Seat:
    """One connected client as the scripted server sees it."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket

    async def push(self, **frame: Any) -> None:
        await self.socket.send(json.dumps(frame))

    async def events(self, session_id: str, *entries: dict[str, Any]) -> None:
        await self.push(type="session:events", sessionId=session_id, entries=list(entries))


def logged(seq: int, kind: str = "note", **fields: Any) -> dict[str, Any]:
    if kind == "note":
        fields = {"code": "test", "text": f"note {seq}", **fields}
    return {"seq": seq, "at": "2026-01-01T00:00:00.000Z", "event": {"type": kind, **fields}}


class ScriptedServer:
    """Answers each frame with what the handler of its type returns; records all it was asked."""

    def __init__(self) -> None:
        self.handlers: dict[str, Handler] = {}
        self.asked: list[dict[str, Any]] = []
        self.origins: list[str | None] = []
        self.seats: list[Seat] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self.changed = asyncio.Condition()
        self.url = ""
        self._server: Server | None = None

    def on(self, kind: str) -> Callable[[Handler], Handler]:
        def register(handler: Handler) -> Handler:
            self.handlers[kind] = handler
            return handler

        return register

    def kinds(self) -> list[str]:
        return [frame["type"] for frame in self.asked]

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE), self.changed:
            await self.changed.wait_for(condition)

    async def start(self, port: int = 0) -> None:
        self._server = await serve(self._talk, "127.0.0.1", port, process_request=self._door)
        chosen = next(iter(self._server.sockets)).getsockname()[1]
        self.url = f"http://127.0.0.1:{chosen}"

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def _door(self, connection: ServerConnection, request: Request) -> Response | None:
        self.origins.append(request.headers.get("Origin"))
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return connection.respond(401, "no\n")
        if request.path != "/ws":
            return connection.respond(404, "no\n")
        return None

    async def _talk(self, socket: ServerConnection) -> None:
        seat = Seat(socket)
        self.seats.append(seat)
        with contextlib.suppress(ConnectionClosed):
            await self._listen(seat)

    async def _listen(self, seat: Seat) -> None:
        async for message in seat.socket:
            frame = json.loads(message)
            async with self.changed:
                self.asked.append(frame)
                self.changed.notify_all()
            task = asyncio.create_task(self._answer(seat, frame))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def _answer(self, seat: Seat, frame: dict[str, Any]) -> None:
        try:
            handler = self.handlers.get(frame["type"])
            result = {} if handler is None else await handler(seat, frame)
        except Denied as denied:
            reply = {"error": denied.body}
        else:
            reply = {"ok": {} if result is None else result}
        with contextlib.suppress(ConnectionClosed):  # a script may hang up on the client
            await seat.push(id=frame["id"], **reply)


@asynccontextmanager
async def scripted_server() -> AsyncIterator[ScriptedServer]:
    server = ScriptedServer()
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
