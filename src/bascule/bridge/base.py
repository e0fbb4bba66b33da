"""The base of all bridges: finds the program, starts it in a pty of the keeper, passes bytes, stops it."""

import asyncio
import logging
import os
import secrets
import threading
from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from bascule.agents.catalogue import Catalogue
from bascule.agents.command import Launch, build_argv, child_environment
from bascule.agents.locate import SEARCH_SECONDS, locate
from bascule.agents.spec import AgentSpec, FoundProgram
from bascule.bridge.bridge_types import (
    BridgeSession,
    NoSession,
    NotStarted,
    Process,
    SessionExists,
    SessionInfo,
    StartOptions,
)
from bascule.bridge.keeping import Keeping
from bascule.bridge.running import Running
from bascule.drivers.terminal import TerminalDriver
from bascule.drivers.terminal.trust_prompt import TrustPrompt
from bascule.model.errors import AgentNotInstalled
from bascule.transport.errors import KeeperError, KeeperGone
from bascule.transport.keeper_messages import PtySize

log = logging.getLogger(__name__)

GRACE_SECONDS = 5.0
WATCHDOG_SECONDS = 30.0


def nobody(_folder: str) -> bool:
    """No folder is trusted, so every trust question is left to a person."""
    return False


LOGIN = "login"  # the mode of a shell


