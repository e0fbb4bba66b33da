"""Formats a request for the terminal and parses the typed answer. Pure."""

import difflib
import shlex
from collections.abc import Callable, Iterator
from typing import Any, cast

import msgspec
from msgspec import Struct

from bascule.commands.console import Console, Style
from bascule.commands.transcript import diff_style, named
from bascule.model.event_values import Decision, PermissionOption, Question
from bascule.model.events import PermissionRequested, QuestionAsked
from bascule.policy.visible import has_hidden, visible

SHOWN = 6000  # characters before the middle is left out; `v` shows it
Paint = Callable[[str, Style], str]
KEYS = "y allow once, s allow for this session, n [reason] deny"
ONCE_KEYS = "y allow once, n [reason] deny"
PLAN_KEYS = "y approve, n [what to change] keep planning"


class TypedAnswer(Struct, frozen=True):
    """A person's answer to a permission request."""

    decision: Decision
    option: str | None = None
    remember: bool = False
    message: str | None = None


# Permissions ----------------------------------------------------------------------------------------


def permission_text(
    asked: PermissionRequested, terminal: Console, *, whole: bool = False, only_once: str = ""
) -> str:
    """The request with the exact input, every hidden character written out.

    `only_once`: the machine that takes one answer for one request from here.
    """
    value = _value(asked)
    lines = [terminal.style(f"Permission: {named(flat(asked.tool), flat(asked.title))}", "bold")]
    said = [asked.tool, asked.title, asked.note, asked.blocked_path or "", *_strings(value)]
    if any(has_hidden(text) for text in said):
        warning = "! This contains invisible characters; they are written as \\u{…}."
        lines.append(terminal.style(warning, "red"))
    bare = list(_body(value, _unstyled))
    lines += list(_body(value, terminal.style)) if whole or _length(bare) <= SHOWN else _ends(bare)
    if asked.blocked_path:
        lines.append(f"  path: {flat(asked.blocked_path)}")
    if asked.note and not _shown_already(asked, value):
        lines.append(terminal.style(f"  the agent says: {flat(asked.note)}", "dim"))
    if only_once:
        lines.append(terminal.style(f"  {only_once_words(only_once)}", "dim"))
    for number, option in enumerate(() if only_once else lasting_options(asked), 1):
        reach = f" ({flat(option.scope)})" if option.scope else ""
        lines.append(f"  a{number} = {flat(option.name)}{reach}")
    return "\n".join(lines) + "\n"


def _shown_already(asked: PermissionRequested, value: Any) -> bool:
    """Many notes only repeat the input or the title."""
    return asked.note in asked.title or asked.note in _strings(value)


