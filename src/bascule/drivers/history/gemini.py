"""Reads Gemini's chat file: NDJSON in which later lines replace messages or rewind to one."""

import re
from collections.abc import Callable, Iterable

from bascule.drivers.history.builder import History, HistoryBuilder, name, place, read_lines
from bascule.drivers.lenient import JsonObject, mapping, objects, text, whole
from bascule.drivers.patch import diff_of
from bascule.model.event_values import Usage
from bascule.model.events import Diff, Note, ToolKind, ToolStatus

KINDS: dict[str, ToolKind] = {
    "run_shell_command": "execute",
    "write_file": "edit",
    "replace": "edit",
    "read_file": "read",
    "read_many_files": "read",
    "list_directory": "read",
    "glob": "search",
    "search_file_content": "search",
    "grep_search": "search",
    "google_web_search": "search",
    "web_fetch": "fetch",
    "write_todos": "plan",
    "codebase_investigator": "agent",
}
STATUSES: dict[str, ToolStatus] = {"success": "done", "error": "failed", "cancelled": "denied"}
CONTEXT = "<session_context>"
FOLDER = re.compile(r"\*\*Workspace Directories:\*\*\s*\n\s*- (/[^\n]*)")


def read(lines: Callable[[], Iterable[bytes]]) -> History:
    """Read the file to its end first, because later lines replace earlier messages; then build the events."""
    chat = _Chat()
    gathered = read_lines(HistoryBuilder(), lines(), chat.take)
    reader = _Reader(chat)
    reader.tell()
    history = reader.builder.history
    history.skipped = gathered.skipped
    # Unrecognised lines have no place among the messages: put first, they never move the others.
    history.events[:0] = gathered.events
    return history


class _Chat:
    """The messages by id, in order, each in its last version."""

    def __init__(self) -> None:
        self.head: JsonObject = {}
        self.messages: dict[str, JsonObject] = {}

    def take(self, line: JsonObject) -> str | None:
        if isinstance(rewound := line.get("$rewindTo"), str):
            self._rewind(rewound)
        elif isinstance(line.get("$set"), dict):
            for message in objects(mapping(line, "$set"), "messages"):
                self._keep(message)
        elif isinstance(line.get("id"), str):
            self._keep(line)
        elif isinstance(line.get("sessionId"), str):
            self.head = {**self.head, **line}
            for message in objects(line, "messages"):
                self._keep(message)
        else:
            return "no record of Gemini"
        return None

    def _keep(self, message: JsonObject) -> None:
        if (message_id := text(message, "id")) is not None:
            self.messages[message_id] = message

    def _rewind(self, to: str) -> None:
        names = list(self.messages)
        for gone in names[names.index(to) if to in self.messages else 0 :]:
            del self.messages[gone]


class _Reader:
    def __init__(self, chat: _Chat) -> None:
        self.builder = HistoryBuilder()
        self._chat = chat

    def tell(self) -> None:
        history, head = self.builder.history, self._chat.head
        history.agent_session_id = name(head.get("sessionId"))
        history.aside = (text(head, "kind") or "main") != "main"
        self.builder.moment(head.get("startTime"))
        for message_id, message in self._chat.messages.items():
            self.builder.moment(message.get("timestamp"))
            match text(message, "type"):
                case "user":
                    self._user(message_id, message)
                case "gemini":
                    self._gemini(message_id, message)
                case "info" | "warning" | "error":
                    self.builder.put(Note("gemini", _words(message)[:4000]))
                case _:
                    pass

    def _user(self, message_id: str, message: JsonObject) -> None:
        said = _words(message)
        if said.lstrip().startswith(CONTEXT):
            found = FOLDER.search(said)
            self.builder.history.cwd = self.builder.history.cwd or place(found[1].strip() if found else "")
        elif not any("functionResponse" in part for part in objects(message, "content")):
            self.builder.prompt(message_id, said)

    def _gemini(self, message_id: str, message: JsonObject) -> None:
        self.builder.history.model = text(message, "model") or self.builder.history.model
        thoughts = [_thought(thought) for thought in objects(message, "thoughts")]
        self.builder.text(f"{message_id}:t", "thinking", "\n\n".join(filter(None, thoughts)))
        self.builder.text(f"{message_id}:s", "assistant", _words(message))
        calls = objects(message, "toolCalls")
        for n, call in enumerate(calls):
            self._call(text(call, "id") or f"{message_id}:{n}", call)
        if not calls and _words(message).strip():
            self.builder.end_turn("end_turn", usage=_usage(mapping(message, "tokens")))

    def _call(self, tool_id: str, call: JsonObject) -> None:
        tool, given = text(call, "name") or "tool", mapping(call, "args")
        title = text(call, "description") or text(given, "command") or text(given, "file_path") or tool
        if KINDS.get(tool) == "edit" and (path := text(given, "file_path")):
            title = f"Write {path}" if tool == "write_file" else f"Edit {path}"
        self.builder.tool(tool_id, tool, title, KINDS.get(tool, "other"), given)
        status = STATUSES.get(text(call, "status") or "")
        if status is not None:
            self.builder.moment(call.get("timestamp"))
            self.builder.result(tool_id, status, _output(call), _diffs(call))


def _words(message: JsonObject) -> str:
    said = text(message, "content")
    if said is not None:
        return said
    return "\n".join(text(part, "text") or "" for part in objects(message, "content"))


def _thought(thought: JsonObject) -> str:
    subject, more = text(thought, "subject"), text(thought, "description")
    return "\n".join(filter(None, (f"**{subject}**" if subject else "", more)))


def _output(call: JsonObject) -> str:
    shown = text(call, "resultDisplay")
    if shown is not None:
        return shown
    for result in objects(call, "result"):
        response = mapping(mapping(result, "functionResponse"), "response")
        if (said := text(response, "output") or text(response, "error")) is not None:
            return said
    return ""


def _diffs(call: JsonObject) -> tuple[Diff, ...]:
    shown = mapping(call, "resultDisplay")
    before, after = text(shown, "originalContent"), text(shown, "newContent")
    path = text(mapping(call, "args"), "file_path") or text(shown, "filePath") or text(shown, "fileName")
    if path is None or after is None:
        return ()
    return (diff_of(path, before or "", after),)


def _usage(counts: JsonObject) -> Usage | None:
    if not counts:
        return None
    cached = whole(counts, "cached") or 0
    return Usage((whole(counts, "input") or 0) - cached, whole(counts, "output") or 0, cached)