class BaseBridge:
    """A subclass names its agent; the agent's file says the rest.

    `folder` is where this bridge's keeper lives. `trusts` says in which folders the agent's own trust
    question is answered with yes.
    """

    agent: ClassVar[str] = ""

    def __init__(
        self,
        folder: Path,
        *,
        trusts: Callable[[str], bool] = nobody,
        environ: Mapping[str, str] | None = None,
        catalogue: Catalogue | None = None,
        watchdog: float = WATCHDOG_SECONDS,
        grace: float = GRACE_SECONDS,
    ) -> None:
        self._spec: AgentSpec = (catalogue or Catalogue.load(folder)).get(self.agent)
        self._environ = dict(os.environ if environ is None else environ)
        self._trusts = trusts
        self._watchdog, self._grace = watchdog, grace
        self._keeping = Keeping(folder)
        self._running: dict[str, Running] = {}
        self._writes = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self.command = self.find_command()

    # What a bridge may say differently

    @property
    def command_search_paths(self) -> tuple[str, ...]:
        """In the order they are tried; a bare name is looked for on PATH."""
        return self._spec.search

    @property
    def fallback_command(self) -> str:
        """The command that is tried if the program was not found."""
        named = [one for one in self._spec.search if "{" not in one]
        return next((one for one in named if "/" not in one), named[0])

    def build_args(self, options: StartOptions) -> list[str]:
        """The arguments, without the program itself."""
        launch = Launch(
            driver="terminal",
            mode=LOGIN if options.login else None,
            # A bridge whose agent has no such flag takes no notice of the command, and adds nothing.
            skip_permissions=options.dangerously_skip_permissions
            and bool(self._spec.driver("terminal").skip_permissions),
        )
        # A bridge's shell is a login shell only when the caller says so.
        plain = self._spec.asking == LOGIN and not options.login
        spec = replace(self._spec, asking=None) if plain else self._spec
        return build_argv(spec, FoundProgram(self.command), launch)[1:]

    def on_data_hook(self, data: str, buffer: str) -> str | None:
        """Looks at each piece of output and the rolling buffer; what it gives is typed."""
        return None

    # Finding the program

    def find_command(self) -> str:
        """The first that exists; else the fallback."""
        return self._look_up() or self.fallback_command

    def is_available(self) -> bool:
        """Found somewhere, or there by now under its plain name."""
        return self.command != self.fallback_command or self._look_up() is not None

    def _look_up(self) -> str | None:
        """Within five seconds, whatever PATH holds."""
        found: list[str] = []

        def look() -> None:
            try:
                found.append(locate(self._spec, self._environ).path)
            except AgentNotInstalled as error:
                log.debug("%s", error.message)

        # A thread, because a dead network drive on PATH answers when it likes.
        thread = threading.Thread(target=look, name=f"find {self.agent}", daemon=True)
        thread.start()
        thread.join(SEARCH_SECONDS)
        return found[0] if found else None

    # Sessions

    async def start_session(self, session_id: str, options: StartOptions | None = None) -> BridgeSession:
        """Raises `SessionExists`, or `NotStarted` when the program can't be run."""
        options = options or StartOptions()
        if session_id in self._running:
            raise SessionExists(f"There is a session {session_id!r} already.", session_id=session_id)
        keeper = await self._keeping.get(self._lost)
        name = f"{os.getpid()}.{secrets.token_hex(4)}.{self.agent}"
        try:
            spawned = await keeper.spawn(
                name,
                [self.command, *self.build_args(options)],
                child_environment(self._spec, self._environ, terminal=True),
                options.working_dir,
                spawn_id=name,
                pty=PtySize(options.cols, options.rows),
            )
        except (KeeperError, KeeperGone) as error:
            raise NotStarted(f"{self._spec.title} did not start: {error}") from error
        session = BridgeSession(Process(spawned.pid, name), options.working_dir, datetime.now(UTC))
        running = Running(
            session,
            options,
            self._keeping.spool(name),
            self._driver(options),
            self.on_data_hook,
            lambda keys: self._later(self._type(name, keys)),
            lambda position: keeper.post_position(name, position),
        )
        self._running[session_id] = running
        running.watch(self._watchdog, lambda: self._later(self._end(name, 0.0)))
        self._keeping.follow(name, running, lambda: self._running.pop(session_id, None))
        return session

    async def send_input(self, session_id: str, data: str | bytes) -> None:
        """Raises `NoSession` when it is missing or has ended."""
        running = self._running.get(session_id)
        if running is None or not running.session.active:
            raise NoSession(f"No session {session_id!r} runs.", session_id=session_id)
        await self._type(running.session.process.name, data.encode() if isinstance(data, str) else data)

    async def resize(self, session_id: str, cols: int, rows: int) -> None:
        """A failure is a warning in the log, as a window that changes must not break anything."""
        running = self._running.get(session_id)
        try:
            if running is None:
                raise NoSession(f"No session {session_id!r} runs.")
            keeper = await self._keeping.get(self._lost)
            await keeper.resize(running.session.process.name, max(1, cols), max(1, rows))
        except (KeeperError, KeeperGone, NoSession) as error:
            log.warning("could not resize %s: %s", session_id, error)

    async def stop_session(self, session_id: str) -> None:
        """TERM; after the grace KILL, for everything it started. Returns when it is gone."""
        running = self._running.pop(session_id, None)
        if running is None:
            return
        loop = asyncio.get_running_loop()
        running.session.kill_timeout = loop.call_later(self._grace, _the_keeper_kills)
        await self._end(running.session.process.name, self._grace)
        await running.gone.wait()

    def get_session(self, session_id: str) -> BridgeSession | None:
        running = self._running.get(session_id)
        return running.session if running is not None else None

    def get_all_sessions(self) -> list[SessionInfo]:
        return [
            SessionInfo(session_id, one.session.working_dir, one.session.created, one.session.active)
            for session_id, one in self._running.items()
        ]

    async def cleanup(self) -> None:
        """Stop everything and let go of the keeper."""
        await asyncio.gather(*(self.stop_session(session_id) for session_id in list(self._running)))
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._keeping.close()

    # Small steps

    def _driver(self, options: StartOptions) -> TerminalDriver | None:
        trust = self._spec.trust
        if trust is None or not self._trusts(options.working_dir):
            return None
        return TerminalDriver(options.cols, options.rows, TrustPrompt(trust.text, trust.accept, trust.marker))

    async def _type(self, name: str, data: bytes) -> None:
        self._writes += 1
        keeper = await self._keeping.get(self._lost)
        try:
            await keeper.write(name, f"keys:{self._writes}", data)
        except (KeeperError, KeeperGone) as error:
            raise NoSession(f"The program did not take it: {error}") from error

    async def _end(self, name: str, grace: float) -> None:
        keeper = await self._keeping.get(self._lost)
        await keeper.end(name, grace_stdin=0.0, grace_term=grace)

    def _lost(self, error: Exception) -> None:
        running, self._running = self._running, {}
        for one in running.values():
            one.failed(error)

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("%s: %s", self.agent, error)


def _the_keeper_kills() -> None:
    """The keeper counts the same seconds and does it; this timer only shows that a stop is under way."""
