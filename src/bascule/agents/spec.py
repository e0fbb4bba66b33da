"""What an agent file says: how to find the program, talk to it and start it."""

import re
from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta, Struct

Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
Word = Annotated[str, Meta(min_length=1, max_length=1024)]
VariableName = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
VariablePattern = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}\*?$")]
DriverName = Literal["stream_json", "acp", "codex", "plain", "terminal"]


class Quirk(StrEnum):
    """Behaviours that others must know of, named by what happens."""

    SIGINT_EXITS = "sigint_exits"
    SILENT_UNTIL_INPUT = "silent_until_input"
    INIT_EVERY_TURN = "init_every_turn"
    TRUST_STARTS_ON_NO = "trust_starts_on_no"
    NO_BYPASS_AS_ROOT = "no_bypass_as_root"
    IGNORES_EOF = "ignores_eof"
    ECHOES_PROMPT = "echoes_prompt"


class _Part(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class VersionProbe(_Part, frozen=True):
    args: tuple[Word, ...] = ("--version",)
    pattern: str = r"(\d+\.\d+(?:\.\d+)?)"


class Environment(_Part, frozen=True, rename={"passed": "pass"}):
    """`pass`: names, or prefixes ending in `*`, handed on from our own environment. `set`: fixed values."""

    passed: tuple[VariablePattern, ...] = ()
    set: dict[VariableName, str] = {}


class Trust(_Part, frozen=True):
    """The first-screen question of the terminal form, and the choice that says yes."""

    text: str
    accept: str
    marker: str = "❯"  # what stands before the choice the cursor is on


class DriverSpec(_Part, frozen=True):
    """One way to talk to the agent. The groups are added when there is a value for them."""

    name: DriverName
    args: tuple[Word, ...] = ()
    model: tuple[Word, ...] = ()
    mode: tuple[Word, ...] = ()
    resume: tuple[Word, ...] = ()
    fork: tuple[Word, ...] = ()
    skip_permissions: tuple[Word, ...] = ()  # only when a person chose it for this session


class AgentSpec(_Part, frozen=True, kw_only=True):
    name: Name
    title: Annotated[str, Meta(min_length=1, max_length=80)]
    search: Annotated[tuple[Word, ...], Meta(min_length=1, max_length=50)]
    drivers: Annotated[tuple[DriverSpec, ...], Meta(min_length=1)]
    override: VariableName | None = None  # the variable in which a person names the program
    install: str = ""
    demo: bool = False
    version: VersionProbe = VersionProbe()
    environment: Environment = Environment()
    trust: Trust | None = None
    modes: dict[str, Word] = {}
    quirks: frozenset[Quirk] = frozenset()

    def driver(self, name: str | None = None) -> DriverSpec:
        """The named way to talk to it, or the preferred one."""
        for offered in self.drivers:
            if name is None or offered.name == name:
                return offered
        raise KeyError(name)


class Found(Struct, frozen=True):
    """An agent's program on this machine."""

    path: str
    version: str | None = None


def mistakes(spec: AgentSpec) -> list[tuple[str, str]]:
    """What the types alone can't tell: `(key, what is wrong)`."""
    found: list[tuple[str, str]] = []
    for path in spec.search:
        if "/" in path and not path.startswith(("/", "~/")):
            found.append(("search", f"{path!r} is neither absolute, nor below ~/, nor a bare name"))
        elif path in (".", "..", "~"):
            found.append(("search", f"{path!r} is not the name of a program"))
    try:
        if re.compile(spec.version.pattern).groups < 1:
            found.append(("version.pattern", "the version pattern has no group"))
    except re.error as error:
        found.append(("version.pattern", f"not a regular expression: {error}"))
    for driver in spec.drivers:
        for key in ("model", "mode", "resume"):
            group: tuple[str, ...] = getattr(driver, key)
            if group and not any("{value}" in word for word in group):
                found.append((f"drivers.{key}", "no word of it holds {value}"))
    return found
