"""One turn of the demo agent: text, thinking, tools and requests, interruptible at any piece."""

import json
import queue
import threading
import uuid
from collections.abc import Iterable
from typing import Any, NoReturn

from bascule.demo.stream_output import MODEL, Message, Wire

PIECE = 24
CLOSED: Message = {"behavior": "deny", "message": "The permission stream closed before an answer came."}
MAX_BLOCK = 1024 * 1024  # characters; a longer text goes on in another block, as a model's would


class Interrupted(Exception):
    """A user asked the turn to stop."""

    def __init__(self, *, in_tool: bool = False) -> None:
        super().__init__()
        self.in_tool = in_tool


class Failed(Exception):
    """The turn ends with an error on purpose."""


class Shared:
    """What the reader of stdin and the running turn both touch."""

    def __init__(self, wire: Wire, mode: str, model: str) -> None:
        self.wire = wire
        self.mode = mode
        self.model = model
        self.running = False
        self.lock = threading.Lock()  # a request is asked and taken back in that order, never the other
        self.stop = threading.Event()
        self.closed = threading.Event()
        self.waiting: dict[str, queue.Queue[Message | None]] = {}
        self.rules: set[str] = set()

    def set_mode(self, mode: str) -> None:
        if mode != self.mode:
            self.mode = mode
            self.wire.system("status", status=None, permissionMode=mode, uuid=str(uuid.uuid4()))


