"""Elicitation forms: reads a form's fields as questions, and fills the form with the answers."""

from typing import Literal, assert_never

from msgspec import Struct

from bascule.drivers.lenient import JsonObject, as_object, clip, items, mapping, objects, text
from bascule.model.errors import InvalidInput
from bascule.model.event_values import Question, QuestionOption
from bascule.model.events import QuestionAnswered

MAX_QUESTIONS = 20
MAX_CHOICES = 50
CUSTOM = "_custom"  # suffix of the free-text field beside a choice


class Field(Struct, frozen=True):
    name: str
    question: Question
    kind: Literal["text", "number", "integer", "boolean", "choice", "choices"]
    values: dict[str, str]  # label -> value in the form
    custom: str | None = None


def fields_of(params: JsonObject) -> list[Field]:
    """The form's fields. Answers go by a question's text, so a repeated text gets the field's name added."""
    properties = mapping(mapping(params, "requestedSchema"), "properties")
    found: list[Field] = []
    taken: set[str] = set()
    for name, schema in list(properties.items())[: 2 * MAX_QUESTIONS]:
        if name.endswith(CUSTOM) and name.removesuffix(CUSTOM) in properties:
            continue
        custom = f"{name}{CUSTOM}" if f"{name}{CUSTOM}" in properties else None
        field = _field(name, as_object(schema), custom, text(params, "message") or "", taken)
        taken.add(field.question.question)
        found.append(field)
    return found[:MAX_QUESTIONS]


def content_of(params: JsonObject, answered: QuestionAnswered) -> JsonObject:
    """Fill in the form from the answers."""
    content: JsonObject = {}
    known = {field.question.question: field for field in fields_of(params)}
    for words in (*answered.answers, *answered.notes):
        if words not in known:
            raise InvalidInput("The answer names a question that was not asked.", question=words[:200])
    for words, field in known.items():
        if words in answered.answers:
            _fill(content, field, answered.answers[words])
        note = answered.notes.get(words)
        if note and field.custom is not None:
            content[field.custom] = note
    return content


def _field(name: str, schema: JsonObject, custom: str | None, message: str, taken: set[str]) -> Field:
    kind = text(schema, "type") or "string"
    many = kind == "array"
    choices = _choices(mapping(schema, "items") if many else schema)
    title = clip(text(schema, "title") or name, 200)
    words = clip(text(schema, "description") or text(schema, "title") or message or name, 2000)
    if words in taken:
        words = f"{words} ({name[:200]})"
    if kind == "boolean":
        choices = [("Yes", "true", ""), ("No", "false", "")]
    options = tuple(QuestionOption(label, about) for label, _, about in choices)
    values = {label: value for label, value, _ in choices}
    question = Question(words, title, options, many)
    match kind:
        case "array":
            return Field(name, question, "choices", values, custom)
        case "boolean" | "number" | "integer":
            return Field(name, question, kind, values, custom)
        case _:
            return Field(name, question, "choice" if choices else "text", values, custom)


def _choices(schema: JsonObject) -> list[tuple[str, str, str]]:
    """Read `(label, value, description)` of each choice, from `oneOf`, `anyOf` or `enum`."""
    offered = objects(schema, "oneOf") or objects(schema, "anyOf")
    found = [
        (clip(text(choice, "title") or value, 200), value, clip(text(choice, "description") or "", 1000))
        for choice in offered
        if (value := text(choice, "const")) is not None
    ]
    if not found:
        names = items(schema, "enumNames")
        for position, value in enumerate(items(schema, "enum")):
            label = names[position] if position < len(names) else value
            if isinstance(value, str):
                found.append((clip(label if isinstance(label, str) else value, 200), value, ""))
    return found[:MAX_CHOICES]


def _fill(content: JsonObject, field: Field, answer: str) -> None:
    match field.kind:
        case "text":
            content[field.name] = answer
        case "boolean":
            content[field.name] = _boolean(field, answer)
        case "number" | "integer":
            content[field.name] = _number(field, answer)
        case "choice":
            if answer in field.values:
                content[field.name] = field.values[answer]
            else:
                content[field.custom or field.name] = answer
        case "choices":
            chosen, rest = _chosen(field.values, answer)
            content[field.name] = chosen if field.custom or not rest else [*chosen, rest]
            if rest and field.custom:
                content[field.custom] = rest
        case _:
            assert_never(field.kind)


def _boolean(field: Field, answer: str) -> bool:
    if answer.strip().lower() in ("yes", "true", "y", "1"):
        return True
    if answer.strip().lower() in ("no", "false", "n", "0"):
        return False
    raise InvalidInput(f"Answer {field.question.header!r} with Yes or No.")


def _number(field: Field, answer: str) -> int | float:
    try:
        return int(answer) if field.kind == "integer" else float(answer)
    except ValueError as error:
        raise InvalidInput(f"Answer {field.question.header!r} with a number.") from error


def _chosen(values: dict[str, str], answer: str) -> tuple[list[str], str]:
    """Split labels joined by commas. A label may hold commas itself, so the longest match wins."""
    chosen: list[str] = []
    rest: list[str] = []
    left = answer.strip()
    labels = sorted(values, key=len, reverse=True)
    while left:
        label = next((known for known in labels if left == known or left.startswith(f"{known},")), None)
        if label is not None:
            chosen.append(values[label])
            left = left[len(label) :]
        else:
            word, _, left = left.partition(",")
            rest.append(word.strip())
            left = left and f",{left}"
        left = left.removeprefix(",").strip()
    return chosen, ", ".join(rest)
