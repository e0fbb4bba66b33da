"""The demo agent's scenes. They are scripted: no file is touched, no command is run."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from bascule.demo.turn import Failed, Message, Turn

HELLO = (
    "Hello! I am a **scripted demo**: there is no model behind me, I touch no files and run no commands. "
    "I only play a scene, so that you can see how a session looks.\n\n"
)
HELP = (
    "This is a scripted demo with no model. Words I understand: `slow N`, `think`, `edit`, `run`, `ask`, "
    "`plan`, `image`, `error`, `crash`, `big N`, `stderr N`, `flood N [size]`, `count N ms`. Anything else "
    "gets the tour the first time, and these words later.\n"
)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
FILE = "/demo/greeting.py"
BEFORE = 'def greet():\n    print("hello")\n'
AFTER = 'def greet(name):\n    print(f"hello, {name}")\n'


def tour(turn: Turn) -> None:
    turn.say(HELLO + "First I think for a moment, then I change a file, run a command, ask and plan.\n")
    think(turn)
    edit(turn)
    run(turn)
    ask(turn)
    plan(turn)
    turn.say("That was the tour. " + HELP)


def think(turn: Turn, *_: int) -> None:
    turn.think("The demo pretends to weigh two ways of doing it, and takes the simpler one.")
    turn.say("I have thought about it (a scripted thought).\n")


def slow(turn: Turn, pieces: int = 20, *_: int) -> None:
    turn.say_pieces((f"piece {n}. " for n in range(1, pieces + 1)), pause=0.1)


def count(turn: Turn, pieces: int = 10, milliseconds: int = 100, *_: int) -> None:
    turn.say_pieces((f"{n} " for n in range(1, pieces + 1)), pause=milliseconds / 1000)


def flood(turn: Turn, pieces: int = 1000, size: int = 0, *_: int) -> None:
    turn.say_pieces(_numbered(pieces, size))


def _numbered(pieces: int, size: int) -> Iterator[str]:
    for n in range(1, pieces + 1):
        yield f"{n} ".ljust(size, ".")


def big(turn: Turn, size: int = 1_000_000, *_: int) -> None:
    """One line of that many bytes: what a tool printed."""
    tool_id = turn.start_tool("Read", {"file_path": "/demo/big.txt"})
    turn.finish_tool(tool_id, "b" * size)
    turn.say(f"That was {size} characters in one line.\n")


def stderr(turn: Turn, size: int = 1000, *_: int) -> None:
    left = size
    while left > 0:
        left -= sys.stderr.write(("e" * min(left, 1023)) + "\n")
    sys.stderr.flush()
    turn.say(f"I wrote {size} characters to stderr.\n")


def error(turn: Turn, *_: int) -> None:
    turn.say("API Error: 529 Overloaded (a scripted error).")
    raise Failed("API Error: 529 Overloaded (a scripted error).")


def crash(turn: Turn, code: int = 3, *_: int) -> None:
    turn.say("I crash now, as asked. ")
    sys.stderr.write("demo: crashing on purpose\n")
    sys.stderr.flush()
    os._exit(code)


def edit(turn: Turn, *_: int) -> None:
    _change_file(turn, "Write", {"file_path": FILE, "content": BEFORE}, _created)
    call: Message = {"file_path": FILE, "old_string": BEFORE, "new_string": AFTER, "replace_all": False}
    _change_file(turn, "Edit", call, _edited)
    tool_id = turn.start_tool("Read", {"file_path": FILE})
    read = {"filePath": FILE, "content": AFTER, "numLines": 2, "startLine": 1, "totalLines": 2}
    turn.finish_tool(tool_id, "1\tdef greet(name):\n2\t    print(...)\n", {"type": "text", "file": read})
    turn.say("I changed `greeting.py` (only in words: this demo touches no files).\n")


def _change_file(turn: Turn, name: str, call: Message, outcome: Callable[[Message], Message]) -> None:
    tool_id = turn.start_tool(name, call)
    used: Message | None = call
    if turn.shared.mode != "acceptEdits":
        suggestion = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
        used = turn.allowed(
            tool_id, name, call, description="greeting.py", permission_suggestions=[suggestion]
        )
    if used is not None:
        turn.executed(name, used)
        turn.finish_tool(tool_id, f"{name} done in words only; this is a demo.", outcome(used))


def _created(call: Message) -> Message:
    content = str(call.get("content", ""))
    return {"type": "create", "filePath": FILE, "content": content, "structuredPatch": []}


def _edited(call: Message) -> Message:
    old, new = (str(call.get(key, "")).splitlines() for key in ("old_string", "new_string"))
    lines = [f"-{line}" for line in old] + [f"+{line}" for line in new]
    hunk = {"oldStart": 1, "oldLines": len(old), "newStart": 1, "newLines": len(new), "lines": lines}
    return {"filePath": FILE, "structuredPatch": [hunk], "userModified": False}


def run(turn: Turn, number: int = 0, *_: int) -> None:
    command = f"echo demo {number}" if number else "echo demo"
    call: Message = {"command": command, "description": "Say demo (scripted, nothing runs)"}
    tool_id = turn.start_tool("Bash", call)
    used: Message | None = call
    if command not in turn.shared.rules:
        rule = {"toolName": "Bash", "ruleContent": command}
        suggestions: list[Message] = [
            {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"},
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        ]
        used = turn.allowed(
            tool_id, "Bash", call, description=call["description"], permission_suggestions=suggestions
        )
    if used is None:
        turn.say("Then I leave it.\n")
        return
    turn.executed("Bash", used)
    turn.work(tool_id, 0.2)
    printed = "demo (scripted output; no command was run)"
    turn.finish_tool(tool_id, printed, {"stdout": printed, "stderr": "", "interrupted": False})
    turn.say("The command is done (it was not really run).\n")


def ask(turn: Turn, *_: int) -> None:
    options = [
        {"label": "Blue", "description": "Calm and common"},
        {"label": "Green", "description": "Signals success"},
    ]
    checks = [{"label": "Lint", "description": "Fast"}, {"label": "Unit", "description": "Thorough"}]
    colour = {"question": "Which colour should the button be?", "header": "Colour", "multiSelect": False}
    which = {"question": "Which checks should run?", "header": "Checks", "multiSelect": True}
    questions: list[Message] = [colour | {"options": options}, which | {"options": checks}]
    call: Message = {"questions": questions}
    tool_id = turn.start_tool("AskUserQuestion", call)
    used = turn.allowed(tool_id, "AskUserQuestion", call, requires_user_interaction=True)
    if used is None:
        turn.say("No answer, so I decide myself: blue.\n")
        return
    answers: dict[str, Any] = used.get("answers") or {}
    turn.executed("AskUserQuestion", {"answers": answers})
    answered = ", ".join(f'"{key}"="{value}"' for key, value in answers.items())
    result = "The user did not answer the questions."
    if answered:
        result = f"Your questions have been answered: {answered}."
    turn.finish_tool(tool_id, result, {"questions": questions, "answers": answers})
    turn.say(f"You chose: {', '.join(str(value) for value in answers.values()) or 'nothing'}.\n")


def plan(turn: Turn, *_: int) -> None:
    todos = [
        {"content": "Write the test", "status": "in_progress", "activeForm": "Writing the test"},
        {"content": "Make it pass", "status": "pending", "activeForm": "Making it pass"},
    ]
    listed = turn.start_tool("TodoWrite", {"todos": todos})
    turn.finish_tool(listed, "Todos have been modified successfully (scripted).")
    turn.shared.set_mode("plan")
    text = "# Plan (scripted)\n\n1. Write the test.\n2. Make it pass.\n"
    call: Message = {"plan": text, "planFilePath": "/demo/plan.md"}
    tool_id = turn.start_tool("ExitPlanMode", call)
    used = turn.allowed(tool_id, "ExitPlanMode", call, requires_user_interaction=True)
    if used is None:
        turn.say("I keep planning, then.\n")
        return
    if turn.shared.mode == "plan":
        turn.shared.set_mode("default")
    turn.executed("ExitPlanMode", used)
    turn.finish_tool(tool_id, f"User has approved your plan.\n\n{text}", {"plan": text})
    turn.say("The plan is approved.\n")


def image(turn: Turn, *_: int) -> None:
    tool_id = turn.start_tool("Read", {"file_path": "/demo/pixel.png"})
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    turn.finish_tool(tool_id, [{"type": "image", "source": source}])
    turn.say("That was a picture of one pixel.\n")


SCENES: dict[str, Callable[..., None]] = {
    scene.__name__: scene
    for scene in (slow, think, edit, run, ask, plan, error, crash, big, stderr, image, flood, count)
}
_WORDS = re.compile(rf"\b({'|'.join(SCENES)})\b((?:\s+\d+){{0,2}})", re.IGNORECASE)


def play(turn: Turn, text: str, images: list[Message], *, first: bool) -> None:
    if images:
        sources: list[Message] = [one.get("source") or {} for one in images]
        kinds = ", ".join(str(source.get("media_type")) for source in sources)
        turn.say(f"I got {len(images)} image(s): {kinds}. A scripted demo can't see, but they arrived.\n")
    found = _WORDS.findall(text)
    for word, numbers in found:
        SCENES[word.lower()](turn, *(int(number) for number in numbers.split()))
    if found or (images and not text.strip()):
        return
    if text.strip() == "/tour" or (first and text.strip() != "/help"):
        tour(turn)
    else:
        turn.say(HELP)
