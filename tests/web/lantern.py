"""A hub with lifelike sessions in every state, told as events, for pictures, audits and tests of the page."""

import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from msgspec import Raw
from tests.hub.running_hub import RunningHub, running_hub
from tests.hub.scripted_device import ScriptedDevice, append, writing
from tests.web import lantern_files, lantern_machine

from bascule.hub.devices.switchboard import Switchboard
from bascule.hub.page.web_files import PageFiles, page_files
from bascule.link.files import Folders, ListFolders
from bascule.link.frames import DaemonConnected
from bascule.link.machine import AgentInfo, CheckDirectory, ListAgents
from bascule.model.codec import timestamp
from bascule.model.commands import ArchiveSession, RenameSession, StartSession
from bascule.model.errors import (
    AgentNotInstalled,
    BadDirectory,
    BasculeError,
    DeviceOffline,
    LimitReached,
)
from bascule.model.event_values import PermissionOption, Question, QuestionOption, Usage
from bascule.model.events import (
    AgentSpawned,
    AnyEvent,
    ArchivedChanged,
    Diff,
    EntryClosed,
    EntryOpened,
    ModelChoice,
    ModelsChanged,
    PermissionRequested,
    PlanChanged,
    PlanItem,
    PromptQueued,
    PromptSent,
    QuestionAsked,
    SessionEnded,
    SessionFailed,
    SessionReady,
    SessionStarted,
    TextAppended,
    TitleChanged,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    UsageChanged,
)
from bascule.store.base import Batch
from bascule.store.sqlite import SqliteStore

AGENTS = (
    AgentInfo(
        *("claude-code", "Claude Code", True, "2.1.4", "/opt/bin/claude"),
        models=("opus", "sonnet"),
        modes=("default", "acceptEdits", "plan"),
    ),
    AgentInfo("codex", "Codex", True, "0.61.0", "/usr/bin/codex"),
    AgentInfo("gemini", "Gemini", False, problem="Gemini is not installed here."),
    AgentInfo("demo", "Demo agent", True, demo=True),
)
OPTIONS = (
    PermissionOption("once", "allow_once", "Allow once", "only this call"),
    PermissionOption("deny", "deny", "Deny", "only this call"),
)
TASK = (
    "Uploads that lose their connection start from zero. Make them resume: remember which parts arrived, "
    "and make sending a part twice harmless. Keep the public API as it is."
)
THOUGHT = (
    "Parts are counted, not recorded, so a repeat cannot be told from a new one. "
    "A table of parts with their digests would do."
)
DONE = (
    "Uploads now resume. A part is stored once, by number and digest; repeats answer `200` with "
    "`repeated: true`. Old clients see no difference."
)
NEXT = (
    "Not yet. `claim()` compares digests, so a mismatch is noticed, but the service still answers `200`. "
    "It should be a `409` with both digests, so that the client"
)
CHART = "The rate chart looks wrong around Easter. Rework it so quiet days are not drawn as zero."
ASKS = (
    "Days without trades come back as `0` from the API, and the chart draws them. Before I change the "
    "series I need two decisions from you."
)
NOT_SIGNED_IN = (
    "It is installed, but nobody is signed in there. Sign in once in a terminal, then try again.",
    "Not logged in. Run claude in a terminal and type /login,\nor set ANTHROPIC_API_KEY.",
    1,
)
LANTERN, TIDE = "/code/lantern", "/code/tidechart"
PULL = "https://github.com/lantern/lantern/pull/218"
SHA = "a" * 64

SERVICE = """@@ -88,5 +88,6 @@ async def put_part(self, upload, n, body)
     async def put_part(self, upload, n, body):
-        await self.store.write(upload.key, n, body)
-        upload.parts += 1
+        digest = await self.store.write(upload.key, n, body)
+        if not await self.parts.claim(upload.id, n, digest):
+            return Part(n, digest, repeated=True)
+        upload.parts = await self.parts.count(upload.id)
         return Part(n, digest)
"""
PARTS = "@@ -0,0 +1,3 @@\n+class Parts:\n+    def __init__(self, pool):\n+        self.pool = pool\n"
ANSWER = (
    "Parts are only *counted* today, so the server can't tell a repeat from a new one. I'll record each "
    "part by number and digest; a second `PUT` of the same part then becomes a no-op, and `HEAD` can say "
    "what is missing."
)


