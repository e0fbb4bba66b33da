"""Reads Codex's rollout file: NDJSON of model input and output (`response_item`) and events (`event_msg`)."""

from collections.abc import Callable, Iterable

from bascule.drivers.history.builder import History, HistoryBuilder, name, place, read_lines
from bascule.drivers.lenient import JsonObject, as_object, items, loosely, mapping, objects, text, whole
from bascule.drivers.patch import counted, diff_of, whole_file
from bascule.model.event_values import Usage
from bascule.model.events import Diff, Note, ToolKind, ToolStatus

MAX_DIFFS = 100
KINDS: dict[str, ToolKind] = {
    "exec_command": "execute",
    "shell": "execute",
    "shell_command": "execute",
    "local_shell_call": "execute",
    "write_stdin": "execute",
    "apply_patch": "edit",
    "web_search_call": "search",
    "view_image": "read",
    "update_plan": "plan",
    "spawn_agent": "agent",
}
CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call"})
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})


def read(lines: Callable[[], Iterable[bytes]]) -> History:
    reader = _Reader()
    return read_lines(reader.builder, lines(), reader.understand)


class _Reader:
    def __init__(self) -> None:
        self.builder = HistoryBuilder()
        self._prompt: tuple[str, str] | None = None  # turn and text of the last prompt
        self._turn = ""
        self._usage: Usage | None = None
        self._diffs: dict[str, tuple[Diff, ...]] = {}

    def understand(self, line: JsonObject) -> str | None:
        self.builder.moment(line.get("timestamp"))
        payload = mapping(line, "payload")
        match text(line, "type"):
            case "session_meta":
                self._begin(payload)
            case "turn_context":
                self._turn = text(payload, "turn_id") or self._turn
                self.builder.history.model = text(payload, "model") or self.builder.history.model
            case "response_item":
                self._item(payload)
            case "event_msg":
                self._happened(payload)
            case "compacted":
                self.builder.put(Note("compacted", "What came before was summed up to save room."))
            case None:
                return "no record of Codex"
            case _:
                pass
        return None

    def _begin(self, payload: JsonObject) -> None:
        history = self.builder.history
        if history.agent_session_id:
            return  # the record of the conversation this one was forked from
        history.agent_session_id = name(payload.get("id")) or name(payload.get("session_id"))
        history.cwd = place(payload.get("cwd"))
        history.version = text(payload, "cli_version")
        history.aside = (
            "subagent" in as_object(payload.get("source")) or text(payload, "thread_source") == "subagent"
        )

    def _item(self, payload: JsonObject) -> None:
        kind = text(payload, "type")
        if kind == "message" and text(payload, "role") == "assistant":
            said = "\n".join(text(part, "text") or "" for part in objects(payload, "content"))
            self.builder.text(self._entry(payload), "assistant", said)
        elif kind == "reasoning":
            parts = [text(part, "text") or "" for part in objects(payload, "summary")]
            self.builder.text(self._entry(payload), "thinking", "\n\n".join(parts))
        elif kind in CALLS:
            self._call(payload, kind)
        elif kind in OUTPUTS:
            self._output(payload)

    def _entry(self, payload: JsonObject) -> str:
        return f"{text(payload, 'id') or 'item'}:{len(self.builder.history.events)}"

    def _call(self, payload: JsonObject, kind: str) -> None:
        tool = text(payload, "name") or kind
        given = text(payload, "arguments")
        action = as_object(payload.get("action"))
        call = loosely(given.encode(errors="replace")) if given is not None else action
        if not call and (words := text(payload, "input")) is not None:
            call = as_object({"input": words})
        call_id = text(payload, "call_id") or text(payload, "id") or ""
        self.builder.tool(call_id, tool, _title(tool, call), KINDS.get(tool, "other"), call)
        if kind == "web_search_call":
            self.builder.result(call_id, "done")

    def _output(self, payload: JsonObject) -> None:
        given = payload.get("output")
        if isinstance(given, str):
            said, status = _unpacked(given)
        else:
            body = as_object(given)
            parts = objects(payload, "output") or objects(body, "content")
            said = text(body, "content") or "\n".join(text(part, "text") or "" for part in parts)
            status = "failed" if body.get("success") is False else "done"
        call_id = text(payload, "call_id") or ""
        self.builder.result(call_id, status, said, self._diffs.pop(call_id, ()))

    def _happened(self, payload: JsonObject) -> None:
        match text(payload, "type"):
            case "user_message":
                self._said(text(payload, "message") or "")
            case "item_completed":
                self._completed(mapping(payload, "item"))
            case "patch_apply_end":
                self._changed(text(payload, "call_id") or "", payload.get("changes"))
            case "token_count":
                self._usage = _usage(mapping(mapping(payload, "info"), "last_token_usage")) or self._usage
            case "task_complete":
                took = whole(payload, "duration_ms")
                self.builder.end_turn("end_turn", usage=self._usage, duration_ms=took)
            case "turn_aborted":
                self.builder.end_turn("interrupted", usage=self._usage)
            case "error":
                self.builder.end_turn("error", message=text(payload, "message"))
            case "thread_name_updated":
                self.builder.title(text(payload, "thread_name") or "")
            case "thread_rolled_back":
                self.builder.put(Note("rewound", "The conversation went back to an earlier point from here."))
            case "task_started":
                self._turn = text(payload, "turn_id") or self._turn
            case _:
                pass

    def _completed(self, item: JsonObject) -> None:
        match text(item, "type"):
            case "UserMessage":
                parts = objects(item, "content")
                self._said("\n".join(text(part, "text") or "" for part in parts))
            case "FileChange":
                self._changed(text(item, "id") or "", item.get("changes"))
            case _:
                pass

    def _said(self, words: str) -> None:
        """Add a prompt, once: some versions write it twice, as two kinds of record."""
        if self._prompt == (self._turn, words):
            return
        self._prompt = (self._turn, words)
        self.builder.prompt(f"p:{len(self.builder.history.events)}", words)

    def _changed(self, call_id: str, changes: object) -> None:
        found: list[Diff] = []
        for path, change in list(as_object(changes).items())[:MAX_DIFFS]:
            found += _diff(path, as_object(change))
        self._diffs[call_id] = tuple(found)
        if found and not self.builder.knows(call_id):
            title = f"Change {found[0].path}" + (f" and {len(found) - 1} more" if len(found) > 1 else "")
            self.builder.tool(call_id, "apply_patch", title, "edit", {})
            self.builder.result(call_id, "done", diffs=tuple(found))


