"""The known fields of tool calls. A call with an unknown field is not exact."""

from bascule.model.rules import ToolClass

Call = dict[str, object]  # a tool's input, as the agent gave it

# Of a command: they say nothing about what runs, apart from the command and its folder.
_COMMAND = frozenset(
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
        "question",  # as it was asked, beside the command it is about
    }
)
# Of reading: which part of the files that are named, and how it is shown.
_READ = frozenset(
    {
        "offset",
        "limit",
        "pages",
        "view_range",
        "start_line",
        "end_line",
        "line",
        "cell_id",
        "description",
        "pattern",
        "glob",
        "include",
        "type",
        "output_mode",
        "head_limit",
        "multiline",
        "context",
        "-A",
        "-B",
        "-C",
        "-n",
        "-i",
        "-o",
        "case_sensitive",
        "ignore",
        "exclude",
        "respect_git_ignore",
    }
)
# Of an edit: the change itself, which a rule about the path leaves open.
_EDIT = frozenset(
    {
        "content",
        "contents",
        "old_string",
        "new_string",
        "replace_all",
        "expected_replacements",
        "old_str",
        "new_str",
        "file_text",
        "insert_line",
        "edits",
        "cell_id",
        "cell_number",
        "cell_type",
        "edit_mode",
        "new_source",
        "diff",
        "changes",
        "kind",
        "type",
        "add",
        "update",
        "delete",
        "unified_diff",
        "description",
        "request",
        "threadId",
        "turnId",
        "itemId",
        "startedAtMs",
        "reason",
        "grantRoot",
        "sessionId",
    }
)
_FETCH = frozenset({"url", "prompt", "format", "timeout", "description"})
KNOWN: dict[ToolClass, frozenset[str]] = {
    "command": _COMMAND,
    "read": _READ,
    "edit": _EDIT,
    "fetch": _FETCH,
}
# An agent that sends no input describes the call instead; this is what such a description consists of.
DESCRIPTION = frozenset(
    {"toolCallId", "status", "title", "content", "locations", "kind", "rawInput", "_meta"}
)
# What our own driver adds to a command that an agent wants to have run for it: the call it was made from.
HOST_CALL = frozenset({"sessionId", "command", "args", "env", "cwd", "outputByteLimit", "_meta"})
# Fields that run something, or send something out, whatever the call is said to be.
RUNS = frozenset({"command", "commands", "cmd", "script", "argv", "shell_command"})
SENDS = frozenset({"url", "uri", "urls", "host", "query"})

_PATH_NAMES = frozenset({"paths", "file", "files", "filename", "source", "destination", "dir", "directory"})


def names_a_path(key: str) -> bool:
    name = key.lower().replace("_", "")
    return name.endswith("path") or name in _PATH_NAMES


def only_known(call: Call, tool_class: ToolClass) -> bool:
    """Whether every field that has a value is known."""
    known = KNOWN[tool_class]
    paths = tool_class in ("read", "edit")
    return all(value is None or key in known or (paths and names_a_path(key)) for key, value in call.items())