def flat(text: str) -> str:
    """A field that belongs on one line: it may not begin a line of its own and pass for ours."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")


def _unstyled(text: str, style: Style) -> str:
    return text


def lasting_options(asked: PermissionRequested) -> list[PermissionOption]:
    return [option for option in asked.options if option.kind == "allow_always"]


def only_once_words(device: str) -> str:
    """Why no more than this request can be allowed from here, and what to do."""
    name = flat(device)
    return (
        f"{name} takes an answer for more than one request only on {name} itself; "
        "or let this hub, with `bascule daemon hub-may-widen yes` there."
    )


def permission_keys(asked: PermissionRequested, *, only_once: bool = False) -> str:
    more = ", a1… as listed" if lasting_options(asked) and not only_once else ""
    more += "; a reason after n is sent as your next message" if asked.reason_follows else ""
    keys = PLAN_KEYS if asked.kind == "plan" else ONCE_KEYS if only_once else KEYS
    return f"[{keys}{more}, v view all] "


def read_permission_answer(
    typed: str, asked: PermissionRequested, *, only_once: bool = False
) -> TypedAnswer | None:
    """The answer a line means; None when it means none. An empty line never allows."""
    word, _, rest = typed.strip().partition(" ")
    word, rest = word.lower(), rest.strip()
    if word in ("n", "no", "deny"):
        return TypedAnswer("deny", message=rest or None)
    if rest:
        return None
    if word in ("y", "yes"):
        once = next((option.option_id for option in asked.options if option.kind == "allow_once"), None)
        return TypedAnswer("allow", option=once)
    if only_once:
        return None
    if word == "s" and asked.kind != "plan":
        return TypedAnswer("allow", remember=True)
    lasting = lasting_options(asked)
    if word[:1] == "a" and word[1:].isdecimal() and 1 <= int(word[1:]) <= len(lasting):
        return TypedAnswer("allow", option=lasting[int(word[1:]) - 1].option_id)
    return None


def _value(asked: PermissionRequested) -> Any:
    try:
        return msgspec.json.decode(bytes(asked.input))
    except msgspec.MsgspecError:
        return bytes(asked.input).decode(errors="replace")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in cast(dict[str, Any], value).items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in cast(list[Any], value):
            yield from _strings(inner)


def _body(value: Any, style: Paint) -> Iterator[str]:
    if not isinstance(value, dict):
        yield from _indented(value if isinstance(value, str) else _json(value))
        return
    fields = cast(dict[str, Any], value)
    old, new = fields.get("old_string"), fields.get("new_string")
    changes = isinstance(old, str) and isinstance(new, str)
    for name, inner in fields.items():
        if changes and name in ("old_string", "new_string"):
            continue
        text = inner if isinstance(inner, str) else _json(inner)
        if name == "command":
            yield from (style(line, "yellow") for line in _indented(f"$ {text}"))
        elif "\n" in text:
            yield f"  {flat(name)}:"
            yield from _indented(text, "    ")
        else:
            yield f"  {flat(name)}: {visible(text)}"
    if isinstance(old, str) and isinstance(new, str):
        for line in difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3):
            if not line.startswith(("---", "+++")):
                yield style("  " + visible(line), diff_style(line))


def _indented(text: str, indent: str = "  ") -> Iterator[str]:
    return (indent + visible(line) for line in text.split("\n"))


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _length(lines: list[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _ends(lines: list[str]) -> list[str]:
    """Head and tail of a long input: what stands at its end must not hide behind its length."""
    text, half = "\n".join(lines), SHOWN // 2
    left_out = f"  … {len(text) - SHOWN} characters left out here; v shows them …"
    return [text[:half], left_out, text[-half:]]


# Questions ------------------------------------------------------------------------------------------


def question_text(question: Question, terminal: Console) -> str:
    lines = [terminal.style("\n".join(_indented(question.question, "")), "bold")]
    for number, option in enumerate(question.options, 1):
        more = f"  {flat(option.description)}" if option.description else ""
        lines.append(f"  {number} {flat(option.label)}{terminal.style(more, 'dim')}")
    return "\n".join(lines) + "\n"


def question_keys(question: Question) -> str:
    if not question.options:
        return "[your answer, or - to decline] "
    several = "numbers, such as 1,3" if question.multi_select else "a number"
    return f"[{several}, or your own words, or - to decline] "


def read_answer(typed: str, question: Question) -> str | None:
    """The answer a line means: option labels for numbers, else the words. None when it means none."""
    text = typed.strip()
    if not text:
        return None
    parts = [part for part in text.replace(",", " ").split() if part]
    if question.options and all(part.isdecimal() for part in parts):
        if any(not 1 <= int(part) <= len(question.options) for part in parts):
            return None
        if len(parts) > 1 and not question.multi_select:
            return None
        return ", ".join(question.options[int(part) - 1].label for part in dict.fromkeys(parts))
    return text


def elsewhere(session_id: str, asked: PermissionRequested | QuestionAsked) -> str:
    """How to answer from elsewhere, if this terminal can't."""
    command = command_line("sessions", "answer", session_id, asked.request_id)
    if isinstance(asked, PermissionRequested):
        command = command_line(
            "sessions", "answer", session_id, asked.request_id, "allow", "--sha", asked.input_sha256[:12]
        )
        command += "   (or: deny)"
    return f"Waiting for your answer, in the browser or with: {command}\n"


def command_line(*words: str) -> str:
    """A command of ours to copy: each word visible, and one word to a shell whatever it holds."""
    return shlex.join(["bascule", *(flat(word) for word in words)])
