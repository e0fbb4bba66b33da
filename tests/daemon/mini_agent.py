"""The smallest agent that speaks stream-json: says what it was told, asks before `ask`, counts for `count N`,
calls the same tool N times for `loop N`.

Every line it reads goes to the file named by MINI_LEDGER, so a test can see what reached it, and how often.
"""

import json
import os
import sys
import time

LEDGER = os.environ.get("MINI_LEDGER")


def say(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def block(text: str, number: int) -> None:
    message = {"id": f"msg_{number}", "role": "assistant", "content": [{"type": "text", "text": text}]}
    say({"type": "assistant", "message": message, "parent_tool_use_id": None, "session_id": "mini-1"})


def result(**more: object) -> None:
    say(
        {"type": "result", "subtype": "success", "is_error": False, "result": "", "session_id": "mini-1"}
        | more
    )


def lines():
    for line in sys.stdin:
        if LEDGER:
            with open(LEDGER, "a") as ledger:
                ledger.write(line)
        yield json.loads(line)


def main() -> None:
    stdin = lines()
    for number, message in enumerate(stdin, 1):
        if message["type"] == "control_request":
            answer = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            say({"type": "control_response", "response": answer})
        elif message["type"] == "user":
            say(
                {
                    "type": "system",
                    "subtype": "init",
                    "session_id": "mini-1",
                    "model": "mini",
                    "cwd": os.getcwd(),
                }
            )
            turn(message["message"]["content"], number, stdin)


def turn(content: object, number: int, stdin) -> None:
    text = content if isinstance(content, str) else content[0]["text"]
    words = text.split()
    match words:
        case ["ask" | "suggest", *what]:
            command = " ".join(what) or "touch x"
            tool = {"type": "tool_use", "id": f"tool_{number}", "name": "Bash", "input": {"command": command}}
            say(
                {
                    "type": "assistant",
                    "message": {"id": f"msg_{number}", "role": "assistant", "content": [tool]},
                }
            )
            ask = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": command}}
            if words[0] == "suggest":  # also a rule of its own for next time
                rule = {"toolName": "Bash", "ruleContent": command}
                lasting = {"type": "addRules", "rules": [rule], "behavior": "allow"}
                ask["permission_suggestions"] = [lasting | {"destination": "localSettings"}]
            say(
                {
                    "type": "control_request",
                    "request_id": f"req_{number}",
                    "request": ask | {"tool_use_id": tool["id"]},
                }
            )
            for message in stdin:
                if message["type"] == "control_request":  # an interrupt
                    say({"type": "control_cancel_request", "request_id": f"req_{number}"})
                    done = {"subtype": "success", "request_id": message["request_id"], "response": {}}
                    say({"type": "control_response", "response": done})
                    result(subtype="error_during_execution", is_error=True, terminal_reason="aborted_tools")
                    return
                if message["type"] == "control_response":
                    answer = message["response"]["response"]["behavior"]
                    say_result = {"type": "tool_result", "tool_use_id": tool["id"], "content": answer}
                    say_result["is_error"] = answer != "allow"
                    say({"type": "user", "message": {"role": "user", "content": [say_result]}})
                    block(f"answered {answer}", number)
                    break
        case ["count", many, pause]:
            for one in range(1, int(many) + 1):
                block(f"{one} ", 1000 * number + one)
                time.sleep(float(pause))
        case ["write", path, *what]:
            with open(path, "w") as file:
                file.write(" ".join(what) + "\n")
            block(f"wrote {path}", number)
        case ["spend", cents]:
            block(f"spent {cents}", number)
            result(total_cost_usd=int(cents) / 100)
            return
        case ["loop", many]:
            for one in range(int(many)):
                call = {
                    "type": "tool_use",
                    "id": f"l_{number}_{one}",
                    "name": "Bash",
                    "input": {"command": "ls"},
                }
                say(
                    {
                        "type": "assistant",
                        "message": {"id": f"m_{number}_{one}", "role": "assistant", "content": [call]},
                    }
                )
                came = {"type": "tool_result", "tool_use_id": call["id"], "content": "nothing"}
                say({"type": "user", "message": {"role": "user", "content": [came]}})
            until_interrupted(stdin)
            return
        case ["exit", code]:
            sys.exit(int(code))
        case ["die", sign]:
            os.kill(os.getpid(), int(sign))
        case ["hold"]:
            block("holding", number)
            until_interrupted(stdin)
            return
        case _:
            block(f"you said {text}", number)
    result()


def until_interrupted(stdin) -> None:
    for message in stdin:
        if message["type"] == "control_request":
            done = {"subtype": "success", "request_id": message["request_id"], "response": {}}
            say({"type": "control_response", "response": done})
            result(subtype="error_during_execution", is_error=True, terminal_reason="aborted_streaming")
            return


main()
