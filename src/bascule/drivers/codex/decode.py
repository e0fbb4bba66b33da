"""Decodes one line of Codex's output into events. Lines it does not understand are kept."""

import zlib

from msgspec import UNSET, Raw

from bascule.drivers.base import STOPPED_BY_ITSELF
from bascule.drivers.codex.conversation_list import Threads
from bascule.drivers.codex.handshake import CodexHandshake
from bascule.drivers.codex.items import Items
from bascule.drivers.codex.requests import CodexRequests
from bascule.drivers.codex.state import MAX_WARNINGS, Asked, DriverState
from bascule.drivers.event_buffer import EventBuffer
from bascule.drivers.jsonrpc import message as rpc
from bascule.drivers.lenient import MAX_ID, JsonObject, loosely, mapping, objects, text, true, whole, words
from bascule.model.event_values import StopReason, Usage
from bascule.model.events import (
    ModelChanged,
    Note,
    PlanChanged,
    PlanItem,
    TitleChanged,
    TurnEnded,
    UsageChanged,
)

_STOPS: dict[str, StopReason] = {"completed": "end_turn", "interrupted": "interrupted", "failed": "error"}
# Meant for other kinds of clients, or reported better by other messages.
_SILENT = frozenset(
    {
        "thread/started",
        "thread/status/changed",
        "thread/readState/changed",
        "thread/goal/cleared",
        "thread/goal/updated",
        "thread/closed",
        "turn/diff/updated",
        "item/fileChange/outputDelta",
        "item/fileChange/patchUpdated",
        "item/reasoning/textDelta",
        "account/rateLimits/updated",
        "account/updated",
        "remoteControl/status/changed",
        "mcpServer/startupStatus/updated",
        "skills/changed",
        "app/list/updated",
        "fs/changed",
        "deprecationNotice",
        "thread/archived",
        "thread/deleted",
        "thread/unarchived",
        "thread/reverted",
        "thread/attachment/updated",
        "thread/prediction/updated",
        "thread/queue/changed",
        "thread/project/updated",
        "thread/settings/updated",
        "thread/environment/connected",
        "thread/environment/disconnected",
        "project/changed",
        "hook/started",
        "item/autoApprovalReview/started",
        "item/commandExecution/terminalInteraction",
        "item/mcpToolCall/progress",
        "mcpServer/oauthLogin/completed",
        "mcpServer/event/stream/notification",
        "model/verification",
        "model/safetyBuffering/updated",
        "modelProvider/authRecoveryStarted",
        "modelProvider/authRecoveryCompleted",
        "turn/moderationMetadata",
    }
)
_SILENT_KINDS = (
    "account/",
    "command/exec/",
    "externalAgentConfig/",
    "fuzzyFileSearch/",
    "process/",
    "thread/realtime/",
)