def raw(**fields: Any) -> Raw:
    return Raw(json.dumps(fields).encode())


def said(entry: str, text: str, *, closed: bool = True) -> list[AnyEvent]:
    events: list[AnyEvent] = [EntryOpened(entry, "assistant"), TextAppended(entry, "assistant", text)]
    return [*events, EntryClosed(entry)] if closed else events


def tool(name: str, kind: Any, number: int, output: str = "", **fields: Any) -> list[AnyEvent]:
    tool_id = f"t{number}"
    return [ToolStarted(tool_id, name, name, kind, raw(**fields)), ToolChanged(tool_id, "done", output)]


def begin(cwd: str, title: str, agent: str = "claude-code", model: str = "opus") -> list[AnyEvent]:
    return [
        SessionStarted(agent, "stream_json", cwd, "Mira", "device-1", model=model),
        AgentSpawned(1200, agent),
        ModelsChanged((ModelChoice("opus", "Opus 4.5", "Most capable"), ModelChoice("sonnet", "Sonnet 4.5"))),
        SessionReady("c-1", model, "2.1.4"),
        TitleChanged(title, "Mira"),
    ]


def resume_uploads() -> list[AnyEvent]:
    """The work of the main picture, up to its plan."""
    reads = [
        one for n in range(6) for one in tool("Read", "read", n, "…", file_path=f"{LANTERN}/upload/f{n}.py")
    ]
    searches = [one for n in (6, 7) for one in tool("Grep", "search", n, "12 matches", pattern="put_part")]
    return [
        *begin(LANTERN, "Resume interrupted uploads"),
        PromptSent("p1", TASK, "Mira"),
        EntryOpened("k1", "thinking"),
        TextAppended("k1", "thinking", THOUGHT),
        EntryClosed("k1"),
        *reads,
        *searches,
        *said("m1", ANSWER),
        ToolStarted("t20", "Edit", "service.py", "edit", raw(file_path=f"{LANTERN}/upload/service.py")),
        ToolChanged("t20", "done", diffs=(Diff(f"{LANTERN}/upload/service.py", SERVICE, 4, 2),)),
        PlanChanged(
            (
                PlanItem("Record each part by number and digest", "completed"),
                PlanItem("Make put_part safe to repeat", "completed"),
                PlanItem("Migrate the dev database", "in_progress"),
                PlanItem("Answer HEAD /uploads/{id} with missing parts"),
                PlanItem("Test a cut connection at every part"),
            )
        ),
        UsageChanged(76_000, 200_000),
    ]


def wants_command() -> list[AnyEvent]:
    line = "alembic upgrade head && pytest tests/test_upload.py -q"
    note = "Apply the part table, then run the upload tests"
    return [
        ToolStarted("t30", "Bash", line, "execute", raw(command=line)),
        PermissionRequested(
            "r1",
            "Bash",
            line,
            "execute",
            raw(command=line, description=note),
            SHA,
            OPTIONS,
            tool_id="t30",
            note=note,
        ),
        PromptQueued("q1", "Then add a line to CHANGELOG under 2.5", "Mira"),
        PromptQueued("q2", "Check that old clients still work without the new header", "Mira"),
    ]


def wants_edit() -> list[AnyEvent]:
    first = '    upload = await service.get(request.path["id"])\n'
    old = first + '    return Response(headers={"Upload-Parts": str(upload.parts)})\n'
    new = (
        first + "    missing = await service.resume(upload.id)\n"
        '    return Response(headers={\n        "Upload-Parts": str(upload.parts),\n'
        '        "Upload-Missing": missing.ranges(),\n    })\n'
    )
    edit = raw(file_path=f"{LANTERN}/api/uploads.py", old_string=old, new_string=new)
    return [
        ToolStarted("t31", "Edit", "uploads.py", "edit", edit),
        PermissionRequested("r2", "Edit", "uploads.py", "edit", edit, SHA, OPTIONS, tool_id="t31"),
    ]


