"""Validates an answer to a request and builds its event. Pure."""

import msgspec

from bascule.model.commands import AnswerPermission, AnswerQuestion
from bascule.model.errors import (
    AlreadyAnswered,
    InputChanged,
    InvalidInput,
    RequestNotFound,
    RequestWithdrawn,
    UnknownOption,
)
from bascule.model.events import (
    PermissionAnswered,
    PermissionRequested,
    QuestionAnswered,
    QuestionAsked,
)
from bascule.model.records import RequestRecord

MESSAGE_LENGTH = 10_000
DENIED = "The user denied this."


def check_open(
    request: RequestRecord | None, request_id: str, kind: str, sha256: str | None
) -> RequestRecord:
    """The request, if it is still there to be answered; otherwise the reason why not."""
    if request is None or request.kind != kind:
        raise RequestNotFound(request_id)
    if request.state == "withdrawn":
        raise RequestWithdrawn(request_id, reason=request.reason or "withdrawn")
    if request.state != "open":
        given = request.answer
        decision = given.decision if isinstance(given, PermissionAnswered) else "answered"
        raise AlreadyAnswered(
            request_id, by=request.answered_by or "", at=request.answered_at or "", decision=decision
        )
    if sha256 is not None and sha256 != request.input_sha256:
        raise InputChanged(request_id)
    return request


def asked_permission(request: RequestRecord) -> PermissionRequested:
    return msgspec.json.decode(request.asked, type=PermissionRequested)


def asked_question(request: RequestRecord) -> QuestionAsked:
    return msgspec.json.decode(request.asked, type=QuestionAsked)


def permission_answer(asked: PermissionRequested, command: AnswerPermission, by: str) -> PermissionAnswered:
    """The event for this command. Its option must have been offered and must match the decision."""
    _check_message(command.message)
    if command.option is not None:
        option = next((one for one in asked.options if one.option_id == command.option), None)
        if option is None:
            raise UnknownOption(f"This request has no option {command.option!r}.", option=command.option)
        if (option.kind == "deny") != (command.decision == "deny"):
            raise UnknownOption(
                f"Option {command.option!r} does not mean {command.decision!r}.", option=command.option
            )
        if command.remember and option.kind == "allow_always":
            raise InvalidInput("Choose either the agent's own rule or a rule of this session.")
    if command.remember and command.decision == "deny":
        raise InvalidInput("Only an allowed request can be remembered.")
    message = command.message or (DENIED if command.decision == "deny" else None)
    return PermissionAnswered(
        command.request_id, command.decision, by, option=command.option, message=message
    )


def allows_more(asked: PermissionRequested, option: str | None) -> bool:
    """Whether an allow with this option is for more than the one request. Without one a driver takes the
    narrowest that is offered, which may be a lasting one."""
    kinds = {one.option_id: one.kind for one in asked.options}
    if option is not None:
        return kinds.get(option) == "allow_always"
    return "allow_always" in kinds.values() and "allow_once" not in kinds.values()


def question_answer(asked: QuestionAsked, command: AnswerQuestion, by: str) -> QuestionAnswered:
    """The fact this command becomes: answers to questions that were asked, or a refusal in words."""
    _check_message(command.message)
    known = {one.question for one in asked.questions}
    for question in (*command.answers, *command.notes):
        if question not in known:
            raise InvalidInput(f"There is no question {question[:80]!r} in this request.")
    if not command.answers and not command.message:
        raise InvalidInput("Answer at least one question, or decline with a message.")
    return QuestionAnswered(
        command.request_id,
        by,
        answers=command.answers,
        notes=command.notes,
        message=command.message,
    )


def _check_message(message: str | None) -> None:
    if message is not None and len(message) > MESSAGE_LENGTH:
        raise InvalidInput(f"The message is longer than {MESSAGE_LENGTH} characters.")
