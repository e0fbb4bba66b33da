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
# Below the home folder, never out of it.
HomePattern = Annotated[
    str, Meta(pattern=r"^\.?[A-Za-z0-9*?][A-Za-z0-9._*?-]*(/\.?[A-Za-z0-9*?][A-Za-z0-9._*?-]*)*$")
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


class HistorySpec(_Part, frozen=True):
    """Where the agent keeps its conversations, below the home: a pattern of exact files and their format.

    `live` are the notes it keeps of those that are open in a terminal.
    """

    format: Literal["claude", "codex", "gemini", "copilot", "opencode"]
    files: HomePattern
    live: HomePattern | None = None
    # A conversation can't be taken up for so long after it began; of one that was begun without us only its
    # last words are known for sure.
    rest_seconds: Annotated[int, Meta(ge=0, le=600)] = 0


class CueSpec(_Part, frozen=True):
    """How an agent that speaks plain text shows that it waits: a pattern for the end of what it printed.

    `allow`, `always` and `deny` are what is typed for an answer to a permission.
    """

    pattern: Word
    kind: Literal["ready", "permission", "question"] = "ready"
    allow: str = "y"
    always: str = ""
    deny: str = "n"


class Login(_Part, frozen=True):
    """How it can be told whether the agent is signed in: by names and places alone, never by what is there.

    `status` are the words of the agent's own command for it; 0 means signed in, 1 means not.
    """

    variables: tuple[VariableName, ...] = ()
    files: tuple[Word, ...] = ()
    status: tuple[Word, ...] = ()
    how: str = ""  # what a person types to sign in


class DriverSpec(_Part, frozen=True):
    """One way to talk to the agent. The groups are added when there is a value for them.

    An adapter is a program of its own: `search` and `install` say which; `command` is the variable in which
    a person gives its whole command line instead. `modes` and `asking` are said where they differ.
    """

    name: DriverName
    args: tuple[Word, ...] = ()
    search: tuple[Word, ...] = ()
    command: VariableName | None = None
    install: str = ""
    modes: dict[str, Word] = {}
    asking: str | None = None
    model: tuple[Word, ...] = ()
    mode: tuple[Word, ...] = ()
    resume: tuple[Word, ...] = ()
    fork: tuple[Word, ...] = ()
    skip_permissions: tuple[Word, ...] = ()  # only when a person chose it for this session
    quirks: tuple[DriverQuirk, ...] = ()
    services: tuple[Literal["read", "write", "terminal"], ...] = ()  # done for the agent when it asks
    cues: tuple[CueSpec, ...] = ()
    multiline: tuple[Word, Word] | None = None  # lines around a longer message; without, it becomes one line

    @property
    def tells_by_protocol(self) -> bool:
        """Model, mode and resumption need no words on the command line: they are part of the conversation."""
        return self.name in ("acp", "codex")

    @property
    def forks_by_protocol(self) -> bool:
        return self.name == "codex"


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
    login: Login | None = None  # None: it needs none
    trust: Trust | None = None
    history: HistorySpec | None = None
    modes: dict[str, Word] = {}
    asking: str | None = None  # the mode to start in when nobody chose one: it asks before it acts
    quirks: frozenset[Quirk] = frozenset()

    def driver(self, name: str | None = None) -> DriverSpec:
        """The named way to talk to it, or the preferred one."""
        for offered in self.drivers:
            if name is None or offered.name == name:
                return offered
        raise KeyError(name)

    def modes_of(self, driver: DriverSpec) -> dict[str, str]:
        """What the agent calls its modes when it is talked to in this way."""
        return driver.modes or self.modes

    def asking_of(self, driver: DriverSpec) -> str | None:
        return driver.asking if driver.modes else self.asking


class Found(Struct, frozen=True):
    """An agent's program on this machine; `args` are a person's words in the place of the file's."""

    path: str
    version: str | None = None
    args: tuple[str, ...] | None = None


def mistakes(spec: AgentSpec) -> list[tuple[str, str]]:
    """What the types alone can't tell: `(key, what is wrong)`."""
    found = _search_mistakes("search", spec.search)
    for place in spec.login.files if spec.login else ():
        if not place.startswith(("/", "~/", "$")):
            found.append(("login.files", f"{place!r} is neither absolute, nor below ~/ or a variable"))
    try:
        if re.compile(spec.version.pattern).groups < 1:
            found.append(("version.pattern", "the version pattern has no group"))
    except re.error as error:
        found.append(("version.pattern", f"not a regular expression: {error}"))
    if spec.asking is not None and spec.asking not in spec.modes:
        found.append(("asking", f"{spec.asking!r} is not one of the modes"))
    names = [driver.name for driver in spec.drivers]
    for driver in spec.drivers:
        if names.count(driver.name) > 1:
            found.append(("drivers.name", f"there are two drivers {driver.name!r}"))
        found += _search_mistakes("drivers.search", driver.search)
        if driver.asking is not None and driver.asking not in driver.modes:
            found.append(("drivers.asking", f"{driver.asking!r} is not one of the driver's modes"))
        for key in ("model", "mode", "resume"):
            group: tuple[str, ...] = getattr(driver, key)
            if group and not any("{value}" in word for word in group):
                found.append((f"drivers.{key}", "no word of it holds {value}"))
        found += _cue_mistakes(driver)
    return found


def _search_mistakes(key: str, search: tuple[str, ...]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for path in search:
        if "/" in path and not path.startswith(("/", "~/")):
            found.append((key, f"{path!r} is neither absolute, nor below ~/, nor a bare name"))
        elif path in (".", "..", "~"):
            found.append((key, f"{path!r} is not the name of a program"))
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
