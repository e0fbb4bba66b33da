"""Loads settings: the config file, then the environment, then flags. An error names the wrong setting."""

import codecs
import difflib
import os
import re
import shutil
import stat
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, cast, get_args

import msgspec
from msgspec.structs import FieldInfo, fields

from bascule.config.checks import PATHS, check, expanded
from bascule.model.errors import CallerError
from bascule.model.settings import (
    AcpSettings,
    LaunchSettings,
    Limits,
    NotifySettings,
    Settings,
    StartsSettings,
    TerminalSettings,
)

FILE_NAME = "config.toml"
MAX_BYTES = 256 * 1024
SEED_NAMES = {
    "HOST": "host",
    "PORT": "port",
    "CLAUDE_BIN": "claude_bin",
    "CLAUDE_DEFAULT_MODEL": "default_model",
    "ACP_START_TIMEOUT_MS": "acp.start_timeout_ms",
    "ACP_PROMPT_TIMEOUT_MS": "acp.prompt_timeout_ms",
    "CLAUDE_BRIDGE_PORT": "launch.port",
    "CLAUDE_BRIDGE_ORIGINS": "launch.origins",
    "CLAUDE_BRIDGE_TMPDIR": "launch.folder",
}
# Not settings of the server: where the client connects, and with what.
OTHER_NAMES = frozenset({"BASCULE_SERVER", "BASCULE_TOKEN"})
SECRET_WORDS = ("token", "secret", "password", "passwd", "api_key", "apikey", "auth")
TRUE_WORDS, FALSE_WORDS = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")

Where = Callable[[str], str]


class ConfigError(CallerError):
    """A setting is wrong; the message names it, where it stands, and what to do."""

    code = "INVALID_CONFIG"


class Document(msgspec.Struct, frozen=True):
    """A config file as it was read: its path, for messages, and its text."""

    path: str
    text: str


# The thin part: files, the environment of this process ----------------------------------------------


