"""The bare relay: pipe, parse, SQLite writer thread, WebSocket, and nothing else.

It keeps the one promise that is measured, that nobody sees an event before its commit, and no other: no
grants, no restart, no approvals, no replay. `bare.py FOLDER AGENT...` prints its port when it serves.
"""

import asyncio
import queue
import socket
import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

CHUNK = 256 * 1024
MAX_IN_A_COMMIT = 1000
MAX_UNCOMMITTED = 4000

Row = tuple[str, int, bytes]


class Writer(threading.Thread):
    """Commits whatever has gathered while the last commit ran, then says so on the loop."""

    def __init__(self, path: Path, committed: Callable[[list[Row]], None]) -> None:
        super().__init__(daemon=True)
        self.rows: queue.SimpleQueue[Row] = queue.SimpleQueue()
        self._path = path
        self._committed = committed
        self._loop = asyncio.get_running_loop()

    def run(self) -> None:
        database = sqlite3.connect(self._path, isolation_level=None)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute("CREATE TABLE events (session, seq, body, PRIMARY KEY (session, seq)) WITHOUT ROWID")
        while True:
            rows = [self.rows.get()]
            while len(rows) < MAX_IN_A_COMMIT:
                try:
                    rows.append(self.rows.get_nowait())
                except queue.Empty:
                    break
            database.execute("BEGIN IMMEDIATE")
            database.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)
            database.execute("COMMIT")
            self._loop.call_soon_threadsafe(self._committed, rows)


class Lines:
    """Cuts chunks into lines; what has no end yet waits in pieces, so a long line is joined once."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        head, *rest = chunk.split(b"\n")
        self._pieces.append(head)
        if not rest:
            return []
        lines = [b"".join(self._pieces), *rest[:-1]]
        self._pieces = [rest[-1]]
        return lines


class Viewer:
    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self.frames: asyncio.Queue[str] = asyncio.Queue()

    async def send(self) -> None:
        while True:
            await self.socket.send_text(await self.frames.get())


class Relay:
    def __init__(self, folder: Path, agent: list[str]) -> None:
        self._agent = agent
        self._agents: dict[str, asyncio.subprocess.Process] = {}
        self._reading: set[asyncio.Task[None]] = set()
        self._viewers: dict[str, list[Viewer]] = {}
        self._uncommitted = 0
        self._room = asyncio.Event()
        self._room.set()
        self._writer = Writer(folder / "bare.db", self._committed)
        self._writer.start()

    async def create(self, _: Request) -> JSONResponse:
        pipe = asyncio.subprocess.PIPE
        agent = await asyncio.create_subprocess_exec(*self._agent, stdin=pipe, stdout=pipe, limit=CHUNK)
        session = f"session-{len(self._agents)}"
        self._agents[session] = agent
        self._viewers[session] = []
        task = asyncio.create_task(self._read(session, agent), name=session)
        self._reading.add(task)
        return JSONResponse({"id": session})

    async def send(self, request: Request) -> JSONResponse:
        agent = self._agents[request.path_params["session"]]
        text = (await request.json())["text"]
        said = {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}
        assert agent.stdin is not None
        agent.stdin.write(msgspec.json.encode(said) + b"\n")
        await agent.stdin.drain()
        return JSONResponse({})

    async def _read(self, session: str, agent: asyncio.subprocess.Process) -> None:
        assert agent.stdout is not None
        lines, seq = Lines(), 0
        while chunk := await agent.stdout.read(CHUNK):
            for line in lines.feed(chunk):
                if msgspec.json.decode(line)["type"]:
                    seq += 1
                    self._uncommitted += 1
                    self._writer.rows.put((session, seq, b'{"seq":%d,"event":%b}' % (seq, line)))
            if self._uncommitted > MAX_UNCOMMITTED:
                self._room.clear()
                await self._room.wait()

    def _committed(self, rows: list[Row]) -> None:
        self._uncommitted -= len(rows)
        if self._uncommitted <= MAX_UNCOMMITTED:
            self._room.set()
        by_session: dict[str, list[bytes]] = {}
        for session, _, body in rows:
            by_session.setdefault(session, []).append(body)
        for session, bodies in by_session.items():
            frame = (b'{"session":"%b","entries":[%b]}' % (session.encode(), b",".join(bodies))).decode()
            for viewer in self._viewers[session]:
                viewer.frames.put_nowait(frame)

    async def view(self, socket: WebSocket) -> None:
        await socket.accept()
        viewer = Viewer(socket)
        viewers = self._viewers[(await socket.receive_json())["sessionId"]]
        await socket.send_text('{"id":1,"ok":{}}')
        viewers.append(viewer)
        sending = asyncio.create_task(viewer.send())
        try:
            while True:
                await socket.receive_text()
        except WebSocketDisconnect:
            viewers.remove(viewer)
            sending.cancel()


async def serve(folder: Path, agent: list[str]) -> None:
    relay = Relay(folder, agent)
    app = Starlette(
        routes=[
            Route("/sessions", relay.create, methods=["POST"]),
            Route("/sessions/{session}/send", relay.send, methods=["POST"]),
            WebSocketRoute("/ws", relay.view),
        ]
    )
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        log_level="error",
        timeout_graceful_shutdown=1,
    )
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
        print(listening.getsockname()[1], flush=True)
        await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve(Path(sys.argv[1]), sys.argv[2:]))
