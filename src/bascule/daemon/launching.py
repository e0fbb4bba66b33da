"""From a wish to a process: which binary, which arguments, which environment, which driver."""

import asyncio
import os
import secrets
from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec.structs import replace

from bascule.agents.catalogue import Catalogue
from bascule.agents.command import Launch, build_argv, child_environment, mode_name
from bascule.agents.locate import SEARCH_SECONDS, find, locate
from bascule.agents.spec import AgentSpec, Found
from bascule.daemon.directories import check_directory
from bascule.drivers.acp import AcpDriver
from bascule.drivers.base import Cue, Driver, DriverLaunch
from bascule.drivers.codex import CodexDriver
from bascule.drivers.plain import PlainDriver
from bascule.drivers.stream_json import StreamJsonDriver
from bascule.drivers.terminal import TerminalDriver
from bascule.drivers.terminal.trust import TrustQuestion
from bascule.link.frames import AgentInfo
from bascule.model.errors import AgentNotInstalled, NotSupported
from bascule.model.events import SessionStarted
from bascule.model.settings import Settings
from bascule.session.agent import SpawnPlan
from bascule.session.terminal import clamped

TERMINAL = "terminal"
DEFAULT_COLS, DEFAULT_ROWS = 80, 24
# How each protocol's driver is begun, and taken up again from its state.
DRIVERS: dict[str, tuple[Callable[[DriverLaunch], Driver], Callable[[bytes], Driver]]] = {
    "stream_json": (lambda _: StreamJsonDriver(), StreamJsonDriver.restore),
    "acp": (AcpDriver, AcpDriver.restore),
    "codex": (CodexDriver, CodexDriver.restore),
    "plain": (PlainDriver, PlainDriver.restore),
}


class Launching(Protocol):
    """What the host needs to know about agents."""

    @property
    def roots(self) -> tuple[str, ...]:
        """Folders that sessions may run in or below."""
        ...

    async def agents(self, *, refresh: bool = False) -> tuple[AgentInfo, ...]: ...

    def at_first_glance(self) -> tuple[AgentInfo, ...]: ...

    async def complete(self, wanted: SessionStarted, cwd: str) -> SessionStarted:
        """The start as it will be logged: driver named, folder resolved, everything checked."""
        ...

    def plan(self, started: SessionStarted, spawn_id: str) -> SpawnPlan: ...

    def driver(self, started: SessionStarted, state: bytes | None = None, *, history: bool = False) -> Driver:
        """Begun, or taken up from its state. `history`: what is replayed from earlier belongs in the log."""
        ...

    def terminal(self, started: SessionStarted, state: bytes | None = None) -> TerminalDriver: ...