def finished_turn() -> list[AnyEvent]:
    runs = [one for n in (40, 41, 42) for one in tool("Bash", "execute", n, "5 passed", command="pytest -q")]
    edit = ToolChanged("t43", "done", diffs=(Diff(f"{LANTERN}/upload/parts.py", PARTS, 28, 0),))
    return [
        *runs,
        ToolStarted("t43", "Edit", "parts.py", "edit", raw(file_path=f"{LANTERN}/upload/parts.py")),
        edit,
        *said("m2", DONE),
        TurnEnded("end_turn", Usage(30_000, 8_000), 0.42, 134_000),
        PromptSent("p2", "Nice. Does a part with the same number but other bytes get refused?", "Mira"),
        *said("m3", NEXT, closed=False),
    ]


def rate_chart() -> list[AnyEvent]:
    gap = QuestionOption("Leave a gap", "The line breaks. Honest, and busy around holidays.")
    step = QuestionOption("Carry the last rate", "A flat step until the next trade.")
    hide = QuestionOption("Hide the day", "Weekends vanish from the axis.")
    pages = (
        QuestionOption("Overview", "Small chart, 90 days"),
        QuestionOption("Pair page", "Large chart, zoom"),
        QuestionOption("Embed", "Used by 14 sites"),
        QuestionOption("PDF export", "Static image"),
    )
    asked = (
        Question("How should the rate chart treat days without trades?", "Gaps", (gap, step, hide)),
        Question("Which pages should change?", "Pages", pages, multi_select=True),
    )
    return [
        *begin(TIDE, "Rework the rate chart"),
        PromptSent("p1", CHART, "Mira"),
        *[one for n in range(4) for one in tool("Read", "read", n, "…", file_path=f"{TIDE}/f{n}.py")],
        *said("m1", ASKS),
        QuestionAsked("q1", asked, Raw(b"{}"), SHA),
    ]


FOLDERS = ("/code/dotfiles", "/code/homelab", "/code/lantern", "/code/lantern-docs", "/code/tidechart")
# A start whose task holds the word gets no further than this.
REFUSALS: dict[str, BasculeError] = {
    "nowhere": BadDirectory("There is no folder /code/nowhere."),
    "crowded": LimitReached(
        "8 agents already work on tower, which is the limit. End a session, or raise the limit in Settings."
    ),
    "missing": AgentNotInstalled("Claude Code was not found. Install it, then look again."),
    "unreachable": DeviceOffline("The device did not answer within 45 seconds."),
}


class LanternDevice(ScriptedDevice):
    """Knows several agents and folders; a start gets as far as its task says."""

    def __init__(
        self,
        store: SqliteStore,
        switchboard: Switchboard,
        device: str = "device-1",
        name: str = "laptop",
    ) -> None:
        super().__init__(store, switchboard, device, name)
        self.line.tapes = lantern_machine.ShownTapes()

    async def _carry_out(self, command: Any, by: str) -> object:
        for told in (lantern_files.told, lantern_machine.told):
            if (answer := told(command)) is not None:
                return answer
        match command:
            case ListAgents():
                return {"agents": AGENTS}
            case CheckDirectory() if command.path.rstrip("/") not in FOLDERS:
                raise BadDirectory(f"There is no folder {command.path}.")
            case CheckDirectory():
                return {"path": command.path.rstrip("/"), "files": None if "docs" in command.path else 1204}
            case ListFolders():
                return Folders([one for one in FOLDERS if one.startswith(command.prefix)], False)
            case StartSession():
                return await self._start(command, by)
            case ArchiveSession():
                await append(self._store, command.session_id, ArchivedChanged(command.archived, by))
                return {}
            case RenameSession():
                await append(self._store, command.session_id, TitleChanged(command.title, by))
                return {}
            case _:
                return await super()._carry_out(command, by)

    async def _start(self, command: StartSession, by: str) -> object:
        task = command.prompt or ""
        for word, refusal in REFUSALS.items():
            if word in task:
                raise refusal
        result = await super()._carry_out(command, by)
        if "stuck" in task:
            return result
        after: list[AnyEvent] = [AgentSpawned(1200, "claude")]
        if "backup" in task:
            after.append(SessionFailed("exited", *NOT_SIGNED_IN))
        if "at once" in task:
            after += [
                SessionReady("c-2", "opus", "2.1.4"),
                PromptSent("p1", task, "Mira"),
                *said("m1", "On it."),
            ]
        await tell(self._store, command.session_id, after)
        return result


