"""Reads Copilot's events file: NDJSON of named events."""

from collections.abc import Callable, Iterable

from bascule.drivers.history.builder import History, HistoryBuilder, name, place, read_lines
from bascule.drivers.lenient import JsonObject, mapping, objects, text, true
from bascule.drivers.patch import counted
from bascule.model.events import Diff, Note, ToolKind

KINDS: dict[str, ToolKind] = {
    "bash": "execute",
    "write_bash": "execute",
    "read_bash": "execute",
    "stop_bash": "execute",
    "create": "edit",
    "edit": "edit",
    "str_replace_editor": "edit",
    "apply_patch": "edit",
    "view": "read",
    "glob": "search",
    "grep": "search",
    "rg": "search",
    "web_search": "search",
    "web_fetch": "fetch",
    "task": "agent",
    "update_todo": "plan",
}
NOTES = {
    "session.compaction_complete": "What came before was summed up to save room.",
    "session.snapshot_rewind": "The conversation went back to an earlier point from here.",
}


def read(lines: Callable[[], Iterable[bytes]]) -> History:
    reader = _Reader()
    return read_lines(reader.builder, lines(), reader.understand)


class _Reader:
    def __init__(self) -> None:
        self.builder = HistoryBuilder()

    def understand(self, line: JsonObject) -> str | None:
        kind, data = text(line, "type"), mapping(line, "data")
        if kind is None:
            return "no record of Copilot"
        self.builder.moment(line.get("timestamp"))
        match kind:
            case "session.start" | "session.resume":
                self._begin(data)
            case "user.message":
                self._user(line, data)
            case "assistant.message":
                self._assistant(data)
            case "assistant.reasoning":
                self.builder.text(self._entry(data), "thinking", text(data, "content") or "")
            case "tool.execution_start":
                tool = text(data, "toolName") or "tool"
                self._call(text(data, "toolCallId") or "", tool, mapping(data, "arguments"), data)
            case "tool.execution_complete":
                self._complete(data)
            case "session.model_change":
                self.builder.history.model = text(data, "newModel") or self.builder.history.model
            case "session.title_changed":
                self.builder.title(text(data, "title") or "")
            case "session.error":
                self.builder.end_turn("error", message=text(data, "message"))
            case "abort":
                self.builder.end_turn("interrupted")
            case "session.idle" | "session.shutdown":
                self.builder.end_turn("end_turn")
            case _:
                if kind in NOTES:
                    self.builder.put(Note("compacted", NOTES[kind]))
        return None

    def _begin(self, data: JsonObject) -> None:
        history = self.builder.history
        history.agent_session_id = history.agent_session_id or name(data.get("sessionId"))
        history.cwd = history.cwd or place(mapping(data, "context").get("cwd"))
        history.version = text(data, "copilotVersion") or history.version
        history.model = text(data, "selectedModel") or history.model

    def _user(self, line: JsonObject, data: JsonObject) -> None:
        """Add a prompt: `content` is what the person typed, `transformedContent` what the model got."""
        source = text(data, "source")
        if source is None or source == "user":
            prompt_id = text(data, "messageId") or text(line, "id") or ""
            self.builder.prompt(prompt_id, text(data, "content") or "")

    def _assistant(self, data: JsonObject) -> None:
        parent = text(data, "parentToolCallId")
        self.builder.history.model = text(data, "model") or self.builder.history.model
        self.builder.text(self._entry(data) + ":t", "thinking", text(data, "reasoningText") or "", parent)
        self.builder.text(self._entry(data), "assistant", text(data, "content") or "", parent)
        for call in objects(data, "toolRequests"):
            tool = text(call, "name") or "tool"
            self._call(text(call, "toolCallId") or "", tool, mapping(call, "arguments"), data)

    def _entry(self, data: JsonObject) -> str:
        message_id = text(data, "messageId") or text(data, "reasoningId") or "m"
        return f"{message_id}:{len(self.builder.history.events)}"

    def _call(self, call_id: str, tool: str, given: JsonObject, data: JsonObject) -> None:
        about = (
            text(given, "command") or text(given, "path") or text(given, "pattern") or text(given, "query")
        )
        if KINDS.get(tool) == "edit" and about:
            about = f"{'Write' if tool == 'create' else 'Edit'} {about}"
        title = about or text(given, "description") or text(data, "toolTitle") or tool
        self.builder.tool(
            call_id, tool, title, KINDS.get(tool, "other"), given, text(data, "parentToolCallId")
        )

    def _complete(self, data: JsonObject) -> None:
        result = mapping(data, "result")
        said = text(result, "content") or text(mapping(data, "error"), "message") or ""
        diff = text(result, "detailedContent") or ""
        done = true(data, "success")
        code = text(mapping(data, "error"), "code")
        status = "done" if done else "denied" if code in ("denied", "rejected") else "failed"
        self.builder.result(text(data, "toolCallId") or "", status, said, _diffs(diff) if done else ())


def _diffs(patch: str) -> tuple[Diff, ...]:
    """The diff of an edit, which comes as a git diff of one file."""
    if not patch.lstrip().startswith("diff --git ") or "\n@@" not in patch:
        return ()
    for line in patch.splitlines():
        if line.startswith("+++ b/"):
            return (counted(f"/{line.removeprefix('+++ b/').lstrip('/')}", patch),)
    return ()
