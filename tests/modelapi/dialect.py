"""Fits the script's tools to those an agent really offers: the same deed, other names and arguments."""

from __future__ import annotations

from typing import cast

from tests.modelapi.request import Tool
from tests.modelapi.script import MCP, WITHIN_SANDBOX, Call

NAMES = {
    "Bash": ("exec_command", "shell_command", "shell", "run_shell_command", "bash"),
    "Write": ("write_file", "write", "create", "exec_command", "shell_command", "shell"),
    "Read": ("read_file", "read", "view", "exec_command", "shell_command", "shell"),
    "WebFetch": ("web_fetch", "webfetch", "fetch"),
    "WebSearch": ("google_web_search", "web_search", "websearch"),
    "Task": ("Agent", "agent", "task", "invoke_agent", "multi_agent_v1.spawn_agent"),
}
ALIASES = {
    "command": ("command", "cmd"),
    "description": ("description",),
    "file_path": ("file_path", "path", "filePath", "absolute_path"),
    "content": ("content", "file_text"),
    "prompt": ("prompt", "message", "query", "objective"),
    "subagent_type": ("subagent_type", "agent_type", "agent_name"),
}
# What an agent calls the sub-agent that may do anything, by the name of its tool.
GENERAL = {"task": "general", "invoke_agent": "generalist"}
# Agents that tell the model of a tool only when it searches for it take a call to it all the same.
UNTOLD = {
    "ToolSearch": {"WebFetch": "WebFetch", "WebSearch": "WebSearch"},
    "tool_search": {"WebFetch": "web_fetch"},
}
# An agent in a sandbox asks only when the model wants to leave it; a call that is to stay in it says so.
ESCALATION = {"sandbox_permissions": "require_escalated", "with_escalated_permissions": True}
SHELLS = ("exec_command", "shell_command", "shell")
BLANKS: dict[str, object] = {"string": "scripted", "boolean": False, "number": 1, "integer": 1, "array": []}


def fit(call: Call, tools: list[Tool]) -> Call | None:
    """Return the call as this agent takes it, or nothing when it has no tool for the deed.

    A tool that the script calls by an agent's own name is called so, offered or not.
    """
    offered = {tool.name: tool for tool in tools}
    if call.tool in offered and call.tool not in GENERAL:
        return call
    if call.tool.startswith(MCP):
        return _mcp(call, offered)
    name = next((one for one in (call.tool, *NAMES.get(call.tool, ())) if one in offered), None)
    if name is None:
        untold = next(
            (known[call.tool] for one, known in UNTOLD.items() if one in offered and call.tool in known), None
        )
        if untold is not None:
            return Call(untold, call.arguments)
        return None if call.tool in NAMES else call
    if offered[name].hosted:
        return Call(name, call.arguments, hosted=True)
    if name in SHELLS and call.tool != "Bash":
        stays = WITHIN_SANDBOX if call.tool == "Read" else {}
        call = Call("Bash", {"command": _by_shell(call), "description": call.tool, **stays})
    return Call(name, _arguments(call.arguments, offered[name]))


def _mcp(call: Call, offered: dict[str, Tool]) -> Call | None:
    """A tool of an MCP server: every agent joins the two names in its own way."""
    server, tool = call.tool.removeprefix(MCP).split(" ")
    name = next((one for one in offered if server in one and one.endswith(tool)), None)
    if name is None and any(one in offered for one in UNTOLD):
        name = f"mcp__{server}__{tool}"
    return None if name is None else Call(name, call.arguments)


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
    for name in ALIASES["subagent_type"]:
        if name in fitted:
            kinds = known[name].get("enum")
            usual = GENERAL.get(tool.name, fitted[name])
            fitted[name] = fitted[name] if isinstance(kinds, list) and fitted[name] in kinds else usual
    for name, value in ESCALATION.items():
        if name in known and name not in given:
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