async def tell(store: Any, session: str, events: list[AnyEvent], ago: float = 0, each: float = 0.4) -> None:
    """Append events as if they had happened some seconds ago, a little apart."""
    async with writing(store):
        record = await store.session(session)
        first = (record.seq if record else 0) + 1
        began = time.time() - ago - each * len(events)
        for n, event in enumerate(events):
            await store.append(Batch(session, first + n, timestamp(began + n * each), [event]))


async def once(store: Any, session: str, events: list[AnyEvent], request: str) -> None:
    """Tell what ends in a request, unless it was told already: several screens share it."""
    if await store.request(session, request) is None:
        await tell(store, session, events, 12)


@contextlib.asynccontextmanager
async def lantern(
    folder: Path, *, empty: bool = False, page: Callable[[], PageFiles] = page_files
) -> AsyncIterator[RunningHub]:
    """The hub, with every session told; `empty` leaves only the agents."""
    async with running_hub(folder, page=page) as made:
        made.device.line.closed()
        made.device = LanternDevice(made.store, made.services.switchboard)
        made.device.line.receive(DaemonConnected("device-1", "tower", "0.1.0", AGENTS))
        await made.trust("Mira", "owner")
        if not empty:
            await _tell_all(made)
        yield made


async def _tell_all(made: RunningHub) -> None:
    for path in (LANTERN, TIDE):
        await made.services.projects.add("device-1", path, path.rpartition("/")[2], "Mira")
    flaky = [
        *begin(LANTERN, "Find the flaky sync test", "codex", "gpt-5"),
        PromptSent("p1", "Find it", "Mira"),
        *said("m1", "Running the sync tests a hundred times."),
    ]
    await tell(
        made.store, "changelog", [*begin(LANTERN, "Changelog for 2.4"), SessionEnded("closed", 0)], 90_000
    )
    await tell(
        made.store,
        "python310",
        [
            *begin(LANTERN, "Drop Python 3.10"),
            PromptSent("p1", "Drop it", "Mira"),
            ToolStarted("t1", "Edit", "compat.py", "edit", raw(file_path=f"{LANTERN}/compat.py")),
            ToolChanged("t1", "done", diffs=(Diff(f"{LANTERN}/compat.py", PARTS, 112, 340),)),
            *tool("Bash", "execute", 2, f"Creating pull request\n{PULL}\n", command="gh pr create --fill"),
            *said("m1", "Removed the shims, CI matrix is 3.11 to 3.14."),
            TurnEnded("end_turn", Usage(9000, 900), 1.08, 340_000),
        ],
        1560,
    )
    await tell(
        made.store,
        "backup",
        [
            SessionStarted("gemini", "acp", "/code/homelab", "Mira"),
            TitleChanged("Nightly backup report", "Mira"),
            SessionFailed("exited", "Not signed in on tower. Sign in, then try again.", "", 41),
        ],
        7200,
    )
    await tell(made.store, "rates", rate_chart(), 540)
    await tell(made.store, "flaky", flaky, 240)
    await tell(made.store, "uploads", resume_uploads(), 20)
