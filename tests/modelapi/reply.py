"""Chooses the scripted model's reply to one request."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import msgspec
from msgspec import Struct
from tests.modelapi.dialect import fit, in_words
from tests.modelapi.request import MessagesRequest
from tests.modelapi.script import Call, Cut, Directive, Fail, PlanFile, Slow, Step, Text, Think, Wait, parse

SIDE_REPLY = '{"title": "Scripted conversation", "isNewTopic": false}'
PATH_ARGUMENT = "file_path"
NO_SUCH_TOOL = "There is no tool here for"
AGENT_ID = re.compile(r'"agent_id"\s*:\s*"([^"]+)"')
WAIT_MS = 10_000


class Reply(Struct, frozen=True):
    """What the model says: blocks to stream, once the failure (if any) is over."""

    blocks: tuple[Text | Think | Slow | Call, ...] = ()
    cut: Cut | None = None
    failure: Fail | None = None

    @property
    def stop_reason(self) -> str:
        """Return the Messages API's word for why the reply ended."""
        return "tool_use" if any(isinstance(block, Call) for block in self.blocks) else "end_turn"


def choose(request: MessagesRequest) -> Reply:
    """Return the reply: the script's next step, or an answer that names what was said."""
    if request.wants_summary():
        return Reply((Text("<summary>\nA scripted conversation took place.\n</summary>"),))
    if not request.tools and not request.takes_text_only():
        # Titles and other small requests an agent makes on the side carry no tools.
        return Reply((Text(SIDE_REPLY),))
    steps = _with_failures(parse(request.prompt()))
    played = request.calls_since_prompt()
    if played < len(steps):
        failure, step = steps[played]
        return msgspec.structs.replace(_reply(step, request), failure=failure)
    result = request.last_tool_result()
    if result is not None:
        return Reply((Text(f"Done. Last tool result: {result}"),))
    if steps:
        return Reply((Text("Done."),))
    images = request.images()
    seen = f" (with {images} image{'s' if images > 1 else ''})" if images else ""
    return Reply((Text(f"You said: {request.prompt()}{seen}"),))


def _with_failures(steps: list[Step]) -> list[tuple[Fail | None, Step]]:
    """Join each failure to the step behind it: a failed call leaves no trace in the conversation to count."""
    joined: list[tuple[Fail | None, Step]] = []
    failure: Fail | None = None
    for step in steps:
        if isinstance(step[0], Fail):
            failure = step[0]
            continue
        joined.append((failure, step))
        failure = None
    if failure is not None:
        joined.append((failure, (Text("It works again."),)))
    return joined


def _reply(step: Step, request: MessagesRequest) -> Reply:
    blocks: list[Text | Think | Slow | Call] = []
    for directive in step:
        match directive:
            case Cut(text=text):
                return Reply((*blocks, Text(text)), cut=directive)
            case _:
                blocks.append(_block(directive, request))
    if all(isinstance(block, Think) for block in blocks):
        blocks.append(Text("I have thought about it."))
    return Reply(tuple(blocks))


def _block(directive: Directive, request: MessagesRequest) -> Text | Think | Slow | Call:
    if isinstance(directive, Call) and request.takes_text_only():
        return Text(in_words(directive))
    match directive:
        case PlanFile(text=text):
            path = request.plan_file()
            if path is None:
                return Text("I was not told of a plan file: plan mode is off.")
            return Call("Write", {"file_path": path, "content": text + "\n"})
        case Wait():
            return _wait(request)
        case Call(tool=tool, arguments=arguments) if PATH_ARGUMENT in arguments:
            path = _absolute(str(arguments[PATH_ARGUMENT]), request)
            return _fitted(Call(tool, {**arguments, PATH_ARGUMENT: path}), request)
        case Call():
            return _fitted(directive, request)
        case Text() | Think() | Slow():
            return directive
        case Fail() | Cut():
            raise AssertionError("failures are replies of their own, never blocks")


def _fitted(call: Call, request: MessagesRequest) -> Text | Call:
    offered = ", ".join(tool.name for tool in request.tools)
    return fit(call, request.tools) or Text(f"{NO_SUCH_TOOL} {call.tool}. Offered: {offered}")


def _wait(request: MessagesRequest) -> Text | Call:
    """Some agents start a sub-agent and go on: then the model has to wait for it, by the name it was told."""
    tool = next((one.name for one in request.tools if one.name.endswith("wait_agent")), None)
    started = AGENT_ID.search(request.last_tool_result() or "")
    if tool is None or started is None:
        return Text("Nothing to wait for.")
    return Call(tool, {"targets": [started[1]], "timeout_ms": WAIT_MS})


def _absolute(path: str, request: MessagesRequest) -> str:
    folder = request.working_directory()
    return path if folder is None else str(PurePosixPath(folder) / path)
