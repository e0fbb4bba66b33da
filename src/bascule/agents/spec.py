"""The schema of an agent file: how to find, start and talk to the program."""

import re
from typing import Annotated, Literal

from msgspec import Meta, Struct

from bascule.agents.unasked import Unasked
from bascule.model.capability import Capability
from bascule.model.fields import DriverName

Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
Word = Annotated[str, Meta(min_length=1, max_length=1024)]
VariableName = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
VariablePattern = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}\*?$")]
# Behaviours a driver has to know of, named by what happens.
DriverQuirk = Annotated[
    str,
    Meta(
        pattern=r"^(reject_ends_turn|errors_as_text|set_mode_at_start:[ -~]{1,200}"
        r"|loses_requests_of:[\w-]{1,80})$"
    ),
]
# Below the home folder, never out of it.
HomePattern = Annotated[
    str, Meta(pattern=r"^\.?[A-Za-z0-9*?][A-Za-z0-9._*?-]*(/\.?[A-Za-z0-9*?][A-Za-z0-9._*?-]*)*$")
]


class _Part(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class VersionProbe(_Part, frozen=True):
    args: tuple[Word, ...] = ("--version",)
    pattern: str = r"(\d+\.\d+(?:\.\d+)?)"


class Environment(_Part, frozen=True, rename={"passed": "pass"}):
    """`pass`: names, or prefixes ending in `*`, handed on from our own environment. `set`: fixed values.

    `whole`: a person's own shell gets all of theirs. Not for an agent, whose keys and flags are chosen.
    """

    passed: tuple[VariablePattern, ...] = ()
    set: dict[VariableName, str] = {}
    whole: bool = False


class Untrusted(_Part, frozen=True):
    """Variables that keep a project's own settings from counting, for an agent that knows no trusted folders.

    They are set in every folder that is not trusted in Bascule. `says`: what is left out, for people.
    """

    set: dict[VariableName, str]
    says: Annotated[str, Meta(min_length=1, max_length=300)]


class CageSpec(_Part, frozen=True):
    """What the agent needs in a cage besides its project and the system.

    `writes`: its own settings, conversations and caches; a folder ends with `/` and is made if it is missing.
    `reads`: more that it reads. `set`: variables for a caged start, where `{temp}` is its temporary folder.
    """

    reads: tuple[Word, ...] = ()
    writes: tuple[Word, ...] = ()
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
    # How long after its beginning a conversation can't be resumed; of one that was begun without us only its
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
    # What stands before the question, and what is done if it is allowed.
    about: Literal["", "command", "path", "url"] = ""
    tool: Literal["execute", "edit", "read", "fetch", "other"] = "other"


class ProbeSpec(_Part, frozen=True):
    """A line that the agent takes for nothing, wherever it reads it, and whose answer tells that it waits.

    `{nonce}` stands for something nobody can guess. `ready` is what it prints when the line was read as a
    prompt, `asked` how it begins when a question read it; that question must then be asked again.
    """

    send: Annotated[str, Meta(pattern=r"^[^\n]*\{nonce\}[^\n]*$", max_length=200)]
    ready: Annotated[str, Meta(pattern=r"^[^\n]*\{nonce\}[^\n]*$", max_length=200)]
    asked: Word
    prompt: Word


class FailureSpec(_Part, frozen=True):
    """Patterns for lines of a turn: the model failed if one met `pattern`, and none after it `unless`."""

    pattern: Word
    unless: str = ""


class ProviderSpec(_Part, frozen=True):
    """Where a person's settings name who serves the models: the first of these TOML files, by this key."""

    files: tuple[Word, ...]
    key: Word
    own: Word  # the provider that the agent's own login is for


class Login(_Part, frozen=True):
    """How to see whether the agent is signed in: by names and places alone, never by what is there.

    `status` are the words of the agent's own command for it; 0 means signed in, 1 means not.
    """

    variables: tuple[VariableName, ...] = ()
    files: tuple[Word, ...] = ()
    status: tuple[Word, ...] = ()
    how: str = ""  # what a person types to sign in
    provider: ProviderSpec | None = None  # with another one, its own login says nothing


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
    fork_at: tuple[Word, ...] = ()  # with `fork`: the copy ends at this point of the conversation
    unknown: str = ""  # what it says when it does not know the conversation that it is to resume
    skip_permissions: tuple[Word, ...] = ()  # only when a person chose it for this session
    prompt: tuple[Word, ...] = ()  # of a terminal: gives it a first prompt, to be answered at once
    largest_paste: int = 0  # of a terminal: bytes of a prompt that it takes typed; 0 for any
    input_mark: str = (
        ""  # of a terminal: its input begins with this; drawn late, so that nothing is typed before
    )
    runs_commands: bool = False  # of a terminal: what is typed there runs, so no web page may start it
    quirks: tuple[DriverQuirk, ...] = ()
    levels: dict[Capability, tuple[Word, ...]] = {}  # its own flags for a capability level
    level_modes: dict[Capability, str] = {}  # the mode to start in at a level, unless a person chose one
    unasked: tuple[Unasked, ...] = ()  # beside what its agent runs unasked in any way
    services: tuple[Literal["read", "write", "terminal"], ...] = ()  # done for the agent when it asks
    cues: tuple[CueSpec, ...] = ()
    multiline: tuple[Word, Word] | None = None  # lines around a longer message; without, it becomes one line
    probe: ProbeSpec | None = None
    failure: FailureSpec | None = None

    @property
    def tells_by_protocol(self) -> bool:
        """Model, mode and resumption need no words on the command line: they are part of the conversation."""
        return self.name in ("acp", "codex")

    @property
    def resumes(self) -> bool:
        """Whether an earlier conversation can be taken up in this way without a person at its screen."""
        return self.name != "terminal" and (bool(self.resume) or self.tells_by_protocol)

    @property
    def forks(self) -> bool:
        return bool(self.fork) or self.forks_by_protocol

    @property
    def forks_at(self) -> bool:
        """Whether a copy of a conversation can end at an earlier turn."""
        return bool(self.fork_at) or self.forks_by_protocol

    @property
    def forks_by_protocol(self) -> bool:
        return self.name == "codex"


class AgentSpec(_Part, frozen=True, kw_only=True):
    name: Name
    title: Annotated[str, Meta(min_length=1, max_length=80)]
    search: Annotated[tuple[Word, ...], Meta(min_length=1, max_length=50)]
    drivers: Annotated[tuple[DriverSpec, ...], Meta(min_length=1)]
    override: VariableName | None = None  # the variable in which a person names the program
    default_model: VariableName | None = None  # the variable in which a person names the model to start with
    install: str = ""
    demo: bool = False
    version: VersionProbe = VersionProbe()
    environment: Environment = Environment()
    login: Login | None = None  # None: it needs none
    trust: Trust | None = None
    untrusted: Untrusted | None = None
    history: HistorySpec | None = None
    cage: CageSpec = CageSpec()
    modes: dict[str, Word] = {}
    asking: str | None = None  # the mode to start in when nobody chose one: it asks before it acts
    # What it runs without asking, whatever its settings. None: nobody has tried it.
    unasked: tuple[Unasked, ...] | None = None

    def driver(self, name: str | None = None) -> DriverSpec:
        """The named way to talk to it, or the preferred one."""
        for offered in self.drivers:
            if name is None or offered.name == name:
                return offered
        raise KeyError(name)

    def modes_of(self, driver: DriverSpec) -> dict[str, str]:
        """What the agent calls its modes when it is talked to in this way."""
        return driver.modes or self.modes

    def unasked_of(self, driver: DriverSpec) -> tuple[Unasked, ...] | None:
        return None if self.unasked is None else (*self.unasked, *driver.unasked)

    def asking_of(self, driver: DriverSpec) -> str | None:
        return driver.asking if driver.modes else self.asking


class FoundProgram(Struct, frozen=True):
    """An agent's program on this machine; `args` are a person's words in the place of the file's."""

    path: str
    version: str | None = None
    args: tuple[str, ...] | None = None


def mistakes(spec: AgentSpec) -> list[tuple[str, str]]:
    """What the types alone can't tell: `(key, what is wrong)`."""
    found = _search_mistakes("search", spec.search)
    provider = spec.login.provider if spec.login else None
    places = [("login.files", place) for place in (spec.login.files if spec.login else ())]
    places += [("login.provider.files", place) for place in (provider.files if provider else ())]
    places += [("cage", place) for place in (*spec.cage.reads, *spec.cage.writes) if place != "{bascule}"]
    for key, place in places:
        if not place.startswith(("/", "~/", "$")):
            found.append((key, f"{place!r} is neither absolute, nor below ~/ or a variable"))
    try:
        if re.compile(spec.version.pattern).groups < 1:
            found.append(("version.pattern", "the version pattern has no group"))
    except re.error as error:
        found.append(("version.pattern", f"not a regular expression: {error}"))
    if spec.asking is not None and spec.asking not in spec.modes:
        found.append(("asking", f"{spec.asking!r} is not one of the modes"))
    names = [driver.name for driver in spec.drivers]
    if spec.environment.whole and names != ["terminal"]:
        found.append(("environment.whole", "only a program that has nothing but a terminal gets everything"))
    for driver in spec.drivers:
        if names.count(driver.name) > 1:
            found.append(("drivers.name", f"there are two drivers {driver.name!r}"))
        found += _search_mistakes("drivers.search", driver.search)
        if driver.asking is not None and driver.asking not in driver.modes:
            found.append(("drivers.asking", f"{driver.asking!r} is not one of the driver's modes"))
        for mode in driver.level_modes.values():
            if mode not in spec.modes_of(driver):
                found.append(("drivers.level_modes", f"{mode!r} is not one of the driver's modes"))
        for key in ("model", "mode", "resume", "fork_at", "prompt"):
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
    patterns = [("drivers.cues.pattern", cue.pattern) for cue in driver.cues]
    if driver.probe is not None:
        patterns.append(("drivers.probe.prompt", driver.probe.prompt))
    if driver.failure is not None:
        patterns.append(("drivers.failure.pattern", driver.failure.pattern))
        if driver.failure.unless:
            patterns.append(("drivers.failure.unless", driver.failure.unless))
    for key, pattern in patterns:
        try:
            if re.compile(pattern).match(""):
                found.append((key, "the pattern is met by nothing at all"))
        except re.error as error:
            found.append((key, f"not a regular expression: {error}"))
    if driver.name == "plain" and not any(cue.kind == "ready" for cue in driver.cues):
        found.append(("drivers.cues", 'a plain agent needs a cue of the kind "ready"'))
    return found
