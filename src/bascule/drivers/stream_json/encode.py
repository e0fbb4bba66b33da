"""Encodes prompts, answers and control requests, only from the stored request and the answer to it."""

import uuid
from collections.abc import Mapping

import msgspec
from msgspec import Raw

from bascule.model.errors import InvalidInput, UnknownOption
from bascule.model.events import (
    Image,
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
)
from bascule.model.records import Write

ALLOW_ONCE, ACCEPT_EDITS, DENY, SUGGESTION = "allow_once", "accept_edits", "deny", "suggestion-"

_PROMPTS = uuid.UUID("6d6bb1c4-8d3e-5d56-9a3c-0d9f1a7f2c11")
_OURS = "bascule:"  # our control requests: `bascule:<subtype>:<write id>`, so an answer says what it answers
_ACCEPT_EDITS = Raw(b'{"type":"setMode","mode":"acceptEdits","destination":"session"}')

# Mode names on the command line -> names in the protocol.
_MODES = {"manual": "default"}

_json = msgspec.json.Encoder()


def prompt_uuid(prompt_id: str) -> str:
    """The UUID by which the agent refers to this prompt."""
    return str(uuid.uuid5(_PROMPTS, prompt_id))


def prompt(sent: PromptSent) -> Write:
    content: list[object] = [{"type": "text", "text": sent.text}] if sent.text or not sent.images else []
    content += [_image(image) for image in sent.images]
    message = {
        "type": "user",
        "session_id": "",
        "message": {"role": "user", "content": content},
        "parent_tool_use_id": None,
        "uuid": prompt_uuid(sent.prompt_id),
    }
    return Write(f"prompt:{sent.prompt_id}", _line(message))


def _image(image: Image) -> dict[str, object]:
    source = {"type": "base64", "media_type": image.media_type, "data": image.data}
    return {"type": "image", "source": source}


def initialize(write_id: str) -> Write:
    return _control(write_id, "initialize", hooks=None)


def interrupt(write_id: str) -> Write:
    return _control(write_id, "interrupt")


def set_mode(write_id: str, mode: str) -> Write:
    return _control(write_id, "set_permission_mode", mode=_MODES.get(mode, mode))


def set_model(write_id: str, model: str) -> Write:
    return _control(write_id, "set_model", model=None if model in ("", "default") else model)


def our_subtype(request_id: str) -> str | None:
    """The subtype of our control request with this id; None if it is not ours."""
    if not request_id.startswith(_OURS):
        return None
    return request_id[len(_OURS) :].split(":", 1)[0]


def _control(write_id: str, subtype: str, **fields: str | None) -> Write:
    request: dict[str, str | None] = {"subtype": subtype, **fields}
    request_id = f"{_OURS}{subtype}:{write_id}"
    return Write(write_id, _line({"type": "control_request", "request_id": request_id, "request": request}))


def refuse_request(request_id: str, why: str, *, to: str) -> Write:
    """Refuse a request we can't serve, so that the agent does not wait for ever."""
    response = {"subtype": "error", "request_id": to, "error": why}
    return Write(f"reply:{request_id}", _line({"type": "control_response", "response": response}))


def answer_permission(asked: PermissionRequested, answered: PermissionAnswered, *, to: str) -> Write:
    """`to` is the agent's own id of the request."""
    if answered.decision == "deny":
        fallback = (
            "Keep planning: the plan was not approved." if asked.kind == "plan" else "The user said no."
        )
        return _answer(asked.request_id, to, _deny(answered.message or fallback))
    reply: dict[str, object] = {"behavior": "allow", "updatedInput": _one_line(asked.input)}
    chosen = _chosen_update(asked, answered.option)
    if chosen is not None:
        reply["updatedPermissions"] = [chosen]
    return _answer(asked.request_id, to, reply)


def _chosen_update(asked: PermissionRequested, option: str | None) -> Raw | None:
    """The permission update of the chosen option, and never more than that one."""
    if option is None or option == ALLOW_ONCE:
        return None
    offered = {offer.option_id: offer for offer in asked.options}.get(option)
    if offered is None or offered.kind == "deny":
        raise UnknownOption(f"This request has no option {option!r} that allows it.", option=option)
    if option == ACCEPT_EDITS:
        return _ACCEPT_EDITS
    position = option.removeprefix(SUGGESTION)
    if (
        not option.startswith(SUGGESTION)
        or not position.isdecimal()
        or int(position) >= len(asked.suggestions)
    ):
        raise UnknownOption(f"This request has no option {option!r} that allows it.", option=option)
    return _one_line(asked.suggestions[int(position)])


def answer_question(asked: QuestionAsked, answered: QuestionAnswered, *, to: str) -> Write:
    if not answered.answers and not answered.notes:
        return _answer(asked.request_id, to, _deny(answered.message or "The user declined to answer."))
    known = {question.question for question in asked.questions}
    for question in (*answered.answers, *answered.notes):
        if question not in known:
            raise InvalidInput("The answer names a question that was not asked.", question=question[:200])
    added: dict[str, object] = {"answers": answered.answers}
    if answered.notes:
        added["annotations"] = {question: {"notes": note} for question, note in answered.notes.items()}
    reply = {"behavior": "allow", "updatedInput": _with_fields(asked.input, added)}
    return _answer(asked.request_id, to, reply)


def _with_fields(original: Raw, added: dict[str, object]) -> Raw:
    """The original object byte for byte, with fields added at its end."""
    head = bytes(_one_line(original)).rstrip()
    if not (head.startswith(b"{") and head.endswith(b"}")):
        raise InvalidInput("The question's input is not an object.")
    head = head[:-1].rstrip()
    comma = b"" if head == b"{" else b","
    return Raw(head + comma + _json.encode(added)[1:])


def _deny(why: str) -> dict[str, object]:
    # The agent takes a denial without a message for a broken answer.
    return {"behavior": "deny", "message": why if why.strip() else "The user said no."}


def _answer(request_id: str, to: str, reply: Mapping[str, object]) -> Write:
    response = {"subtype": "success", "request_id": to, "response": reply}
    return Write(f"answer:{request_id}", _line({"type": "control_response", "response": response}))


def _one_line(value: Raw) -> Raw:
    """Replace newlines, which in JSON are only space between tokens, so that it fits on one line."""
    data = bytes(value)
    return Raw(data.replace(b"\n", b" ")) if b"\n" in data else Raw(data)


def _line(message: Mapping[str, object]) -> bytes:
    return _json.encode(message) + b"\n"
