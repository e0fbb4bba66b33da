"""The catalogue of agents: the shipped files, and a person's own."""

import os
import re
import stat
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from bascule.agents.spec import AgentSpec, mistakes
from bascule.model.errors import HostError, UnknownAgent

MAX_FILE = 64 * 1024
SHIPPED = (
    "claude_code.toml",
    "codex.toml",
    "cursor.toml",
    "copilot.toml",
    "gemini.toml",
    "opencode.toml",
    "goose.toml",
    "qwen.toml",
    "aider.toml",
    "shell.toml",
    "demo.toml",
)


class BadAgentFile(HostError):
    """An agent file that can't be used, with the place in it where a person should look."""

    code: ClassVar[str] = "INVALID_CONFIG"

    def __init__(self, path: str, why: str, *, line: int | None = None, key: str | None = None) -> None:
        place = path if line is None else f"{path}:{line}"
        about = f" ({key})" if key else ""
        super().__init__(f"{place}{about}: {why}", path=path, line=line, key=key)


class Catalogue:
    def __init__(self, specs: list[AgentSpec]) -> None:
        self._specs = {spec.name: spec for spec in specs}

    @classmethod
    def load(cls, config_dir: str | Path) -> "Catalogue":
        """Reads all files again; raises `BadAgentFile` and changes nothing when a file is wrong."""
        shipped = resources.files("bascule.agents")
        specs = [parse((shipped / name).read_bytes(), name) for name in SHIPPED]
        taken = {spec.name for spec in specs}
        folder = Path(config_dir) / "agents"
        for path in sorted(folder.glob("*.toml")) if folder.is_dir() else []:
            spec = parse(_read_own(path), str(path))
            if spec.name in taken:
                raise BadAgentFile(str(path), f"there already is an agent {spec.name!r}", key="name")
            taken.add(spec.name)
            specs.append(spec)
        return cls(specs)

    def passing(self, extra: Mapping[str, tuple[str, ...]]) -> "Catalogue":
        """The same agents, each given the variables that a person names for it besides its own."""
        for name in extra:
            if name not in self._specs:
                why = f"there is no agent {name[:80]!r}; known are {', '.join(self._specs)}"
                raise BadAgentFile("config.toml", why, key="pass_on")
        return Catalogue([_given(spec, extra.get(spec.name, ())) for spec in self])

    def __iter__(self):
        return iter(self._specs.values())

    def names(self) -> list[str]:
        return list(self._specs)

    def get(self, name: str) -> AgentSpec:
        spec = self._specs.get(name)
        if spec is None:
            known = ", ".join(self._specs)
            raise UnknownAgent(f"There is no agent {name[:80]!r}; known are {known}.", agent=name[:80])
        return spec


def _given(spec: AgentSpec, names: tuple[str, ...]) -> AgentSpec:
    listed = spec.environment
    return replace(spec, environment=replace(listed, passed=(*listed.passed, *names)))


def _read_own(path: Path) -> bytes:
    """A file that names programs to run must be its owner's alone, and be that very file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise BadAgentFile(str(path), f"can't be opened: {error.strerror}") from error
    with os.fdopen(fd, "rb") as file:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise BadAgentFile(str(path), "is not a plain file")
        if facts.st_uid != os.geteuid():
            raise BadAgentFile(str(path), "belongs to somebody else")
        if facts.st_mode & 0o077:
            raise BadAgentFile(
                str(path), f"may be used by others (mode {facts.st_mode & 0o777:04o}); run chmod 600 on it"
            )
        if facts.st_size > MAX_FILE:
            raise BadAgentFile(str(path), f"is larger than {MAX_FILE // 1024} KiB")
        return file.read(MAX_FILE + 1)


def parse(data: bytes, path: str) -> AgentSpec:
    if data.startswith(b"\xef\xbb\xbf"):
        raise BadAgentFile(path, "begins with a byte order mark; save it as plain UTF-8", line=1)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadAgentFile(path, "is not UTF-8", line=line) from error
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        last = text.count("\n") + 1
        raise BadAgentFile(path, f"is not TOML: {error}", line=_line_in(str(error)) or last) from error
    try:
        spec = msgspec.convert(table, AgentSpec)
    except msgspec.ValidationError as error:
        key = _key_in(str(error))
        raise BadAgentFile(path, str(error), line=_line_of(text, key), key=key) from error
    for key, why in mistakes(spec):
        raise BadAgentFile(path, why, line=_line_of(text, key), key=key)
    return spec


def _line_in(message: str) -> int | None:
    found = re.search(r"line (\d+)", message)
    return int(found.group(1)) if found else None


def _key_in(message: str) -> str | None:
    """The key a validation message is about, with the tables it is in: `drivers.name`."""
    path = re.search(r"at `(?:key in )?\$([^`]*)`", message)
    names: list[str] = re.findall(r"[A-Za-z_]\w*", path.group(1)) if path else []
    field = re.search(r"field `([^`]+)`", message)
    if field:
        names.append(field.group(1))
    return ".".join(names) or None


def _line_of(text: str, key: str | None) -> int | None:
    """Where a person finds that key: below the headers of its tables, the first time it is set."""
    *tables, name = (key or "").split(".")
    found = None
    wanted = [rf"^\s*\[+\s*{re.escape(table)}\b" for table in tables]
    wanted.append(rf"^\s*[\"']?{re.escape(name)}[\"']?\s*[=.]")
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(wanted[0], line):
            found = number
            wanted.pop(0)
            if not wanted:
                return found
    return found
