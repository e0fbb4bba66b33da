"""Reads Claude Code's session file: append-only NDJSON, a tree of messages by `parentUuid`."""

from collections.abc import Callable, Iterable

from bascule.drivers.history.builder import History, HistoryBuilder, name, place, read_lines
from bascule.drivers.history.hook_messages import parse_hook_message
from bascule.drivers.lenient import JsonObject, as_object, mapping, number, objects, text, true, whole
from bascule.drivers.stream_json.tools import diffs_in, kind_of, locations_in, plan_in, title_of
from bascule.model.events import Image, Note, PlanChanged, ToolStatus

INTERRUPTED = "[Request interrupted by user"
# Beginnings of user messages that no person typed.
SYNTHETIC = ("<command-", "<local-command-", "<bash-", "<system-reminder>", "Caveat: ", "<task-notification>")
REJECTED = "The user doesn't want to proceed"


def read(lines: Callable[[], Iterable[bytes]]) -> History:
    """Read only the live branch: messages that a person rewound are not part of the conversation."""
    tree = _Tree()
    read_lines(HistoryBuilder(), lines(), tree.look)
    reader = _Reader(tree.alive())
    return read_lines(reader.builder, lines(), reader.understand)


class _Tree:
    """The tree of messages. The newest message is the leaf of the live branch.

    Results of parallel tool calls are siblings, so the path from the leaf misses some parts and results of a
    message; they belong to the branch if the message does.
    """

    def __init__(self) -> None:
        self._parents: dict[str, str | None] = {}
        self._messages: dict[str, str] = {}  # record -> message it is part of
        self._results: list[tuple[str, str | None]] = []
        self._leaf: str | None = None

    def look(self, line: JsonObject) -> str | None:
        uuid = text(line, "uuid")
        if uuid is None or true(line, "isSidechain"):
            return None
        # A compaction starts a new root; `logicalParentUuid` links it to what it replaced.
        self._parents[uuid] = text(line, "parentUuid") or text(line, "logicalParentUuid")
        if text(line, "type") in ("user", "assistant", "system"):
            self._leaf = uuid
        message = mapping(line, "message")
        if text(line, "type") == "assistant":
            self._messages[uuid] = text(message, "id") or uuid
        elif any(text(block, "type") == "tool_result" for block in objects(message, "content")):
            self._results.append((uuid, text(line, "parentUuid")))
        return None

    def alive(self) -> set[str]:
        branch: set[str] = set()
        at = self._leaf
        while at is not None and at not in branch:
            branch.add(at)
            at = self._parents.get(at)
        messages = {self._messages[uuid] for uuid in branch if uuid in self._messages}
        branch |= {uuid for uuid, message in self._messages.items() if message in messages}
        return branch | {uuid for uuid, parent in self._results if parent in branch}


class _Reader:
    def __init__(self, branch: set[str]) -> None:
        self.builder = HistoryBuilder()
        self._branch = branch
        self._parts = 0

    def understand(self, line: JsonObject) -> str | None:
        history = self.builder.history
        kind = text(line, "type")
        history.agent_session_id = history.agent_session_id or name(line.get("sessionId"))
        if kind in ("ai-title", "custom-title"):
            self.builder.title(text(line, "aiTitle") or text(line, "customTitle") or "")
            return None
        if kind == "cost-state":
            self.builder.cost(number(line, "totalCostUSD"))
            return None
        if kind is None:
            return "no record of Claude Code"
        if kind not in ("user", "assistant", "system"):
            return None  # the agent's own bookkeeping
        if true(line, "isSidechain") or text(line, "uuid") not in self._branch:
            return None
        self.builder.moment(line.get("timestamp"))
        history.cwd = history.cwd or place(line.get("cwd"))
        history.version = text(line, "version") or history.version
        match kind:
            case "user":
                self._user(line)
            case "assistant":
                self._assistant(line)
            case _:
                self._system(line)
        return None

    def _user(self, line: JsonObject) -> None:
        message = mapping(line, "message")
        said = text(message, "content")
        images: list[Image] = []
        words: list[str] = [said] if said is not None else []
        for block in objects(message, "content"):
            match text(block, "type"):
                case "tool_result":
                    self._result(block, as_object(line.get("toolUseResult")))
                case "text":
                    words.append(text(block, "text") or "")
                case "image":
                    images += _image(block)
                case _:
                    pass
        whole_text = "\n".join(words).strip()
        if whole_text.startswith(INTERRUPTED):
            self.builder.end_turn("interrupted")
        elif true(line, "isMeta") or whole_text.startswith(SYNTHETIC):
            self._handed(whole_text)
        elif true(line, "isCompactSummary"):
            self.builder.put(Note("compacted", "What came before was summed up to save room."))
        else:
            self.builder.prompt(text(line, "uuid") or "", whole_text, tuple(images))

    def _handed(self, said: str) -> None:
        """Text that a hook gave the agent: a message left in Bascule, or nothing of a person."""
        handed = parse_hook_message(said)
        if handed is not None:
            self.builder.prompt(handed.prompt_id, handed.text, by=handed.by, within=True)

    def _assistant(self, line: JsonObject) -> None:
        message = mapping(line, "message")
        model = text(message, "model")
        if model and not model.startswith("<"):
            self.builder.history.model = model
        for block in objects(message, "content"):
            self._parts += 1
            entry = f"{text(message, 'id') or 'm'}:{self._parts}"
            match text(block, "type"):
                case "text":
                    self.builder.text(entry, "assistant", text(block, "text") or "")
                case "thinking":
                    self.builder.text(entry, "thinking", text(block, "thinking") or "")
                case "tool_use" | "server_tool_use":
                    self._call(block)
                case _:
                    pass

    def _call(self, block: JsonObject) -> None:
        tool, call = text(block, "name") or "tool", mapping(block, "input")
        self.builder.tool(text(block, "id") or "", tool, title_of(tool, call), kind_of(tool), call)
        plan = plan_in(tool, call)
        if plan is not None:
            self.builder.put(PlanChanged(plan))

    def _result(self, block: JsonObject, outcome: JsonObject) -> None:
        parts = objects(block, "content")
        said = text(block, "content") or "\n".join(text(part, "text") or "" for part in parts)
        images = tuple(image for part in parts for image in _image(part))
        status: ToolStatus = "failed" if true(block, "is_error") else "done"
        if status == "failed" and said.startswith(REJECTED):
            status = "denied"
        diffs = diffs_in(outcome) if status == "done" else ()
        self.builder.result(
            text(block, "tool_use_id") or "", status, said, diffs, locations_in(outcome), images
        )

    def _system(self, line: JsonObject) -> None:
        match text(line, "subtype"):
            case "turn_duration":
                self.builder.end_turn("end_turn", duration_ms=whole(line, "durationMs"))
            case "compact_boundary":
                self.builder.put(Note("compacted", "What came before was summed up to save room."))
            case _:
                pass


def _image(block: JsonObject) -> list[Image]:
    source = mapping(block, "source")
    kind, data = text(source, "media_type"), text(source, "data")
    if text(block, "type") != "image" or not kind or not data or not kind.startswith("image/"):
        return []
    return [Image(kind, data)]
