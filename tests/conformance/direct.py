"""Drives the real CLI over its pipes, without Bascule between, and keeps every line that crosses them."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from msgspec import Struct
from tests.conformance.environment import clean_environment, make_home
from tests.conformance.install import Installed

PLAIN_FLAGS = (
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--permission-prompt-tool",
    "stdio",
)
BASE_FLAGS = (*PLAIN_FLAGS, "--include-partial-messages", "--replay-user-messages")
LONGEST_LINE = 64 * 1024 * 1024
PATIENCE = 45.0

Wire = dict[str, Any]
Direction = Literal["in", "out", "err", "note"]


class Line(Struct, frozen=True):
    """One line of a recording."""

    dir: Direction
    line: str


class Place(Struct, frozen=True):
    """A throw-away machine: `root` stands for `/`, so that recordings can be freed of real paths."""

    root: Path
    installed: Installed
    api_url: str

    @property
    def home(self) -> Path:
        """Return its HOME."""
        return self.root / "home/dev"

    @property
    def project(self) -> Path:
        """Return the folder the agent works in."""
        return self.home / "project"


class Claude:
    """One running CLI process."""

    def __init__(self, process: asyncio.subprocess.Process, lines: list[Line]) -> None:
        self.process = process
        self.lines = lines
        self.seen: list[Wire] = []
        self._next = 0
        self._changed = asyncio.Condition()
        self._over = False
        self._readers = [
            asyncio.create_task(self._read_stdout(), name="claude stdout"),
            asyncio.create_task(self._read_stderr(), name="claude stderr"),
        ]

    def send_line(self, line: str) -> None:
        """Write one line exactly as given."""
        assert self.process.stdin is not None
        self.lines.append(Line("in", line))
        self.process.stdin.write(line.encode() + b"\n")

    def send(self, message: Wire) -> None:
        """Write one message."""
        self.send_line(json.dumps(message, ensure_ascii=False, separators=(",", ":")))

    def say(self, content: str | list[Wire], uuid: str | None = None) -> None:
        """Send a user message."""
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        message: Wire = {"type": "user", "message": {"role": "user", "content": blocks}}
        self.send(message | ({"uuid": uuid} if uuid else {}))

    def control(self, subtype: str, **fields: Any) -> str:
        """Send a control request and return its id."""
        request_id = str(uuid4())
        request = {"subtype": subtype, **fields}
        self.send({"type": "control_request", "request_id": request_id, "request": request})
        return request_id

    def answer(self, request: Wire, response: Wire) -> None:
        """Answer a control request of the CLI."""
        body = {"subtype": "success", "request_id": request["request_id"], "response": response}
        self.send({"type": "control_response", "response": body})

    def allow(self, request: Wire, **more: Any) -> None:
        """Allow a tool, with the input as it came unless told otherwise."""
        self.answer(request, {"behavior": "allow", "updatedInput": request["request"]["input"], **more})

    def deny(self, request: Wire, message: str, **more: Any) -> None:
        """Deny a tool with the reason."""
        self.answer(request, {"behavior": "deny", "message": message, **more})

    async def until(self, wanted: Callable[[Wire], bool], patience: float = PATIENCE) -> Wire:
        """Return the next message that is wanted, passing over the others."""
        async with asyncio.timeout(patience), self._changed:
            while True:
                while self._next < len(self.seen):
                    message = self.seen[self._next]
                    self._next += 1
                    if wanted(message):
                        return message
                if self._over:
                    raise EOFError("the CLI closed its stdout before the wanted message")
                await self._changed.wait()

    async def result(self) -> Wire:
        """Return the result that ends the turn."""
        return await self.until(lambda message: message.get("type") == "result")

    async def request(self) -> Wire:
        """Return the next request of the CLI."""
        return await self.until(lambda message: message.get("type") == "control_request")

    async def reply(self, request_id: str) -> Wire:
        """Return the CLI's reply to a control request."""
        return await self.until(
            lambda message: (
                message.get("type") == "control_response" and message["response"]["request_id"] == request_id
            )
        )

    async def delta(self, count: int = 1) -> None:
        """Wait for that many streamed pieces."""
        for _ in range(count):
            await self.until(lambda message: message.get("event", {}).get("type") == "content_block_delta")

    def close_input(self) -> None:
        """Close stdin."""
        assert self.process.stdin is not None
        self.lines.append(Line("note", "stdin closed"))
        self.process.stdin.close()

    async def end(self) -> int:
        """Close stdin if it is open, wait for the exit and return its code."""
        assert self.process.stdin is not None
        if not self.process.stdin.is_closing():
            self.close_input()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*self._readers)
            code = await self.process.wait()
        self.lines.append(Line("note", f"exit code {code}"))
        return code

    async def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        async for raw in self.process.stdout:
            line = raw.decode().rstrip("\n")
            self.lines.append(Line("out", line))
            async with self._changed:
                self.seen.append(json.loads(line))
                self._changed.notify_all()
        async with self._changed:
            self._over = True
            self._changed.notify_all()

    async def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        async for raw in self.process.stderr:
            self.lines.append(Line("err", raw.decode(errors="replace").rstrip("\n")))


@contextlib.asynccontextmanager
async def claude(
    place: Place,
    lines: list[Line],
    *flags: str,
    base: tuple[str, ...] = BASE_FLAGS,
    folder: Path | None = None,
    environment: dict[str, str] | None = None,
) -> AsyncGenerator[Claude]:
    """Run the CLI for the length of the block; whatever is left of it then is killed."""
    make_home(place.home, place.project)
    lines.append(Line("note", " ".join(("spawn: claude", *base, *flags))))
    process = await asyncio.create_subprocess_exec(
        place.installed.claude,
        *base,
        *flags,
        cwd=folder or place.project,
        env=clean_environment(place.installed, place.home, place.api_url) | (environment or {}),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=LONGEST_LINE,
        start_new_session=True,
    )
    agent = Claude(process, lines)
    try:
        yield agent
        await agent.end()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
