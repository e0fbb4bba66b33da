"""Launches: opens a terminal with an agent and a prompt, and tells the truth about what became of it."""

import asyncio
import contextlib
import logging
import os
import sys
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from bascule.launch.agent_start import AgentStart, AgentStarts
from bascule.launch.choosing import Ask, Terminal, ask_program
from bascule.launch.directory import check_working_directory
from bascule.launch.errors import STATUS, LaunchError
from bascule.launch.opening import TerminalOpener, files_of, new_record
from bascule.launch.planning import Job, plan_of, prompt_words
from bascule.launch.private_folder import LaunchFolder
from bascule.launch.receipts import Receipts, Report
from bascule.launch.record import LaunchRecord
from bascule.launch.repos import find_clones
from bascule.launch.request import LaunchRequest
from bascule.launch.terminal_process import TerminalProcess
from bascule.model.settings import Settings

log = logging.getLogger("bascule.launch")

KEPT = 1000  # launches whose outcome can be asked for


# The folders that are known here, the latest used first.
Folders = Callable[[], Awaitable[list[str]]]


@dataclass
class _Open:
    """A launch whose terminal was asked to open."""

    record: LaunchRecord
    process: TerminalProcess
    ended: asyncio.Future[int] = field(repr=False)


class Launches:
    """Everything is handed in: settings, agents, environment, platform."""

    def __init__(
        self,
        settings: Settings,
        agents: AgentStarts,
        environ: Mapping[str, str],
        *,
        platform: str = sys.platform,
        ask: Ask = ask_program,
        folders: Folders | None = None,
    ) -> None:
        self._folders = folders
        self._settings, self._agents, self._environ = settings, agents, environ
        self._opener = TerminalOpener(settings.launch.terminal, environ, platform, ask)
        self._folder: LaunchFolder | None = None
        self._receipts: Receipts | None = None
        self._ready = asyncio.Lock()
        self._known: OrderedDict[str, LaunchRecord] = OrderedDict()
        self._open: dict[str, _Open] = {}
        self._watching: set[asyncio.Task[None]] = set()

    def get(self, launch_id: str) -> LaunchRecord:
        record = self._known.get(launch_id)
        if record is None:
            raise LaunchError("not_found", "There is no such launch.")
        return record

    async def launch(self, request: LaunchRequest, who: str = "") -> LaunchRecord:
        """Open a terminal with the prompt. A record that is not settled says that no report came in time."""
        began = time.monotonic()
        if request.repo is None:
            cwd = await asyncio.to_thread(self._directory, request.working_directory)
        else:
            cwd = (await self.clones(request.repo))[0]  # the one that was used last
        name = request.agent or self._settings.launch.agent
        start = await asyncio.to_thread(self._agents.with_prompt, name, request.mode, cwd)
        return await self._begin(start, cwd, request, began, who)

    def conversation(self, agent: str, conversation: str, cwd: str) -> AgentStart:
        """What goes on with an earlier conversation in a terminal."""
        return self._agents.resuming(agent, conversation, cwd)

    async def run(self, start: AgentStart, cwd: str, who: str = "") -> LaunchRecord:
        """Open a terminal with an agent and no prompt."""
        return await self._begin(start, cwd, None, time.monotonic(), who)

    async def sweep(self) -> None:
        """Remove what a bridge that was killed left behind."""
        with contextlib.suppress(LaunchError):  # a folder that can't be used is an error of the first launch
            await self._prepared()

    def terminal(self) -> Terminal:
        """The terminal that would be opened now."""
        return self._opener.choose()[0]

    async def close(self) -> None:
        """Remove what no launcher has taken up; windows that are open stay."""
        for task in list(self._watching):
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)
        for one in list(self._open.values()):
            self._forget(one)
        if self._receipts is not None:
            await self._receipts.close()
        if self._folder is not None:
            self._folder.close()

    async def clones(self, repo: str) -> list[str]:
        """The latest used first, at least one. No page learns their places, which it did not send."""
        if self._folders is None:
            message = f"Which folder {repo} is in is known to Bascule's server only; launch by its bridge."
            raise LaunchError("repo_not_found", message)
        found = await asyncio.to_thread(find_clones, repo, await self._folders())
        usable = await asyncio.to_thread(self._usable, found)
        if not usable:
            if found:
                log.info("repo_not_found: the clones of %s lie where agents may not work", repo)
            raise LaunchError(
                "repo_not_found",
                f"No clone of {repo} was found among your projects and sessions. Open it once in Bascule.",
            )
        return usable

    # Opening

    def _directory(self, wanted: str | None) -> str:
        roots = self._settings.roots or (os.path.expanduser("~"),)
        own = (self._settings.data_dir, self._settings.config_dir)
        return check_working_directory(wanted, roots, own)

    def _usable(self, clones: list[str]) -> list[str]:
        usable = list[str]()
        for clone in clones:
            with contextlib.suppress(LaunchError):
                usable.append(self._directory(clone))
        return usable

    async def _begin(
        self, start: AgentStart, cwd: str, request: LaunchRequest | None, began: float, who: str
    ) -> LaunchRecord:
        words = prompt_words(start, request, typed=self._settings.launch.type_prompts)
        job = Job(start=start, cwd=cwd, request=request, words=words, who=who)
        folder, receipts = await self._prepared()
        terminal, environment = await asyncio.to_thread(self._opener.choose)
        record = new_record(job, terminal)
        self._keep(record)  # before its terminal opens: the launcher may report at once
        plan = plan_of(record, job, receipts.name)
        try:
            process = await asyncio.to_thread(self._opener.open, terminal, environment, folder, plan, request)
        except LaunchError:
            del self._known[record.id]
            raise
        opened = _Open(record, process, asyncio.get_running_loop().create_future())
        self._open[record.id] = opened
        opened.process.watch(_from_thread(opened.ended))
        self._watch(opened)
        left = self._settings.launch.answer_ms / 1000 - (time.monotonic() - began)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(left, 0)):
                await record.settled.wait()
        return record

    def _keep(self, record: LaunchRecord) -> None:
        self._known[record.id] = record
        while len(self._known) > KEPT:
            self._known.popitem(last=False)

    async def _prepared(self) -> tuple[LaunchFolder, Receipts]:
        """The folder and the socket, made at the first launch and again if somebody removed them."""
        async with self._ready:
            folder, receipts = self._folder, self._receipts
            if folder is not None and receipts is not None and folder.is_still_there():
                await asyncio.to_thread(folder.sweep, time.time())
                return folder, receipts
            if receipts is not None:
                await receipts.close()
            if folder is not None:
                folder.close()
            self._receipts = self._folder = None
            folder = await asyncio.to_thread(LaunchFolder.open, self._settings.launch.folder, self._environ)
            self._folder = folder
            await asyncio.to_thread(folder.sweep, time.time())
            receipts = Receipts(folder, self._reported)
            await receipts.open()
            self._receipts = receipts
            return folder, receipts

    # What becomes of it

    def _watch(self, opened: _Open) -> None:
        task = asyncio.create_task(self._follow(opened), name=f"launch {opened.record.id}")
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)

    async def _follow(self, opened: _Open) -> None:
        """Until it is launched, its terminal fails, or the time for a window is over."""
        record, seconds = opened.record, self._settings.launch.window_seconds
        settled = asyncio.create_task(record.settled.wait(), name=f"report of {record.id}")
        try:
            async with asyncio.timeout(seconds):
                await asyncio.wait({settled, opened.ended}, return_when=asyncio.FIRST_COMPLETED)
                # Many a terminal asks a process of its own for the window and ends at once, with 0.
                if not record.settled.is_set() and opened.ended.result() == 0:
                    await settled
        except TimeoutError:
            how = " has ended without an error, but" if opened.ended.done() else ""
            message = f"Failed to open terminal: {record.terminal}{how} showed no window within {seconds} s."
            self._fail(opened, message)
            opened.process.kill()
        else:
            if not record.settled.is_set():
                code = opened.ended.result()
                how = f"ended with code {code}" if code > 0 else f"was ended by signal {-code}"
                self._fail(opened, f"Failed to open terminal: {record.terminal} {how}.")
        finally:
            settled.cancel()
            if record.settled.is_set():
                self._forget(opened)

    def _fail(self, opened: _Open, message: str) -> None:
        complaint = opened.process.complaint()
        opened.record.failed(LaunchError("terminal_spawn_failed", message))
        # What a terminal prints may name paths, which are for the log and not for a web page.
        said = f" It printed: {complaint}" if complaint else ""
        log.error("terminal_spawn_failed: %s%s (origin: %s)", message, said, opened.record.who or "none")

    def _forget(self, opened: _Open) -> None:
        self._open.pop(opened.record.id, None)
        opened.process.forget()
        if self._folder is not None:
            for name in files_of(opened.record):
                self._folder.remove(name)

    def _reported(self, report: Report) -> None:
        record = self._known.get(str(report.get("id")))
        match record, report:
            case None, _:
                return
            case _, {"outcome": "started", "prompt": "none" | "argument" | "typing" as how}:
                if record.state == "opening":
                    record.launched(how)
            case _, {"outcome": "typed", "prompt": "sent" | "typed" | "not_typed" as how}:
                record.prompt = how
            case _, {"outcome": "failed", "error": str(error), "message": str(message)} if error in STATUS:
                record.failed(LaunchError(error, message))
                log.error("%s: %s (origin: %s)", error, message, record.who or "none")
            case _:
                return


def _from_thread(ended: asyncio.Future[int]) -> Callable[[int], None]:
    loop = ended.get_loop()

    def resolve(code: int) -> None:
        if not ended.done():
            ended.set_result(code)

    def tell(code: int) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: no caller waits any more
            loop.call_soon_threadsafe(resolve, code)

    return tell
