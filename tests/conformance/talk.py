"""One session with the real CLI, as a person has it: commands by HTTP and socket, facts by socket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from tests.live import LiveServer
from tests.modelapi.request import MessagesRequest
from tests.modelapi.server import ScriptedModel
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from bascule.model.codec import Logged, decode_logged
from bascule.model.event_values import StopReason
from bascule.model.events import (
    AnyEvent,
    Event,
    PermissionRequested,
    QuestionAsked,
    SessionEnded,
    SessionFailed,
    TextAppended,
    TextSaid,
    TurnEnded,
)

PATIENCE = 45.0
AGENT = "claude-code"

E = TypeVar("E", bound=Event)
Asked = PermissionRequested | QuestionAsked


class Broken(Exception):
    """What the scenario promises does not hold."""


def holds(condition: object, otherwise: str) -> None:
    """Raise unless the condition holds."""
    if not condition:
        raise Broken(otherwise)


def alive(pid: int) -> bool:
    """Whether the process runs. One that is only waited for by its parent does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


async def gone(pid: int, seconds: float = 5.0) -> bool:
    """Whether the process ends in time."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(watch, ended.set)
    try:
        await asyncio.wait_for(ended.wait(), seconds)
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(watch)
        os.close(watch)
    return True


class Talk:
    """Follows one session and acts in it. `rows` is all that came over the socket, in order."""

    def __init__(
        self,
        live: LiveServer,
        model: ScriptedModel,
        name: str,
        *,
        agent: str = AGENT,
        driver: str | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self.live = live
        self.agent = agent
        self.driver = driver
        self.patience = patience
        self.tells_cost = driver is None  # every turn says what the session has cost so far
        self.model = model
        self.project = live.work / name
        self.project.mkdir(parents=True, exist_ok=True)
        self.session = ""
        self.rows: list[Logged] = []
        self.notes: list[str] = []  # worth a line in the report, not a failure
        self.unprompted_turns = 0  # ends of turns that no prompt began
        self._cursor = 0
        self._changed = asyncio.Condition()
        self._socket: ClientConnection | None = None
        self._listening: asyncio.Task[None] | None = None
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._number = 0

    # Beginning, and coming back

    def beside(self) -> Talk:
        """Another session with the same agent, in the same folder."""
        return Talk(
            self.live,
            self.model,
            self.project.name,
            agent=self.agent,
            driver=self.driver,
            patience=self.patience,
        )

    async def open(self, prompt: str | None = None, **body: Any) -> None:
        """Start the session and follow it."""
        how = {"agent": self.agent, "driver": self.driver, "cwd": str(self.project)}
        self.session = await self.live.create(prompt, **{**how, **body})
        await self.connect()

    async def connect(self) -> None:
        """Open the socket and go on after the last row there is."""
        url = self.live.url.replace("http", "ws", 1) + "/ws"
        headers = {"authorization": f"Bearer {self.live.token}"}
        self._socket = await connect(url, additional_headers=headers, max_size=None, proxy=None)
        self._listening = asyncio.create_task(self._listen(self._socket), name=f"socket of {self.session}")
        await self.command("session:subscribe", after=self.rows[-1].seq if self.rows else 0)

    async def close(self) -> None:
        """Hang up."""
        if self._socket is not None and self._listening is not None:
            await self._socket.close()
            await self._listening

    async def _listen(self, socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for message in socket:
                frame = msgspec.json.decode(message)
                if frame.get("type") == "session:events":
                    rows = [decode_logged(msgspec.json.encode(one)) for one in frame["entries"]]
                    async with self._changed:
                        self.rows += rows
                        self._changed.notify_all()
                elif frame.get("id") in self._answers:
                    self._answers.pop(frame["id"]).set_result(frame)

    # Acting

    async def command(self, kind: str, **fields: Any) -> Any:
        """Send one message about this session, and give what it was answered with."""
        return await self.ask(kind, sessionId=self.session, **fields)

    async def ask(self, kind: str, **fields: Any) -> Any:
        """Send one message over the socket and give what it was answered with."""
        assert self._socket is not None
        self._number += 1
        answer = self._answers[self._number] = asyncio.get_running_loop().create_future()
        message = {"id": self._number, "type": kind, **fields}
        await self._socket.send(json.dumps(message))
        frame = await asyncio.wait_for(answer, PATIENCE)
        holds("ok" in frame, f"{kind} was refused: {frame}")
        return frame["ok"]

    async def post(self, verb: str, **body: Any) -> dict[str, Any]:
        """Do one verb over HTTP."""
        answer = await self.live.post(f"/api/sessions/{self.session}/{verb}", **body)
        holds(answer.status_code == 200, f"{verb} was answered {answer.status_code} {answer.text}")
        return answer.json()

    async def send(self, text: str, **body: Any) -> str:
        """Send a prompt; says whether it was sent or queued."""
        return str((await self.post("send", text=text, **body))["state"])

    async def answer(self, asked: PermissionRequested, decision: str, **more: Any) -> None:
        """Answer a permission request over the socket, as the page does."""
        await self.command(
            "session:permission",
            requestId=asked.request_id,
            decision=decision,
            inputSha256=asked.input_sha256,
            **more,
        )

    async def reply(self, asked: QuestionAsked, answers: dict[str, str]) -> None:
        """Answer a question over the socket."""
        await self.command(
            "session:question",
            requestId=asked.request_id,
            answers=answers,
            inputSha256=asked.input_sha256,
        )

    # Waiting

    async def until(self, wanted: Callable[[AnyEvent], bool], what: str) -> Logged:
        """The next row that is wanted, passing over the others."""
        try:
            async with asyncio.timeout(self.patience), self._changed:
                while True:
                    while self._cursor < len(self.rows):
                        row = self.rows[self._cursor]
                        self._cursor += 1
                        if wanted(row.event):
                            return row
                        if isinstance(row.event, SessionEnded | SessionFailed):
                            raise Broken(f"the session ended before {what}: {row.event}")
                    await self._changed.wait()
        except TimeoutError:
            last = "; ".join(type(row.event).__name__ for row in self.rows[-6:])
            raise Broken(f"no {what} within {self.patience:.0f} s; the log ends with {last}") from None

    async def catch_up(self, seq: int) -> None:
        """Pass over everything up to this row, whatever it is."""
        async with asyncio.timeout(self.patience), self._changed:
            await self._changed.wait_for(lambda: bool(self.rows) and self.rows[-1].seq >= seq)
            self._cursor = next(n for n, row in enumerate(self.rows, 1) if row.seq >= seq)

    async def next(self, kind: type[E]) -> E:
        """The next event of this kind."""
        row = await self.until(lambda event: isinstance(event, kind), kind.__name__)
        assert isinstance(row.event, kind)
        return row.event

    async def text(self, text: str) -> None:
        """Wait until this has been streamed."""
        said: dict[str, str] = {}

        def now_said(event: AnyEvent) -> bool:
            if isinstance(event, TextAppended | TextSaid):
                said[event.entry_id] = said.get(event.entry_id, "") + event.text
                return text in said[event.entry_id]
            return False

        await self.until(now_said, f"text {text!r}")

    async def turn_ends(self, reason: StopReason = "end_turn") -> TurnEnded:
        """Wait for the turn's end, which must be of this kind."""
        ended = await self.next(TurnEnded)
        holds(ended.stop_reason == reason, f"the turn ended {ended.stop_reason}, not {reason}: {ended}")
        return ended

    # Looking

    def events(self, kind: type[E]) -> list[E]:
        """All events of one kind so far."""
        return [row.event for row in self.rows if isinstance(row.event, kind)]

    def made(self, name: str) -> Path:
        """A file the agent must have made."""
        path = self.project / name
        holds(path.exists(), f"{name} was not made")
        return path

    def not_made(self, name: str) -> None:
        """A file that must not be there."""
        holds(not (self.project / name).exists(), f"{name} was made")

    def requests(self) -> list[MessagesRequest]:
        """What the model was asked in this project, without the agent's small requests on the side."""
        here = str(self.project)
        return [one for one in self.model.requests if one.tools and one.working_directory() == here]

    async def record(self) -> dict[str, Any]:
        """The session as the list shows it."""
        return (await self.live.http.get(f"/api/sessions/{self.session}")).json()

    async def entries(self) -> list[dict[str, Any]]:
        """The transcript as the page shows it."""
        answer = await self.live.http.get(f"/api/sessions/{self.session}/entries", params={"limit": 500})
        return answer.json()["entries"]
