"""A scripted ACP agent: text, tools with permission, a plan, a form, cancelling and loading. Stdlib only.

The first word of a prompt says what it does: `count N MS`, `run WORDS`, `plan`, `ask`, `fail`, `think
SECONDS` (in silence), `hang` (it reads nothing any more), `lonely` (it asks for something in no session's
name), `call METHOD JSON` (a service of the client), `want JSON` (asks leave for that tool call, and does
nothing), `unauthorised SECONDS` (its model refuses its key for so long, as Claude's adapter reports that),
`mute` (it ends the turn without a word). Of the scripted model's words, which the conformance scenes use, it
knows `::text WORDS` and `::error`. Anything else is echoed.

`--store DIR` keeps conversations, `--log FILE` every line it got, `--mode NAME` is the mode it starts in.
`--no-resume` leaves only `session/load` for coming back, `--no-load` leaves nothing, `--close` offers
`session/close` and `session/list`. It will not start while `--broken FILE` is there. `--deaf` answers
nothing, `--refuse` answers the first words with an error, `--no-session` opens none.
"""

import argparse
import json
import sys
import threading
import uuid
from pathlib import Path
from typing import Any

Message = dict[str, Any]

OPTIONS = [
    # In no useful order, so that nobody can choose by place.
    {"optionId": "yes-for-ever", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
]


class Agent:
    def __init__(self, flags: argparse.Namespace) -> None:
        self.flags = flags
        self.writing = threading.Lock()
        self.waiting: dict[int, tuple[threading.Event, list[Message]]] = {}
        self.next_id = 0
        self.cancelled: dict[str, threading.Event] = {}
        self.modes: dict[str, str] = {}
        self.hung = threading.Event()

    def send(self, **message: Any) -> None:
        with self.writing:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def update(self, session: str, name: str, /, **fields: Any) -> None:
        update = {"sessionUpdate": name, **fields}
        self.send(method="session/update", params={"sessionId": session, "update": update})

    def ask(self, method: str, **params: Any) -> Message:
        """A request to the client, and its answer."""
        with self.writing:
            number, self.next_id = self.next_id, self.next_id + 1
        came: list[Message] = []
        event = threading.Event()
        self.waiting[number] = (event, came)
        self.send(id=number, method=method, params=params)
        event.wait()
        return came[0]

    # What it is asked --------------------------------------------------------------------------------------

    def serve(self) -> None:
        for line in sys.stdin:
            if self.hung.is_set():
                threading.Event().wait()
            if self.flags.log:
                with open(self.flags.log, "a") as log:
                    log.write(line)
            message = json.loads(line)
            if self.flags.deaf:
                continue
            if "method" not in message:
                event, came = self.waiting.pop(message["id"])
                came.append(message["result"] if "result" in message else {"error": message.get("error")})
                event.set()
            else:
                self.hear(message)

    def hear(self, message: Message) -> None:
        params, number = message.get("params", {}), message.get("id")
        match message["method"]:
            case "initialize":
                can: Message = {"loadSession": True, "promptCapabilities": {"image": True}}
                can["sessionCapabilities"] = {} if self.flags.no_resume else {"resume": {}}
                if self.flags.no_load:
                    can["loadSession"], can["sessionCapabilities"] = False, {}
                if self.flags.close:
                    can["sessionCapabilities"] |= {"close": {}, "list": {}}
                if self.flags.refuse:
                    self.send(id=number, error={"code": -32603, "message": "no greeting today"})
                    return
                about = {"name": "scripted", "version": "1.2.3"}
                self.send(
                    id=number, result={"protocolVersion": 1, "agentCapabilities": can, "agentInfo": about}
                )
            case "session/list" if self.flags.close:
                known = sorted(Path(self.flags.store).iterdir())
                sessions = [{"sessionId": one.name, "cwd": params["cwd"], "title": one.name} for one in known]
                self.send(id=number, result={"sessions": sessions, "nextCursor": None})
            case "session/close":
                self.send(id=number, result={})
            case "session/new" if self.flags.no_session:
                self.send(id=number, error={"code": -32000, "message": "Authentication required"})
            case "session/new":
                self.open(number, str(uuid.uuid4()))
            case "session/load" | "session/resume" as method:
                self.come_back(number, params["sessionId"], replay=method == "session/load")
            case "session/set_mode":
                self.modes[params["sessionId"]] = params["modeId"]
                self.send(id=number, result={})
                self.update(params["sessionId"], "current_mode_update", currentModeId=params["modeId"])
            case "session/prompt":
                # The flag is new for each turn, and there before a cancel can be read.
                self.cancelled[params["sessionId"]] = threading.Event()
                threading.Thread(target=self.turn, args=(number, params), daemon=True).start()
            case "session/cancel":
                self.cancelled[params["sessionId"]].set()
            case other:
                if number is not None:
                    self.send(id=number, error={"code": -32601, "message": f"Method not found: {other}"})

    def open(self, number: int, session: str) -> None:
        self.modes[session] = self.flags.mode
        modes = {"currentModeId": self.flags.mode, "availableModes": [{"id": "ask"}, {"id": "free"}]}
        self.send(id=number, result={"sessionId": session, "modes": modes})
        self.update(
            session, "available_commands_update", availableCommands=[{"name": "help", "description": "Help"}]
        )

    def come_back(self, number: int, session: str, *, replay: bool) -> None:
        path = self.file(session)
        if not path.exists():
            self.send(id=number, error={"code": -32002, "message": f"Session {session} not found"})
            return
        for line in path.read_text().splitlines() if replay else []:
            kind, said = json.loads(line)
            self.update(session, kind, content={"type": "text", "text": said})
        self.open(number, session)

    # Turns -------------------------------------------------------------------------------------------------

    def turn(self, number: int, params: Message) -> None:
        session, said = params["sessionId"], params["prompt"][0]["text"]
        self.keep(session, "user_message_chunk", said)
        word, _, rest = said.partition(" ")
        if word == "fail":
            self.send(
                id=number,
                error={"code": -32603, "message": "Internal error", "data": {"details": "it broke"}},
            )
            return
        if word == "unauthorised":
            self.cancelled[session].wait(float(rest))
            self.unauthorised(number, session)
            return
        if word == "::error":
            self.unauthorised(number, session)
            return
        if word == "mute":
            self.send(id=number, result={"stopReason": "end_turn"})
            return
        stop = self.do(session, word, rest, said)
        self.send(id=number, result={"stopReason": stop, "usage": {"inputTokens": 10, "outputTokens": 2}})

    def unauthorised(self, number: int, session: str) -> None:
        """As claude-agent-acp 0.49.0 ends the turn, after minutes in which it says nothing."""
        self.say(session, "Invalid API key · Fix external API key")
        self.update(session, "usage_update", used=0, size=1_000_000, cost={"amount": 0, "currency": "USD"})
        told = "Internal error: Invalid API key · Fix external API key"
        error = {"code": -32603, "message": told, "data": {"errorKind": "authentication_failed"}}
        self.send(id=number, error=error)

    def do(self, session: str, word: str, rest: str, said: str) -> str:
        match word:
            case "count":
                most, pause = (int(one) for one in rest.split())
                for piece in range(1, most + 1):
                    if self.cancelled[session].wait(pause / 1000):
                        return "cancelled"
                    self.say(session, f"{piece} ")
            case "::text":
                self.say(session, rest)
            case "run":
                return self.run(session, rest)
            case "think":
                self.cancelled[session].wait(float(rest))
                self.say(session, "Thought.")
            case "hang":
                self.hung.set()
                threading.Event().wait()
            case "lonely":
                self.say(session, json.dumps(self.ask("_thing/do", what=rest)))
            case "call":
                method, _, params = rest.partition(" ")
                self.say(
                    session, json.dumps(self.ask(method, **{"sessionId": session, **json.loads(params)}))
                )
            case "want":
                call = {"toolCallId": f"call_{uuid.uuid4().hex[:8]}", **json.loads(rest)}
                given = self.ask(
                    "session/request_permission", sessionId=session, toolCall=call, options=OPTIONS
                )
                self.say(session, given["outcome"].get("optionId", "cancelled"))
            case "plan":
                entries = [
                    {"content": one, "priority": "medium", "status": "pending"} for one in ("Look", "Leap")
                ]
                self.update(session, "plan", entries=entries)
            case "ask":
                field = {"type": "string", "description": "Which colour?", "enum": ["Blue", "Green"]}
                schema = {"type": "object", "properties": {"colour": field}}
                given = self.ask(
                    "elicitation/create", sessionId=session, mode="form", message="", requestedSchema=schema
                )
                self.say(session, f"{given['action']} {given.get('content')}")
            case _:
                self.update(session, "agent_thought_chunk", content={"type": "text", "text": "Hm."})
                self.say(session, f"You said: {said} (mode {self.modes[session]})")
        return "end_turn"

    def run(self, session: str, words: str) -> str:
        tool = f"call_{uuid.uuid4().hex[:8]}"
        call = {"toolCallId": tool, "title": words, "kind": "execute", "rawInput": {"command": words}}
        self.update(session, "tool_call", status="pending", **call)
        given = self.ask("session/request_permission", sessionId=session, toolCall=call, options=OPTIONS)
        outcome = given.get("outcome", {})
        if outcome.get("outcome") == "cancelled":
            self.update(session, "tool_call_update", toolCallId=tool, status="failed")
            return "cancelled"
        if outcome.get("optionId") == "no":
            self.update(session, "tool_call_update", toolCallId=tool, status="failed", rawOutput="Refused.")
            self.say(session, "I did not.")
            return "end_turn"
        self.update(session, "tool_call_update", toolCallId=tool, status="in_progress")
        content = [{"type": "content", "content": {"type": "text", "text": f"ran {words}"}}]
        self.update(session, "tool_call_update", toolCallId=tool, status="completed", content=content)
        self.say(session, f"I did ({outcome['optionId']}).")
        return "end_turn"

    def say(self, session: str, words: str) -> None:
        self.update(session, "agent_message_chunk", content={"type": "text", "text": words})
        self.keep(session, "agent_message_chunk", words)

    def keep(self, session: str, kind: str, words: str) -> None:
        if self.flags.store:
            with self.file(session).open("a") as file:
                file.write(json.dumps([kind, words]) + "\n")

    def file(self, session: str) -> Path:
        return Path(self.flags.store or "/nowhere") / session


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", default="")
    parser.add_argument("--log", default="")
    parser.add_argument("--mode", default="ask")
    parser.add_argument("--broken", default="")
    for flag in ("--no-resume", "--no-load", "--close", "--deaf", "--refuse", "--no-session"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--version", action="store_true")
    flags = parser.parse_args()
    if flags.version:
        sys.stdout.write("1.2.3\n")
        return
    if flags.broken and Path(flags.broken).exists():
        sys.exit("it is broken")
    Agent(flags).serve()


if __name__ == "__main__":
    main()
