"""Fits the script's tools to those an agent really offers: the same deed, other names and arguments."""

from __future__ import annotations

from typing import cast

from tests.modelapi.request import Tool
from tests.modelapi.script import Call

NAMES = {
    "Bash": ("exec_command", "shell_command", "shell", "run_shell_command", "bash"),
    "Write": ("write_file", "write", "create", "exec_command", "shell_command", "shell"),
    "Read": ("read_file", "read", "view", "exec_command", "shell_command", "shell"),
}
ALIASES = {
    "command": ("command", "cmd"),
    "description": ("description",),
    "file_path": ("file_path", "path", "filePath", "absolute_path"),
    "content": ("content", "file_text"),
}
# An agent in a sandbox asks only when the model wants to leave it.
ESCALATION = {"sandbox_permissions": "require_escalated", "with_escalated_permissions": True}
SHELLS = ("exec_command", "shell_command", "shell")
BLANKS: dict[str, object] = {"string": "scripted", "boolean": False, "number": 1, "integer": 1, "array": []}


def fit(call: Call, tools: list[Tool]) -> Call:
    """Return the call as this agent takes it, or as it is when the agent knows the tool by that name."""
    offered = {tool.name: tool for tool in tools}
    if call.tool in offered:
        return call
    name = next((one for one in NAMES.get(call.tool, ()) if one in offered), None)
    if name is None:
        return call
    if name in SHELLS and call.tool != "Bash":
        call = Call("Bash", {"command": _by_shell(call), "description": call.tool})
    return Call(name, _arguments(call.arguments, offered[name]))


def in_words(call: Call) -> str:
    """Return the deed as a text that an agent without tools acts upon."""
    if call.tool == "Write":
        return f"Like this:\n\n{call.arguments['file_path']}\n```\n{call.arguments['content']}\n```\n"
    return f"Run this:\n\n```bash\n{call.arguments.get('command', '')}\n```\n"


def _arguments(given: dict[str, object], tool: Tool) -> dict[str, object]:
    schema = tool.input_schema
    known = cast("dict[str, dict[str, object]]", schema.get("properties", {}))
    fitted: dict[str, object] = {}
    for key, value in given.items():
        name = next((one for one in ALIASES.get(key, (key,)) if one in known), None)
        if name is not None:
            is_list = known[name].get("type") == "array"
            fitted[name] = ["bash", "-lc", value] if is_list else value
    for name, value in ESCALATION.items():
        if name in known:
            fitted[name] = value
            fitted["justification"] = f"May I run this? {given.get('description', '')}"
    for name in cast("list[str]", schema.get("required", [])):
        fitted.setdefault(name, _blank(known.get(name, {})))
    return fitted


def _blank(schema: dict[str, object]) -> object:
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return cast("list[object]", choices)[0]
    return BLANKS.get(str(schema.get("type")), "scripted")


def _by_shell(call: Call) -> str:
    """A deed for which the agent has no tool of its own, as a command; a new file as the patch it knows."""
    path = str(call.arguments["file_path"])
    if call.tool == "Read":
        return f"cat {path}"
    lines = "".join(f"+{line}\n" for line in str(call.arguments["content"]).splitlines())
    return f"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\nEOF"
