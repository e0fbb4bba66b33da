"""Questions of Codex and of its MCP servers, and answers to them; requested permissions in words."""

from collections.abc import Mapping

from bascule.drivers.acp.forms import content_of, fields_of
from bascule.drivers.lenient import JsonObject, clip, items, loosely, mapping, objects, text, true, words
from bascule.model.errors import InvalidInput
from bascule.model.event_values import Question, QuestionOption
from bascule.model.events import QuestionAnswered, QuestionAsked

MAX_QUESTIONS = 20
MAX_OPTIONS = 50
MAX_PATHS = 5


def questions_in(about: JsonObject) -> tuple[Question, ...]:
    """The agent's own questions, or the fields of an MCP server's form."""
    if not _is_own(about):
        return tuple(field.question for field in fields_of(about))
    return tuple(question for _, question in _own(about))


def asks_for_secret(about: JsonObject) -> bool:
    return any(true(question, "isSecret") for question in objects(about, "questions"))


def declined(about: JsonObject) -> Mapping[str, object]:
    return {"answers": {}} if _is_own(about) else {"action": "decline"}


def question_answer(asked: QuestionAsked, answered: QuestionAnswered) -> Mapping[str, object]:
    """Encode the answers. Without any, the question is declined."""
    about = loosely(asked.input)
    if not answered.answers:
        return declined(about)
    if not _is_own(about):
        return {"action": "accept", "content": content_of(about, answered)}
    known = {question.question: name for name, question in _own(about)}
    for question in (*answered.answers, *answered.notes):
        if question not in known:
            raise InvalidInput("The answer names a question that was not asked.", question=question[:200])
    answers: dict[str, object] = {}
    for question, name in known.items():
        given = [
            answer for answer in (answered.answers.get(question), answered.notes.get(question)) if answer
        ]
        if given:
            answers[name] = {"answers": given}
    return {"answers": answers}


def reach_in_words(permissions: JsonObject) -> str:
    """Describe the requested sandbox permissions in plain words."""
    wanted: list[str] = []
    if true(mapping(permissions, "network"), "enabled"):
        wanted.append("use the network")
    files = mapping(permissions, "fileSystem")
    for verb in ("write", "read"):
        paths = [path for path in items(files, verb) if isinstance(path, str)]
        paths += [_place(entry) for entry in objects(files, "entries") if text(entry, "access") == verb]
        if paths:
            more = f" and {len(paths) - MAX_PATHS} more" if len(paths) > MAX_PATHS else ""
            wanted.append(f"{verb} {', '.join(paths[:MAX_PATHS])}{more}")
    return clip("Let it " + " and ".join(wanted), 300) if wanted else "Let it reach further than its sandbox"


def _place(entry: JsonObject) -> str:
    path = mapping(entry, "path")
    special = mapping(path, "value")
    return text(path, "path") or text(path, "pattern") or f"<{text(special, 'kind') or 'a special place'}>"


def _is_own(about: JsonObject) -> bool:
    return "requestedSchema" not in about and "serverName" not in about


def _own(about: JsonObject) -> list[tuple[str, Question]]:
    """`(id, question)` pairs. Answers go by a question's text, so a repeated text gets its id added."""
    found: list[tuple[str, Question]] = []
    taken: set[str] = set()
    for field in objects(about, "questions")[:MAX_QUESTIONS]:
        name, asked = text(field, "id"), words(field, "question", 2000)
        if name is None or not asked:
            continue
        asked = f"{asked} ({name[:200]})" if asked in taken else asked
        taken.add(asked)
        options = tuple(
            QuestionOption(label, words(option, "description", 500))
            for option in objects(field, "options")[:MAX_OPTIONS]
            if (label := words(option, "label", 200))
        )
        found.append((name, Question(asked, words(field, "header", 200), options)))
    return found