class Turn:
    def __init__(self, shared: Shared, number: int) -> None:
        self.shared = shared
        self.wire = shared.wire
        self.denials: list[Message] = []
        self.tokens = 0
        self._number = number
        self._messages = 0
        self._tools = 0

    # Saying -----------------------------------------------------------------------------------------

    def say(self, text: str, *, kind: str = "text", pause: float = 0.012) -> None:
        self.say_pieces((text[at : at + PIECE] for at in range(0, len(text), PIECE)), kind=kind, pause=pause)

    def think(self, text: str) -> None:
        self.say(text, kind="thinking")

    def say_pieces(self, pieces: Iterable[str], *, kind: str = "text", pause: float = 0.0) -> None:
        message_id = self._begin_message()
        said: list[str] = []
        size, index, begun = 0, 0, False
        try:
            for piece in pieces:
                if not begun:
                    self._begin_block(index, kind)
                    begun = True
                self.pause(pause)
                self._delta(index, kind, piece)
                said.append(piece)
                size += len(piece)
                if size > MAX_BLOCK:
                    self._end_block(message_id, index, kind, "".join(said))
                    said, size, index, begun = [], 0, index + 1, False
        except Interrupted:
            if begun:
                self._end_block(message_id, index, kind, "".join(said), aborted=True)
            self._end_message(None)
            raise
        if begun:
            self._end_block(message_id, index, kind, "".join(said))
        self._end_message("end_turn")

    def pause(self, seconds: float) -> None:
        stopped = self.shared.stop.wait(seconds) if seconds > 0 else self.shared.stop.is_set()
        if stopped:
            raise Interrupted

    def _begin_message(self) -> str:
        self._messages += 1
        self.pause(0)
        message_id = f"msg_demo_{self.wire.run_id}_{self._number}_{self._messages}"
        message: Message = {"id": message_id, "type": "message", "role": "assistant", "model": MODEL}
        message |= {"content": [], "usage": self.usage()}
        self.wire.event({"type": "message_start", "message": message})
        return message_id

    def _begin_block(self, index: int, kind: str) -> None:
        block: Message = {"type": kind, kind: ""}
        self.wire.event({"type": "content_block_start", "index": index, "content_block": block})

    def _delta(self, index: int, kind: str, piece: str) -> None:
        self.wire.note({"session": self.wire.session_id, "said": piece})  # before anybody can have read it
        # Built by hand: a flood is here to find out how fast others are, not this.
        self.wire.send_line(
            f'{{"type":"stream_event","event":{{"type":"content_block_delta","index":{index},'
            f'"delta":{{"type":"{kind}_delta","{kind}":{json.dumps(piece)}}}}},'
            f'"session_id":"{self.wire.session_id}","parent_tool_use_id":null}}'
        )
        self.tokens += 1

    def _end_block(self, message_id: str, index: int, kind: str, text: str, **extra: Any) -> None:
        self.wire.assistant(message_id, {"type": kind, kind: text}, self.usage(), **extra)
        self.wire.event({"type": "content_block_stop", "index": index})

    def _end_message(self, reason: str | None) -> None:
        delta = {"stop_reason": reason, "stop_sequence": None}
        self.wire.event({"type": "message_delta", "delta": delta, "usage": self.usage()})
        self.wire.event({"type": "message_stop"})

    def usage(self) -> Message:
        return {
            "input_tokens": 100 * self._number,
            "output_tokens": self.tokens,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
        }

    # Tools ------------------------------------------------------------------------------------------

    def start_tool(self, name: str, call: Message) -> str:
        self._tools += 1
        tool_id = f"toolu_demo_{self.wire.run_id}_{self._number}_{self._tools}"
        message_id = self._begin_message()
        block: Message = {"type": "tool_use", "id": tool_id, "name": name, "input": {}}
        self.wire.event({"type": "content_block_start", "index": 0, "content_block": block})
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call)}
        self.wire.event({"type": "content_block_delta", "index": 0, "delta": delta})
        self.wire.assistant(message_id, block | {"input": call}, self.usage())
        self.wire.event({"type": "content_block_stop", "index": 0})
        self._end_message("tool_use")
        return tool_id

    def finish_tool(self, tool_id: str, content: Any, outcome: Any = None, **meta: Any) -> None:
        failed = "non_execution_kind" in meta
        block: Message = {"type": "tool_result", "tool_use_id": tool_id, "content": content}
        if failed:
            block["is_error"] = True
        extra: Message = {"tool_use_result": outcome} if outcome is not None else {}
        self.wire.user([block], tool_result_meta=[{"id": tool_id, **meta}], **extra)

    def executed(self, name: str, call: Message) -> None:
        self.wire.note({"executed": name, "input": call})

    def allowed(self, tool_id: str, name: str, call: Message, **fields: Any) -> Message | None:
        """Ask, and wait as long as it takes. The input to use, or None when it was refused."""
        answer = self.ask(tool_id, name, call, **fields)
        if answer.get("behavior") == "allow":
            updates: list[Message] = answer.get("updatedPermissions") or []
            for update in updates:
                self._apply(update)
            return answer.get("updatedInput") or call
        self.denials.append({"tool_name": name, "tool_use_id": tool_id, "tool_input": call})
        why = str(answer.get("message") or "The permission result was invalid.")
        decision = {"decision": "reject", "source": "user_reject"}
        self.finish_tool(
            tool_id,
            why,
            f"Error: {why}",
            non_execution_kind="permission-rule",
            permission_decision=decision,
        )
        return None

    def ask(self, tool_id: str, name: str, call: Message, **fields: Any) -> Message:
        request_id = str(uuid.uuid4())
        answers: queue.Queue[Message | None] = queue.Queue()
        request: Message = {"subtype": "can_use_tool", "tool_name": name, "display_name": name, "input": call}
        request |= {"tool_use_id": tool_id, **fields}
        with self.shared.lock:
            if self.shared.stop.is_set():
                self._rejected(tool_id)
            self.shared.waiting[request_id] = answers
            self.wire.send({"type": "control_request", "request_id": request_id, "request": request})
        if self.shared.closed.is_set():
            answers.put(CLOSED)
        answer = answers.get()
        self.shared.waiting.pop(request_id, None)
        if answer is None:
            self._rejected(tool_id)
        return answer

    def _rejected(self, tool_id: str) -> NoReturn:
        why = "The user doesn't want to proceed with this tool use."
        self.finish_tool(tool_id, why, "User rejected tool use", non_execution_kind="user-rejected")
        raise Interrupted(in_tool=True)

    def _apply(self, update: Message) -> None:
        if update.get("type") == "setMode":
            self.shared.set_mode(str(update.get("mode")))
        rules: list[Message] = update.get("rules") or []
        for rule in rules:
            self.shared.rules.add(str(rule.get("ruleContent")))

    def work(self, tool_id: str, seconds: float) -> None:
        """Time a tool takes; stopped in the middle, it has failed."""
        try:
            self.pause(seconds)
        except Interrupted:
            self._rejected(tool_id)
