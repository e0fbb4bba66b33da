"""Summarises a request in one line: the tool with its command, file or address, or the question. Pure."""

import shlex
from typing import Any, cast

import msgspec

from bascule.model.events import PermissionRequested, QuestionAsked
from bascule.policy.scrub import scrub

# Fields of a tool's input that say what it is asked to do, the most specific first.
_FIELDS = ("command", "file_path", "path", "url", "pattern", "query", "prompt")
_READ = 16_384  # of what may be scrubbed; a key that begins in the part that is kept ends long before


def tool_words(tool: str, title: str, given: object) -> str:
    """ "Bash: make test"; where the input says nothing of the kind, the agent's own words."""
    fields = cast("dict[str, object]", given) if isinstance(given, dict) else {}
    said = next(filter(None, (_text(fields.get(name)) for name in _FIELDS)), "")
    return f"{tool}: {said}" if said else title or tool


def recorded_words(asked: PermissionRequested | QuestionAsked, longest: int) -> str:
    """What was asked for, for a record that is never changed: one line without secrets, cut at its end."""
    if isinstance(asked, QuestionAsked):
        words = " ".join(question.question for question in asked.questions)
    else:
        words = tool_words(asked.tool, asked.title, _decoded(asked.input))
    # Scrubbed before it is cut: half a key is no longer recognised, and still half a key.
    line = " ".join(scrub(words[:_READ]).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _text(value: object) -> str:
    """A command may also be a list of words."""
    if isinstance(value, list):
        words = cast("list[object]", value)
        return shlex.join(word for word in words if isinstance(word, str))
    return value if isinstance(value, str) else ""


def _decoded(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, RecursionError):  # an answer must not fail because of its record
        return None
