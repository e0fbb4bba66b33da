"""Reads a request's subject, the same for every agent: its tool class, its command, its paths.

Lasting rules, rules of a session and the mode that allows reading all go by this reading and by nothing else
a request says. What it can't read to the last field is not exact, and what is not exact allows nothing.
"""

import json
import re
from typing import cast
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from bascule.model.events import PermissionRequested
from bascule.model.rules import ToolClass
from bascule.policy.call_fields import HOST_CALL, RUNS, SENDS, Call, only_known
from bascule.policy.file_calls import MAX_PATHS, collect, files_of, is_plain
from bascule.policy.shell import Argv, parts_of, quoted_script_in, script_in

MAX_SAID = 20_000
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
# An adapter's own tools for files; any other `mcp__` name is a tool from outside, whatever its label says.
_ADAPTER = "mcp__acp__"
# A dot at the end and an escaped letter name the same host in other words.
_HOST = re.compile(r"[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


class Subject(Struct, frozen=True):
    """The parsed subject of a request. `exact`: nothing of the request was left unread."""

    tool_class: ToolClass
    tool: str
    exact: bool = False
    parts: tuple[Argv, ...] | None = None  # plain commands; None when a shell could read them otherwise
    paths: tuple[str, ...] = ()
    # Of a search through whole folders, which are then `paths`: patterns of the files it looks at, if any.
    searches: tuple[str, ...] | None = None
    host: str | None = None
    cwd: str | None = None  # where the command says it runs, if it says so
    text: str = ""  # for people
    runs: bool = False  # it has a command in it, though it is not said to be one
    sends: bool = False  # it has an address or a query in it, though it is not said to fetch
    said: str | None = ""  # words in which a denied path or host may be mentioned; None: too many


def subject_of(asked: PermissionRequested) -> Subject | None:
    """None for what only a person may answer: plans, questions."""
    kind = _CLASSES.get(asked.kind)
    if kind is None:
        return None
    call, whole = _object(asked.input)
    subject = _read(kind, asked, call)
    if not whole or (is_from_outside(asked.tool) and subject.tool_class != "mcp"):
        subject = msgspec.structs.replace(subject, exact=False)
    return subject


def is_from_outside(tool: str) -> bool:
    """Whether the tool is an MCP server's, and not an adapter's own."""
    return tool.startswith("mcp__") and not tool.startswith(_ADAPTER)


def _read(kind: ToolClass, asked: PermissionRequested, call: Call) -> Subject:
    match kind:
        case "command":
            return _command(asked, call)
        case "read" if asked.kind == "search" and "query" in call and not {"path", "pattern"} & call.keys():
            runs = _has(call, RUNS)
            return Subject("fetch", asked.tool, text=asked.title, runs=runs, said=_said(call))  # of the web
        case "read" | "edit":
            paths, exact, searches = files_of(kind, asked, call)
            text = ", ".join(paths) or asked.title
            runs, sends = _has(call, RUNS), _has(call, SENDS)
            return Subject(kind, asked.tool, exact, None, paths, searches, text=text, runs=runs, sends=sends)
        case "fetch":
            exact, host, runs = only_known(call, "fetch"), _host(call.get("url")), _has(call, RUNS)
            return Subject(
                "fetch", asked.tool, exact, host=host, text=asked.title, runs=runs, said=_said(call)
            )
        case _:
            return _other(asked, call)


def _other(asked: PermissionRequested, call: Call) -> Subject:
    """A tool we know nothing of but its name. Without a name of its own it is any tool of its kind."""
    mcp = asked.kind == "other" and asked.tool.startswith("mcp__")
    found: list[str] = []
    collect(call, found, None)
    return Subject(
        "mcp" if mcp else "other",
        asked.tool,
        exact=asked.tool != asked.kind,
        paths=tuple(dict.fromkeys(found[:MAX_PATHS])),
        text=asked.tool if mcp else asked.title,
        runs=_has(call, RUNS),
        sends=_has(call, SENDS),
        said=_said(call),
    )


def _command(asked: PermissionRequested, call: Call) -> Subject:
    command = call.get("command", call.get("cmd"))
    parts: tuple[Argv, ...] | None = None
    shown = asked.title
    if isinstance(command, str):
        # An agent that shows its own shell around the command says so by giving the bare command as well.
        inner = quoted_script_in(command) if "commandActions" in call else None
        shown = command if inner is None else inner
        parts = parts_of(shown)
    elif (argv := _argv(command)) is not None:
        script = script_in(argv)
        shown = " ".join(argv) if script is None else script
        parts = (argv,) if script is None else parts_of(script)
    if _twice(call, "command", "cmd"):
        parts = None  # which of them runs is the agent's secret
    cwd = call.get("cwd", call.get("workdir"))
    return Subject(
        "command",
        asked.tool,
        exact=parts is not None and _says_only_what_we_read(asked, call),
        parts=parts,
        cwd=cwd if isinstance(cwd, str) else None,
        text=shown,
        said=f"{shown}\n{_said(call)}"[:MAX_SAID] if _twice(call, "command", "cmd") else shown[:MAX_SAID],
    )


def _says_only_what_we_read(asked: PermissionRequested, call: Call) -> bool:
    rest = (
        {key: value for key, value in call.items() if key != "call"} if _is_host_call(asked, call) else call
    )
    if not only_known(rest, "command"):
        return False
    if _twice(call, "cwd", "workdir") or _twice(call, "command", "cmd"):
        return False
    if call.get("environmentId", "local") != "local":
        return False
    folders = [call[one] for one in ("cwd", "workdir") if one in call]
    if not all(isinstance(folder, str) and (not folder or is_plain(folder)) for folder in folders):
        return False
    command = call.get("command", call.get("cmd"))
    return call.get("commands", [command]) == [command]


def _is_host_call(asked: PermissionRequested, call: Call) -> bool:
    """A command to be run by us: its line, which says all of it, beside the call it was made from."""
    made_from = call.get("call")
    if asked.tool != "terminal" or set(call) != {"command", "call"} or not isinstance(made_from, dict):
        return False
    return set(cast(Call, made_from)) <= HOST_CALL


def _twice(call: Call, one: str, other: str) -> bool:
    return call.get(one) is not None and call.get(other) is not None


def _has(call: Call, fields: frozenset[str]) -> bool:
    return any(call.get(field) is not None for field in fields)


def _said(value: object) -> str | None:
    """Every word of a call, to look for what is denied; None when there are too many."""
    pieces: list[str] = []
    waiting, size = [value], 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            pieces.append(one)
            size += len(one)
        elif isinstance(one, dict):
            waiting += cast(Call, one).values()
        elif isinstance(one, list):
            waiting += cast(list[object], one)
        if size > MAX_SAID or len(waiting) > MAX_SAID:
            return None
    return "\n".join(pieces)


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
    host = split.hostname or ""
    return host if _HOST.fullmatch(host) and not _odd_address(host) else None


def _odd_address(host: str) -> bool:
    """Numbers that some programs read as an address, though not written as one: `127.1`, `0x7f000001`."""
    if not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return False
    numbers = host.split(".")
    return len(numbers) != 4 or not all(number.isdigit() and str(int(number)) == number for number in numbers)


def _object(raw: msgspec.Raw) -> tuple[Call, bool]:
    """The call, and whether every reader reads it so: of a key that stands twice, some take the first."""
    repeated: list[str] = []

    def look(pairs: list[tuple[str, object]]) -> Call:
        seen = dict(pairs)
        if len(seen) != len(pairs):
            repeated.append("a key")
        return seen

    try:
        call = msgspec.json.decode(raw, type=dict[str, object])
        json.loads(bytes(raw), object_pairs_hook=look)
    except (msgspec.MsgspecError, ValueError, RecursionError):  # not an object, or beyond measure
        return {}, False
    return call, not repeated


def _argv(value: object) -> Argv | None:
    if not isinstance(value, list) or not value:
        return None
    words = [one for one in cast(list[object], value) if isinstance(one, str)]
    return tuple(words) if len(words) == len(cast(list[object], value)) else None