def _title(tool: str, call: JsonObject) -> str:
    command = call.get("cmd") or call.get("command")
    if isinstance(command, list):
        words = [word for word in items(call, "command") if isinstance(word, str)]
        return words[2] if len(words) == 3 and words[1] in ("-lc", "-c") else " ".join(words)
    if isinstance(command, str):
        return command
    if tool == "apply_patch":
        for line in (text(call, "input") or "").splitlines():
            for mark in ("*** Update File: ", "*** Add File: ", "*** Delete File: "):
                if line.startswith(mark):
                    return f"Change {line.removeprefix(mark)}"
        return "Change files"
    return text(call, "query") or text(call, "path") or tool


def _unpacked(output: str) -> tuple[str, ToolStatus]:
    """A command's output and status, without the frame the model reads it in."""
    if output.startswith("{"):
        unpacked = loosely(output.encode(errors="replace"))
        if (printed := text(unpacked, "output")) is not None:
            code = whole(mapping(unpacked, "metadata"), "exit_code")
            return printed, "failed" if code else "done"
    head, mark, printed = output.partition("\nOutput:\n")
    if mark and head.startswith(("Chunk ID: ", "Exit code: ", "Wall time: ")):
        lines = head.splitlines()
        failed = any(_code(line) not in (None, "0") for line in lines)
        return printed, "failed" if failed else "done"
    return output, "done"


def _code(line: str) -> str | None:
    for mark in ("Process exited with code ", "Exit code: "):
        if line.startswith(mark):
            return line.removeprefix(mark).strip()
    return None


def _diff(path: str, change: JsonObject) -> list[Diff]:
    kind = text(change, "type")
    content, patch = text(change, "content"), text(change, "unified_diff")
    if kind == "add" and content is not None:
        return [whole_file(path, content)]
    if kind == "delete" and content is not None:
        return [diff_of(path, content, "")]
    return [counted(path, patch)] if patch is not None else []


def _usage(counts: JsonObject) -> Usage | None:
    if not counts:
        return None
    cached = whole(counts, "cached_input_tokens") or 0
    return Usage((whole(counts, "input_tokens") or 0) - cached, whole(counts, "output_tokens") or 0, cached)