class Decoder:
    def __init__(
        self,
        state: DriverState,
        out: EventBuffer,
        handshake: CodexHandshake,
        requests: CodexRequests,
        items: Items,
        threads: Threads,
    ) -> None:
        self._state = state
        self._out = out
        self._handshake = handshake
        self._requests = requests
        self._items = items
        self._threads = threads

    def line(self, line: bytes) -> str | None:
        """Decode one message. Returns what about it was not understood."""
        message = rpc.read(line)
        if message.method is UNSET:
            return self._answer(message)
        params = loosely(message.params)
        thread = text(params, "threadId")
        if thread is not None and self._state.thread_id is not None and thread != self._state.thread_id:
            return self._beside(message, params)
        if message.id is not UNSET:
            return self._requests.request(message.id, message.method, message.params)
        return self._notification(message.method, message.params, params)

    def _beside(self, message: rpc.Message, params: JsonObject) -> str | None:
        """A message of a sub-agent, which has its own thread: show its tools and requests, not its text."""
        if message.method is UNSET:
            return None
        if message.id is not UNSET:
            return self._requests.request(message.id, message.method, message.params, beside=True)
        match message.method:
            case "item/started":
                return self._items.begin(rpc.item_in(message.params), beside=True)
            case "item/completed":
                return self._items.complete(rpc.item_in(message.params), beside=True)
            case "item/commandExecution/outputDelta":
                self._items.printed((text(params, "itemId") or "")[:256], text(params, "delta") or "")
            case "serverRequest/resolved":
                self._requests.resolved(rpc.request_id_in(message.params))
            case _:
                pass
        return None

    def finish(self) -> None:
        self._items.end_all("The agent went before this tool reported back.")

    def _answer(self, message: rpc.Message) -> str | None:
        number = rpc.our_id(message.id) if message.id is not UNSET else None
        asked = self._state.pending.pop(number, None) if number is not None else None
        if asked is None:
            return "an answer to nothing that was asked"
        if message.error is not UNSET:
            error = loosely(message.error)
            reason = words(error, "message", 2000) or f"error {error.get('code')!r:.40}"
            self._refused(asked, reason)
        else:
            self._answered(asked, loosely(message.result) if message.result is not UNSET else {})
        return None

    def _answered(self, asked: Asked, answer: JsonObject) -> None:
        if asked == "list":
            self._threads.answered(answer)
        else:
            self._handshake.answered(asked, answer)

    def _refused(self, asked: Asked, message: str) -> None:
        if asked == "list":
            self._threads.refused(message)
        else:
            self._handshake.refused(asked, message)

    def _notification(self, method: str, raw: Raw, params: JsonObject) -> str | None:
        item_id = (text(params, "itemId") or "")[:256]
        match method:
            case "item/agentMessage/delta" | "item/plan/delta":
                self._items.say(item_id, "assistant", text(params, "delta") or "")
            case "item/reasoning/summaryTextDelta":
                self._items.say(item_id, "thinking", text(params, "delta") or "")
            case "item/reasoning/summaryPartAdded":
                self._items.next_part(item_id)
            case "item/commandExecution/outputDelta":
                self._items.printed(item_id, text(params, "delta") or "")
            case "item/started":
                return self._items.begin(rpc.item_in(raw))
            case "item/completed":
                return self._items.complete(rpc.item_in(raw))
            case "serverRequest/resolved":
                self._requests.resolved(rpc.request_id_in(raw))
            case "turn/started":
                self._handshake.turn_named(text(mapping(params, "turn"), "id"))
            case "turn/completed":
                self._turn_ended(mapping(params, "turn"))
            case "turn/plan/updated":
                self._plan(params)
            case "thread/tokenUsage/updated":
                self._usage(mapping(params, "tokenUsage"))
            case "thread/name/updated":
                self._title(words(params, "threadName", 200) or words(params, "name", 200))
            case "thread/compacted":
                self._out.put(Note("compacted", "The conversation was summarised."))
            case "error":
                self._error(params)
            case "model/rerouted":
                other, own = words(params, "toModel", 200), words(params, "fromModel", 200)
                self._warn("model_rerouted", f"The model {other} answers instead of {own}.")
            case "hook/completed":
                self._hook(mapping(params, "run"))
            case "item/autoApprovalReview/completed":
                self._reviewed(mapping(params, "review"))
            case "warning" | "configWarning" | "guardianWarning":
                self._warn(method, words(params, "message", 2000) or words(params, "summary", 2000))
            case _ if method in _SILENT or method.startswith(_SILENT_KINDS):
                pass
            case _:
                return f"unknown notification {method[:80]!r}"
        return None

    def _turn_ended(self, turn: JsonObject) -> None:
        state = self._state
        status = text(turn, "status") or ""
        self._requests.forget_open("interrupted" if status == "interrupted" else "agent")
        self._items.end_all("The turn ended before this tool reported back.", beside=status == "interrupted")
        reason = _STOPS.get(status, "other")
        message = words(mapping(turn, "error"), "message") if reason == "error" else None
        if reason == "interrupted" and not state.stopped:
            reason, message = "other", STOPPED_BY_ITSELF
        if reason == "end_turn" and state.tried and state.tried == state.trying:
            state.model, state.trying = state.trying, ""
            self._out.put(ModelChanged(state.model))
        usage = Usage(*state.usage) if any(state.usage) else None
        took, turn_id = whole(turn, "durationMs"), words(turn, "id", MAX_ID) or None
        self._out.put(TurnEnded(reason, usage, None, took, message, turn_id))
        state.usage = (0, 0, 0, 0)
        self._handshake.turn_over()

    def _usage(self, usage: JsonObject) -> None:
        state, last = self._state, mapping(usage, "last")
        if state.turning:
            keys = ("inputTokens", "outputTokens", "cachedInputTokens", "cacheWriteInputTokens")
            before = zip(state.usage, keys, strict=True)
            state.usage = tuple(so_far + (whole(last, key) or 0) for so_far, key in before)
        used, size = whole(last, "totalTokens"), whole(usage, "modelContextWindow") or state.size
        if (used, size) != (state.used, state.size):
            state.used, state.size = used, size
            self._out.put(UsageChanged(used, size))

    def _plan(self, params: JsonObject) -> None:
        entries: list[PlanItem] = []
        for step in objects(params, "plan")[:200]:
            match text(step, "status"):
                case "inProgress" | "in_progress":
                    entries.append(PlanItem(words(step, "step", 1200), "in_progress"))
                case "completed":
                    entries.append(PlanItem(words(step, "step", 1200), "completed"))
                case _:
                    entries.append(PlanItem(words(step, "step", 1200)))
        self._out.put(PlanChanged(tuple(entries)))

    def _title(self, title: str) -> None:
        if title and title != self._state.title:
            self._state.title = title
            self._out.put(TitleChanged(title))

    def _error(self, params: JsonObject) -> None:
        """Note an error that is retried; one that ends the turn comes with `turn/completed`."""
        if true(params, "willRetry"):
            message = words(mapping(params, "error"), "message", 2000)
            self._out.put(
                Note("api_retry", f"The model's API failed ({message}); the agent tries again.", "warning")
            )

    def _hook(self, run: JsonObject) -> None:
        """Note that a hook ran: a command of a settings file, run without permission."""
        name = words(run, "eventName", 80) or "a hook"
        status = words(run, "status", 40)
        self._out.put(Note("hook", f"The agent ran a hook of its settings: {name} {status}".rstrip() + "."))

    def _reviewed(self, review: JsonObject) -> None:
        """Warn that a model decided a request: a managed setting may override that we want people asked."""
        verdict = words(review, "status", 40) or "decided"
        why = words(review, "rationale", 500)
        message = f"The agent's own reviewer decided about a request, and nobody was asked: {verdict}. {why}"
        self._out.put(Note("auto_review", message.rstrip(), "warning"))

    def _warn(self, code: str, message: str) -> None:
        mark = zlib.crc32(message.encode("utf-8", "replace"))
        if message and mark not in self._state.warned:
            self._state.warned = [*self._state.warned, mark][-MAX_WARNINGS:]
            self._out.put(Note(code, message, "warning"))
