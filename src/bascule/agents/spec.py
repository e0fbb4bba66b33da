"""What an agent file says: how to find the program, talk to it and start it."""

import re
from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta, Struct

Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
Word = Annotated[str, Meta(min_length=1, max_length=1024)]
VariableName = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
VariablePattern = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}\*?$")]
# Behaviours a driver has to know of, named by what happens.
DriverQuirk = Annotated[
    str, Meta(pattern=r"^(reject_ends_turn|errors_as_text|set_mode_at_start:[ -~]{1,200})$")
]
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


class CueSpec(_Part, frozen=True):
    """How an agent that speaks plain text shows that it waits: a pattern for the end of what it printed.

    `allow`, `always` and `deny` are what is typed for an answer to a permission.
    """

    pattern: Word
    kind: Literal["ready", "permission", "question"] = "ready"
    allow: str = "y"
    always: str = ""
    deny: str = "n"


class DriverSpec(_Part, frozen=True):
    """One way to talk to the agent. The groups are added when there is a value for them."""

    name: DriverName
    args: tuple[Word, ...] = ()
    model: tuple[Word, ...] = ()
    mode: tuple[Word, ...] = ()
    resume: tuple[Word, ...] = ()
    fork: tuple[Word, ...] = ()
    skip_permissions: tuple[Word, ...] = ()  # only when a person chose it for this session
    quirks: tuple[DriverQuirk, ...] = ()
    cues: tuple[CueSpec, ...] = ()

    @property
    def tells_by_protocol(self) -> bool:
        """Model, mode and resumption need no words on the command line: they are part of the conversation."""
        return self.name in ("acp", "codex")


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
    asking: str | None = None  # the mode to start in when nobody chose one: it asks before it acts
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
    if spec.asking is not None and spec.asking not in spec.modes:
        found.append(("asking", f"{spec.asking!r} is not one of the modes"))
    for driver in spec.drivers:
        for key in ("model", "mode", "resume"):
            group: tuple[str, ...] = getattr(driver, key)
            if group and not any("{value}" in word for word in group):
                found.append((f"drivers.{key}", "no word of it holds {value}"))
        found += _cue_mistakes(driver)
    return found


def _cue_mistakes(driver: DriverSpec) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for cue in driver.cues:
        try:
            if re.compile(cue.pattern).match(""):
                found.append(("drivers.cues.pattern", "the pattern is met by nothing at all"))
        except re.error as error:
            found.append(("drivers.cues.pattern", f"not a regular expression: {error}"))
    if driver.name == "plain" and not any(cue.kind == "ready" for cue in driver.cues):
        found.append(("drivers.cues", 'a plain agent needs a cue of the kind "ready"'))
    return found
