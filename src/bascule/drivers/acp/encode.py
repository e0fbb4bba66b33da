"""Encodes prompts and answers as ACP messages, only from the stored request and the answer to it."""

from collections.abc import Mapping

from msgspec import Raw

from bascule.drivers.acp.forms import content_of
from bascule.drivers.jsonrpc.message_writer import MessageWriter
from bascule.drivers.lenient import loosely
from bascule.model.errors import UnknownOption
from bascule.model.event_values import PermissionOption
from bascule.model.events import (
    PermissionAnswered,
    PermissionRequested,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
)

WRITER = MessageWriter()
CANCEL = "bascule:cancel"  # option of our own, for a request that offers no way to deny it

CANCELLED = {"outcome": {"outcome": "cancelled"}}


def prompt_blocks(sent: PromptSent, *, images: bool) -> list[object]:
    blocks: list[object] = [{"type": "text", "text": sent.text}] if sent.text or not sent.images else []
    if images:
        blocks += [
            {"type": "image", "mimeType": image.media_type, "data": image.data} for image in sent.images
        ]
    return blocks


def permission_outcome(asked: PermissionRequested, answered: PermissionAnswered) -> Mapping[str, object]:
    """The outcome for a decision: the chosen option, else the first of the right kind."""
    if answered.decision == "deny":
        chosen = _chosen(asked, answered.option, deny=True) or _first(asked, "deny")
    else:
        chosen = _chosen(asked, answered.option, deny=False) or _first(asked, "allow_once")
        # An agent that offers only a lasting permission leaves no narrower choice.
        chosen = chosen or _first(asked, "allow_always")
        if chosen is None:
            raise UnknownOption("This request offers no way to allow it.")
    if chosen is None or chosen.option_id == CANCEL:
        return CANCELLED
    return {"outcome": {"outcome": "selected", "optionId": chosen.option_id}}


def _chosen(asked: PermissionRequested, option: str | None, *, deny: bool) -> PermissionOption | None:
    if option is None:
        return None
    for offered in asked.options:
        if offered.option_id == option and (offered.kind == "deny") == deny:
            return offered
    verb = "denies" if deny else "allows"
    raise UnknownOption(f"This request has no option {option!r} that {verb} it.", option=option)


def _first(asked: PermissionRequested, kind: str) -> PermissionOption | None:
    return next((option for option in asked.options if option.kind == kind), None)


def form_answer(asked: QuestionAsked, answered: QuestionAnswered) -> Mapping[str, object]:
    if not answered.answers and not answered.notes:
        return {"action": "decline"}
    return {"action": "accept", "content": content_of(loosely(Raw(bytes(asked.input))), answered)}
