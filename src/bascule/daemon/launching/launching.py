"""Prepares an agent's process from a command: binary, arguments, environment and driver."""

import asyncio
import os
import secrets
import shlex
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec.structs import replace

from bascule.agents.catalogue import Catalogue
from bascule.agents.command import Launch, asks_in, build_argv, child_environment, mode_name, running_mode
from bascule.agents.locate import SEARCH_SECONDS, locate
from bascule.agents.spec import AgentSpec
from bascule.daemon.cages.cages import Cages
from bascule.daemon.cages.detection import Cage, look
from bascule.daemon.files.directories import check_directory
from bascule.daemon.found.places import Place
from bascule.daemon.launching.driver_table import DRIVERS, TERMINAL, begun, joined, restored
from bascule.daemon.launching.installed_agents import InstalledAgents
from bascule.daemon.trusted import TrustedFolders
from bascule.drivers.acp.state import Joining
from bascule.drivers.base import Cue, Driver, DriverLaunch, Failure, Probe
from bascule.drivers.terminal import TerminalDriver
from bascule.drivers.terminal.trust_prompt import TrustPrompt
from bascule.launch.agent_start import AgentStart, AgentStarts
from bascule.link.machine import AgentInfo
from bascule.model.capability import Capability
from bascule.model.errors import AgentNotInstalled, NotSupported
from bascule.model.events import SessionStarted
from bascule.model.records import SessionRecord
from bascule.model.settings import Settings
from bascule.session.agent import SpawnPlan
from bascule.session.reviving import Revival
from bascule.session.terminal import clamped

DEFAULT_COLS, DEFAULT_ROWS = 80, 24


class Launching(Protocol):
    """The interface of the launcher, as the host uses it."""

    @property
    def roots(self) -> tuple[str, ...]:
        """Folders that sessions may run in or below."""
        ...

    @property
    def own(self) -> tuple[str, ...]:
        """Bascule's own folders, in which no session may run."""
        ...

    @property
    def levels(self) -> tuple[Capability, ...]:
        """The capability levels that a start may ask for."""
        ...

    def capped(self, level: Capability) -> Capability:
        """A session's level when it is taken up again: not above the ceiling."""
        ...

    def sweep(self, alive: Container[str]) -> None:
        """Remove what was made for processes that are gone; `alive` are the keeper's names of the others."""
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

    def mode(self, agent: str, driver: str, wanted: str, offered: tuple[str, ...]) -> str:
        """The agent's own name of a mode that may be set while it runs. Raises `InvalidInput`."""
        ...

    def asks(self, agent: str, driver: str | None, mode: str) -> bool:
        """Whether the agent asks in this mode of its own before it acts."""
        ...

    def rest_seconds(self, agent: str) -> int:
        """For how long after its beginning a conversation can't be taken up."""
        ...

    def revival(self, started: SessionStarted) -> Revival:
        """Whether its agent can be started again for the same conversation, should it go away."""
        ...

    def settings_of(self, record: SessionRecord) -> tuple[str | None, str | None]:
        """The model and the mode a session was in, as far as its agent can be started with them."""
        ...

    def terminal(self, started: SessionStarted, state: bytes | None = None) -> TerminalDriver: ...

    def resuming(self, agent: str, conversation: str, cwd: str) -> AgentStart:
        """What goes on with a conversation in a person's own terminal."""
        ...