class Launcher:
    """Agents from their files, found on this machine, started with what their files list and no more."""

    def __init__(self, catalogue: Catalogue, settings: Settings, environ: Mapping[str, str]) -> None:
        self._catalogue = catalogue
        self._environ = dict(environ)
        if settings.claude_bin:
            self._environ["CLAUDE_BIN"] = settings.claude_bin
        self._roots = settings.roots or (os.path.expanduser("~"),)
        self._known: tuple[AgentInfo, ...] = ()

    @property
    def roots(self) -> tuple[str, ...]:
        return self._roots

    async def agents(self, *, refresh: bool = False) -> tuple[AgentInfo, ...]:
        """Every agent of the catalogue, with its version; asked once unless told to look again."""
        if refresh or not self._known:
            self._known = tuple(await asyncio.gather(*(self._look(spec) for spec in self._catalogue)))
        return self._known

    def at_first_glance(self) -> tuple[AgentInfo, ...]:
        """What is installed, without starting anything to ask for its version."""
        return tuple(self._glance(spec) for spec in self._catalogue)

    async def complete(self, wanted: SessionStarted, cwd: str) -> SessionStarted:
        spec = self._catalogue.get(wanted.agent)
        started = replace(wanted, driver=_way(spec, wanted), cwd=cwd, demo=spec.demo)
        if started.driver == TERMINAL:
            cols, rows = clamped(wanted.cols or DEFAULT_COLS), clamped(wanted.rows or DEFAULT_ROWS)
            started = replace(started, cols=cols, rows=rows)
        # Refuses what can't be started, before anything exists. A slow disk must not stop the others.
        try:
            async with asyncio.timeout(SEARCH_SECONDS):
                await asyncio.to_thread(self._argv, spec, started)
        except TimeoutError:
            raise AgentNotInstalled(
                f"{spec.title} was not found within {SEARCH_SECONDS:g} s.", agent=spec.name
            ) from None
        return started

    def plan(self, started: SessionStarted, spawn_id: str) -> SpawnPlan:
        spec = self._catalogue.get(started.agent)
        cwd, cwd_stat = check_directory(started.cwd, self._roots)
        argv = self._argv(spec, started)
        pty = (started.cols or DEFAULT_COLS, started.rows or DEFAULT_ROWS)
        in_terminal = started.driver == TERMINAL
        environment = child_environment(spec, self._environ, terminal=in_terminal)
        return SpawnPlan(spawn_id, tuple(argv), environment, cwd, cwd_stat, pty if in_terminal else None)

    def driver(self, started: SessionStarted, state: bytes | None = None, *, history: bool = False) -> Driver:
        kind = DRIVERS.get(started.driver)
        if kind is None:
            raise NotSupported(f"This version can't speak {started.driver!r} with {started.agent}.")
        begin, restore = kind
        return begin(self._launch(started, history)) if state is None else restore(state)

    def _launch(self, started: SessionStarted, history: bool) -> DriverLaunch:
        """What is left to say to the agent itself once its command line is written."""
        agent = self._catalogue.get(started.agent)
        spec = agent.driver(started.driver)
        return DriverLaunch(
            cwd=started.cwd,
            run=secrets.token_hex(4),
            model=None if spec.model else started.model,
            mode=None if spec.mode else mode_name(agent, started.mode or agent.asking),
            resume=None if spec.resume else started.resumed_from,
            history=history,
            quirks=spec.quirks,
            cues=tuple(Cue(one.pattern, one.kind, one.allow, one.always, one.deny) for one in spec.cues),
        )

    def terminal(self, started: SessionStarted, state: bytes | None = None) -> TerminalDriver:
        trust = self._catalogue.get(started.agent).trust
        question = TrustQuestion(trust.text, trust.accept, trust.marker) if trust else None
        driver = TerminalDriver(started.cols or DEFAULT_COLS, started.rows or DEFAULT_ROWS, question)
        if state is not None:
            driver.restore(state)
        return driver

    def _argv(self, spec: AgentSpec, started: SessionStarted) -> list[str]:
        launch = Launch(
            driver=started.driver,
            model=started.model,
            mode=started.mode,
            resume=started.resumed_from,
            fork=started.forked,
            skip_permissions=started.skip_permissions,
        )
        return build_argv(spec, Found(locate(spec, self._environ)), launch)

    def _glance(self, spec: AgentSpec) -> AgentInfo:
        try:
            return self._info(spec, Found(locate(spec, self._environ)), None)
        except AgentNotInstalled as error:
            return self._info(spec, None, error.message)

    async def _look(self, spec: AgentSpec) -> AgentInfo:
        try:
            return self._info(spec, await find(spec, self._environ), None)
        except AgentNotInstalled as error:
            return self._info(spec, None, error.message)

    def _info(self, spec: AgentSpec, found: Found | None, problem: str | None) -> AgentInfo:
        return AgentInfo(
            spec.name,
            spec.title,
            found is not None,
            version=found.version if found else None,
            path=found.path if found else None,
            problem=problem,
            demo=spec.demo,
            modes=tuple(spec.modes),
            drivers=tuple(one.name for one in spec.drivers),
            skips_permissions=any(one.skip_permissions for one in spec.drivers),
        )


def _way(spec: AgentSpec, wanted: SessionStarted) -> str:
    """The driver asked for, or the agent's first; refused when it is not one of its ways."""
    try:
        return spec.driver(wanted.driver or None).name
    except KeyError:
        known = ", ".join(one.name for one in spec.drivers)
        raise NotSupported(
            f"{spec.title} can't be talked to as {wanted.driver[:40]!r}; it takes {known}.", agent=spec.name
        ) from None
