"""Prepares what the launcher starts: the agent's argument list and environment, in a mode that asks."""

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from bascule.agents.catalogue import Catalogue
from bascule.agents.command import Launch, build_argv, child_environment, child_variables
from bascule.agents.locate import locate
from bascule.agents.spec import AgentSpec, DriverSpec, Trust
from bascule.launch.errors import LaunchError
from bascule.launch.request import Mode
from bascule.model.errors import AgentNotInstalled, BasculeError, UnknownAgent

TERMINAL = "terminal"
PLAN = "plan"


class AgentStart(Struct, frozen=True, kw_only=True):
    """`argv` is empty when the agent is not there; `missing` then says so."""

    agent: str
    title: str
    mode: str | None = None  # the agent's own mode that was chosen
    argv: tuple[str, ...] = ()
    prompt_words: tuple[str, ...] = ()
    largest_paste: int = 0  # bytes of a prompt that it takes typed; 0 for any
    input_mark: str = ""  # its input begins with this
    environment: dict[str, str] = {}  # that must be so
    defaults: dict[str, str] = {}  # where the terminal's own environment says nothing
    trust: Trust | None = None
    missing: str = ""
    install: str = ""


class AgentStarts:
    """Makes an `AgentStart` of a request. `trusts` tells whether a folder is trusted in Bascule."""

    def __init__(
        self, catalogue: Catalogue, environ: Mapping[str, str], trusts: Callable[[str], bool]
    ) -> None:
        self._catalogue, self._environ, self._trusts = catalogue, environ, trusts

    def with_prompt(self, name: str, mode: Mode | None, cwd: str) -> AgentStart:
        spec, driver = self._find(name)
        if driver.runs_commands:
            why = f"{spec.title} runs what it is given, and asks nobody; it can't be launched with a prompt."
            raise LaunchError("invalid_agent", why)
        return self._start(spec, driver, Launch(driver=TERMINAL, mode=_own_mode(spec, driver, mode)), cwd)

    def resuming(self, name: str, conversation: str, cwd: str) -> AgentStart:
        spec, driver = self._find(name)
        if not driver.resume:
            message = f"{spec.title} can't resume a conversation in a terminal."
            raise LaunchError("invalid_agent", message)
        return self._start(spec, driver, Launch(driver=TERMINAL, resume=conversation), cwd)

    def _find(self, name: str) -> tuple[AgentSpec, DriverSpec]:
        try:
            spec = self._catalogue.get(name)
            return spec, spec.driver(TERMINAL)
        except (UnknownAgent, KeyError):
            able = [one.name for one in self._catalogue if any(way.name == TERMINAL for way in one.drivers)]
            known = f"Agents that run in a terminal: {', '.join(able)}."
            message = f"{name!r} is no agent that runs in a terminal. {known}"
            raise LaunchError("invalid_agent", message) from None

    def _start(self, spec: AgentSpec, driver: DriverSpec, launch: Launch, cwd: str) -> AgentStart:
        common = child_variables(self._environ)
        allowed = child_environment(spec, self._environ, trusted=self._trusts(cwd))
        said = {*spec.environment.set, *(spec.untrusted.set if spec.untrusted else ())}
        # The program was found by our PATH, and what runs it is looked for there as well.
        forced = {name: value for name, value in allowed.items() if name in said or name == "PATH"}
        rest = {name: value for name, value in allowed.items() if name not in forced and name not in common}
        start = AgentStart(
            agent=spec.name,
            title=spec.title,
            mode=launch.mode or spec.asking_of(driver),
            prompt_words=driver.prompt,
            largest_paste=driver.largest_paste,
            input_mark=driver.input_mark,
            environment=forced,
            defaults=rest,
            trust=spec.trust,
        )
        try:
            argv = build_argv(spec, locate(spec, self._environ, driver), launch)
        except AgentNotInstalled as error:
            return _missing(start, spec, error)
        except BasculeError as error:
            raise LaunchError("invalid_request", error.message) from error
        return replace(start, argv=tuple(argv))


def _own_mode(spec: AgentSpec, driver: DriverSpec, mode: Mode | None) -> str | None:
    """The agent's mode for a launch: plan where it has one, else the one in which it asks; never one that
    skips permissions."""
    has_plan = PLAN in spec.modes_of(driver) and bool(driver.mode)
    if mode == "plan" and not has_plan:
        message = f"{spec.title} has no plan mode in a terminal; use normal, in which it asks, or prefill."
        raise LaunchError("invalid_mode", message)
    return PLAN if has_plan and mode in (None, "plan") else None


def _missing(start: AgentStart, spec: AgentSpec, error: AgentNotInstalled) -> AgentStart:
    command = next((name for name in spec.search if "/" not in name and "{" not in name), spec.name)
    return replace(start, missing=f"{command} command not found", install=spec.install or error.message)
