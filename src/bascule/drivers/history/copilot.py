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
        kind, told = text(line, "type"), mapping(line, "data")
        if kind is None:
            return "no record of Copilot"
        self.builder.moment(line.get("timestamp"))
        match kind:
            case "session.start" | "session.resume":
                self._begin(told)
            case "user.message":
                self._user(line, told)
            case "assistant.message":
                self._assistant(told)
            case "assistant.reasoning":
                self.builder.text(self._entry(told), "thinking", text(told, "content") or "")
            case "tool.execution_start":
                tool = text(told, "toolName") or "tool"
                self._call(text(told, "toolCallId") or "", tool, mapping(told, "arguments"), told)
            case "tool.execution_complete":
                self._complete(told)
            case "session.model_change":
                self.builder.history.model = text(told, "newModel") or self.builder.history.model
            case "session.title_changed":
                self.builder.title(text(told, "title") or "")
            case "session.error":
                self.builder.end_turn("error", message=text(told, "message"))
            case "abort":
                self.builder.end_turn("interrupted")
            case "session.idle" | "session.shutdown":
                self.builder.end_turn("end_turn")
            case _:
                if kind in NOTES:
                    self.builder.put(Note("compacted", NOTES[kind]))
        return None

    def _begin(self, told: JsonObject) -> None:
        history = self.builder.history
        history.agent_session_id = history.agent_session_id or name(told.get("sessionId"))
        history.cwd = history.cwd or place(mapping(told, "context").get("cwd"))
        history.version = text(told, "copilotVersion") or history.version
        history.model = text(told, "selectedModel") or history.model

    def _user(self, line: JsonObject, told: JsonObject) -> None:
        """Add a prompt: `content` is what the person typed, `transformedContent` what the model got."""
        source = text(told, "source")
        if source is None or source == "user":
            prompt_id = text(told, "messageId") or text(line, "id") or ""
            self.builder.prompt(prompt_id, text(told, "content") or "")

    def _assistant(self, told: JsonObject) -> None:
        parent = text(told, "parentToolCallId")
        self.builder.history.model = text(told, "model") or self.builder.history.model
        self.builder.text(self._entry(told) + ":t", "thinking", text(told, "reasoningText") or "", parent)
        self.builder.text(self._entry(told), "assistant", text(told, "content") or "", parent)
        for call in objects(told, "toolRequests"):
            tool = text(call, "name") or "tool"
            self._call(text(call, "toolCallId") or "", tool, mapping(call, "arguments"), told)

    def _entry(self, told: JsonObject) -> str:
        message_id = text(told, "messageId") or text(told, "reasoningId") or "m"
        return f"{message_id}:{len(self.builder.history.events)}"

    def _call(self, call_id: str, tool: str, given: JsonObject, told: JsonObject) -> None:
        about = (
            text(given, "command") or text(given, "path") or text(given, "pattern") or text(given, "query")
        )
        if KINDS.get(tool) == "edit" and about:
            about = f"{'Write' if tool == 'create' else 'Edit'} {about}"
        title = about or text(given, "description") or text(told, "toolTitle") or tool
        self.builder.tool(
            call_id, tool, title, KINDS.get(tool, "other"), given, text(told, "parentToolCallId")
        )

    def _complete(self, told: JsonObject) -> None:
        result = mapping(told, "result")
        said = text(result, "content") or text(mapping(told, "error"), "message") or ""
        diff = text(result, "detailedContent") or ""
        done = true(told, "success")
        code = text(mapping(told, "error"), "code")
        status = "done" if done else "denied" if code in ("denied", "rejected") else "failed"
        self.builder.result(text(told, "toolCallId") or "", status, said, _diffs(diff) if done else ())


def _diffs(patch: str) -> tuple[Diff, ...]:
    """The diff of an edit, which comes as a git diff of one file."""
    if not patch.lstrip().startswith("diff --git ") or "\n@@" not in patch:
        return ()
    for line in patch.splitlines():
        if line.startswith("+++ b/"):
            return (counted(f"/{line.removeprefix('+++ b/').lstrip('/')}", patch),)
    return ()
