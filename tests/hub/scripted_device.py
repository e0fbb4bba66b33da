"""A scripted device: answers the hub's commands from a table, and logs what a session's lead to."""

import asyncio
import time
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from tests.hub.found_items import found_item

from bascule.hub.devices.switchboard import Switchboard
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
    FindFiles,
    Folders,
    FoundFiles,
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
    ResumeCommand,
    ShowResumeCommand,
    TakeFeedback,
    TakenFeedback,
)
from bascule.link.frames import AnyFrame, Ask, DaemonConnected, Reply
from bascule.link.listening import FindListeners, Listening
from bascule.link.machine import (
    AgentInfo,
    CheckDirectory,
    EndAll,
    ListAgents,
    ListTrusted,
    MachineSettings,
    PauseDevice,
    ReadSettings,
    TrustFolder,
)
from bascule.link.prompts import PromptFiles, ReadPromptFiles, WritePromptFiles
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
from bascule.link.starts import ListStarts, ReadStartLink, StartByLink, StartList
from bascule.link.unlogged import EndProcess, ListUnlogged, PutAside, TakenUp, TakeUpProcess, UnloggedList
from bascule.model.codec import encode, timestamp
from bascule.model.commands import (
    AnswerPermission,
    EndSession,
    PromptPlaced,
    SendPrompt,
    SessionBegun,
    StartSession,
)
from bascule.model.comparisons import Comparison
from bascule.model.errors import AlreadyAnswered, BasculeError, RequestNotFound
from bascule.model.events import (
    AnyEvent,
    PermissionAnswered,
    PromptSent,
    SessionEnded,
    SessionStarted,
)
from bascule.model.rules import Tried
from bascule.model.starts import WaitingStart
from bascule.store.base import Batch
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
START = WaitingStart(
    id="a1",
    session_id="s9",
    what="scripted (relay)",
    folder="/tmp",
    words="hello",
    by="ana",
    browser="Chrome on Linux",
    address="10.0.0.2",
    asked_at=0.0,
    expires_at=300.0,
)
CHANGE = FileChange("a.py", "modified", 1, 0, "@@ -0,0 +1 @@\n+x")
# Commands that need no session: what the device answers, whatever was asked before.
ANSWERS: dict[type, Callable[[Any], object]] = {
    ListAgents: lambda _: {"agents": AGENTS},
    CheckDirectory: lambda command: {"path": command.path},
    TrustFolder: lambda command: {"path": command.path},
    ListTrusted: lambda _: {"folders": []},
    ListFolders: lambda command: Folders([command.prefix + "x"], False),
    ListFiles: lambda command: FileList(command.path, [FileItem("a.py", "file", 3, timestamp(0))], False),
    FindFiles: lambda command: FoundFiles([f"{command.q}.py"]),
    ReadFile: lambda command: FileContent(command.path, 3, timestamp(0), False, False, "<b>"),
    ReadChanges: lambda _: GitChanges("trunk", [CHANGE]),
    ListFound: lambda command: FoundList([found_item()][: command.limit], 1, Looking(False, 1, 1)),
    FollowFound: lambda command: Followed(command.session_id, OpenTerminal(4242, "idle")),
    ShowResumeCommand: lambda _: ResumeCommand(command="cd /tmp && own", argv=("own",)),
    AwaitFeedback: lambda _: FeedbackNews("ready"),
    TakeFeedback: lambda _: TakenFeedback("p1", "Message from Bascule"),
    ListStarts: lambda _: StartList(starts=(), approval="notify_only"),
    ReadStartLink: lambda _: StartByLink(device="laptop", start=START, block_seconds=86400),
    ListRules: lambda _: RuleViews([RULE]),
    AddRule: lambda _: RULE,
    TryRule: lambda _: DryRun(RULE.words, 0, 0, 0, []),
    TryRequest: lambda _: Tried("ask", "You would be asked: no rule covers it."),
    ProposeRules: lambda _: Proposals([Proposal("~/list", "Bash(ls)", "allow")], ["~/list"], []),
    ListComparisons: lambda _: Comparisons([COMPARISON]),
    StartComparison: lambda _: COMPARISON,
    ReadComparison: lambda _: COMPARISON,
    ReadContestant: lambda _: ContestantChanges(branch="bascule/x-1", files=[]),
    KeepContestant: lambda _: Kept(1, "1 file changed."),
    RemoveTrees: lambda _: TreesRemoved([], COMPARISON),
    EndAll: lambda _: {"ended": 2},
    PauseDevice: lambda _: {},
    FindListeners: lambda _: Listening(running=True, listeners=()),
    ReadSettings: lambda _: MachineSettings(
        limits={"sessions": 5, "of_a_newer_version": 1},
        terminal={},
        roots=("/srv/attic",),
        config_file="/srv/attic/config.toml",
    ),
    ListUnlogged: lambda _: UnloggedList(()),
    TakeUpProcess: lambda _: TakenUp(()),
    EndProcess: lambda _: PutAside("/data/kept/1"),
    ReadPromptFiles: lambda command: PromptFiles(folder=command.folder, files=()),
    WritePromptFiles: lambda command: PromptFiles(folder=command.folder, files=()),
}


