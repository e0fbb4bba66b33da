"""Reads opencode's database rows: a session, its messages and their parts, as JSON."""

from collections.abc import Iterable

from msgspec import Struct

from bascule.drivers.history.builder import History, HistoryBuilder, name, place
from bascule.drivers.lenient import JsonObject, as_object, loosely, mapping, number, text, whole
from bascule.drivers.patch import counted
from bascule.model.event_values import Usage
from bascule.model.events import Diff, Note, ToolKind, ToolStatus

KINDS: dict[str, ToolKind] = {
    "bash": "execute",
    "write": "edit",
    "edit": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "read": "read",
    "list": "read",
    "glob": "search",
    "grep": "search",
    "websearch": "search",
    "webfetch": "fetch",
    "task": "agent",
    "todowrite": "plan",
}
STATUSES: dict[str, ToolStatus] = {"completed": "done", "error": "failed"}


class Row(Struct, frozen=True):
    """A message with its parts, in order."""

    message_id: str
    created: int
    data: bytes
    parts: tuple[tuple[str, bytes], ...] = ()


class Session(Struct, frozen=True):
    session_id: str
    directory: str
    title: str
    version: str
    created: int
    parent: str | None = None


def read(session: Session, rows: Iterable[Row]) -> History:
    reader = _Reader(session)
    for row in rows:
        if not reader.take(row):
            break  # an unfinished answer is read when it is complete
    return reader.builder.history


class _Reader:
    def __init__(self, session: Session) -> None:
        self.builder = builder = HistoryBuilder()
        self._cost = 0.0
        builder.moment(session.created)
        builder.history.agent_session_id = name(session.session_id)
        builder.history.cwd = place(session.directory)
        builder.history.version = session.version or None
        builder.history.aside = session.parent is not None
        if session.title and not session.title.startswith("New session"):
            builder.title(session.title)

    def take(self, row: Row) -> bool:
        message = loosely(row.data)
        if not message:
            self.builder.unrecognised(row.data, "not JSON")
            return True
        self.builder.moment(row.created)
        if text(message, "role") == "user":
            self._user(row)
            return True
        if text(message, "role") != "assistant":
            self.builder.unrecognised(row.data, "a message of nobody")
            return True
        if mapping(message, "time").get("completed") is None and not mapping(message, "error"):
            return False
        self._assistant(row, message)
        return True

    def _user(self, row: Row) -> None:
        said: list[str] = []
        for _, data in row.parts:
            part = loosely(data)
            if text(part, "type") == "text" and part.get("synthetic") is not True:
                said.append(text(part, "text") or "")
        self.builder.prompt(row.message_id, "\n".join(said))

    def _assistant(self, row: Row, message: JsonObject) -> None:
        model, provider = text(message, "modelID"), text(message, "providerID")
        if model:  # with its provider, as opencode wants it back
            self.builder.history.model = f"{provider}/{model}" if provider else model
        for part_id, data in row.parts:
            self._part(part_id, loosely(data))
        self._cost += number(message, "cost") or 0.0
        self.builder.cost(self._cost)
        failed = mapping(message, "error")
        if failed:
            aborted = text(failed, "name") == "MessageAbortedError"
            why = text(mapping(failed, "data"), "message")
            self.builder.end_turn("interrupted" if aborted else "error", message=why, cost=self._paid)
        elif text(message, "finish") not in (None, "tool-calls"):
            self.builder.moment(mapping(message, "time").get("completed"))
            self.builder.end_turn("end_turn", usage=_usage(mapping(message, "tokens")), cost=self._paid)

    @property
    def _paid(self) -> float | None:
        return self._cost or None

    def _part(self, part_id: str, part: JsonObject) -> None:
        match text(part, "type"):
            case "text" if part.get("synthetic") is not True:
                self.builder.text(part_id, "assistant", text(part, "text") or "")
            case "reasoning":
                self.builder.text(part_id, "thinking", text(part, "text") or "")
            case "tool":
                self._tool(part_id, part)
            case "compaction":
                self.builder.put(Note("compacted", "What came before was summed up to save room."))
            case _:
                pass

    def _tool(self, part_id: str, part: JsonObject) -> None:
        state, tool = mapping(part, "state"), text(part, "tool") or "tool"
        given = mapping(state, "input")
        about = text(given, "command") or text(given, "filePath") or text(state, "title")
        if KINDS.get(tool) == "edit" and about:
            about = f"{'Write' if tool == 'write' else 'Edit'} {about}"
        call_id = f"{part_id}:{text(part, 'callID') or ''}"
        self.builder.tool(call_id, tool, about or tool, KINDS.get(tool, "other"), given)
        status = STATUSES.get(text(state, "status") or "")
        if status is not None:
            said = text(state, "output") or text(state, "error") or ""
            self.builder.result(call_id, status, said, _diffs(state, given) if status == "done" else ())


def _diffs(state: JsonObject, given: JsonObject) -> tuple[Diff, ...]:
    patch, path = text(mapping(state, "metadata"), "diff"), text(given, "filePath")
    return (counted(path, patch),) if patch and path else ()


def _usage(counts: JsonObject) -> Usage | None:
    if not counts:
        return None
    cache = as_object(counts.get("cache"))
    return Usage(
        whole(counts, "input") or 0,
        whole(counts, "output") or 0,
        whole(cache, "read") or 0,
        whole(cache, "write") or 0,
    )
