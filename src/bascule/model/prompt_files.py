"""Prompts as Markdown files: a head between `---` lines, then the text. Also reads agents' own command files.

The head is YAML in its simplest form: a name, a colon, and a value as JSON or as plain words.
"""

import json
import re
import tomllib
from typing import Any, cast

import msgspec
from msgspec import Struct

from bascule.model.errors import InvalidInput
from bascule.model.prompts import Delta, DeltaOp, PromptContent, TemplateField, markdown_of
from bascule.model.validation import in_words

# Where an agent's command file has what was typed after the command's name, a template has a field.
ARGUMENTS = re.compile(r"\$ARGUMENTS\b|\$([1-9])\b")
FIELDS = re.compile(r"\{\{argument(s|[1-9])\}\}")
FENCE = "---"
OWN = ("title", "id", "kind", "tags", "always", "contexts", "fields")
_LINE = re.compile(r"(?P<name>[A-Za-z][\w-]*):(?P<value>.*)")
_ODD = re.compile(r"[^\w.-]+")


class FileHead(Struct, frozen=True):
    """What stands above a file's text: its names and values, and the lines of those that are not ours."""

    values: dict[str, Any]
    others: list[str]
    body: str


class ReadPrompt(Struct, frozen=True):
    """`id` is of the library's prompt that the file was written from, if it says so."""

    id: str | None
    content: PromptContent


def read_prompt_file(path: str, text: str, project_id: str | None) -> ReadPrompt:
    """Raises `InvalidInput`, in words for the person who named the folder."""
    if path.endswith(".toml"):
        values = _read_command(text)
        head = FileHead(values, [], values.pop("prompt"))
    else:
        head = split_head(text)
    values = head.values
    body = _with_fields(head.body)
    if not body.strip():
        raise InvalidInput("It has no text.")
    content = {
        "title": str(values.get("title") or _title_of(path))[:500],
        "kind": values.get("kind", "prompt"),
        "projectId": project_id,
        "tags": [str(one)[:50] for one in _listed(values.get("tags"))],
        "always": values.get("always") is True,
        "contexts": [str(one) for one in _listed(values.get("contexts"))],
        "fields": _fields(values, body),
    }
    try:
        checked = msgspec.convert({**content, "delta": plain_delta(body)}, PromptContent)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"Its head can't be used: {in_words(error)}") from None
    identity = values.get("id")
    return ReadPrompt(identity if isinstance(identity, str) and identity else None, checked)


def write_prompt_file(prompt_id: str, content: PromptContent, before: str = "") -> str:
    """The file's text. What stood in its head `before` and is not ours stays there."""
    values: dict[str, object] = {"title": content.title, "id": prompt_id}
    if content.kind != "prompt":
        values["kind"] = content.kind
    if content.tags:
        values["tags"] = content.tags
    if content.always:
        values["always"] = True
    if content.contexts:
        values["contexts"] = content.contexts
    lines = [f"{name}: {_json(value)}" for name, value in values.items()]
    if content.fields:
        lines += ["fields:", *(f"  - {_json(_fields_of(field))}" for field in content.fields)]
    lines += split_head(before).others
    body = markdown_of(content.delta)
    if ARGUMENTS.search(split_head(before).body):
        body = FIELDS.sub(lambda found: "$ARGUMENTS" if found[1] == "s" else f"${found[1]}", body)
    return "\n".join([FENCE, *lines, FENCE, ""]) + body


def file_name(title: str) -> str:
    """A short name that every file system takes."""
    return (_ODD.sub("-", title.lower()).strip("-.")[:60].rstrip("-.") or "prompt") + ".md"


def plain_delta(text: str) -> Delta:
    """A document of unformatted text: it stays, to the letter, what the file says."""
    ended = text if text.endswith("\n") else text + "\n"
    return Delta(ops=(DeltaOp(insert=ended),))


def split_head(text: str) -> FileHead:
    """Without a head the whole file is text."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    lines = text.split("\n")
    if lines[0].rstrip() != FENCE or FENCE not in (line.rstrip() for line in lines[1:]):
        return FileHead({}, [], text)
    end = next(n for n, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE)
    values: dict[str, Any] = {}
    others: list[str] = []
    name = ""
    for line in lines[1:end]:
        found = _LINE.fullmatch(line)
        if found is not None:
            name = found["name"]
            values[name] = _value(found["value"].strip())
        elif line.strip().startswith("- ") and name:
            items: list[Any] = values[name] if isinstance(values[name], list) else []
            values[name] = [*items, _value(line.strip()[2:].strip())]
        if name not in OWN:
            others.append(line)
    return FileHead(values, others, "\n".join(lines[end + 1 :]).removeprefix("\n"))


def _read_command(text: str) -> dict[str, Any]:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"It is no TOML: {error}.") from None
    if not isinstance(values.get("prompt"), str):
        raise InvalidInput("It is no command of an agent: it has no `prompt`.")
    return {name: values[name] for name in ("prompt", "description") if name in values}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        pass
    if text.startswith("[") and text.endswith("]"):
        return [one.strip().strip("'\"") for one in text[1:-1].split(",") if one.strip()]
    return text.strip("'\"")


def _listed(value: object) -> list[Any]:
    if isinstance(value, str):
        return [one.strip() for one in value.split(",") if one.strip()]
    return cast(list[Any], value) if isinstance(value, list) else []


def _with_fields(body: str) -> str:
    return ARGUMENTS.sub(lambda found: "{{argument%s}}" % (found[1] or "s"), body)


def _fields(values: dict[str, Any], body: str) -> list[object]:
    given = _listed(values.get("fields"))
    hint = values.get("argument-hint")
    if not given and isinstance(hint, str) and hint and "{{arguments}}" in body:
        return [TemplateField(name="arguments", hint=hint[:500])]
    return given


def _fields_of(field: TemplateField) -> dict[str, object]:
    whole: dict[str, object] = msgspec.to_builtins(field)
    return {name: value for name, value in whole.items() if value or name in ("name", "kind")}


def _title_of(path: str) -> str:
    """As agents name commands in folders: `web/button.md` is `web:button`."""
    return path.rsplit(".", 1)[0].replace("/", ":") or "prompt"


def _json(value: object) -> str:
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
