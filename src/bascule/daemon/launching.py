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
from bascule.agents.login import signed_in
from bascule.agents.spec import AgentSpec, Found
from bascule.daemon.directories import check_directory
from bascule.daemon.found.places import Place
from bascule.drivers.acp import AcpDriver
from bascule.drivers.acp.state import Joining
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
SHARED = frozenset({"acp"})  # protocols whose process serves several sessions
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

    def driver(
        self,
        started: SessionStarted,
        state: bytes | None = None,
        *,
        history: bool = False,
        joining: Joining | None = None,
    ) -> Driver:
        """Begun, or taken up from its state. `history`: what is replayed from earlier belongs in the log.
        `joining`: what it begins with on a process that others may use."""
        ...

    def title(self, agent: str) -> str:
        """Its name, for people."""
        ...

    def rest_seconds(self, agent: str) -> int:
        """For how long after its beginning a conversation can't be taken up."""
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
        way = await asyncio.to_thread(self._way, spec, wanted)
        started = replace(wanted, driver=way, cwd=cwd, demo=spec.demo)
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

    def title(self, agent: str) -> str:
        return self._catalogue.get(agent).title

    def rest_seconds(self, agent: str) -> int:
        history = self._catalogue.get(agent).history
        return history.rest_seconds if history is not None else 0

    def driver(
        self,
        started: SessionStarted,
        state: bytes | None = None,
        *,
        history: bool = False,
        joining: Joining | None = None,
    ) -> Driver:
        kind = DRIVERS.get(started.driver)
        if kind is None:
            raise NotSupported(f"This version can't speak {started.driver!r} with {started.agent}.")
        begin, restore = kind
        if joining is not None:
            return AcpDriver(self._launch(started, history), joining=joining)
        return begin(self._launch(started, history)) if state is None else restore(state)

    def _launch(self, started: SessionStarted, history: bool) -> DriverLaunch:
        """What is left to say to the agent itself once its command line is written."""
        agent = self._catalogue.get(started.agent)
        spec = agent.driver(started.driver)
        return DriverLaunch(
            cwd=started.cwd,
            run=secrets.token_hex(4),
            model=None if spec.model else started.model,
            mode=None if spec.mode else mode_name(agent, started.mode or agent.asking_of(spec), spec),
            resume=None if spec.resume else started.resumed_from,
            fork=started.forked and not spec.fork,
            history=history,
            quirks=spec.quirks,
            services=spec.services,
            cues=tuple(Cue(one.pattern, one.kind, one.allow, one.always, one.deny) for one in spec.cues),
            multiline=spec.multiline,
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
        found = locate(spec, self._environ, spec.driver(started.driver))
        return build_argv(spec, found, launch)

    def _glance(self, spec: AgentSpec) -> AgentInfo:
        ways, problem = self._ways(spec)
        return self._info(spec, ways, problem)

    async def _look(self, spec: AgentSpec) -> AgentInfo:
        ways, problem = await asyncio.to_thread(self._ways, spec)
        try:
            found = await find(spec, self._environ)
        except AgentNotInstalled:  # perhaps there is only an adapter, which tells no version
            found = None
        login = await signed_in(spec, found.path if found else None, self._environ) if ways else None
        info = self._info(spec, ways, problem)
        return replace(info, version=found.version if found else None, signed_in=login)

    def _ways(self, spec: AgentSpec) -> tuple[dict[str, Found], str | None]:
        """The ways to talk to it that can be gone here, or why there is none."""
        ways: dict[str, Found] = {}
        problems: list[str] = []
        for driver in spec.drivers:
            try:
                ways[driver.name] = locate(spec, self._environ, driver)
            except AgentNotInstalled as error:
                problems.append(error.message)
        return ways, None if ways else problems[0]

    def _way(self, spec: AgentSpec, wanted: SessionStarted) -> str:
        """The driver asked for, or the first that can be started; refused when it is not one of its ways."""
        known = [one.name for one in spec.drivers]
        if wanted.driver and wanted.driver not in known:
            raise NotSupported(
                f"{spec.title} can't be talked to as {wanted.driver[:40]!r}; it takes {', '.join(known)}.",
                agent=spec.name,
            )
        return wanted.driver or next(iter(self._ways(spec)[0]), known[0])

    def _info(self, spec: AgentSpec, ways: dict[str, Found], problem: str | None) -> AgentInfo:
        first = spec.driver(next(iter(ways), None))
        return AgentInfo(
            spec.name,
            spec.title,
            bool(ways),
            path=ways[first.name].path if ways else None,
            problem=problem,
            demo=spec.demo,
            modes=tuple(spec.modes_of(first)),
            drivers=tuple(ways) or tuple(one.name for one in spec.drivers),
            skips_permissions=any(one.skip_permissions for one in spec.drivers),
            forks=bool(first.fork),
            login=spec.login.how if spec.login else "",
        )


def histories_of(catalogue: Catalogue) -> list[Place]:
    """Where the agents keep conversations that were begun without us."""
    kept = [(spec, spec.history) for spec in catalogue if spec.history is not None]
    return [
        Place(
            spec.name, history.format, history.files, history.live or "", _typed(spec), history.rest_seconds
        )
        for spec, history in kept
    ]


def _typed(spec: AgentSpec) -> str:
    """What a person types in a terminal to go on with a conversation, if the agent can do that there."""
    resume = next((one.resume for one in spec.drivers if one.name == TERMINAL), ())
    program = next((name for name in spec.search if "/" not in name and "{" not in name), "")
    return " ".join([program, *resume]) if program and resume else ""