def load(flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Read everything there is and return checked settings, or raise `ConfigError`."""
    environ = os.environ if environ is None else environ
    flags = {name: value for name, value in (flags or {}).items() if value is not None}
    config_dir = config_folder(environ, flags)
    document = read_document(Path(config_dir) / FILE_NAME)
    settings, where = combine(document, environ, flags)
    _check_files(settings, environ, where)
    return settings


def read_document(path: Path) -> Document | None:
    """The config file, refused when somebody else could have written it; None when there is none."""
    try:
        with path.open("rb") as file:
            _check_owner(path, os.fstat(file.fileno()))
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{path} can't be read ({error.strerror}); fix or remove it.") from error
    if len(data) > MAX_BYTES:
        raise ConfigError(
            f"{path} is larger than {MAX_BYTES // 1024} KB, so it is no config file; move it away."
        )
    if data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ConfigError(f"{path}:1: begins with a byte order mark; save it as plain UTF-8.")
    try:
        return Document(str(path), data.decode())
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: is not UTF-8; save it as plain UTF-8.") from error


def _check_owner(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ConfigError(f"{path} is not a regular file; replace it by one.")
    if status.st_mode & stat.S_IWOTH:
        raise ConfigError(f"{path} can be written by everybody on this machine; run: chmod o-w {path}")
    if status.st_uid not in (os.getuid(), 0):
        raise ConfigError(f"{path} belongs to another user; make it your own or remove it.")


def _check_files(settings: Settings, environ: Mapping[str, str], where: Where) -> None:
    for name in ("tls_cert", "tls_key", "node_ca"):
        path = getattr(settings, name)
        if path is not None and not os.access(path, os.R_OK):
            raise ConfigError(f"{where(name)}: there is no readable file {path}; correct the path.")
    binary = settings.claude_bin
    if binary and shutil.which(binary, path=environ.get("PATH")) is None:
        raise ConfigError(
            f"{where('claude_bin')}: there is no program {binary}; correct the path, "
            "or remove the setting to have it looked for."
        )


# The pure part --------------------------------------------------------------------------------------


def config_folder(environ: Mapping[str, str], flags: Mapping[str, Any]) -> str:
    return _folder("config_dir", "XDG_CONFIG_HOME", ".config", environ, flags)


def data_folder(environ: Mapping[str, str], flags: Mapping[str, Any]) -> str:
    return _folder("data_dir", "XDG_STATE_HOME", ".local/state", environ, flags)


def usual_data_folder() -> str:
    """The state folder of a server that is started without naming one."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("BASCULE_")}
    return data_folder(plain, {})


def _folder(name: str, base: str, fallback: str, environ: Mapping[str, str], flags: Mapping[str, Any]) -> str:
    chosen = flags.get(name) or environ.get(f"BASCULE_{name.upper()}")
    if chosen:
        path = expanded(chosen, environ)
        if not path.startswith("/"):
            label = flag_name(name) if flags.get(name) else f"BASCULE_{name.upper()}"
            raise ConfigError(f"{label}: {chosen!r} is a relative path; write it from / or ~.")
        return path
    root = environ.get(base, "")
    if not root.startswith("/"):  # the XDG rule: a relative one is as good as none
        home = environ.get("HOME", "")
        if not home.startswith("/"):
            raise ConfigError(f"HOME is not set; set it, or set BASCULE_{name.upper()} to an absolute path.")
        root = f"{home}/{fallback}"
    return f"{root.rstrip('/')}/bascule"


def combine(
    document: Document | None, environ: Mapping[str, str], flags: Mapping[str, Any]
) -> tuple[Settings, Where]:
    """Checked settings, and a function that says where one of them was set."""
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    if document is not None:
        _take_file(document, values, places)
    _take_environment(environ, values, places)
    for key, value in flags.items():
        _put(values, key, value)
        places[key] = flag_name(key)

    def where(key: str) -> str:
        return places.get(key, key)

    values["config_dir"] = config_folder(environ, flags)
    values["data_dir"] = values.get("data_dir") or data_folder(environ, flags)
    for key in PATHS:
        table, _, name = key.rpartition(".")
        held = values.get(table, {}) if table else values
        if name in held:
            held[name] = _expand(held[name], environ)
    settings = _convert(values, where)
    problem = check(settings)
    if problem is not None:
        raise ConfigError(f"{where(problem.key)}: {problem.message}")
    return settings, where


def flag_name(key: str) -> str:
    return {"data_dir": "--data", "config_dir": "--config"}.get(key, "--" + key.replace("_", "-"))


def _put(values: dict[str, Any], key: str, value: object) -> None:
    table, _, name = key.rpartition(".")
    target = values.setdefault(table, {}) if table else values
    target[name] = value


def _expand(value: Any, environ: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return expanded(value, environ)
    if isinstance(value, list | tuple):
        return [_expand(one, environ) for one in cast(list[Any], value)]
    return value


def _convert(values: dict[str, Any], where: Where) -> Settings:
    try:
        return msgspec.convert(values, Settings)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$.")
        key = re.sub(r"\[.*", "", path.rstrip("`"))
        kind = message.replace("Expected", "expected").replace("`", "")
        raise ConfigError(f"{where(key)}: {kind}; correct the value.") from error


# The file


def _take_file(document: Document, values: dict[str, Any], places: dict[str, str]) -> None:
    try:
        table = tomllib.loads(document.text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_syntax_message(document, str(error))) from error
    except RecursionError as error:
        raise ConfigError(f"{document.path}: is nested too deeply; write plain keys.") from error
    for key, value in _flat(table):
        place = f"{document.path}:{_line_of(document.text, key)}: {key}"
        if key not in FILE_KEYS:
            raise ConfigError(f"{place}: {_unknown(key)}")
        _put(values, key, value)
        places[key] = place


def _syntax_message(document: Document, problem: str) -> str:
    found = re.search(r"\(at line (\d+), column \d+\)|\(at end of document\)", problem)
    reason = problem[: found.start()].strip() if found else problem
    number = int(found[1]) if found and found[1] else document.text.count("\n") + 1
    lines = document.text.splitlines()
    line = lines[number - 1] if number <= len(lines) else ""
    key = line.split("=")[0].strip().strip("[]")
    place = f"{document.path}:{number}: {key}" if key else f"{document.path}:{number}"
    if reason.startswith(("Cannot overwrite", "Cannot declare", "Cannot mutate", "Cannot redefine")):
        return f"{place}: is set twice; keep one of the two."
    return f"{place}: is not valid TOML ({reason}); correct the line."


def _flat(table: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Leaves of the table, with `limits.sessions` as the name of a nested one."""
    found: list[tuple[str, Any]] = []
    for name, value in table.items():
        key = prefix + name
        if key in TABLES and isinstance(value, Mapping):
            found += _flat(cast(Mapping[str, Any], value), key + ".")
        else:
            found.append((key, value))
    return found


def _unknown(key: str) -> str:
    if any(word in key.lower() for word in SECRET_WORDS):
        return (
            "is not a setting, and secrets have no place in this file; remove it. "
            "Access is given by links: bascule trust generate NAME"
        )
    near = difflib.get_close_matches(key, FILE_KEYS, 1)
    return "is not a setting; " + (f"did you mean {near[0]}?" if near else "remove it.")


def _line_of(text: str, key: str) -> int:
    """The line a key stands on: as `key =`, below its `[table]`, or dotted or inline with it."""
    table, _, name = key.rpartition(".")
    quoted = rf"[\"']?{re.escape(name)}[\"']?"
    inside, best = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line)
        if header:
            inside = header[1].strip("\"'")
            if inside == key:
                return number
            continue
        full = re.match(r"\s*([\w.\"'-]+(?:\s*\.\s*[\w\"'-]+)*)\s*=", line)
        said = re.sub(r"[\s\"']", "", full[1]) if full else ""
        if key in (said, f"{inside}.{said}" if inside else said):
            return number
        if table and said == table and re.search(rf"[{{,]\s*{quoted}\s*=", line):
            return number
        if not best and said == table and table:
            best = number
    return best or 1


# The environment


def _take_environment(environ: Mapping[str, str], values: dict[str, Any], places: dict[str, str]) -> None:
    for name, key in {**SEED_NAMES, **ENVIRONMENT_NAMES}.items():
        if key == "config_dir" or name not in environ:
            continue
        _put(values, key, _parse(name, environ[name], FIELDS[key]))
        places[key] = name
    for name in environ:
        if name.startswith("BASCULE_") and name not in ENVIRONMENT_NAMES and name not in OTHER_NAMES:
            near = difflib.get_close_matches(name, ENVIRONMENT_NAMES, 1, cutoff=0.85)
            if near:
                raise ConfigError(f"{name}: is not a setting; did you mean {near[0]}?")


def _parse(name: str, text: str, field: FieldInfo) -> object:
    kind = _kind(field)
    if kind is bool:
        word = text.strip().lower()
        if word not in TRUE_WORDS + FALSE_WORDS:
            raise ConfigError(f"{name}: {text!r} is neither true nor false; write one of them.")
        return word in TRUE_WORDS
    if kind is int:
        if not re.fullmatch(r"-?\d{1,18}", text.strip()):
            raise ConfigError(f"{name}: {text!r} is not a whole number; write one.")
        return int(text)
    if kind == tuple[str, ...]:
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def _kind(field: FieldInfo) -> Any:
    """What its text is read as: a setting that may be left open (`bool | None`) is read as the other type."""
    kinds = [arg for arg in get_args(field.type) if arg is not NoneType]
    return kinds[0] if isinstance(field.type, UnionType) and len(kinds) == 1 else field.type


TABLES: dict[str, type[msgspec.Struct]] = {
    "limits": Limits,
    "terminal": TerminalSettings,
    "acp": AcpSettings,
    "launch": LaunchSettings,
    "starts": StartsSettings,
    "notify": NotifySettings,
}
FIELDS: dict[str, FieldInfo] = {
    field.name: field for field in fields(Settings) if field.name not in TABLES
} | {f"{table}.{one.name}": one for table, kind in TABLES.items() for one in fields(kind)}
FILE_KEYS = frozenset(FIELDS) - {"config_dir"}
# A table has no place in one variable, nor has an argument that may hold a comma.
ONLY_IN_FILE = frozenset({"pass_on", "notify.command"})
ENVIRONMENT_NAMES = {
    "BASCULE_" + key.replace(".", "_").upper(): key for key in FIELDS if key not in ONLY_IN_FILE
}
