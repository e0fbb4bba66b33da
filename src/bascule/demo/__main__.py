"""The demo agent, `python -I -m bascule.demo`: speaks stream-json from a script, with no model behind it."""

import argparse
import json
import queue
import signal
import sys
import threading
import time
import uuid
from typing import Any

from bascule.demo.scenes import play
from bascule.demo.stream_output import MODEL, VERSION, Wire
from bascule.demo.turn import Failed, Interrupted, Message, Shared, Turn

COMMANDS = [
    {"name": "tour", "description": "Show everything once (scripted demo)", "argumentHint": ""},
    {"name": "help", "description": "The words this demo understands", "argumentHint": ""},
]
MODELS = [{"value": MODEL, "displayName": "Demo", "description": "A scripted demo with no model"}]
MODES = ("default", "acceptEdits", "plan", "dontAsk", "auto")


class Agent:
    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.wire = shared.wire
        self.prompts: queue.Queue[Message | None] = queue.Queue()
        self.turns = 0
        self.cost = 0.0
        self.failed = False

    # stdin ------------------------------------------------------------------------------------------

    def read(self) -> None:
        for line in sys.stdin.buffer:
            text = line.decode("utf-8", "replace").strip()
            if text:
                self.wire.note({"stdin": text})
                self._hear(text)
        self.shared.closed.set()
        for answers in list(self.shared.waiting.values()):
            answers.put(
                {"behavior": "deny", "message": "The permission stream closed before an answer came."}
            )
        self.prompts.put(None)

    def _hear(self, text: str) -> None:
        try:
            message: Message = json.loads(text)
        except ValueError:
            sys.stderr.write(f"Error parsing streaming input line: {text[:200]}\n")
            sys.stderr.flush()
            self.prompts.put({"fatal": True})
            return
        match message.get("type"):
            case "user":
                self._lifecycle(message, "queued")
                self.prompts.put(message)
            case "control_request":
                self._control(message["request_id"], message.get("request") or {})
            case "control_response":
                response: Message = message.get("response") or {}
                waiting = self.shared.waiting.pop(str(response.get("request_id")), None)
                if waiting is not None:
                    failed = {"behavior": "deny", "message": f"Tool permission request failed: {response}"}
                    waiting.put(response.get("response") or failed)
            case _:
                pass

    def _control(self, request_id: str, request: Message) -> None:
        match request.get("subtype"):
            case "initialize":
                facts: Message = {"commands": COMMANDS, "agents": [], "models": MODELS}
                facts |= {"claude_code_version": f"{VERSION}-demo", "session_state": "idle"}
                self.wire.respond(request_id, facts | {"current_permission_mode": self.shared.mode})
            case "interrupt":
                self._interrupt(request_id)
            case "set_permission_mode" if request.get("mode") in MODES:
                self.wire.respond(request_id, {"mode": request["mode"]})
                self.shared.set_mode(request["mode"])
            case "set_model":
                self.shared.model = request.get("model") or MODEL
                self.wire.respond(request_id, {"model": self.shared.model})
            case other:
                self.wire.respond(request_id, error=f"Unsupported control request: {other}")

    def _interrupt(self, request_id: str) -> None:
        with self.shared.lock:
            if self.shared.running:
                self.shared.stop.set()
            waiting = dict(self.shared.waiting)
            self.shared.waiting.clear()
            for asked in waiting:
                self.wire.send({"type": "control_cancel_request", "request_id": asked})
            self.wire.respond(request_id, {"still_queued": []})
        for answers in waiting.values():
            answers.put(None)

    # Turns ------------------------------------------------------------------------------------------

    def run(self) -> int:
        while True:
            message = self.prompts.get()
            if message is None:
                return 1 if self.failed else 0
            if "fatal" in message:
                return 1
            self._turn(message)

    def _turn(self, message: Message) -> None:
        self.turns += 1
        self.shared.stop.clear()
        self.shared.running = True
        self._lifecycle(message, "started")
        self._init()
        turn = Turn(self.shared, self.turns)
        began = time.monotonic()
        outcome: Message
        try:
            play(turn, *_content(message), first=self.turns == 1)
            outcome = {"subtype": "success", "is_error": False, "result": "", "terminal_reason": "completed"}
        except Interrupted as stopped:
            note = " for tool use" if stopped.in_tool else ""
            self.wire.user([{"type": "text", "text": f"[Request interrupted by user{note}]"}])
            reason = "aborted_tools" if stopped.in_tool else "aborted_streaming"
            outcome = {"subtype": "error_during_execution", "is_error": True, "terminal_reason": reason}
        except Failed as failed:
            outcome = {"subtype": "success", "is_error": True, "result": str(failed)}
            outcome["terminal_reason"] = "api_error"
        self.shared.running = False
        self.failed = bool(outcome["is_error"])
        self._result(turn, outcome, began)
        self._lifecycle(message, "completed")

    def _init(self) -> None:
        self.wire.system(
            "init",
            cwd="/demo",
            tools=["Bash", "Write", "Edit", "Read", "AskUserQuestion", "ExitPlanMode", "TodoWrite"],
            mcp_servers=[],
            model=self.shared.model,
            permissionMode=self.shared.mode,
            slash_commands=[command["name"] for command in COMMANDS],
            apiKeySource="none",
            claude_code_version=f"{VERSION}-demo",
        )

    def _result(self, turn: Turn, outcome: Message, began: float) -> None:
        self.cost = round(self.cost + turn.tokens * 1e-6, 6)
        self.wire.send(
            {
                "duration_ms": int((time.monotonic() - began) * 1000),
                "num_turns": 1,
                "stop_reason": "end_turn",
                "session_id": self.wire.session_id,
                "total_cost_usd": self.cost,
                "usage": turn.usage(),
                "modelUsage": {self.shared.model: {"contextWindow": 200_000, "costUSD": self.cost}},
                "permission_denials": turn.denials,
                **outcome,
                "type": "result",
                "uuid": str(uuid.uuid4()),
            }
        )

    def _lifecycle(self, message: Message, state: str) -> None:
        if isinstance(message.get("uuid"), str):
            self.wire.send({"type": "command_lifecycle", "command_uuid": message["uuid"], "state": state})


def _content(message: Message) -> tuple[str, list[Message]]:
    said: Message = message.get("message") or {}
    content: Any = said.get("content")
    if isinstance(content, str):
        return content, []
    blocks: list[Message] = content or []
    text = "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
    return text, [block for block in blocks if block.get("type") == "image"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="bascule.demo", description="A scripted demo agent with no model.")
    parser.add_argument("--version", action="version", version=f"{VERSION} (Bascule demo agent, no model)")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--permission-mode", default="default")
    parser.add_argument("--resume", default=None)
    parser.add_argument("--fork-session", action="store_true")
    parser.add_argument("--resume-session-at", default=None)  # nothing to leave out: it remembers nothing
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    session_id = options.resume if options.resume and not options.fork_session else str(uuid.uuid4())
    agent = Agent(Shared(Wire(session_id), options.permission_mode, options.model))
    threading.Thread(target=agent.read, name="stdin", daemon=True).start()
    return agent.run()


if __name__ == "__main__":
    sys.exit(main())
