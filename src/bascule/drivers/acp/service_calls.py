"""Services Bascule offers an agent (files, terminals), and how a call is shown for permission."""

import shlex

import msgspec
from msgspec import Raw, Struct

from bascule.drivers.lenient import JsonObject, clip, items, loosely, objects, text
from bascule.model.event_values import PermissionOption
from bascule.model.events import ToolKind

MAX_PARAMS = 16 * 1024 * 1024

# Each method, and the service an agent's file must list for it.
SERVICES = {
    "fs/read_text_file": "read",
    "fs/write_text_file": "write",
    "terminal/create": "terminal",
    "terminal/output": "terminal",
    "terminal/wait_for_exit": "terminal",
    "terminal/kill": "terminal",
    "terminal/release": "terminal",
}
OPTIONS = (
    PermissionOption("allow", "allow_once", "Allow", "only this call"),
    PermissionOption("deny", "deny", "Deny", "only this call"),
)


class HostCall(Struct, frozen=True):
    """A service call that is allowed and must be carried out."""

    call_id: str
    method: str
    params: Raw


class ServiceSubject(Struct, frozen=True):
    """A service call as a person or a rule judges it."""

    tool: str
    title: str
    kind: ToolKind
    judged: Raw


def subject_of(method: str, params: Raw, cwd: str) -> ServiceSubject | None:
    """What needs permission first; None for calls that change nothing."""
    fields = loosely(params)
    match method:
        case "fs/write_text_file":
            return ServiceSubject(
                "write_text_file", f"Write {clip(text(fields, 'path') or '?', 280)}", "edit", params
            )
        case "terminal/create":
            line = command_line(fields, cwd)
            judged = msgspec.json.encode({"command": line, "call": params})
            return ServiceSubject("terminal", clip(line, 300), "execute", Raw(judged))
        case _:
            return None


def command_line(fields: JsonObject, cwd: str) -> str:
    """The whole command as one would type it.

    A rule compares this text, so everything that changes what the command does is in it: its words, its
    variables, its folder. Without variables and in the session's own folder it is the plain command.
    """
    words = [text(fields, "command") or ""]
    words += [word if isinstance(word, str) else "?" for word in items(fields, "args")]
    line = shlex.join(words)
    for variable in reversed(objects(fields, "env")):
        line = f"{text(variable, 'name') or '?'}={shlex.quote(text(variable, 'value') or '')} {line}"
    folder = text(fields, "cwd")
    if folder is not None and folder.rstrip("/") != cwd.rstrip("/"):
        line = f"cd {shlex.quote(folder)} && {line}"
    return line


def offered(services: tuple[str, ...]) -> dict[str, object]:
    """The client capabilities for `initialize`: files and terminals only if the agent's file lists them."""
    return {
        "fs": {"readTextFile": "read" in services, "writeTextFile": "write" in services},
        "terminal": "terminal" in services,
        "elicitation": {"form": {}},
    }
