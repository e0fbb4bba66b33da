"""Builds an agent's command line and its environment, which holds only what is listed."""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from bascule.agents.spec import AgentSpec, DriverSpec, FoundProgram
from bascule.model.capability import Capability
from bascule.model.errors import InvalidInput, NotSupported

MAX_VALUE = 256
PLANNING = "plan"  # what every agent calls the mode in which it changes nothing

_ALLOWED = frozenset(
    {"HOME", "PATH", "LANG", "LANGUAGE", "TERM", "COLORTERM", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ"}
)
_ALLOWED_PREFIXES = ("LC_", "XDG_")
# What describes a terminal to the program in it, whatever terminal the server itself was started in.
TERMINAL = {"TERM": "xterm-256color", "FORCE_COLOR": "1", "COLORTERM": "truecolor"}
# Ours, and what would make another program run code or believe it runs inside itself. In any spelling.
_NEVER = re.compile(r"(BASCULE_|LD_|DYLD_|PYTHON)|CLAUDECODE$", re.IGNORECASE)
_OURS = re.compile(r"BASCULE_|CLAUDECODE$", re.IGNORECASE)  # not even a person's own shell gets these

# Names of modes in which the agents we know plan, answer, ask, or begin; for one whose file lists none. What
# others do (`autopilot`, `never`, a person's own) is not known, so a list of bad names would have gaps.
_HARMLESS = frozenset({PLANNING, "ask", "approve", "manual", "default", "readonly", "chat", "build"})


class Launch(Struct, frozen=True, kw_only=True):
    """How this one start differs from the plain one."""

    driver: str | None = None
    model: str | None = None
    mode: str | None = None
    resume: str | None = None
    fork: bool = False
    fork_at: str | None = None
    skip_permissions: bool = False
    level: Capability = "full"


def build_argv(spec: AgentSpec, found: FoundProgram, launch: Launch) -> list[str]:
    try:
        driver = spec.driver(launch.driver)
    except KeyError as error:
        raise NotSupported(f"{spec.title} does not speak {launch.driver}.", agent=spec.name) from error
    argv = [found.path, *(driver.args if found.args is None else found.args)]
    argv += driver.levels.get(launch.level, ())
    needed = not driver.tells_by_protocol
    argv += _group(spec, "model", driver.model, launch.model, needed=needed)
    # Said even when nobody chose: else a settings file, perhaps the project's own, picks one that asks less.
    asking = None if launch.skip_permissions else spec.asking_of(driver)
    argv += _group(spec, "mode", driver.mode, mode_name(spec, launch.mode or asking, driver), needed=needed)
    argv += _group(spec, "resume", driver.resume, launch.resume, needed=needed)
    if launch.fork:
        if not driver.forks or launch.resume is None:
            raise NotSupported(f"{spec.title} can't fork without an earlier conversation.", agent=spec.name)
        argv += driver.fork
    if launch.fork_at is not None:
        if not driver.forks_at or not launch.fork:
            raise NotSupported(f"{spec.title} can't fork at an earlier message here.", agent=spec.name)
        argv += _group(spec, "fork_at", driver.fork_at, launch.fork_at, needed=False)
    if launch.skip_permissions:
        if not driver.skip_permissions:
            raise NotSupported(f"{spec.title} has no way to skip its permissions here.", agent=spec.name)
        argv += driver.skip_permissions
    return argv


def mode_name(spec: AgentSpec, mode: str | None, driver: DriverSpec) -> str | None:
    """What the agent calls a mode when it is talked to in this way."""
    if mode is None:
        return None
    modes = spec.modes_of(driver)
    if mode not in modes:
        known = ", ".join(modes) or "none"
        raise InvalidInput(f"{spec.title} can't start in mode {mode[:80]!r}; modes: {known}.", field="mode")
    return modes[mode]


def running_mode(spec: AgentSpec, wanted: str, driver: DriverSpec, offered: tuple[str, ...]) -> str:
    """What the agent calls a mode that is chosen while it runs: one of its file's; where that lists none, one
    that it offered itself and that is known to be harmless."""
    listed = spec.modes_of(driver)
    modes = listed or {one: one for one in offered if _is_harmless(one)}
    if wanted in modes:
        return modes[wanted]
    more = "" if listed or wanted not in offered else " More can be listed in its agent file."
    if not modes:
        raise InvalidInput(f"{spec.title} has no modes to choose from.{more}", field="mode")
    raise InvalidInput(
        f"{spec.title} can't be put in mode {wanted[:80]!r} here; choose one of: {', '.join(modes)}.{more}",
        field="mode",
    )


def _is_harmless(mode: str) -> bool:
    name = re.split(r"[#/]", mode)[-1]  # some are addresses
    return re.sub(r"[ _-]", "", name).lower() in _HARMLESS


def asks_in(spec: AgentSpec, driver: str | None, mode: str) -> bool:
    """Whether it asks in this mode, as far as its file says so: a mode that nobody knows counts as one that
    does not."""
    try:
        way = spec.driver(driver)
    except KeyError:
        return False
    return mode in (spec.asking_of(way), PLANNING, *way.level_modes.values())


def _group(
    spec: AgentSpec, name: str, words: tuple[str, ...], value: str | None, *, needed: bool
) -> list[str]:
    if value is None:
        return []
    if not words and needed:
        raise NotSupported(f"{spec.title} takes no {name}.", agent=spec.name)
    _check_value(name, value)
    return [word.replace("{value}", value) for word in words]


def _check_value(name: str, value: str) -> None:
    """A value is data: it can't begin like a flag, nor hold what no name holds."""
    if not value or len(value) > MAX_VALUE:
        raise InvalidInput(f"The {name} must have 1 to {MAX_VALUE} characters.", field=name)
    if value.startswith("-"):
        raise InvalidInput(f"The {name} can't begin with a dash.", field=name)
    if not value.isprintable():
        raise InvalidInput(f"The {name} holds control or invisible characters.", field=name)


def child_environment(
    spec: AgentSpec, parent_env: Mapping[str, str], *, terminal: bool = False, trusted: bool = True
) -> dict[str, str]:
    """What the agent, and its version probe, may see of our environment; `trusted`: the folder is."""
    kept = {
        name: value
        for name, value in parent_env.items()
        if not _NEVER.match(name) and (_is_common(name) or _is_listed(name, spec.environment.passed))
    }
    if spec.environment.whole and terminal:
        kept = {name: value for name, value in parent_env.items() if not _OURS.match(name)}
    if terminal:
        kept.update(TERMINAL)
    kept.update({name: value for name, value in spec.environment.set.items() if not _NEVER.match(name)})
    if spec.untrusted is not None:
        # Nobody's own variable may say that a folder is to be trusted, or not.
        kept = {name: value for name, value in kept.items() if name not in spec.untrusted.set}
        kept.update({} if trusted else spec.untrusted.set)
    return kept


def child_variables(parent_env: Mapping[str, str]) -> dict[str, str]:
    """What any program may see of our environment."""
    return {name: value for name, value in parent_env.items() if _is_common(name) and not _NEVER.match(name)}


def may_set(name: str) -> bool:
    """Whether somebody may choose this variable for a program."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", name) is not None and not _NEVER.match(name)


def _is_common(name: str) -> bool:
    return name in _ALLOWED or name.startswith(_ALLOWED_PREFIXES)


def _is_listed(name: str, patterns: Iterable[str]) -> bool:
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern for pattern in patterns
    )
