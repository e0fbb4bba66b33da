"""Decides a start's capability level by the owner's ceiling, and builds the cage that enforces it."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bascule.agents.own_files import place_path
from bascule.agents.spec import AgentSpec
from bascule.daemon.cages import bubblewrap, seatbelt
from bascule.daemon.cages.detection import Cage
from bascule.daemon.cages.program_files import holds_home, named_ports, path_folders, program_files
from bascule.daemon.cages.reach import Needs, Reach, reach_of
from bascule.daemon.cages.temp_folders import TempFolders
from bascule.daemon.cages.work_tree import git_folders
from bascule.model.capability import Capability, is_above, lower
from bascule.model.errors import BadDirectory, NotSupported
from bascule.model.settings import Settings
from bascule.policy.directories import inside
from bascule.transport.keeper_messages import Cage as Walls

PACKAGE = "{bascule}"
GIT_FILES = ("config", "ignore", "attributes")
# The person's settings of git, without which it does nothing at all; not their stored passwords.
GIT_SETTINGS = (
    "~/.gitconfig",
    *(f"{base}/git/{name}" for base in ("~/.config", "$XDG_CONFIG_HOME") for name in GIT_FILES),
)


class Caged(Struct, frozen=True):
    """A command line and environment, and the walls that the keeper puts around them."""

    argv: tuple[str, ...]
    env: dict[str, str]
    walls: Walls | None


class Cages:
    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        look_for: Callable[[Mapping[str, str]], Cage],
    ) -> None:
        self.ceiling: Capability = settings.starts.ceiling
        self.temp = TempFolders(Path(settings.data_dir))
        self._extra = settings.starts
        self._own = (settings.data_dir, settings.config_dir)
        self._environ = environ
        self._look = look_for
        self._found: Cage | None = None

    @property
    def cage(self) -> Cage:
        """Looked for once, when it is first needed."""
        self._found = self._found or self._look(self._environ)
        return self._found

    def offered(self) -> tuple[Capability, ...]:
        """The levels that a start may ask for here."""
        return tuple(level for level in self.cage.levels() if not is_above(level, self.ceiling))

    def level(self, wanted: Capability | None) -> Capability:
        """The level of a new session: what was asked for, else the ceiling. Raises for more than that."""
        level = wanted or self.ceiling
        if is_above(level, self.ceiling):
            raise NotSupported(
                f"This machine's owner allows at most {self.ceiling}; {level} was asked for. "
                f"Start it as {self.ceiling}, or raise `ceiling` in that machine's settings file.",
                ceiling=self.ceiling,
            )
        return level

    def capped(self, level: Capability) -> Capability:
        """The level of a session that is taken up again: never above what the ceiling is by now."""
        return lower(level, self.ceiling)

    def check(self, level: Capability, cwd: str) -> None:
        """Raises when the level can't be had on this machine or in this folder. It is never weakened."""
        if level == "full":
            return
        problem = self.cage.problem_with(level)
        if problem:
            raise NotSupported(
                f"{level} can't be enforced on this machine: {problem}. "
                "Nothing was started; choose another level.",
                level=level,
            )
        home = self._environ.get("HOME", "")
        held = [one for one in (*self._own, home) if one and inside(os.path.realpath(one), [cwd])]
        if held:
            raise BadDirectory(
                f"{cwd} holds {held[0]}, which an agent at {level} must not reach. "
                "Choose a project's folder, or another level."
            )

    def around(
        self,
        level: Capability,
        spec: AgentSpec,
        words: Sequence[str],
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str,
        name: str,
        made_from: str | None = None,
    ) -> Caged:
        """The walls for this command line. `words`: the program and its agent file's words; `made_from`: the
        folder whose work tree `cwd` is."""
        if level == "full":
            return Caged(tuple(argv), dict(env), None)
        temp = self.temp.of(name)
        env = {**env, "TMPDIR": temp}
        for variable, value in spec.cage.set.items():
            env[variable] = value.replace("{temp}", temp)
        git = git_folders(cwd, made_from)
        needs = replace(self._needs(spec, words, env, temp), git_reads=git.reads, git_writes=git.writes)
        reach = reach_of(level, needs)
        if name:
            self._make_folders(spec, env, name)
        return self._closed_in(reach, argv, env, cwd)

    def _closed_in(self, reach: Reach, argv: Sequence[str], env: dict[str, str], cwd: str) -> Caged:
        cage = self.cage
        match cage.kind:
            case "landlock":
                return Caged(tuple(argv), env, Walls(reach.rules, reach.ports))
            case "bubblewrap":
                return Caged(bubblewrap.wrapped(cage.program, reach, cwd, argv), env, Walls(None, None))
            case "seatbelt":
                return Caged(seatbelt.wrapped(reach, cwd, argv), env, None)
            case "none":
                raise NotSupported(f"There is no cage on this machine: {cage.problem}.")

    def _needs(self, spec: AgentSpec, words: Sequence[str], env: Mapping[str, str], temp: str) -> Needs:
        places = (*spec.cage.reads, *GIT_SETTINGS)
        reads = [_package_folder() if place == PACKAGE else place_path(place, env) for place in places]
        writes = _own_places(spec, env)
        return Needs(
            programs=program_files(words, env),
            reads=(*path_folders(env), *(one for one in reads if one), *self._extra.readable),
            writes=(*writes.values(), *self._extra.writable),
            temp=temp,
            ports=named_ports(env),
        )

    def _make_folders(self, spec: AgentSpec, env: Mapping[str, str], name: str) -> None:
        """Its temporary folder, and those of its own that are not there yet: a wall knows no missing one."""
        self.temp.make(name)
        for place, path in _own_places(spec, env).items():
            if place.endswith("/"):
                os.makedirs(path, mode=0o700, exist_ok=True)


def _own_places(spec: AgentSpec, env: Mapping[str, str]) -> dict[str, str]:
    """What it writes for itself. A variable that names the home folder, or one around it, opens nothing."""
    paths = {place: place_path(place, env) for place in spec.cage.writes}
    return {place: path for place, path in paths.items() if path is not None and not holds_home(path, env)}


def _package_folder() -> str:
    """Where Bascule's own package is imported from: the demo agent is part of it."""
    return str(Path(__file__).parents[3])