class ScriptedDevice:
    """A device for the hub to talk to: no processes, no files. It keeps every command it was sent."""

    def __init__(
        self,
        store: SqliteStore,
        switchboard: Switchboard,
        device: str = "device-1",
        name: str = "laptop",
        close: Callable[[str], None] | None = None,
    ) -> None:
        self.commands: list[Any] = []
        self.asks: list[Ask] = []  # the same, with who asked
        self.mute = False  # takes commands and never answers
        self.refuse: BasculeError | None = None  # the answer to every command
        self._store = store
        self._tasks: set[asyncio.Task[None]] = set()
        self.others: list[AnyFrame] = []  # what came besides
        self.device, self.name = device, name
        self._close, self._switchboard = close, switchboard
        self.connect()

    def connect(self, agents: tuple[AgentInfo, ...] = AGENTS, **more: Any) -> None:
        """Over a line that is new."""
        self.line = self._switchboard.attach(self._receive, close=self._close)
        self.line.receive(DaemonConnected(self.device, self.name, "1.0", agents, **more))

    def _receive(self, frame: AnyFrame) -> None:
        if not isinstance(frame, Ask):
            self.others.append(frame)
            return
        self.commands.append(frame.command)
        self.asks.append(frame)
        if not self.mute:
            task = asyncio.create_task(self._reply(frame), name="scripted device")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def answer_refused(self, error: BasculeError) -> None:
        """Refuse the last command that was taken while mute, and be mute no longer."""
        self.mute = False
        self.line.receive(Reply(self.asks[-1].ask, refusal=error.refusal()))

    async def _reply(self, ask: Ask) -> None:
        try:
            if self.refuse is not None:
                raise self.refuse
            result = await self._carry_out(ask.command, ask.by.name)
        except BasculeError as error:
            self.line.receive(Reply(ask.ask, refusal=error.refusal()))
        else:
            self.line.receive(Reply(ask.ask, msgspec.Raw(encode(result))))

    async def _carry_out(self, command: Any, by: str) -> object:
        match command:
            case StartSession():
                begun = SessionStarted(
                    agent=command.agent,
                    driver="stream_json",
                    cwd=command.cwd,
                    by=by,
                    **msgspec.structs.asdict(command.options),
                )
                await append(self._store, command.session_id, begun)
                return SessionBegun(session_id=command.session_id, seq=1)
            case SendPrompt():
                sent = PromptSent(f"p{len(self.commands)}", command.text, by, command.client_message_id)
                await append(self._store, command.session_id, sent)
                return PromptPlaced(prompt_id=sent.prompt_id, state="sent")
            case AnswerPermission():
                await self._answer(command, by)
            case EndSession():
                await append(self._store, command.session_id, SessionEnded("closed", code=0))
            case _:
                return ANSWERS.get(type(command), lambda _: {})(command)
        return {}

    async def _answer(self, command: AnswerPermission, by: str) -> None:
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
        answered = PermissionAnswered(command.request_id, command.decision, by)
        await append(self._store, command.session_id, answered)


_locks: WeakKeyDictionary[SqliteStore, asyncio.Lock] = WeakKeyDictionary()


def writing(store: SqliteStore) -> asyncio.Lock:
    """A test and its device may both write: what one has read must hold until it wrote."""
    return _locks.setdefault(store, asyncio.Lock())


async def append(store: SqliteStore, session_id: str, *events: AnyEvent) -> None:
    async with writing(store):
        record = await store.session(session_id)
        first = (record.seq if record else 0) + 1
        await store.append(Batch(session_id, first, timestamp(time.time()), list(events)))
