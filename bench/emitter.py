"""A scripted agent that speaks just enough stream-json to be measured: what it says is what its prompt asks.

`deltas N`     N pieces of one text, each with one marker, as fast as the pipe takes them
`tools N`      N tool calls with their results, one marker in each result
`messages N`   N messages that come whole, one marker in each
`paced N RATE` N pieces at RATE per second, each carrying the time it was written
`paced N RATE SIZE` the same, each of about SIZE characters
`spaced N RATE` N messages that come whole, at RATE per second, each carrying the time it was written

A marker is "¶"; one that carries a time is "¶<monotonic ns> ". A flood begins with "§<monotonic ns>§", the
time its first byte was written, so that the way a prompt takes to the agent is no part of the figure.
"""

import json
import os
import sys
import time

SESSION = "5f0f8b0e-6f5d-4d0e-9c53-0a1b2c3d4e5f"
PIECE = 64 * 1024
BEGAN = "§began§"  # in the first lines of a flood, until the time they are written is known

DELTA = (
    '{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta",'
    '"text":"%s"}},"session_id":"' + SESSION + '","parent_tool_use_id":null,'
    '"uuid":"c1648b0b-d445-44ee-b71c-%012d","api_message_id":"%s"}\n'
)
TOOL_USE = (
    '{"type":"assistant","message":{"id":"%s","type":"message","role":"assistant","model":"scripted",'
    '"content":[{"type":"tool_use","id":"%s","name":"Bash","input":{"command":"printf %%s line-%d",'
    '"description":"Print one line"}}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1000,'
    '"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}},'
    '"parent_tool_use_id":null,"session_id":"' + SESSION + '","uuid":"1e610531-ae86-4e15-b443-%012d"}\n'
)
TOOL_RESULT = (
    '{"type":"user","message":{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result",'
    '"content":"%sline-%d ¶","is_error":false}]},"parent_tool_use_id":null,"session_id":"' + SESSION + '",'
    '"uuid":"f0b547f5-99ab-44b1-a17b-%012d"}\n'
)

MESSAGE = (
    '{"type":"assistant","message":{"id":"%s","type":"message","role":"assistant","model":"scripted",'
    '"content":[{"type":"text","text":"%sanswer %d ¶ and a few more words, as many as a line of text has"}],'
    '"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1000,"cache_creation_input_tokens":0,'
    '"cache_read_input_tokens":0,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"'
    + SESSION
    + '","uuid":"7d2f3c55-0d7b-4f29-8f2f-%012d"}\n'
)


def stream_event(event: dict[str, object]) -> bytes:
    said = {"type": "stream_event", "event": event, "session_id": SESSION, "parent_tool_use_id": None}
    return json.dumps(said).encode() + b"\n"


def text_begins(message_id: str) -> bytes:
    message = {"id": message_id, "type": "message", "role": "assistant", "model": "scripted", "content": []}
    block = {"type": "text", "text": ""}
    return stream_event({"type": "message_start", "message": message}) + stream_event(
        {"type": "content_block_start", "index": 0, "content_block": block}
    )


def text_ends() -> bytes:
    return stream_event({"type": "content_block_stop", "index": 0}) + stream_event({"type": "message_stop"})


def init() -> bytes:
    said = {"type": "system", "subtype": "init", "session_id": SESSION, "model": "scripted"}
    said |= {"permissionMode": "default", "claude_code_version": "0.0.0"}
    return json.dumps(said).encode() + b"\n"


def result() -> bytes:
    said = {"type": "result", "subtype": "success", "is_error": False, "duration_ms": 1, "num_turns": 1}
    said |= {"result": "done", "stop_reason": "end_turn", "session_id": SESSION, "total_cost_usd": 0.0}
    return json.dumps(said).encode() + b"\n"


def write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view[:PIECE]) :]


def deltas(count: int, message_id: str) -> None:
    # All of it is made before the clock starts: the emitter's own work is nobody's figure.
    rest = "".join(
        DELTA % (f"word {n:08d} ¶ and a few more words ", n, message_id) for n in range(1, count)
    ).encode()
    write(text_begins(message_id))
    write((DELTA % (f"§{time.monotonic_ns()}§ ¶ ", 0, message_id)).encode() + rest)
    write(text_ends())


def tool_lines(count: int, turn: str) -> list[str]:
    lines: list[str] = []
    for n in range(count):
        tool = f"toolu_{turn}_{n:08d}"
        lines += (
            TOOL_USE % (f"msg_{turn}_{n}", tool, n, n),
            TOOL_RESULT % (tool, "" if n else BEGAN, n, n),
        )
    return lines


def message_lines(count: int, turn: str) -> list[str]:
    return [MESSAGE % (f"msg_{turn}_{n}", "" if n else BEGAN, n, n) for n in range(count)]


def flood(lines: list[str]) -> None:
    first, rest = "".join(lines[:2]), "".join(lines[2:]).encode()
    write(first.replace(BEGAN, f"§{time.monotonic_ns()}§ ").encode() + rest)


def paced(count: int, rate: float, message_id: str, size: int = 0) -> None:
    write(text_begins(message_id))
    words = "and a few words ".ljust(size - 20, ".")
    due = time.monotonic()
    for n in range(count):
        due += 1 / rate
        time.sleep(max(0.0, due - time.monotonic()))
        write((DELTA % (f"¶{time.monotonic_ns()} {words}", n, message_id)).encode())
    write(text_ends())


def spaced(count: int, rate: float, turn: str) -> None:
    due = time.monotonic()
    for n in range(count):
        due += 1 / rate
        time.sleep(max(0.0, due - time.monotonic()))
        write((MESSAGE % (f"msg_{turn}_{n}", f"¶{time.monotonic_ns()} ", n, n)).encode())


def obey(prompt: str, turn: str) -> None:
    match prompt.split():
        case ["deltas", count]:
            deltas(int(count), f"msg_{turn}")
        case ["tools", count]:
            flood(tool_lines(int(count), turn))
        case ["messages", count]:
            flood(message_lines(int(count), turn))
        case ["spaced", count, rate]:
            spaced(int(count), float(rate), turn)
        case ["paced", count, rate]:
            paced(int(count), float(rate), f"msg_{turn}")
        case ["paced", count, rate, size]:
            paced(int(count), float(rate), f"msg_{turn}", int(size))
        case _:
            write(text_begins(f"msg_{turn}") + text_ends())


def prompt_in(message: dict[str, object]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    assert isinstance(content, list)
    return "".join(block.get("text", "") for block in content)


def main() -> None:
    turn = 0
    for line in sys.stdin.buffer:
        said = json.loads(line)
        if said["type"] == "control_request":
            answer = {"subtype": "success", "request_id": said["request_id"], "response": {}}
            write(json.dumps({"type": "control_response", "response": answer}).encode() + b"\n")
        elif said["type"] == "user":
            turn += 1
            write(init())
            obey(prompt_in(said["message"]), f"{os.getpid()}_{turn}")
            write(result())


if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print("0.0.0")
    else:
        try:
            main()
        except BrokenPipeError:  # nobody reads any more
            os._exit(0)
