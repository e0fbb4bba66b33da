"""Finds the catalogue's agents that are installed on this machine, and the drivers for each."""

import asyncio
from collections.abc import Mapping

from msgspec.structs import replace

from bascule.agents.catalogue import Catalogue
from bascule.agents.command import asks_in
from bascule.agents.locate import find, locate
from bascule.agents.login import signed_in
from bascule.agents.spec import AgentSpec, FoundProgram
from bascule.agents.unasked import sentences
from bascule.daemon.launching.driver_table import TERMINAL
from bascule.link.machine import AgentInfo
from bascule.model.errors import AgentNotInstalled, NotSupported
from bascule.model.events import SessionStarted


class InstalledAgents:
    """Looks for the agents' programs. `probe_mark` lets the next server find those that this one started."""

    def __init__(self, catalogue: Catalogue, environ: Mapping[str, str], probe_mark: str) -> None:
        self._catalogue = catalogue
        self._environ = environ
        self._probe_mark = probe_mark
        self._known: tuple[AgentInfo, ...] = ()

    async def agents(self, *, refresh: bool = False) -> tuple[AgentInfo, ...]:
        """Every agent of the catalogue, with its version; cached unless `refresh`."""
        if refresh or not self._known:
            self._known = tuple(await asyncio.gather(*(self._look(spec) for spec in self._catalogue)))
        else:
            self._known = await asyncio.to_thread(self._still, self._known)
        return self._known

    def _still(self, known: tuple[AgentInfo, ...]) -> tuple[AgentInfo, ...]:
        """The cached agents; those whose program is gone are looked up again. Starts nothing."""
        return tuple(
            info if self._is_there(info) else self._glance(self._catalogue.get(info.name)) for info in known
        )

    def _is_there(self, info: AgentInfo) -> bool:
        spec = self._catalogue.get(info.name)
        ways, _ = self._ways(spec) if info.available else ({}, None)
        return not info.available or tuple(ways) == info.drivers

    def at_first_glance(self) -> tuple[AgentInfo, ...]:
        """The installed agents, without versions: starts no process."""
        return tuple(self._glance(spec) for spec in self._catalogue)

    def _glance(self, spec: AgentSpec) -> AgentInfo:
        ways, problem = self._ways(spec)
        return self._info(spec, ways, problem)

    async def _look(self, spec: AgentSpec) -> AgentInfo:
        ways, problem = await asyncio.to_thread(self._ways, spec)
        try:
            found = await find(spec, self._environ, mark=self._probe_mark)
        except AgentNotInstalled:  # perhaps there is only an adapter, which tells no version
            found = None
        path, mark = found.path if found else None, self._probe_mark
        login = await signed_in(spec, path, self._environ, mark=mark) if ways else None
        info = self._info(spec, ways, problem)
        return replace(info, version=found.version if found else None, signed_in=login)

    def _ways(self, spec: AgentSpec) -> tuple[dict[str, FoundProgram], AgentNotInstalled | None]:
        """The drivers whose program is found here, or why there is none."""
        ways: dict[str, FoundProgram] = {}
        problems: list[AgentNotInstalled] = []
        # Who names an adapter's command line means it to be used.
        for driver in sorted(
            spec.drivers, key=lambda driver: not (driver.command and self._environ.get(driver.command))
        ):
            try:
                ways[driver.name] = locate(spec, self._environ, driver)
            except AgentNotInstalled as error:
                problems.append(error)
        return ways, None if ways else problems[0]

    def way(self, spec: AgentSpec, wanted: SessionStarted) -> str:
        """The driver asked for, or the first that can be started; refused when it is not one of its ways."""
        known = [driver.name for driver in spec.drivers]
        if wanted.driver and wanted.driver not in known:
            raise NotSupported(
                f"{spec.title} can't be talked to as {wanted.driver[:40]!r}; it takes {', '.join(known)}.",
                agent=spec.name,
            )
        return wanted.driver or next(iter(self._ways(spec)[0]), known[0])

    def _info(
        self, spec: AgentSpec, ways: dict[str, FoundProgram], problem: AgentNotInstalled | None
    ) -> AgentInfo:
        first = spec.driver(next(iter(ways), None))
        return AgentInfo(
            spec.name,
            spec.title,
            bool(ways),
            path=ways[first.name].path if ways else None,
            problem=problem.message if problem else None,
            install=str(problem.fields.get("install") or "") if problem else "",
            demo=spec.demo,
            modes=tuple(spec.modes_of(first)),
            asking_modes=tuple(one for one in spec.modes_of(first) if asks_in(spec, first.name, one)),
            drivers=tuple(ways) or tuple(driver.name for driver in spec.drivers),
            skips_permissions=any(driver.skip_permissions for driver in spec.drivers),
            forks=first.forks,
            forks_at=tuple(name for name in ways if spec.driver(name).forks_at),
            login=spec.login.how if spec.login else "",
            unasked=_unasked(spec),
        )


def _unasked(spec: AgentSpec) -> dict[str, tuple[str, ...]]:
    """In a terminal it asks on its own screen, if it does."""
    driven = [driver for driver in spec.drivers if driver.name != TERMINAL]
    sentences_by_name = {driver.name: sentences(spec.unasked_of(driver)) for driver in driven}
    return {name: words for name, words in sentences_by_name.items() if words}