class Launcher:
    """Finds the catalogue's agents on this machine; starts them with what their files list and no more."""

    def __init__(
        self,
        catalogue: Catalogue,
        settings: Settings,
        environ: Mapping[str, str],
        probe_mark: str = "",
        look_for_cage: Callable[[Mapping[str, str]], Cage] = look,
    ) -> None:
        self._catalogue = catalogue
        self._environ = dict(environ)
        if settings.claude_bin:
            self._environ["CLAUDE_BIN"] = settings.claude_bin
        self._trusted = TrustedFolders(Path(settings.data_dir))
        # As a person's own terminal starts them, where no default model of ours counts.
        self._in_terminals = AgentStarts(catalogue, dict(self._environ), self._trusted.trusts)
        if settings.default_model:
            self._environ["CLAUDE_DEFAULT_MODEL"] = settings.default_model
        self._roots = settings.roots or (os.path.expanduser("~"),)
        self._own = (settings.data_dir, settings.config_dir)
        self._installed = InstalledAgents(catalogue, self._environ, probe_mark)
        self.cages = Cages(settings, self._environ, look_for_cage)

    def resuming(self, agent: str, conversation: str, cwd: str) -> AgentStart:
        return self._in_terminals.resuming(agent, conversation, cwd)

    @property
    def roots(self) -> tuple[str, ...]:
        return self._roots

    @property
    def own(self) -> tuple[str, ...]:
        return self._own

    @property
    def levels(self) -> tuple[Capability, ...]:
        return self.cages.offered()

    def capped(self, level: Capability) -> Capability:
        return self.cages.capped(level)

    def sweep(self, alive: Container[str]) -> None:
        self.cages.temp.sweep(alive)

    async def agents(self, *, refresh: bool = False) -> tuple[AgentInfo, ...]:
        return await self._installed.agents(refresh=refresh)

    def at_first_glance(self) -> tuple[AgentInfo, ...]:
        return self._installed.at_first_glance()

    async def complete(self, wanted: SessionStarted, cwd: str) -> SessionStarted:
        spec = self._catalogue.get(wanted.agent)
        # Refuses what can't be started, before anything exists. A slow disk must not stop the others.
        try:
            async with asyncio.timeout(SEARCH_SECONDS):
                started = await asyncio.to_thread(self._startable, spec, wanted, cwd)
        except TimeoutError:
            raise AgentNotInstalled(
                f"{spec.title} was not found within {SEARCH_SECONDS:g} s.", agent=spec.name
            ) from None
        return started

    def _startable(self, spec: AgentSpec, wanted: SessionStarted, cwd: str) -> SessionStarted:
        """The start with everything filled in. Raises for what has no command line on this machine."""
        way, model = self._installed.way(spec, wanted), self._model(spec, wanted)
        level = self.cages.level(wanted.capability)
        self.cages.check(level, cwd)
        mode = wanted.mode or spec.driver(way).level_modes.get(level)
        started = replace(
            wanted, driver=way, cwd=cwd, demo=spec.demo, model=model, capability=level, mode=mode
        )
        if started.driver == TERMINAL:
            cols, rows = clamped(wanted.cols or DEFAULT_COLS), clamped(wanted.rows or DEFAULT_ROWS)
            started = replace(started, cols=cols, rows=rows)
        self._argv(spec, started)
        return started

    def _model(self, spec: AgentSpec, wanted: SessionStarted) -> str | None:
        """The model asked for, else the person's default; a conversation that is taken up keeps its own."""
        if wanted.model or wanted.resumed_from or spec.default_model is None:
            return wanted.model
        return self._environ.get(spec.default_model, "").strip() or None

    def plan(self, started: SessionStarted, spawn_id: str) -> SpawnPlan:
        spec = self._catalogue.get(started.agent)
        cwd, cwd_stat = check_directory(started.cwd, self._roots, self._own)
        level = started.capability or "full"
        self.cages.check(level, cwd)
        argv, words = self._argv(spec, started)
        pty = (started.cols or DEFAULT_COLS, started.rows or DEFAULT_ROWS)
        in_terminal = started.driver == TERMINAL
        trusted = self._trusted.trusts(cwd)
        environment = child_environment(spec, self._environ, terminal=in_terminal, trusted=trusted)
        made_from = started.worktree_of
        caged = self.cages.around(level, spec, words, argv, environment, cwd, spawn_id, made_from)
        size = pty if in_terminal else None
        return SpawnPlan(spawn_id, caged.argv, caged.env, cwd, cwd_stat, size, caged.walls)

    def title(self, agent: str) -> str:
        return self._catalogue.get(agent).title

    def revival(self, started: SessionStarted) -> Revival:
        agent = self._catalogue.get(started.agent)
        driver = agent.driver(started.driver)
        return Revival(agent.title, driver.resumes, driver.unknown)

    def settings_of(self, record: SessionRecord) -> tuple[str | None, str | None]:
        spec = self._catalogue.get(record.agent)
        driver = spec.driver(record.driver or None)  # a session found on disk was not talked to yet
        takes_model = driver.model or driver.tells_by_protocol
        mode = record.mode if record.mode in spec.modes_of(driver) else None
        return record.model if takes_model else None, mode

    def mode(self, agent: str, driver: str, wanted: str, offered: tuple[str, ...]) -> str:
        spec = self._catalogue.get(agent)
        return running_mode(spec, wanted, spec.driver(driver), offered)

    def asks(self, agent: str, driver: str | None, mode: str) -> bool:
        return asks_in(self._catalogue.get(agent), driver, mode)

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
        if started.driver not in DRIVERS:
            raise NotSupported(f"This version can't speak {started.driver!r} with {started.agent}.")
        if joining is not None:
            return joined(self._launch(started, history), joining)
        if state is not None:
            return restored(started.driver, state)
        return begun(started.driver, self._launch(started, history))

    def _launch(self, started: SessionStarted, history: bool) -> DriverLaunch:
        """The start options that the driver sends, because they are not on the command line."""
        agent = self._catalogue.get(started.agent)
        spec = agent.driver(started.driver)
        return DriverLaunch(
            cwd=started.cwd,
            run=secrets.token_hex(4),
            model=None if spec.model else started.model,
            mode=None if spec.mode else mode_name(agent, started.mode or agent.asking_of(spec), spec),
            resume=None if spec.resume else started.resumed_from,
            fork=started.forked and not spec.fork,
            fork_at=None if spec.fork_at else started.forked_at,
            history=history,
            quirks=spec.quirks,
            # What we did for it would be done outside of its cage.
            services=spec.services if started.capability in (None, "full") else (),
            cues=msgspec.convert(spec.cues, tuple[Cue, ...], from_attributes=True),
            multiline=spec.multiline,
            probe=msgspec.convert(spec.probe, Probe | None, from_attributes=True),
            failure=msgspec.convert(spec.failure, Failure | None, from_attributes=True),
            left_out=self._left_out(agent, started.cwd),
        )

    def _left_out(self, spec: AgentSpec, cwd: str) -> str:
        if spec.untrusted is None or self._trusted.trusts(cwd):
            return ""
        message = f"This folder is not trusted in Bascule: {spec.untrusted.says}."
        return f"{message} To trust it: bascule projects trust {shlex.quote(cwd)}"

    def terminal(self, started: SessionStarted, state: bytes | None = None) -> TerminalDriver:
        trust = self._catalogue.get(started.agent).trust
        question = TrustPrompt(trust.text, trust.accept, trust.marker) if trust else None
        driver = TerminalDriver(started.cols or DEFAULT_COLS, started.rows or DEFAULT_ROWS, question)
        if state is not None:
            driver.restore(state)
        return driver

    def _argv(self, spec: AgentSpec, started: SessionStarted) -> tuple[list[str], list[str]]:
        """The command line; and its words that the start has no part in."""
        way = spec.driver(started.driver)
        # A conversation that is taken up keeps its model; many agents take none on the command line.
        model = started.model if way.model or way.tells_by_protocol or not started.resumed_from else None
        launch = Launch(
            driver=started.driver,
            model=model,
            mode=started.mode,
            resume=started.resumed_from,
            fork=started.forked,
            fork_at=started.forked_at,
            skip_permissions=started.skip_permissions,
            level=started.capability or "full",
        )
        found = locate(spec, self._environ, way)
        words = [found.path, *(way.args if found.args is None else found.args)]
        return build_argv(spec, found, launch), words


def histories_of(catalogue: Catalogue) -> list[Place]:
    """The places where agents keep conversations begun outside Bascule."""
    kept = [(spec, spec.history) for spec in catalogue if spec.history is not None]
    return [
        Place(
            spec.name, history.format, history.files, history.live or "", _typed(spec), history.rest_seconds
        )
        for spec, history in kept
    ]


def _typed(spec: AgentSpec) -> str:
    """The shell command that resumes a conversation in a terminal, if the agent has one."""
    resume = next((driver.resume for driver in spec.drivers if driver.name == TERMINAL), ())
    program = next((name for name in spec.search if "/" not in name and "{" not in name), "")
    return " ".join([program, *resume]) if program and resume else ""
