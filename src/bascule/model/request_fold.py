"""The request fold: makes a request's record from the event that asked, and advances it by later events."""

from msgspec import Raw

from bascule.model.codec import Logged, encode
from bascule.model.events import (
    AnswerDelivered,
    PermissionAnswered,
    PermissionRequested,
    PermissionWithdrawn,
    QuestionAnswered,
    QuestionAsked,
    QuestionWithdrawn,
    ToolChanged,
)
from bascule.model.records import RequestRecord


def opened_request(session_id: str, logged: Logged) -> RequestRecord | None:
    """A new record, when the event asks for a permission or puts a question."""
    event = logged.event
    match event:
        case PermissionRequested() | QuestionAsked():
            return RequestRecord(
                session_id=session_id,
                request_id=event.request_id,
                kind="permission" if isinstance(event, PermissionRequested) else "question",
                state="open",
                input_sha256=event.input_sha256,
                asked=Raw(encode(event)),
                opened_at=logged.at,
                seq=logged.seq,
                tool_id=event.tool_id,
            )
        case _:
            return None


def settle(request: RequestRecord, logged: Logged) -> bool:
    """Fold a later event into a request. True when it changed."""
    event = logged.event
    match event:
        case PermissionAnswered() | QuestionAnswered() if request.state == "open":
            request.state, request.answer = "answered", event
            request.answered_at, request.answered_by = logged.at, event.by
        case PermissionWithdrawn() | QuestionWithdrawn() if request.state in ("open", "answered"):
            request.state, request.reason = "withdrawn", event.reason
        case AnswerDelivered() if request.state == "answered":
            request.state = "delivered"
        case ToolChanged() if request.state in ("answered", "delivered"):
            request.state = "confirmed"
        case _:
            return False
    return True
