"""What a request is about, whichever agent asks: its class, its command, its paths. One reading for all."""

from typing import cast
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from bascule.model.events import PermissionRequested
from bascule.model.rules import ToolClass
from bascule.policy.shell import Argv, parts_of, quoted_script_in, script_in

MAX_PATHS = 200
MAX_DEPTH = 6
_CLASSES: dict[str, ToolClass] = {
    "execute": "command",
    "edit": "edit",
    "read": "read",
    "search": "read",
    "fetch": "fetch",
    "agent": "other",
    "think": "other",
    "other": "other",
}
# Fields of a command that say nothing about what runs. Any other one might: then the command is not exact.
_HARMLESS = frozenset(
    {
        "command",
        "commands",
        "cmd",
        "description",
        "timeout",
        "timeout_ms",
        "run_in_background",
        "cwd",
        "workdir",
        "kind",
        "threadId",
        "turnId",
        "itemId",
        "startedAtMs",
        "environmentId",
        "reason",
        "commandActions",
        "proposedExecpolicyAmendment",
        "availableDecisions",
        "call_id",
        "turn_id",
        "started_at_ms",
        "proposed_execpolicy_amendment",
        "available_decisions",
        "parsed_cmd",
    }
)
_PATH_NAMES = frozenset({"file", "filename", "source", "destination"})


class Subject(Struct, frozen=True):
    """None in `parts`, `paths` or `host` means that it could not be read exactly."""

    tool_class: ToolClass
    tool: str
    parts: tuple[Argv, ...] | None = None
    paths: tuple[str, ...] | None = None
    host: str | None = None
    cwd: str | None = None  # where the command says it runs, if it says so
    text: str = ""  # for people


def subject_of(asked: PermissionRequested) -> Subject | None:
    """None for what only a person may answer: plans, questions."""
    kind = _CLASSES.get(asked.kind)
    if kind is None:
        return None
    call = _object(asked.input)
    if asked.kind == "other" and asked.tool.startswith("mcp__"):
        return Subject("mcp", asked.tool, text=asked.tool)
    match kind:
        case "command":
            return _command(asked, call)
        case "read" if asked.kind == "search" and "query" in call and not {"path", "pattern"} & call.keys():
            return Subject("fetch", asked.tool, text=asked.title)  # a search of the web
        case "read" | "edit":
            return _files(kind, asked, call)
        case "fetch":
            return Subject("fetch", asked.tool, host=_host(call.get("url")), text=asked.title)
        case _:
            return Subject(kind, asked.tool, text=asked.title)


def _command(asked: PermissionRequested, call: dict[str, object]) -> Subject:
    command = call.get("command", call.get("cmd"))
    parts: tuple[Argv, ...] | None = None
    shown = asked.title
    if isinstance(command, str):
        # An agent that shows its own shell around the command says so by telling the command apart, too.
        inner = quoted_script_in(command) if "commandActions" in call else None
        shown = command if inner is None else inner
        parts = parts_of(shown)
    elif (argv := _argv(command)) is not None:
        script = script_in(argv)
        shown = " ".join(argv) if script is None else script
        parts = (argv,) if script is None else parts_of(script)
    cwd = call.get("cwd", call.get("workdir"))
    if not _says_only_what_we_read(call):
        parts = None
    return Subject("command", asked.tool, parts=parts, cwd=cwd if isinstance(cwd, str) else None, text=shown)


def _says_only_what_we_read(call: dict[str, object]) -> bool:
    if any(key not in _HARMLESS and value is not None for key, value in call.items()):
        return False
    if call.get("environmentId", "local") != "local":
        return False
    if not isinstance(call.get("cwd", ""), str) or not isinstance(call.get("workdir", ""), str):
        return False
    command = call.get("command", call.get("cmd"))
    return call.get("commands", [command]) == [command]


def _files(kind: ToolClass, asked: PermissionRequested, call: dict[str, object]) -> Subject:
    found: list[str] = []
    exact = _collect(call, found, 0)
    if asked.blocked_path is not None:
        found.append(asked.blocked_path)
    if asked.kind == "search" and not found:
        found.append(".")  # a search without a folder is one of the session's own
    patterns = [call.get("pattern"), call.get("glob")] if asked.kind == "search" else []
    if any(isinstance(one, str) and (one.startswith(("/", "~")) or ".." in one) for one in patterns):
        exact = False
    request = call.get("request")
    if isinstance(request, dict) and cast(dict[str, object], request).get("grantRoot") is not None:
        exact = False  # it asks for more than these files
    if not found or len(found) > MAX_PATHS or not all(_is_plain(one) for one in found):
        exact = False
    paths = tuple(dict.fromkeys(found))
    return Subject(kind, asked.tool, paths=paths if exact else None, text=", ".join(paths) or asked.title)


def _collect(value: object, found: list[str], depth: int) -> bool:
    """Every path a call names, wherever it stands. False when there is more than is looked at."""
    if depth > MAX_DEPTH:
        return False
    if isinstance(value, list):
        return all(_collect(one, found, depth + 1) for one in cast(list[object], value))
    if not isinstance(value, dict):
        return True
    whole = True
    for key, one in cast(dict[str, object], value).items():
        name = key.lower().replace("_", "")
        if isinstance(one, str):
            if name.endswith("path") or name in _PATH_NAMES:
                found.append(one)
        elif name == "changes" and isinstance(one, dict):
            found += cast(dict[str, object], one)
            whole = _collect(list(cast(dict[str, object], one).values()), found, depth + 1) and whole
        else:
            whole = _collect(one, found, depth + 1) and whole
    return whole


def _is_plain(path: str) -> bool:
    return bool(path) and path.isprintable() and not path.startswith("~") and len(path) < 4096


def _host(url: object) -> str | None:
    """The host of a plain address; None for one that a browser and we could read differently."""
    if not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        return None
    try:
        split = urlsplit(url)
        port = split.port
    except ValueError:
        return None
    if split.scheme not in ("http", "https") or "@" in split.netloc or port not in (None, 80, 443):
        return None
    return split.hostname


def _object(raw: msgspec.Raw) -> dict[str, object]:
    try:
        return msgspec.json.decode(raw, type=dict[str, object])
    except msgspec.MsgspecError:  # not an object: there is nothing to compare
        return {}


def _argv(value: object) -> Argv | None:
    if not isinstance(value, list) or not value:
        return None
    words = [one for one in cast(list[object], value) if isinstance(one, str)]
    return tuple(words) if len(words) == len(cast(list[object], value)) else None
