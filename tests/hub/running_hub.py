"""A whole hub on a real port: real store, real grants, real server, and a device that plays a script."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
from tests.hub.found_items import found_item
from tests.waiting import MUCH_PATIENCE, PATIENCE
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from bascule.hub.app import build_app
from bascule.hub.switchboard import Switchboard
from bascule.hub.wire.connections import WireLimits
from bascule.hub.wire.server import HubServer, bind
from bascule.link.comparisons import (
    Comparisons,
    ContestantChanges,
    KeepContestant,
    Kept,
    ListComparisons,
    ReadComparison,
    ReadContestant,
    RemoveTrees,
    StartComparison,
    TreesRemoved,
)
from bascule.link.files import (
    FileChange,
    FileContent,
    FileItem,
    FileList,
    Folders,
    GitChanges,
    ListFiles,
    ListFolders,
    ReadChanges,
    ReadFile,
)
from bascule.link.found import (
    AwaitFeedback,
    FeedbackNews,
    Followed,
    FollowFound,
    FoundList,
    ListFound,
    Looking,
    OpenTerminal,
    TakeFeedback,
    TakenFeedback,
)
from bascule.link.frames import (
    AgentInfo,
    AnyFrame,
    Ask,
    CheckDirectory,
    DaemonConnected,
    EndAll,
    ListAgents,
    ListTrusted,
    Reply,
    TrustFolder,
)
from bascule.link.rules import (
    AddRule,
    DryRun,
    ListRules,
    Proposal,
    Proposals,
    ProposeRules,
    RuleView,
    RuleViews,
    TryRequest,
    TryRule,
)
from bascule.link.unlogged import EndProcess, ListUnlogged, PutAside, TakenUp, TakeUpProcess, UnloggedList
from bascule.model.codec import encode, timestamp
from bascule.model.commands import (
    AnswerPermission,
    EndSession,
    SendPrompt,
    StartSession,
)
from bascule.model.comparisons import Comparison
from bascule.model.errors import AlreadyAnswered, BasculeError, RequestNotFound
from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PermissionOption,
    PermissionRequested,
    PromptSent,
    SessionEnded,
    SessionStarted,
    TextAppended,
)
from bascule.model.settings import Settings
from bascule.policy.trying import Tried
from bascule.store.base import Batch
from bascule.store.grants import Grant, GrantBook
from bascule.store.projects import ProjectBook
from bascule.store.sqlite import SqliteStore

AGENTS = (AgentInfo("scripted", "Scripted", True, "1.0"),)

COMPARISON = Comparison(
    id="c1",
    title="t",
    prompt="p",
    folder="/tmp",
    top="/tmp",
    base="0" * 40,
    created_at=timestamp(0),
    created_by="ana",
    contestants=(),
)
RULE = RuleView(
    answer="allow",
    tool_class="command",
    argv=("ls",),
    id="rule1",
    created_at=timestamp(0),
    created_by="ana",
    words="Allow `ls` everywhere",
)


class ScriptedDevice:
    """Answers every command as a daemon would, as far as the hub can tell, and keeps what it was asked."""

    def __init__(self, store: SqliteStore, switchboard: Switchboard) -> None:
        self.commands: list[Any] = []
        self.mute = False  # takes commands and never answers
        self._store = store
        self._tasks: set[asyncio.Task[None]] = set()
        self.line = switchboard.attach(self._receive)
        self.line.receive(DaemonConnected("device-1", "laptop", "1.0", 1, AGENTS))

    def _receive(self, frame: AnyFrame) -> None:
        assert isinstance(frame, Ask)
        self.commands.append(frame.command)
        if not self.mute:
            task = asyncio.create_task(self._reply(frame), name="scripted device")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _reply(self, ask: Ask) -> None:
        try:
            result = await self._carry_out(ask.command)
        except BasculeError as error:
            self.line.receive(Reply(ask.ask, refusal=error.refusal()))
        else:
            self.line.receive(Reply(ask.ask, msgspec.Raw(encode(result))))

    async def _carry_out(self, command: Any) -> object:
        match command:
            case StartSession():
                begun = SessionStarted(
                    agent=command.agent,
                    driver="stream_json",
                    cwd=command.cwd,
                    by=command.by.name,
                    model=command.model,
                    permission_mode=command.permission_mode,
                )
                await append(self._store, command.session_id, begun)
                return {"session_id": command.session_id, "seq": 1}
            case SendPrompt():
                sent = PromptSent(
                    f"p{len(self.commands)}", command.text, command.by.name, command.client_message_id
                )
                await append(self._store, command.session_id, sent)
                return {"prompt_id": sent.prompt_id, "state": "sent"}
            case AnswerPermission():
                await self._answer(command)
            case EndSession():
                await append(self._store, command.session_id, SessionEnded("closed", code=0))
            case ListAgents():
                return {"agents": AGENTS}
            case CheckDirectory() | TrustFolder():
                return {"path": command.path}
            case ListFolders():
                return Folders([command.prefix + "x"], False)
            case ListFiles():
                return FileList(command.path, [FileItem("a.py", "file", 3, timestamp(0))], False)
            case ReadFile():
                return FileContent(command.path, 3, timestamp(0), False, False, "<b>")
            case ReadChanges():
                change = FileChange("a.py", "modified", 1, 0, "@@ -0,0 +1 @@\n+x")
                return GitChanges("trunk", [change])
            case ListFound():
                item = found_item()
                return FoundList([item][: command.limit], 1, Looking(False, 1, 1))
            case FollowFound():
                return Followed(command.session_id, OpenTerminal(4242, "idle"))
            case AwaitFeedback():
                return FeedbackNews("ready")
            case TakeFeedback():
                return TakenFeedback("p1", "Message from Bascule")
            case ListTrusted():
                return {"folders": []}
            case ListRules():
                return RuleViews([RULE])
            case AddRule():
                return RULE
            case TryRule():
                return DryRun(RULE.words, 0, 0, 0, [])
            case TryRequest():
                return Tried("ask", "You would be asked: no rule covers it.")
            case ListComparisons():
                return Comparisons([COMPARISON])
            case StartComparison() | ReadComparison():
                return COMPARISON
            case ReadContestant():
                return ContestantChanges(branch="bascule/x-1", files=[])
            case KeepContestant():
                return Kept(1, "1 file changed.")
            case RemoveTrees():
                return TreesRemoved([], COMPARISON)
            case ProposeRules():
                return Proposals([Proposal("~/list", "Bash(ls)", "allow")], ["~/list"], [])
            case EndAll():
                return {"ended": 2}
            case ListUnlogged():
                return UnloggedList(())
            case TakeUpProcess():
                return TakenUp(())
            case EndProcess():
                return PutAside("/data/kept/1")
            case _:
                pass
        return {}

    async def _answer(self, command: AnswerPermission) -> None:
        request = await self._store.request(command.session_id, command.request_id)
        if request is None:
            raise RequestNotFound(command.request_id)
        if request.state != "open":
            raise AlreadyAnswered(
                command.request_id,
                by=request.answered_by or "",
                at=request.answered_at or "",
                decision="allow",
            )
        answered = PermissionAnswered(command.request_id, command.decision, command.by.name)
        await append(self._store, command.session_id, answered)


async def append(store: SqliteStore, session_id: str, *events: AnyEvent) -> None:
    record = await store.session(session_id)
    first = (record.seq if record else 0) + 1
    await store.append(Batch(session_id, first, timestamp(time.time()), list(events)))


class RunningHub:
    """What a test holds in its hands."""

    def __init__(self, store: SqliteStore, grants: GrantBook, server: HubServer, port: int, app: Any) -> None:
        self.store, self.grants, self.server, self.port, self.app = store, grants, server, port, app
        self.services = app.state.hub
        self.tokens: dict[str, str] = {}
        self.grant: dict[str, Grant] = {}
        self.device: ScriptedDevice
        self.running: asyncio.Task[None]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def trust(self, name: str, role: Any, **more: Any) -> str:
        self.grant[name], self.tokens[name] = await self.grants.create(name, role, **more)
        return self.tokens[name]

    def client(self, token: str | None = None, **headers: str) -> httpx.AsyncClient:
        if token:
            headers["authorization"] = f"Bearer {token}"
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=PATIENCE, trust_env=False)

    @contextlib.asynccontextmanager
    async def socket(self, token: str | None = None, **more: Any) -> AsyncIterator[ClientConnection]:
        headers = {"Authorization": f"Bearer {token or self.tokens['owner']}"}
        url = f"ws://127.0.0.1:{self.port}/ws"
        options: dict[str, Any] = {"additional_headers": headers, "compression": None, "proxy": None, **more}
        async with connect(url, **options) as socket:
            yield socket

    async def session(self, session_id: str = "s1") -> str:
        """A session in the log, with nobody behind it but the scripted device."""
        await append(
            self.store,
            session_id,
            SessionStarted(agent="scripted", driver="stream_json", cwd="/tmp", by="ana"),
        )
        return session_id

    async def say(self, session_id: str, *texts: str) -> None:
        await append(self.store, session_id, *(TextAppended("e1", "assistant", text) for text in texts))

    async def ask_permission(self, session_id: str, request_id: str = "r1") -> None:
        option = PermissionOption("once", "allow_once", "Allow once")
        raw = msgspec.Raw(b'{"command":"ls"}')
        await append(
            self.store,
            session_id,
            PermissionRequested(request_id, "Bash", "Bash", "execute", raw, "0" * 64, (option,), "t1"),
        )


@contextlib.asynccontextmanager
async def running_hub(
    folder: Path,
    *,
    limits: WireLimits | None = None,
    steady: Callable[[], float] = time.monotonic,
    **settings: Any,
) -> AsyncIterator[RunningHub]:
    chosen = Settings(data_dir=str(folder), config_dir=str(folder), port=0, **settings)
    store = SqliteStore.open(folder / "bascule.db", clock=time.time, loop=asyncio.get_running_loop())
    grants = await GrantBook.open(store)
    switchboard = Switchboard()
    app = build_app(
        store=store,
        grants=grants,
        projects=ProjectBook(store),
        switchboard=switchboard,
        settings=chosen,
        clock=time.time,
        steady=steady,
    )
    server = HubServer(app, chosen, limits)
    listening = bind(chosen)
    made = RunningHub(store, grants, server, listening.getsockname()[1], app)
    made.device = ScriptedDevice(store, switchboard)
    for role in ("owner", "operator", "viewer"):
        await made.trust(role, role)
    made.running = asyncio.create_task(server.serve(sockets=[listening]), name="server")
    try:
        await until(lambda: server.started)
        yield made
    finally:
        server.stop()
        await asyncio.wait_for(made.running, PATIENCE)
        listening.close()
        app.state.hub.feed.close()
        await store.close()


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not done():  # noqa: ASYNC110 - what it waits for has no event of its own
            await asyncio.sleep(0.005)


async def ask(socket: ClientConnection, kind: str, number: int = 1, **fields: Any) -> dict[str, Any]:
    """Send one message and wait for its answer, letting pushes pass by."""
    await socket.send(msgspec.json.encode({"id": number, "type": kind, **fields}).decode())
    return await answer(socket, number)


async def answer(socket: ClientConnection, number: int | None) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            message = msgspec.json.decode(await socket.recv())
            if "id" in message and message["id"] == number:
                return message


async def entries(socket: ClientConnection, until_seq: int) -> list[dict[str, Any]]:
    """Rows pushed to this socket, up to and with `until_seq`."""
    rows: list[dict[str, Any]] = []
    async with asyncio.timeout(MUCH_PATIENCE):
        while not rows or rows[-1]["seq"] < until_seq:
            message = msgspec.json.decode(await socket.recv())
            if message.get("type") == "session:events":
                rows += message["entries"]
    return rows


async def rest_of(socket: ClientConnection) -> list[str]:
    """What the server still says until it closes."""
    said: list[str] = []
    with contextlib.suppress(ConnectionClosed):
        async with asyncio.timeout(PATIENCE):
            while True:
                said.append(str(await socket.recv()))
    return said


async def raw_exchange(port: int, data: bytes) -> bytes:
    """Send bytes as they are and read the head of what the server answers, or until it closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    got = b""
    try:
        with contextlib.suppress(ConnectionError):
            writer.write(data)
            await writer.drain()
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(PATIENCE):
                while b"\r\n\r\n" not in got and (chunk := await reader.read(65536)):
                    got += chunk
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
    return got


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0
